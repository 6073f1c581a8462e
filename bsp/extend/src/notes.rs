//! Notes on the board's name and on its system.

use crate::identity::Name;
use crate::readme;
use crate::rewrite::Rewritten;
use crate::step::Step;
use crate::version::Version;

/// Returns the notes. A board without a vendor has no name to keep.
pub(crate) fn step(name: &Name, has_vendor: bool, version: &Version, new: &Rewritten) -> Step {
    let mut notes = vec![on_the_name(name, has_vendor, version)];
    notes.extend(new.notes.iter().cloned());
    Step {
        notes,
        ..Step::default()
    }
}

/// Returns the note on the name, for a version of the SDK.
fn on_the_name(name: &Name, has_vendor: bool, version: &Version) -> String {
    if has_vendor && name.old == name.new {
        return format!(
            "The board keeps the vendor's name {}, because identity.board_suffix is empty. `aoc` then distinguishes \
             the two platforms only by AOCL_BOARD_PACKAGE_ROOT, and a compiled kernel has no mark of its platform.",
            name.old
        );
    }
    format!(
        "The board's name is {}: `{}`.",
        name.new,
        readme::compile_for(version, &name.new)
    )
}
