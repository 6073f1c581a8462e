//! Data that a block gives to the back-end in addition to its signals: documentation, and the name of its module.
//!
//! rust-hdl's `Probe` has no way for that. A hint is a namespace that is closed at once, with a name that no field can
//! have; other probes see it begin and end.

use peerlane_language::{Block, Probe};

const MARK: char = '\u{1}';

/// A hint, as the back-end reads it.
pub(crate) enum Hint<'a> {
    /// Documentation of the field, signal or block, that is visited next.
    Document(&'a str),
    /// Documentation of the block itself.
    About(&'a str),
    /// Name of the block's module.
    ModuleName(&'a str),
}

/// Returns the hint that the name of a namespace stands for.
pub(crate) fn read(name: &str) -> Option<Hint<'_>> {
    let rest = name.strip_prefix(MARK)?;
    let (kind, text) = rest.split_at_checked(1)?;
    match kind {
        "d" => Some(Hint::Document(text)),
        "a" => Some(Hint::About(text)),
        _ => Some(Hint::ModuleName(text)),
    }
}

fn tell(probe: &mut dyn Probe, block: &dyn Block, kind: char, text: &str) {
    let name = format!("{MARK}{kind}{text}");
    probe.visit_start_namespace(&name, block);
    probe.visit_end_namespace(&name, block);
}

/// Gives the documentation of the field that is visited next.
pub fn document(probe: &mut dyn Probe, block: &dyn Block, lines: &[&str]) {
    tell(probe, block, 'd', &lines.join("\n"));
}

/// Gives the documentation of the block that has just been opened.
pub fn about(probe: &mut dyn Probe, block: &dyn Block, lines: &[&str]) {
    tell(probe, block, 'a', &lines.join("\n"));
}

/// Gives the name of the module of the block that has just been opened. It follows the top's name and an underscore,
/// and has a number at its end where two different modules ask for one name.
pub fn module_name(probe: &mut dyn Probe, block: &dyn Block, name: &str) {
    tell(probe, block, 'n', name);
}

/// Lines of a comment: rustdoc's links and paths become plain names.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| {
        let mut line = line.replace("[`", "`").replace("`]", "`");
        for path in ["`super::", "`crate::prim::", "`crate::rtl::", "`crate::"] {
            line = line.replace(path, "`");
        }
        line.replace("*/", "* /")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_names() {
        let lines: Vec<_> = lines("As [`super::txs`] has it,\nin `W` bits.").collect();
        assert_eq!(lines, ["As `txs` has it,", "in `W` bits."]);
    }

    #[test]
    fn fields_are_no_hints() {
        assert!(read("clock").is_none());
        assert!(matches!(read("\u{1}nram"), Some(Hint::ModuleName("ram"))));
    }
}
