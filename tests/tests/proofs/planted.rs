//! Puts a mutant into a module under proof: the mutation suite asks whether a proof finds a mutant that no test has
//! found.

use std::env;

use peerlane_tests::programs::MUTANT_OF;
use peerlane_verilog::mutants::{SELECT, apply};

/// A line in the module that has the mutant.
const MARK: &str = "// has the mutant";

fn wanted() -> Option<(String, u32)> {
    let module = env::var(MUTANT_OF).ok()?;
    Some((module, env::var(SELECT).ok()?.parse().ok()?))
}

/// Returns a module under proof, with the mutant if it belongs to this module. The whole block has `peerlane_pcie_asks`
/// for the `peerlane_asks` of a proof.
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

/// Returns whether a mutant is asked for.
pub fn is_wanted() -> bool {
    wanted().is_some()
}

/// Returns whether a design does not contain the mutant that is asked for.
pub fn is_elsewhere(design: &str) -> bool {
    is_wanted() && !design.contains(MARK)
}
