//! Rules for names.

use crate::error::ErrorKind;

/// The two spellings of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// Blocks, fields, records, members, enumerations.
    Snake,
    /// Registers and enumeration values.
    Upper,
}

impl Case {
    fn name(self) -> &'static str {
        match self {
            Case::Snake => "snake_case",
            Case::Upper => "UPPER_CASE",
        }
    }

    fn allows(self, c: char) -> bool {
        match self {
            Case::Snake => c.is_ascii_lowercase(),
            Case::Upper => c.is_ascii_uppercase(),
        }
    }
}

/// Checks the spelling of a name, and that no target language keeps it for itself. A name is used
/// in both cases (an RTL port of register `RING` begins with `ring`), so words count in any case.
pub(crate) fn check(name: &str, case: Case) -> Result<(), ErrorKind> {
    let spelled = name.starts_with(|c| case.allows(c))
        && name
            .chars()
            .all(|c| case.allows(c) || c.is_ascii_digit() || c == '_')
        && !name.ends_with('_')
        && !name.contains("__");
    if !spelled {
        return Err(ErrorKind::Name {
            name: name.to_owned(),
            case: case.name(),
        });
    }
    let lower = name.to_ascii_lowercase();
    for (language, words) in RESERVED {
        if words.split_ascii_whitespace().any(|word| word == lower) {
            return Err(ErrorKind::ReservedWord {
                name: name.to_owned(),
                language,
            });
        }
    }
    Ok(())
}

/// Reserved words. Verilog: IEEE 1364-2005, annex B. C: ISO/IEC 9899:2024, 6.4.1, without the
/// words in `_Capitals` that no name here can have. Rust: The Rust Reference, "Keywords".
/// SystemRDL: SystemRDL 2.0, table 3.
const RESERVED: [(&str, &str); 4] = [
    (
        "Verilog",
        "always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config \
         deassign default defparam design disable edge else end endcase endconfig endfunction \
         endgenerate endmodule endprimitive endspecify endtable endtask event for force forever \
         fork function generate genvar highz0 highz1 if ifnone incdir include initial inout input \
         instance integer join large liblist library localparam macromodule medium module nand \
         negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos posedge \
         primitive pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent rcmos real \
         realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled \
         signed small specify specparam strong0 strong1 supply0 supply1 table task time tran \
         tranif0 tranif1 tri tri0 tri1 triand trior trireg unsigned use uwire vectored wait wand \
         weak0 weak1 while wire wor xnor xor",
    ),
    (
        "C",
        "alignas alignof auto bool break case char const constexpr continue default do double else \
         enum extern false float for goto if inline int long nullptr register restrict return \
         short signed sizeof static static_assert struct switch thread_local true typedef typeof \
         typeof_unqual union unsigned void volatile while",
    ),
    (
        "Rust",
        "abstract as async await become box break const continue crate do dyn else enum extern \
         false final fn for gen if impl in let loop macro match mod move mut override priv pub ref \
         return self static struct super trait true try type typeof unsafe unsized use virtual \
         where while yield",
    ),
    (
        "SystemRDL",
        "abstract accesstype addressingtype addrmap alias all bit boolean bothedge compact \
         component componentwidth constraint default encode enum external false field fullalign hw \
         inside internal level longint mem na negedge nonsticky number onreadtype onwritetype \
         posedge property r rclr ref reg regalign regfile rset ruser rw rw1 signal string struct \
         sw this true type unsigned w w1 wclr woclr woset wot wr wset wuser wzc wzs wzt",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names() {
        for name in ["a", "queue_free", "caps0", "txs_addr_bits"] {
            assert_eq!(check(name, Case::Snake), Ok(()));
            assert_eq!(check(&name.to_uppercase(), Case::Upper), Ok(()));
        }
    }

    #[test]
    fn bad_spelling() {
        for name in ["", "A", "a__b", "a_", "_a", "0a", "a-b", "ä"] {
            assert!(matches!(
                check(name, Case::Snake),
                Err(ErrorKind::Name {
                    case: "snake_case",
                    ..
                })
            ));
        }
        assert!(matches!(
            check("Ring", Case::Upper),
            Err(ErrorKind::Name {
                case: "UPPER_CASE",
                ..
            })
        ));
    }

    #[test]
    fn reserved_words_in_any_case() {
        for (name, case, language) in [
            ("release", Case::Snake, "Verilog"),
            ("EVENT", Case::Upper, "Verilog"),
            ("register", Case::Snake, "C"),
            ("match", Case::Snake, "Rust"),
            ("TYPE", Case::Upper, "Rust"),
            ("rclr", Case::Snake, "SystemRDL"),
        ] {
            let expected = ErrorKind::ReservedWord {
                name: name.to_owned(),
                language,
            };
            assert_eq!(check(name, case), Err(expected));
        }
    }
}
