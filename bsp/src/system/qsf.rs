//! Quartus settings files: one Tcl command a line. Read word by word, changed line by line.

use std::ops::Range;

/// Words of a line that are read. An assignment with all its options has fewer.
const MOST_WORDS: usize = 32;

/// A `set_global_assignment` or `set_instance_assignment`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The value of `-name`, in capitals.
    pub name: String,
    /// Its value; empty if it has none.
    pub value: String,
    /// The value of `-section_id`.
    pub section: Option<String>,
    /// Line, counted from 1.
    pub line: usize,
    /// The bytes of the line with its end.
    pub span: Range<usize>,
    /// The bytes of the value, with quotes.
    pub value_span: Range<usize>,
}

/// The assignments of a file. Comments and other commands are passed over.
pub fn assignments(text: &str) -> Vec<Assignment> {
    let mut found = Vec::new();
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let span = at..at + line.len();
        if let Some(mut assignment) = assignment(line, at) {
            assignment.line = number + 1;
            assignment.span = span;
            found.push(assignment);
        }
        at += line.len();
    }
    found
}

fn assignment(line: &str, offset: usize) -> Option<Assignment> {
    let words = words(line);
    let command = &words.first()?.0;
    if command != "set_global_assignment" && command != "set_instance_assignment" {
        return None;
    }
    let mut found = Assignment {
        name: String::new(),
        value: String::new(),
        section: None,
        line: 0,
        span: 0..0,
        value_span: offset..offset,
    };
    let mut rest = words[1..].iter();
    while let Some((word, span)) = rest.next() {
        match word.as_str() {
            "-name" => found.name = rest.next()?.0.to_uppercase(),
            "-section_id" => found.section = Some(rest.next()?.0.clone()),
            "-to" | "-from" | "-tag" | "-entity" | "-comment" | "-library" => {
                rest.next();
            }
            _ if word.starts_with('-')
                && span.len() > 1
                && found.value_span.is_empty()
                && is_option(word) => {}
            _ if found.value_span.is_empty() => {
                found.value = word.clone();
                found.value_span = offset + span.start..offset + span.end;
            }
            _ => {}
        }
    }
    (!found.name.is_empty()).then_some(found)
}

fn is_option(word: &str) -> bool {
    matches!(word, "-rise" | "-fall" | "-disable" | "-remove")
}

/// The words of a line of Tcl with their bytes; none for a comment.
fn words(line: &str) -> Vec<(String, Range<usize>)> {
    let mut words = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some(&(start, c)) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        if c == '#' && words.is_empty() {
            break;
        }
        if c == ';' || words.len() == MOST_WORDS {
            break;
        }
        let mut word = String::new();
        let mut end = start;
        let close = match c {
            '"' => Some('"'),
            '{' => Some('}'),
            _ => None,
        };
        if close.is_some() {
            chars.next();
        }
        while let Some(&(at, c)) = chars.peek() {
            if close.is_none() && c.is_whitespace() {
                break;
            }
            chars.next();
            end = at + c.len_utf8();
            if Some(c) == close {
                break;
            }
            word.push(c);
        }
        words.push((word, start..end));
    }
    words
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
        assert!(TEXT[a[0].span.clone()].ends_with("\"a:b\"\r\n"));
    }
}
