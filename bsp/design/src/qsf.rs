//! Quartus settings files, and the assignments in scripts of the flow: both are Tcl.

use std::cmp::Reverse;
use std::ops::Range;

use crate::tcl::{Command, commands};

/// Assignments by which compiled files come into a section of the design (Quartus Prime Standard Edition Settings File
/// Reference Manual 683084).
pub const IMPORTS: [&str; 4] = [
    "PARTITION_IMPORT_FILE",
    "PARTITION_LAST_IMPORTED_FILE",
    "INPUT_PERSONA",
    "QDB_FILE_PARTITION",
];

/// A `set_global_assignment` or `set_instance_assignment`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The value of `-name`, in capitals.
    pub name: String,
    /// Its value; empty if it has none.
    pub value: String,
    /// The value of `-section_id`.
    pub section: Option<String>,
    /// The value of `-to`.
    pub to: Option<String>,
    /// The value of `-entity`: the entity in which the path of `-to` begins.
    pub entity: Option<String>,
    /// The values of `-width` and `-height`, of a rectangle.
    pub sides: (Option<String>, Option<String>),
    /// Line, counted from 1.
    pub line: usize,
    /// The bytes to delete for a removal of the assignment: its line, or in a body its command.
    pub span: Range<usize>,
    /// The bytes of the value, with quotes.
    pub value_span: Range<usize>,
    /// The bytes of the value of `-to`, with quotes; empty if it has none.
    pub to_span: Range<usize>,
}

/// Returns the assignments of a file, also those in bodies of `if` and other commands. Comments, other commands and
/// removals of assignments are skipped.
pub fn assignments(text: &str) -> Vec<Assignment> {
    let found = commands(text);
    found.iter().filter_map(|c| assignment(text, c)).collect()
}

/// Returns the assignment that a command makes.
pub fn assignment(text: &str, command: &Command) -> Option<Assignment> {
    if !matches!(
        command.name(),
        "set_global_assignment" | "set_instance_assignment"
    ) {
        return None;
    }
    let mut found = Assignment {
        name: String::new(),
        value: String::new(),
        section: None,
        to: None,
        entity: None,
        sides: (None, None),
        line: command.line,
        span: command.lines(text),
        value_span: command.span.start..command.span.start,
        to_span: command.span.start..command.span.start,
    };
    let mut rest = command.words[1..].iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-name" => found.name = rest.next()?.text.to_uppercase(),
            "-section_id" => found.section = Some(rest.next()?.text.clone()),
            "-to" => {
                let word = rest.next()?;
                found.to = Some(word.text.clone());
                found.to_span = word.span.clone();
            }
            "-entity" => found.entity = Some(rest.next()?.text.clone()),
            "-width" => found.sides.0 = Some(rest.next()?.text.clone()),
            "-height" => found.sides.1 = Some(rest.next()?.text.clone()),
            "-from" | "-tag" | "-comment" | "-library" => {
                rest.next();
            }
            "-remove" => return None,
            "-rise" | "-fall" | "-disable" => {}
            _ if found.value_span.is_empty() => {
                found.value = word.text.clone();
                found.value_span = word.span.clone();
            }
            _ => {}
        }
    }
    (!found.name.is_empty()).then_some(found)
}

/// The commands that assign a value.
const ASSIGNMENTS: [&str; 3] = [
    "set_global_assignment",
    "set_instance_assignment",
    "set_location_assignment",
];
/// Their options with a word.
const WITH_WORD: [&str; 11] = [
    "-name",
    "-section_id",
    "-to",
    "-from",
    "-entity",
    "-tag",
    "-comment",
    "-library",
    "-hdl_version",
    "-width",
    "-height",
];
/// Their options without a word.
const ALONE: [&str; 4] = ["-remove", "-rise", "-fall", "-disable"];

/// Returns line and fault of an assignment that the end of the text cuts off, as in a truncated file.
pub fn cut(text: &str) -> Option<(usize, String)> {
    let all = commands(text);
    // Brackets inside a word, as in `dq[23]`, look like a command.
    let last = (all.iter()).max_by_key(|c| (c.span.end, Reverse(c.span.start)))?;
    let is_ended = text[last.span.end..].contains('\n');
    unfinished(text, last, is_ended).map(|what| (last.line, what))
}

/// Returns the missing part of a last command. If its line has an end, optional parts are not required.
fn unfinished(text: &str, command: &Command, is_ended: bool) -> Option<String> {
    let name = command.name();
    if !ASSIGNMENTS.contains(&name) {
        let begins = command.words.len() == 1 && ASSIGNMENTS.iter().any(|a| a.starts_with(name));
        return (begins && !is_ended).then(|| format!("\"{name}\" is not a command"));
    }
    let (mut named, mut to, mut value) = (false, false, false);
    let mut words = command.words[1..].iter().peekable();
    while let Some(word) = words.next() {
        let option = word.text.as_str();
        if WITH_WORD.contains(&option) {
            if words.next().is_none() {
                return Some(format!("the option {option} has no value"));
            }
            named |= option == "-name";
            to |= option == "-to";
        } else if option == "-remove" {
            return None;
        } else if option.starts_with('-')
            && option.parse::<f64>().is_err()
            && !ALONE.contains(&option)
        {
            if !is_ended && words.peek().is_none() {
                return Some(format!("\"{option}\" is not an option"));
            }
        } else {
            value |= !ALONE.contains(&option);
        }
    }
    let word = &text[command.words.last()?.span.clone()];
    let is_open = |quote: char, end: char| {
        word.starts_with(quote) && (word.len() < 2 || !word.ends_with(end))
    };
    let lacks = match name {
        _ if is_open('"', '"') || is_open('{', '}') => "a quote or brace of it is not closed",
        "set_location_assignment" if is_ended => return None,
        "set_location_assignment" => "",
        // Quartus accepts abbreviated options.
        _ if is_ended => return None,
        _ if !named => "it has no -name",
        _ => "",
    };
    if !lacks.is_empty() {
        return Some(lacks.into());
    }
    if !value {
        return Some("it has no value".into());
    }
    (!to && name != "set_global_assignment").then(|| "it has no -to".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# set_global_assignment -name COMMENT no\r\n\
        set_global_assignment -name PARTITION_NETLIST_TYPE POST_FIT -section_id \"a:b\"\r\n\
        set_global_assignment -name POST_FLOW_SCRIPT_FILE \"quartus_cdb:scripts/x.tcl\"\n\
        set_instance_assignment -name IO_STANDARD \"1.5 V\" -to Mem0_Rzq\n\
        set_global_assignment -name NEAR_END \"HALF VCCIO\" -rise\n\
        set_location_assignment PIN_A1 -to x\n\
        set_global_assignment -name SDC_FILE {a b.sdc}";

    #[test]
    fn reads_names_values_and_sections() {
        let a = assignments(TEXT);
        let short: Vec<_> = a
            .iter()
            .map(|a| (a.name.as_str(), a.value.as_str(), a.line))
            .collect();
        assert_eq!(
            short,
            [
                ("PARTITION_NETLIST_TYPE", "POST_FIT", 2),
                ("POST_FLOW_SCRIPT_FILE", "quartus_cdb:scripts/x.tcl", 3),
                ("IO_STANDARD", "1.5 V", 4),
                ("NEAR_END", "HALF VCCIO", 5),
                ("SDC_FILE", "a b.sdc", 7),
            ]
        );
        assert_eq!(a[0].section.as_deref(), Some("a:b"));
        assert_eq!(&TEXT[a[0].value_span.clone()], "POST_FIT");
        assert_eq!(&TEXT[a[4].value_span.clone()], "{a b.sdc}");
        assert_eq!(&TEXT[a[2].to_span.clone()], "Mem0_Rzq");
        assert!(a[0].to_span.is_empty());
        assert!(TEXT[a[0].span.clone()].ends_with("\"a:b\"\r\n"));
    }

    #[test]
    fn rectangles_have_sides() {
        let text = "set_global_assignment -width 12 -name LL_RECT X0_Y17 -height 113 -section_id \"a:b\" -tag t";
        let found = &assignments(text)[0];
        assert_eq!(
            (found.name.as_str(), found.value.as_str()),
            ("LL_RECT", "X0_Y17")
        );
        assert_eq!(found.sides, (Some("12".into()), Some("113".into())));
    }

    #[test]
    fn assignments_in_bodies_are_found_and_removals_are_none() {
        let text = "if {[file exists p.qxp]} { set_global_assignment -name PARTITION_IMPORT_FILE p.qxp \\\n \
                    -section_id s }\nset_global_assignment -remove -name PARTITION_IMPORT_FILE -section_id s\n";
        let found = assignments(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].value.as_str(), found[0].section.as_deref()),
            ("p.qxp", Some("s"))
        );
        assert!(text[found[0].span.clone()].starts_with("set_global"));
        assert!(text[found[0].span.clone()].ends_with("-section_id s"));
    }

    #[test]
    fn cut_files_are_found() {
        const LINE: &str =
            "set_instance_assignment -name IO_STANDARD \"1.5 V\" -to Mem0_Dq[23] -tag __x";
        let before = "set_global_assignment -name A b\nset_global_assignment -name C -5\n";
        assert_eq!(cut(before), None);
        assert_eq!(cut(&format!("{before}{LINE}")), None);
        assert_eq!(cut(""), None);
        // The rest may be complete: with a part of the pin's name, or of the remark.
        let (to, tag) = (LINE.find("Mem0").unwrap(), LINE.find(" -tag").unwrap());
        for end in 1..LINE.len() {
            let is_whole = (to + 1..=tag + 1).contains(&end) || end > tag + " -tag ".len();
            let found = cut(&format!("{before}{}", &LINE[..end]));
            assert_eq!(found.is_none(), is_whole, "{}", &LINE[..end]);
            assert!(found.is_none_or(|(line, _)| line == 3));
        }
        for (text, what) in [
            (
                "set_global_assignment -name A b -section_id\n",
                "the option -section_id has no value",
            ),
            (
                "set_global_assignment -name A b -sec",
                "\"-sec\" is not an option",
            ),
            ("set_location_assignment PIN_A1", "it has no -to"),
            (
                "set_location_assignment PIN_A1 -to",
                "the option -to has no value",
            ),
            ("set_inst", "\"set_inst\" is not a command"),
        ] {
            assert_eq!(cut(text), Some((1, what.into())));
        }
        for text in [
            "set x 1",
            "source a.tcl",
            "if {$x} { set_global_assignment -name A b }",
            "# set_glob",
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }
}
