//! The subcommands of `peerlane`, one file each: `Args` and `run(&Args) -> Outcome`.

pub mod bench;
pub mod bind;
pub mod check;
pub mod component;
pub mod config;
pub mod diagram;
pub mod doctor;
pub mod extend;
pub mod icd;
pub mod install_board;
pub mod manuals;
pub mod new;
pub mod program;
pub mod revert;
pub mod top;
pub mod upgrade;

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
pub use peerlane_demo::files::{FAILED, Outcome};
use peerlane_demo::files::{check_file, publish, replace, save, save_json};

/// Returns a table that fits the terminal, with these headers.
fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(
            heads
                .iter()
                .map(|head| Cell::new(head).add_attribute(Attribute::Bold)),
        );
    // Serial consoles report a width of zero columns.
    if table.width().is_some_and(|columns| columns < 20) {
        table.set_width(80);
    }
    table
}

/// Wraps a text to a width, with all lines but the first indented by two columns; without a width, returns it
/// unchanged.
fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.into();
    };
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if column > 0 && column + 1 + letters > width {
            out.push_str("\n  ");
            column = 2;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += letters;
    }
    out
}

/// Formats a count with its noun: `1 fault`, `2 faults`.
fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_the_terminal() {
        let text = "· one two three";
        assert_eq!(wrapped(text, None), text);
        assert_eq!(wrapped(text, Some(80)), text);
        assert_eq!(wrapped(text, Some(9)), "· one two\n  three");
        assert_eq!(wrapped(text, Some(5)), "· one\n  two\n  three");
        // A word is never broken.
        assert_eq!(wrapped("· twelve", Some(3)), "·\n  twelve");
    }
}
