//! A mutant in what is proved: the mutation suite asks whether a proof sees what no test has seen.

use std::env;

use peerlane_tests::programs::MUTANT_OF;
use peerlane_verilog::mutants::{SELECT, apply};

/// Stands in the module that has it.
const MARK: &str = "// has the mutant";

fn wanted() -> Option<(String, u32)> {
    let module = env::var(MUTANT_OF).ok()?;
    Some((module, env::var(SELECT).ok()?.parse().ok()?))
}

/// A module under proof, with the mutant where it is its own. The whole block has `peerlane_pcie_asks` for the
/// `peerlane_asks` of a proof.
pub fn planted(name: &str, verilog: &str) -> String {
    let own = name.strip_prefix("peerlane").unwrap_or(name);
    let mutant = wanted().filter(|(module, _)| module.ends_with(own));
    mutant
        .and_then(|(module, number)| apply(&module, verilog, number))
        .map_or_else(
            || verilog.to_owned(),
            |text| text.replacen("\nendmodule", &format!("\n{MARK}\nendmodule"), 1),
        )
}

/// Whether a mutant is asked for.
pub fn is_wanted() -> bool {
    wanted().is_some()
}

/// Whether a design has nothing to do with the mutant that is asked for.
pub fn is_elsewhere(design: &str) -> bool {
    is_wanted() && !design.contains(MARK)
}
