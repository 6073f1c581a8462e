//! Each form of expression, from AST to text.

use peerlane_language::ast::{
    VerilogExpression as Ast, VerilogLiteral, VerilogOp as Op, VerilogOpUnary as Unary,
};
use peerlane_language::*;

use super::Context;
use crate::collect::{AtomInfo, Node};
use crate::error::Problem;
use crate::print::Printer;
use crate::signals::{Role, Signals};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
#[allow(dead_code, reason = "named in the AST only")]
enum State {
    Idle,
    Busy,
    Done,
}

fn atom(name: &str, kind: AtomKind, ty: TypeDescriptor, width: usize, value: u32) -> AtomInfo {
    AtomInfo {
        doc: Vec::new(),
        name: name.into(),
        kind,
        width,
        value: value.into(),
        ty,
    }
}

fn node() -> Node {
    let input = AtomKind::InputParameter;
    Node {
        doc: Vec::new(),
        about: Vec::new(),
        module_name: None,
        name: "top".into(),
        path: "top".into(),
        atoms: vec![
            atom("a", input, Bits::<8>::descriptor(), 8, 0),
            atom("b", input, Bits::<8>::descriptor(), 8, 0),
            atom("c", input, bool::descriptor(), 1, 0),
            atom("i", input, Bits::<3>::descriptor(), 3, 0),
            atom("w", input, Bits::<40>::descriptor(), 40, 0),
            atom("state", input, State::descriptor(), 2, 0),
            atom("mask", AtomKind::Constant, Bits::<8>::descriptor(), 8, 0xA5),
            atom("list$1", input, Bits::<8>::descriptor(), 8, 0),
        ],
        children: Vec::new(),
        code: Verilog::Empty,
        register: None,
    }
}

/// Returns the text of an expression in a place of that width, after its wires.
fn text(ast: &Ast, width: usize) -> Result<String, Problem> {
    let node = node();
    let mut context = Context {
        node: &node,
        signals: Signals::of(&node).map_err(|e| e.problem)?,
        loops: vec![("n".into(), 5)],
        hoisted: Vec::new(),
        hint: "y".into(),
    };
    let expr = context.typed(ast, width).map_err(|e| e.problem)?;
    let signals = context.signals;
    let names: Vec<String> = signals
        .ids()
        .map(|id| signals[id].name.replace('$', "_"))
        .collect();
    let mut constants = std::collections::BTreeMap::new();
    expr.for_each_const(&mut |_, _, name| {
        constants.extend(name.map(|name| (name.clone(), name.0.clone())));
    });
    let printer = Printer {
        signals: &signals,
        names: &names,
        constants: &constants,
    };
    let mut out = String::new();
    for id in context.hoisted {
        if let Role::Hoisted { source, low } = &signals[id].role {
            let high = low + signals[id].width - 1;
            out += &format!("{} = ({})[{high}:{low}]; ", names[id], printer.expr(source));
        }
    }
    Ok(out + &printer.expr(&expr))
}

#[track_caller]
fn check(ast: Ast, width: usize, expected: &str) {
    assert_eq!(text(&ast, width).as_deref(), Ok(expected));
}

#[track_caller]
fn refuse(ast: Ast, width: usize, expected: Problem) {
    assert_eq!(text(&ast, width), Err(expected));
}

fn sig(name: &str) -> Ast {
    Ast::Signal(name.into())
}

fn lit(value: impl Into<VerilogLiteral>) -> Ast {
    Ast::Literal(value.into())
}

fn bin(l: Ast, op: Op, r: Ast) -> Ast {
    Ast::Binary(Box::new(l), op, Box::new(r))
}

fn un(op: Unary, e: Ast) -> Ast {
    Ast::Unary(op, Box::new(e))
}

fn cast(e: Ast, width: usize) -> Ast {
    Ast::Cast(Box::new(e), width)
}

fn slice(e: Ast, width: usize, at: Ast) -> Ast {
    Ast::Slice(Box::new(e), width, Box::new(at))
}

fn index(e: Ast, at: Ast) -> Ast {
    Ast::Index(Box::new(e), Box::new(at))
}

#[test]
fn names_and_literals() {
    check(sig("a"), 8, "a");
    check(sig("list[n-4]"), 8, "list_1");
    check(sig("mask"), 8, "mask");
    check(sig("State$Done"), 2, "State_Done");
    check(lit(5), 8, "8'd5");
    check(lit(200), 8, "8'hc8");
    check(lit(true), 1, "1'b1");
    check(sig("n"), 8, "8'd5");
    // Above 32 bits rust-hdl cuts literals.
    check(lit(0x1FF_FFFF_FFFFu64), 40, "40'hffffffffff");
}

#[test]
fn operators_get_parentheses_and_widths() {
    let and = bin(sig("a"), Op::BitAnd, sig("b"));
    check(bin(and.clone(), Op::Eq, lit(3)), 1, "(a & b) == 8'd3");
    check(
        bin(and, Op::BitOr, un(Unary::Not, sig("a"))),
        8,
        "(a & b) | (~a)",
    );
    check(
        bin(bin(sig("a"), Op::Add, lit(1)), Op::Lt, sig("b")),
        1,
        "(a + 8'd1) < b",
    );
    check(
        bin(sig("a"), Op::Sub, bin(sig("b"), Op::Sub, lit(1))),
        8,
        "a - (b - 8'd1)",
    );
    check(bin(sig("a"), Op::BitXor, sig("mask")), 8, "a ^ mask");
    check(bin(sig("c"), Op::LogicalAnd, lit(true)), 1, "c && 1'b1");
    check(
        bin(sig("state"), Op::Ne, sig("State$Idle")),
        1,
        "state != State_Idle",
    );
}

#[test]
fn literals_on_the_left() {
    check(bin(lit(9), Op::Sub, sig("a")), 8, "8'd9 - a");
    check(bin(lit(9), Op::Lt, sig("a")), 1, "a > 8'd9");
    check(bin(lit(9), Op::Ge, sig("a")), 1, "a <= 8'd9");
}

#[test]
fn a_bit_is_widened_to_be_added() {
    check(bin(sig("a"), Op::Add, sig("c")), 8, "a + {7'd0, c}");
    check(bin(sig("a"), Op::Add, lit(true)), 8, "a + 8'd1");
}

#[test]
fn shifts() {
    check(bin(sig("a"), Op::Shl, sig("i")), 8, "a << i");
    check(
        bin(bin(sig("a"), Op::Add, sig("b")), Op::Shr, lit(1)),
        8,
        "(a + b) >> 1'b1",
    );
    check(bin(sig("a"), Op::Shr, lit(8)), 8, "8'd0");
    check(bin(lit(1), Op::Shl, sig("i")), 64, "64'd1 << i");
}

#[test]
fn products_widen() {
    let product = bin(cast(sig("a"), 16), Op::Mul, cast(sig("b"), 16));
    check(product, 32, "{24'd0, a} * {24'd0, b}");
}

#[test]
fn reductions() {
    check(un(Unary::All, sig("a")), 1, "&a");
    check(
        un(Unary::Any, bin(sig("a"), Op::BitAnd, sig("b"))),
        1,
        "|(a & b)",
    );
    check(un(Unary::Xor, sig("w")), 1, "^w");
}

#[test]
fn casts() {
    check(cast(sig("a"), 12), 12, "{4'd0, a}");
    check(
        cast(bin(sig("a"), Op::Add, sig("b")), 9),
        9,
        "{1'b0, a + b}",
    );
    check(cast(sig("w"), 8), 8, "w[7:0]");
    check(cast(bin(sig("w"), Op::Sub, lit(1)), 8), 8, "w[7:0] - 8'd1");
    check(
        cast(bin(sig("w"), Op::Shr, sig("i")), 8),
        8,
        "y_bits = (w >> i)[7:0]; y_bits",
    );
    check(cast(lit(7), 100), 100, "100'd7");
}

#[test]
fn slices() {
    check(slice(sig("w"), 4, lit(10)), 4, "w[13:10]");
    check(slice(sig("w"), 8, lit(36)), 8, "{4'd0, w[39:36]}");
    check(
        slice(bin(sig("a"), Op::BitXor, sig("b")), 3, lit(2)),
        3,
        "a[4:2] ^ b[4:2]",
    );
    check(
        slice(bin(sig("a"), Op::Add, sig("b")), 3, lit(2)),
        3,
        "y_bits = (a + b)[4:2]; y_bits",
    );
    check(
        slice(sig("a"), 2, sig("i")),
        2,
        "y_bits = (a >> i)[1:0]; y_bits",
    );
    check(slice(sig("mask"), 4, lit(4)), 4, "4'ha");
    check(
        slice(bin(sig("w"), Op::Shl, lit(4)), 8, lit(0)),
        8,
        "{w[3:0], 4'd0}",
    );
}

#[test]
fn single_bits() {
    check(index(sig("a"), lit(7)), 1, "a[7]");
    check(index(sig("a"), sig("i")), 1, "a[i]");
    // The index of a longer value is widened.
    check(index(sig("w"), sig("i")), 1, "w[{3'd0, i}]");
    // An index that may pass the end shifts instead.
    check(
        index(sig("state"), sig("i")),
        1,
        "y_bits = (state >> i)[0:0]; y_bits",
    );
    refuse(
        index(sig("a"), lit(8)),
        1,
        Problem::IndexOutOfRange { index: 8, width: 8 },
    );
}

#[test]
fn index_arithmetic() {
    let lane = bin(sig("i"), Op::Mul, lit(8));
    check(slice(sig("w"), 40, lane.clone()), 40, "w >> {i, 3'd0}");
    let plus = bin(lane, Op::Add, lit(3));
    check(
        slice(sig("w"), 40, plus),
        40,
        "w >> ({1'b0, i, 3'd0} + 7'd3)",
    );
    let three = bin(sig("i"), Op::Mul, lit(3));
    check(slice(sig("w"), 40, three), 40, "w >> ({2'd0, i} * 5'd3)");
    let loops = bin(bin(sig("n"), Op::Mul, lit(4)), Op::Add, lit(1));
    check(index(sig("w"), loops), 1, "w[21]");
    // `.index() + 1` or `(… + 1).index()`?
    let plus = Ast::Paren(Box::new(bin(sig("i"), Op::Add, lit(1))));
    refuse(index(sig("w"), plus), 1, Problem::AmbiguousIndex);
}

#[test]
fn replaced_bits() {
    let replace = |at: Ast| Ast::IndexReplace(Box::new(sig("a")), Box::new(at), Box::new(sig("c")));
    check(replace(lit(3)), 8, "{a[7:4], c, a[2:0]}");
    check(replace(lit(0)), 8, "{a[7:1], c}");
    check(replace(lit(7)), 8, "{c, a[6:0]}");
    check(
        replace(sig("i")),
        8,
        "(a & (~(8'd1 << i))) | ({7'd0, c} << i)",
    );
}

#[test]
fn comparisons_that_are_decided() {
    check(bin(sig("a"), Op::Ge, lit(0)), 1, "1'b1");
    check(bin(sig("a"), Op::Gt, lit(255)), 1, "1'b0");
    // A loop variable beyond all values of a three-bit signal.
    let big = bin(sig("n"), Op::Add, lit(4));
    check(bin(sig("i"), Op::Eq, big.clone()), 1, "1'b0");
    check(bin(sig("i"), Op::Lt, big), 1, "1'b1");
    check(bin(sig("i"), Op::Eq, sig("n")), 1, "i == 3'd5");
}

#[test]
fn what_cannot_be_said() {
    refuse(sig("N"), 8, Problem::UnknownName);
    refuse(
        sig("a"),
        9,
        Problem::Width {
            expected: 9,
            found: 8,
        },
    );
    refuse(
        bin(sig("a"), Op::Add, sig("w")),
        8,
        Problem::Width {
            expected: 8,
            found: 40,
        },
    );
    refuse(
        lit(256),
        8,
        Problem::LiteralTooWide {
            literal: "0x100".into(),
            width: 8,
        },
    );
    refuse(un(Unary::Any, lit(1)), 1, Problem::UntypedLiteral);
    refuse(Ast::Signed(Box::new(sig("a"))), 8, Problem::Signed);
    refuse(bin(lit(1), Op::Sub, lit(2)), 8, Problem::NegativeConstant);
    let problem = Problem::DynamicIndex {
        index: "i$val()".into(),
    };
    refuse(sig("list[i$val()]"), 8, problem);
}
