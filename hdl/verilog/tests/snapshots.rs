//! The text of some designs, for the eye; and that every form is emitted.

#[allow(dead_code, reason = "the simulation of the corpus is in another test")]
mod corpus;

use corpus::Form;
use peerlane_language::Block;
use peerlane_verilog::{Design, Direction, emit};

fn design<F: Form>() -> Design {
    let mut block = F::default();
    block.connect_all();
    emit(F::NAME, &block, "An example.\n\nMap 0x1234.")
        .unwrap_or_else(|e| panic!("{}: {e}", F::NAME))
}

fn text<F: Form>() -> String {
    design::<F>()
        .modules
        .iter()
        .map(|m| format!("==== {}.v\n{}", m.name, m.verilog))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn all_forms_are_emitted() {
    macro_rules! check {
        ($module:ident: $($form:ident),* $(,)?) => {
            $({
                let design = design::<corpus::$module::$form>();
                assert_eq!(design.top().name, stringify!($form));
                for module in &design.modules {
                    assert!(module.verilog.starts_with("// An example.\n//\n// Map 0x1234.\n"));
                    assert!(module.verilog.ends_with("endmodule\n"));
                }
            })*
        };
    }
    for_all_forms!(check);
}

#[test]
fn ports_are_those_of_the_top() {
    let ports = design::<corpus::sequential::Handshake>().ports;
    let found: Vec<_> = ports
        .iter()
        .map(|p| (p.name.as_str(), p.direction, p.width))
        .collect();
    assert_eq!(
        found,
        [
            ("clock", Direction::Input, 1),
            ("go", Direction::Input, 1),
            ("size", Direction::Input, 4),
            ("state_bits", Direction::Output, 2),
            ("granted", Direction::Output, 1),
            ("got", Direction::Output, 8),
        ]
    );
}

#[test]
fn interfaces_name_their_ports() {
    let mut pipe = corpus::hierarchy::Pipe::<8>::default();
    pipe.connect_all();
    let ports = emit("pipe", &pipe, "").unwrap().ports;
    let names: Vec<_> = ports.iter().map(|p| p.name.as_str()).collect();
    let expected = [
        "sink_valid",
        "sink_data",
        "sink_ready",
        "source_valid",
        "source_data",
        "source_ready",
        "mask",
    ];
    assert_eq!(names, expected);
}

#[test]
fn equal_modules_are_emitted_once() {
    let names = |design: Design| {
        design
            .modules
            .into_iter()
            .map(|m| m.name)
            .collect::<Vec<_>>()
    };
    // Two adders of eight bits and one of twelve.
    let children = names(design::<corpus::hierarchy::Children>());
    assert_eq!(children, ["Children_first", "Children_third", "Children"]);
    // Three taps of one width, in an array, and another.
    let delays = names(design::<corpus::sequential::DelayLine>());
    assert_eq!(delays, ["DelayLine_taps", "DelayLine_other", "DelayLine"]);
}

#[test]
fn what_nothing_reads_is_reported() {
    let unread = design::<corpus::combinational::UnusedBits>().unread;
    let found: Vec<_> = unread
        .iter()
        .map(|u| (u.signal.as_str(), u.bits.as_slice()))
        .collect();
    let a = [(31, 16), (7, 7), (2, 0)].as_slice();
    assert_eq!(found, [("a", a), ("b", &[(7, 0)]), ("t", &[(7, 0)])]);
}

#[test]
fn emission_is_deterministic() {
    let first = design::<corpus::sequential::StateMachine>();
    assert_eq!(first, design::<corpus::sequential::StateMachine>());
}

macro_rules! snapshot {
    ($($test:ident: $module:ident::$form:ident),* $(,)?) => {
        $(#[test]
        fn $test() {
            insta::assert_snapshot!(text::<corpus::$module::$form>());
        })*
    };
}

snapshot! {
    local_order: combinational::LocalOrder,
    get_bits_dynamic: combinational::GetBitsDynamic,
    struct_fields: combinational::StructFields,
    whole_struct: combinational::WholeStruct,
    constants: combinational::Constants,
    unused_bits: combinational::UnusedBits,
    keywords: combinational::Keywords,
    enum_match: combinational::EnumMatch,
    children: hierarchy::Children,
    child_array: hierarchy::ChildArray,
    interfaces: hierarchy::Interfaces,
    bundles: hierarchy::Bundles,
    custom_text: hierarchy::CustomText,
    state_machine: sequential::StateMachine,
    handshake: sequential::Handshake,
    registers: sequential::Registers,
    memory: sequential::Memory,
}
