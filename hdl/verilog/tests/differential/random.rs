//! Random expressions, built as AST at run time and evaluated with rust-hdl's own types.

use num_bigint::BigUint;
use peerlane_language::ast::{VerilogExpression as Ast, VerilogOp as Op, VerilogOpUnary as Unary};
use peerlane_language::*;
use peerlane_verilog::emit;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::corpus::{Number, number};
use crate::{Case, drive, files};

/// The widths in play: below, at and above a byte, and above rust-hdl's short form.
const WIDTHS: [usize; 4] = [1, 8, 13, 40];

/// An expression with its width, as AST and as a function.
enum Tree {
    Input(usize),
    Literal(u64, usize),
    Binary(Op, Box<Tree>, Box<Tree>),
    Compare(Op, Box<Tree>, Box<Tree>),
    Shift(Op, Box<Tree>, Box<Tree>),
    ShiftBy(Op, Box<Tree>, u64),
    Not(Box<Tree>),
    Reduce(Unary, Box<Tree>),
    Cast(Box<Tree>, usize),
    Slice(Box<Tree>, usize, usize),
    SliceAt(Box<Tree>, usize, Box<Tree>),
    Bit(Box<Tree>, usize),
    Replace(Box<Tree>, usize, Box<Tree>),
}

/// A value of one of the widths.
#[derive(Clone, Copy)]
enum Value {
    W1(bool),
    W8(Bits<8>),
    W13(Bits<13>),
    W40(Bits<40>),
}

/// Applies an expression to the `Bits` inside; bits of one are `Bits<1>` here.
macro_rules! map {
    ($value:expr, |$x:ident| $result:expr) => {
        match $value {
            Value::W1(b) => {
                let $x: Bits<1> = b.into();
                $result
            }
            Value::W8($x) => $result,
            Value::W13($x) => $result,
            Value::W40($x) => $result,
        }
    };
}

macro_rules! zip {
    ($l:expr, $r:expr, |$a:ident, $b:ident| $result:expr) => {
        match ($l, $r) {
            (Value::W1(a), Value::W1(b)) => {
                let ($a, $b): (Bits<1>, Bits<1>) = (a.into(), b.into());
                $result
            }
            (Value::W8($a), Value::W8($b)) => $result,
            (Value::W13($a), Value::W13($b)) => $result,
            (Value::W40($a), Value::W40($b)) => $result,
            _ => unreachable!("operands have one width"),
        }
    };
}

impl From<Bits<1>> for Value {
    fn from(x: Bits<1>) -> Value {
        Value::W1(x.into())
    }
}
impl From<Bits<8>> for Value {
    fn from(x: Bits<8>) -> Value {
        Value::W8(x)
    }
}
impl From<Bits<13>> for Value {
    fn from(x: Bits<13>) -> Value {
        Value::W13(x)
    }
}
impl From<Bits<40>> for Value {
    fn from(x: Bits<40>) -> Value {
        Value::W40(x)
    }
}

fn cast(value: Value, width: usize) -> Value {
    map!(value, |x| match width {
        1 => bit_cast::<1, _>(x).into(),
        8 => bit_cast::<8, _>(x).into(),
        13 => bit_cast::<13, _>(x).into(),
        _ => bit_cast::<40, _>(x).into(),
    })
}

fn shift_right(value: Value, by: u64) -> Value {
    map!(value, |x| (x >> by).into())
}

impl Tree {
    fn random(rng: &mut ChaCha8Rng, width: usize, depth: usize) -> Tree {
        if depth == 0 || rng.random_ratio(1, 12) {
            let at = WIDTHS
                .iter()
                .position(|w| *w == width)
                .expect("a known width");
            return match rng.random_range(0..5) {
                0 if width > 1 => Tree::Literal(rng.random::<u64>() & ((1 << width) - 1), width),
                1 => Tree::Literal(u64::from(rng.random::<bool>()), width),
                n => Tree::Input(at * 2 + n % 2),
            };
        }
        let sub = |rng: &mut ChaCha8Rng, w| Box::new(Tree::random(rng, w, depth - 1));
        let any = |rng: &mut ChaCha8Rng| WIDTHS[rng.random_range(0..WIDTHS.len())];
        let typed = |rng: &mut ChaCha8Rng, w| loop {
            // Of two literals rust-hdl would make a plain integer.
            let tree = Tree::random(rng, w, depth - 1);
            if !tree.is_literal() {
                return Box::new(tree);
            }
        };
        let bitwise = [Op::BitAnd, Op::BitOr, Op::BitXor];
        match rng.random_range(0..if width == 1 { 16 } else { 11 }) {
            0..=2 if width > 1 => {
                let op = if rng.random() { Op::Add } else { Op::Sub };
                Tree::Binary(op, typed(rng, width), sub(rng, width))
            }
            0..=4 => {
                let op = bitwise[rng.random_range(0..3)].clone();
                Tree::Binary(op, typed(rng, width), sub(rng, width))
            }
            5 => Tree::Not(typed(rng, width)),
            6 if width > 1 => {
                let op = if rng.random() { Op::Shl } else { Op::Shr };
                Tree::Shift(op, typed(rng, width), typed(rng, 8))
            }
            7 if width > 1 => {
                let op = if rng.random() { Op::Shl } else { Op::Shr };
                let by = rng.random_range(0..width as u64 + 2);
                Tree::ShiftBy(op, typed(rng, width), by)
            }
            8 if width > 1 => {
                let at = rng.random_range(0..width);
                Tree::Replace(typed(rng, width), at, typed(rng, 1))
            }
            6..=8 => {
                let w = any(rng);
                Tree::Cast(typed(rng, w), width)
            }
            9 => {
                let from = any(rng);
                let low = rng.random_range(0..=from);
                Tree::Slice(typed(rng, from), width, low)
            }
            10 => {
                // An index of eight bits may pass the end of 256 bits only.
                let from = any(rng);
                let mask = Tree::Literal(if from > 8 { 7 } else { 0 }, 8);
                let at = Tree::Binary(Op::BitAnd, typed(rng, 8), Box::new(mask));
                Tree::SliceAt(typed(rng, from), width, Box::new(at))
            }
            11 | 12 => {
                let ops = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
                let w = any(rng);
                Tree::Compare(
                    ops[rng.random_range(0..6)].clone(),
                    typed(rng, w),
                    sub(rng, w),
                )
            }
            13 => {
                let ops = [Unary::All, Unary::Any, Unary::Xor];
                let w = [8, 13, 40][rng.random_range(0..3)];
                Tree::Reduce(ops[rng.random_range(0..3)].clone(), typed(rng, w))
            }
            _ => {
                let w = [8, 13, 40][rng.random_range(0..3)];
                Tree::Bit(typed(rng, w), rng.random_range(0..w))
            }
        }
    }

    fn is_literal(&self) -> bool {
        matches!(self, Tree::Literal(..))
    }

    /// Returns the AST that `hdl_gen` would make of the expression, with Rust's parentheses.
    fn ast(&self) -> Ast {
        let paren = |tree: &Tree| Box::new(Ast::Paren(Box::new(tree.ast())));
        let integer = |value: u64| Box::new(Ast::Literal(value.into()));
        match self {
            Tree::Input(n) => Ast::Signal(format!("x{n}")),
            Tree::Literal(value, 1) => Ast::Literal((*value == 1).into()),
            Tree::Literal(value, _) => Ast::Literal((*value).into()),
            Tree::Binary(op, l, r) | Tree::Compare(op, l, r) | Tree::Shift(op, l, r) => {
                Ast::Binary(paren(l), op.clone(), paren(r))
            }
            Tree::ShiftBy(op, l, by) => Ast::Binary(paren(l), op.clone(), integer(*by)),
            Tree::Not(e) => Ast::Unary(Unary::Not, paren(e)),
            Tree::Reduce(op, e) => Ast::Unary(op.clone(), paren(e)),
            Tree::Cast(e, width) => Ast::Cast(Box::new(e.ast()), *width),
            Tree::Slice(e, width, low) => Ast::Slice(paren(e), *width, integer(*low as u64)),
            Tree::SliceAt(e, width, at) => Ast::Slice(paren(e), *width, paren(at)),
            Tree::Bit(e, at) => Ast::Index(paren(e), integer(*at as u64)),
            Tree::Replace(e, at, bit) => {
                Ast::IndexReplace(paren(e), integer(*at as u64), paren(bit))
            }
        }
    }

    /// Returns the value that rust-hdl's types compute.
    fn value(&self, inputs: &[Value]) -> Value {
        match self {
            Tree::Input(n) => inputs[*n],
            Tree::Literal(value, width) => cast(Value::W40(bits(*value)), *width),
            Tree::Binary(op, l, r) => zip!(l.value(inputs), r.value(inputs), |a, b| match op {
                Op::Add => (a + b).into(),
                Op::Sub => (a - b).into(),
                Op::BitAnd => (a & b).into(),
                Op::BitOr => (a | b).into(),
                _ => (a ^ b).into(),
            }),
            Tree::Compare(op, l, r) => {
                let result = zip!(l.value(inputs), r.value(inputs), |a, b| match op {
                    Op::Eq => a == b,
                    Op::Ne => a != b,
                    Op::Lt => a < b,
                    Op::Le => a <= b,
                    Op::Gt => a > b,
                    _ => a >= b,
                });
                Value::W1(result)
            }
            Tree::Shift(op, l, r) => {
                let by = map!(r.value(inputs), |x| x.to_u64());
                shift(op, l.value(inputs), by)
            }
            Tree::ShiftBy(op, l, by) => shift(op, l.value(inputs), *by),
            Tree::Not(e) => map!(e.value(inputs), |x| (!x).into()),
            Tree::Reduce(op, e) => Value::W1(map!(e.value(inputs), |x| match op {
                Unary::All => x.all(),
                Unary::Any => x.any(),
                _ => x.xor(),
            })),
            Tree::Cast(e, width) => cast(e.value(inputs), *width),
            Tree::Slice(e, width, low) => cast(shift_right(e.value(inputs), *low as u64), *width),
            Tree::SliceAt(e, width, at) => {
                let low = map!(at.value(inputs), |x| x.index());
                cast(shift_right(e.value(inputs), low as u64), *width)
            }
            Tree::Bit(e, at) => Value::W1(map!(e.value(inputs), |x| x.get_bit(*at))),
            Tree::Replace(e, at, bit) => {
                let Value::W1(bit) = bit.value(inputs) else {
                    unreachable!("a bit")
                };
                map!(e.value(inputs), |x| x.replace_bit(*at, bit).into())
            }
        }
    }
}

fn shift(op: &Op, value: Value, by: u64) -> Value {
    match op {
        Op::Shl => map!(value, |x| (x << by).into()),
        _ => shift_right(value, by),
    }
}

/// Two inputs and one output of each width; each output is an expression.
#[derive(LogicBlock)]
struct RandomBlock {
    x0: Signal<In, Bit>,
    x1: Signal<In, Bit>,
    x2: Signal<In, Bits<8>>,
    x3: Signal<In, Bits<8>>,
    x4: Signal<In, Bits<13>>,
    x5: Signal<In, Bits<13>>,
    x6: Signal<In, Bits<40>>,
    x7: Signal<In, Bits<40>>,
    y0: Signal<Out, Bit>,
    y1: Signal<Out, Bits<8>>,
    y2: Signal<Out, Bits<13>>,
    y3: Signal<Out, Bits<40>>,
    _trees: Vec<Tree>,
}

impl RandomBlock {
    fn new(seed: u64) -> RandomBlock {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let _trees = WIDTHS
            .iter()
            .map(|&width| {
                loop {
                    let tree = Tree::random(&mut rng, width, 6);
                    if !matches!(tree, Tree::Literal(..) | Tree::Input(_)) {
                        return tree;
                    }
                }
            })
            .collect();
        let mut block = RandomBlock {
            x0: Default::default(),
            x1: Default::default(),
            x2: Default::default(),
            x3: Default::default(),
            x4: Default::default(),
            x5: Default::default(),
            x6: Default::default(),
            x7: Default::default(),
            y0: Default::default(),
            y1: Default::default(),
            y2: Default::default(),
            y3: Default::default(),
            _trees,
        };
        block.connect_all();
        block
    }
}

impl Logic for RandomBlock {
    fn update(&mut self) {
        let inputs = [
            Value::W1(self.x0.val()),
            Value::W1(self.x1.val()),
            Value::W8(self.x2.val()),
            Value::W8(self.x3.val()),
            Value::W13(self.x4.val()),
            Value::W13(self.x5.val()),
            Value::W40(self.x6.val()),
            Value::W40(self.x7.val()),
        ];
        let mut values = self._trees.iter().map(|tree| tree.value(&inputs));
        let mut next = || values.next().expect("an expression an output");
        if let Value::W1(value) = next() {
            self.y0.next = value;
        }
        if let Value::W8(value) = next() {
            self.y1.next = value;
        }
        if let Value::W13(value) = next() {
            self.y2.next = value;
        }
        if let Value::W40(value) = next() {
            self.y3.next = value;
        }
    }

    fn connect(&mut self) {
        self.y0.connect();
        self.y1.connect();
        self.y2.connect();
        self.y3.connect();
    }

    fn hdl(&self) -> Verilog {
        let assignments = self._trees.iter().enumerate().map(|(n, tree)| {
            let target = Ast::Signal(format!("y{n}$next"));
            ast::VerilogStatement::Assignment(target, tree.ast())
        });
        Verilog::Combinatorial(assignments.collect())
    }
}

fn name(seed: u64) -> String {
    format!("Random{seed}")
}

/// The Verilog of a random block.
pub fn design(seed: u64) -> (String, Vec<(String, String)>) {
    let name = name(seed);
    let design = emit(&name, &RandomBlock::new(seed), "Random expressions.")
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    (name, files(design))
}

pub fn case(seed: u64) -> Case {
    let (name, files) = design(seed);
    let port = |prefix: &str, n: usize, width: usize| (format!("{prefix}{n}"), width);
    let case = Case {
        name,
        files,
        inputs: (0..8).map(|n| port("x", n, WIDTHS[n / 2])).collect(),
        outputs: (0..4).map(|n| port("y", n, WIDTHS[n])).collect(),
        clocked: false,
        stimulus: Vec::new(),
        expected: Vec::new(),
        mismatches: 0,
        first: None,
    };
    let set = |block: &mut RandomBlock, values: &[BigUint]| {
        block.x0.next = Number::from_number(&values[0]);
        block.x1.next = Number::from_number(&values[1]);
        block.x2.next = Number::from_number(&values[2]);
        block.x3.next = Number::from_number(&values[3]);
        block.x4.next = Number::from_number(&values[4]);
        block.x5.next = Number::from_number(&values[5]);
        block.x6.next = Number::from_number(&values[6]);
        block.x7.next = Number::from_number(&values[7]);
    };
    let get = |block: &RandomBlock| {
        vec![
            number(block.y0.val()),
            number(block.y1.val()),
            number(block.y2.val()),
            number(block.y3.val()),
        ]
    };
    drive(RandomBlock::new(seed), case, set, get, |_, _| {})
}
