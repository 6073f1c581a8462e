//! Verilog identifiers: reserved words, legality, uniqueness.

use std::collections::HashSet;

/// Reserved words of IEEE 1364-2005 Annex B and of IEEE 1800-2017 Annex B.
const RESERVED: &str = "
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before
begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class
clocking cmos config const constraint context continue cover covergroup coverpoint cross deassign
default defparam design disable dist do edge else end endcase endchecker endclass endclocking
endconfig endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive
endprogram endproperty endspecify endsequence endtable endtask enum event eventually expect export
extends extern final first_match for force foreach forever fork forkjoin function generate genvar
global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir
include initial inout input inside instance int integer interconnect interface intersect join
join_any join_none large let liblist library local localparam logic longint macromodule matches
medium modport module nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1
null or output package packed parameter pmos posedge primitive priority program property protected
pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos
rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence
shortint shortreal showcancelled signed small soft solve specify specparam static string strong
strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this
throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type
typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void
wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// Names that tools put into their own code or packages: Verilator 5.048 warns
/// of the C++ words (SYMRSVDWORD) and of those of SystemVerilog's `std`.
const TOOLS: &str = "
abort alignas alignof and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bit_vector bitand
bitor bool catch cdecl char char16_t char32_t compl concept const_cast const_iterator constexpr
decltype delete double dynamic_cast explicit false far float friend goto huge inline interrupt
mailbox mutable namespace near noexcept not_eq nullptr operator or_eq pascal private process public
randomize register requires sc_clock sc_in sc_inout sc_out sc_signal semaphore sensitive
sensitive_neg sensitive_pos short sizeof static_assert static_cast std switch synchronized template
thread_local throw transaction_safe transaction_safe_dynamic true try type_info typeid typename
uint16_t uint32_t uint8_t using volatile wchar_t xor_eq";

/// True for a word that Verilog or SystemVerilog reserves, or that trips tools.
pub fn is_reserved(word: &str) -> bool {
    let mut words = RESERVED
        .split_ascii_whitespace()
        .chain(TOOLS.split_ascii_whitespace());
    words.any(|reserved| reserved == word)
}

/// True for a plain Verilog identifier.
pub(crate) fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The Verilog form of a path of Rust fields.
pub(crate) fn flatten(path: &str) -> String {
    path.replace("::", "_").replace('$', "_")
}

/// The names in use in one module.
#[derive(Default)]
pub(crate) struct Namespace {
    taken: HashSet<String>,
}

impl Namespace {
    /// Takes exactly `name`; false if that is not possible.
    pub fn claim(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// Takes `wish`, or the next free name like it.
    pub fn unique(&mut self, wish: &str) -> String {
        let base = if is_reserved(wish) {
            format!("{wish}_")
        } else {
            wish.to_owned()
        };
        if self.claim(&base) {
            return base;
        }
        let mut number = 1;
        loop {
            let name = format!("{base}_{number}");
            if self.claim(&name) {
                return name;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_of_both_languages() {
        for word in ["reg", "uwire", "logic", "unique", "config", "register"] {
            assert!(is_reserved(word), "{word}");
        }
        assert!(!is_reserved("address"));
        assert!(!is_reserved(""));
    }

    #[test]
    fn unique_names_avoid_keywords_and_each_other() {
        let mut names = Namespace::default();
        assert_eq!(names.unique("table"), "table_");
        assert_eq!(names.unique("a"), "a");
        assert_eq!(names.unique("a"), "a_1");
        assert_eq!(names.unique("a"), "a_2");
    }
}
