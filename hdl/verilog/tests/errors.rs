//! Designs that cannot be emitted, each with its place and its problem.

use peerlane_language::*;
use peerlane_verilog::{EmitError, Problem, emit};

fn refusal<B: Block + Default>(name: &str) -> EmitError {
    let mut block = B::default();
    block.connect_all();
    match emit(name, &block, "") {
        Err(error) => error,
        Ok(design) => panic!("{}", design.top().verilog),
    }
}

/// Declares a block and tests that it is refused, at that place and with that problem.
macro_rules! refused {
    ($test:ident [ $($fields:tt)* ] $signal:expr, $problem:expr, $($update:tt)*) => {
        #[test]
        fn $test() {
            #[derive(LogicBlock, Default)]
            struct Unit { $($fields)* }
            impl Logic for Unit { $($update)* }
            let error = refusal::<Unit>("top");
            let signal: Option<&str> = $signal;
            assert_eq!((error.block.as_str(), error.signal.as_deref()), ("top", signal), "{error}");
            assert_eq!(error.problem, $problem);
            assert!(!error.hint().is_empty());
        }
    };
}

refused!(latches [ a: Signal<In, Bit>, y: Signal<Out, Bit>, ] Some("y"), Problem::Latch,
#[hdl_gen]
fn update(&mut self) {
    if self.a.val() { self.y.next = true; }
});

refused!(half_assigned_structs [ a: Signal<In, Bit>, s: Signal<Local, Pair>, y: Signal<Out, Bit>, ] Some("s"), Problem::Latch,
#[hdl_gen]
fn update(&mut self) {
    self.s.next.first = self.a.val();
    self.y.next = self.s.val().first;
});

#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct Pair {
    first: Bit,
    second: Bit,
}

refused!(dynamic_index_of_blocks [ sel: Signal<In, Bits<1>>, y: Signal<Out, Bits<4>>, cells: [Signal<Local, Bits<4>>; 2], ]
Some("cells[sel.val().index()]"), Problem::DynamicIndex { index: "sel$val()$index()".into() },
#[hdl_gen]
fn update(&mut self) {
    self.cells[0].next = 1.into();
    self.cells[1].next = 2.into();
    self.y.next = self.cells[self.sel.val().index()].val();
});

const LIMIT: LiteralType = 3;

refused!(rust_constants [ a: Signal<In, Bits<4>>, y: Signal<Out, Bit>, ] Some("LIMIT"), Problem::UnknownName,
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() > LIMIT;
});

refused!(long_literals [ a: Signal<In, Bits<4>>, y: Signal<Out, Bit>, ] Some("y"),
Problem::LiteralTooWide { literal: "0x10".into(), width: 4 },
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() == 16;
});

refused!(signed_arithmetic [ a: Signal<In, Signed<8>>, y: Signal<Out, Signed<8>>, ] Some("y"), Problem::Signed,
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val() + self.a.val();
});

refused!(tri_states [ pad: Signal<InOut, Bit>, y: Signal<Out, Bit>, ] Some("pad"), Problem::Bidirectional,
    fn update(&mut self) {}
    fn connect(&mut self) { self.y.connect(); self.pad.connect(); }
    fn hdl(&self) -> Verilog { Verilog::Combinatorial(vec![]) });

refused!(index_arithmetic [ a: Signal<In, Bits<16>>, i: Signal<In, Bits<3>>, y: Signal<Out, Bit>, ] Some("y"), Problem::AmbiguousIndex,
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bit(self.i.val().index() + 1);
});

refused!(bits_past_the_end [ a: Signal<In, Bits<8>>, y: Signal<Out, Bit>, ] Some("y"),
Problem::IndexOutOfRange { index: 8, width: 8 },
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val().get_bit(8);
});

refused!(wires_in_the_middle [ a: Signal<In, Bits<8>>, t: Signal<Local, Bits<8>>, y: Signal<Out, Bits<3>>, z: Signal<Out, Bits<8>>, ]
Some("t"), Problem::OrderedHoist,
#[hdl_gen]
fn update(&mut self) {
    self.t.next = self.a.val();
    self.y.next = (self.t.val() + 1).get_bits::<3>(4);
    self.t.next = self.t.val() + 3;
    self.z.next = self.t.val();
});

refused!(reads_of_what_the_same_statement_drives [ a: Signal<In, Bit>, t: Signal<Local, Bit>, y: Signal<Out, Bit>, ]
Some("t"), Problem::LogicLoop,
#[hdl_gen]
fn update(&mut self) {
    self.y.next = false;
    if self.t.val() {
        self.y.next = true;
        self.t.next = false;
    } else {
        self.t.next = self.a.val();
    }
});

refused!(unassigned_outputs [ a: Signal<In, Bit>, y: Signal<Out, Bit>, z: Signal<Out, Bit>, ] Some("z"), Problem::Open,
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.a.val();
});

refused!(written_inputs [ a: Signal<In, Bit>, y: Signal<Out, Bit>, ] Some("a"), Problem::WritesInput,
#[hdl_gen]
fn update(&mut self) {
    self.a.next = true;
    self.y.next = self.a.val();
});

refused!(reserved_ports [ table: Signal<In, Bit>, y: Signal<Out, Bit>, ] Some("table"), Problem::Keyword,
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.table.val();
});

#[derive(Clone, Debug, Default, LogicInterface)]
struct Bus {
    valid: Signal<In, Bit>,
}

refused!(equal_port_names [ bus: Bus, bus_valid: Signal<In, Bit>, y: Signal<Out, Bit>, ] Some("bus_valid"),
Problem::NameCollision { name: "bus_valid".into() },
#[hdl_gen]
fn update(&mut self) {
    self.y.next = self.bus.valid.val() ^ self.bus_valid.val();
});

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum Lonely {
    Only,
}

refused!(enums_of_one_state [ s: Signal<Local, Lonely>, y: Signal<Out, Bit>, ] Some("s"), Problem::ZeroWidth,
#[hdl_gen]
fn update(&mut self) {
    self.s.next = Lonely::Only;
    self.y.next = self.s.val() == Lonely::Only;
});

refused!(inverted_register_clocks [ clock: Signal<In, Clock>, y: Signal<Out, Bit>, bit: DFF<Bit>, ] Some("bit.clock"), Problem::ClockExpression,
#[hdl_gen]
fn update(&mut self) {
    self.bit.clock.next = !self.clock.val();
    self.bit.d.next = !self.bit.q.val();
    self.y.next = self.bit.q.val();
});

refused!(read_back_inputs [ a: Signal<In, Bit>, y: Signal<Out, Bit>, clock: Signal<In, Clock>, bit: DFF<Bit>, ] Some("bit.d"), Problem::ReadsOwnInput,
#[hdl_gen]
fn update(&mut self) {
    self.bit.clock.next = self.clock.val();
    self.bit.d.next = false;
    self.y.next = self.bit.q.val();
    if self.a.val() {
        self.bit.d.next = true;
        self.y.next = self.bit.d.val();
    }
});

refused!(blocks_without_verilog [ y: Signal<Out, Bit>, ] None, Problem::NoVerilog { kind: "without Verilog" },
    fn update(&mut self) {}
    fn connect(&mut self) { self.y.connect(); });

refused!(wrappers [ y: Signal<Out, Bit>, ] None, Problem::NoVerilog { kind: "of kind `Wrapper`" },
    fn update(&mut self) {}
    fn connect(&mut self) { self.y.connect(); }
    fn hdl(&self) -> Verilog { Verilog::Wrapper(Wrapper { code: String::new(), cores: String::new() }) });

#[test]
fn errors_name_the_block_in_the_tree() {
    #[derive(LogicBlock, Default)]
    struct Inner {
        a: Signal<In, Bits<4>>,
        y: Signal<Out, Bits<4>>,
    }
    impl Logic for Inner {
        #[hdl_gen]
        fn update(&mut self) {
            if self.a.val().any() {
                self.y.next = self.a.val();
            }
        }
    }
    #[derive(LogicBlock, Default)]
    struct Outer {
        a: Signal<In, Bits<4>>,
        y: Signal<Out, Bits<4>>,
        list: [Inner; 2],
    }
    impl Logic for Outer {
        #[hdl_gen]
        fn update(&mut self) {
            self.list[0].a.next = self.a.val();
            self.list[1].a.next = self.list[0].y.val();
            self.y.next = self.list[1].y.val();
        }
    }
    let error = refusal::<Outer>("top");
    assert_eq!(error.block, "top.list.0");
    assert_eq!(
        error.to_string(),
        "block `top.list.0`, `y`: keeps its value on some path through `update`: a latch"
    );
    assert_eq!(error.hint(), "give it a default at the top of `update`");
    assert_eq!(refusal::<Outer>("reg").problem, Problem::Keyword);
    assert_eq!(refusal::<Outer>("no-name").problem, Problem::BadIdentifier);
}
