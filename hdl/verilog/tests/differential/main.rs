//! rust-hdl's simulator against Verilator, on the whole corpus and on random
//! expressions, all in one Verilated model; and every file through the linters.

mod bits;
#[path = "../corpus/mod.rs"]
mod corpus;
mod lint;
mod random;
mod verilated;

use std::time::Instant;

use num_bigint::BigUint;
use peerlane_language::{Block, generate_verilog, simulate};
use peerlane_tools::Cache;
use peerlane_verilog::{Design, emit};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use bits::Packed;
use corpus::Form;

/// Vectors for each block; a clocked one takes a clock cycle with each.
const VECTORS: usize = 3000;
/// Random designs, of four expressions each.
const RANDOM_DESIGNS: u64 = 40;

/// A block, the files of its Verilog, and rust-hdl's results for it.
pub struct Case {
    /// Name of the module under test, unique in the model.
    name: String,
    /// Files: name without extension, content.
    files: Vec<(String, String)>,
    inputs: Vec<(String, usize)>,
    outputs: Vec<(String, usize)>,
    clocked: bool,
    /// One value a port, for each vector.
    stimulus: Vec<Vec<BigUint>>,
    expected: Vec<Vec<BigUint>>,
    /// Vectors in which Verilator disagreed, with the first as text.
    mismatches: usize,
    first: Option<String>,
}

/// Values where carries, signs and comparisons break.
fn corner(rng: &mut ChaCha8Rng, width: usize, others: &[(usize, BigUint)]) -> BigUint {
    let ones = (BigUint::from(1u8) << width) - 1u8;
    let top = BigUint::from(1u8) << (width - 1);
    let random = |rng: &mut ChaCha8Rng| {
        let words: Vec<u32> = (0..width.div_ceil(32)).map(|_| rng.random()).collect();
        BigUint::new(words) & &ones
    };
    let alike: Vec<&BigUint> = others
        .iter()
        .filter(|o| o.0 == width)
        .map(|o| &o.1)
        .collect();
    match rng.random_range(0..16) {
        0 => BigUint::ZERO,
        1 => ones,
        2 => BigUint::from(1u8),
        3 => top,
        4 => &top - 1u8,
        5 => &ones - &top,
        6 => BigUint::from(1u8) << rng.random_range(0..width),
        7 => random(rng) >> rng.random_range(0..width),
        8 if !alike.is_empty() => alike[rng.random_range(0..alike.len())].clone(),
        9 if !alike.is_empty() => (alike[rng.random_range(0..alike.len())] + 1u8) & ones,
        10 if !alike.is_empty() => &ones ^ alike[rng.random_range(0..alike.len())],
        _ => random(rng),
    }
}

/// Runs rust-hdl's simulator on a block.
fn drive<B: Block>(
    mut block: B,
    mut case: Case,
    set: impl Fn(&mut B, &[BigUint]),
    get: impl Fn(&B) -> Vec<BigUint>,
    clock: impl Fn(&mut B, bool),
) -> Case {
    let seed = case
        .name
        .bytes()
        .fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..VECTORS {
        let mut values: Vec<(usize, BigUint)> = Vec::new();
        for (_, width) in &case.inputs {
            let value = corner(&mut rng, *width, &values);
            values.push((*width, value));
        }
        let values: Vec<BigUint> = values.into_iter().map(|v| v.1).collect();
        set(&mut block, &values);
        assert!(simulate(&mut block, 100), "{} does not settle", case.name);
        case.stimulus.push(values);
        case.expected.push(get(&block));
        if case.clocked {
            for high in [true, false] {
                clock(&mut block, high);
                assert!(simulate(&mut block, 100), "{} does not settle", case.name);
            }
        }
    }
    case
}

fn ports(ports: Vec<(&'static str, usize)>) -> Vec<(String, usize)> {
    ports
        .into_iter()
        .map(|(name, width)| (name.to_owned(), width))
        .collect()
}

fn files(design: Design) -> Vec<(String, String)> {
    design
        .modules
        .into_iter()
        .map(|m| (m.name, m.verilog))
        .collect()
}

fn empty_case<F: Form>(name: String, files: Vec<(String, String)>) -> Case {
    Case {
        name,
        files,
        inputs: ports(F::inputs()),
        outputs: ports(F::outputs()),
        clocked: F::CLOCKED,
        stimulus: Vec::new(),
        expected: Vec::new(),
        mismatches: 0,
        first: None,
    }
}

fn connected<F: Form>() -> F {
    let mut block = F::default();
    block.connect_all();
    block
}

fn case<F: Form>() -> Case {
    let block = connected::<F>();
    let design = emit(F::NAME, &block, "A block of the corpus.")
        .unwrap_or_else(|e| panic!("{}: {e}", F::NAME));
    let case = empty_case::<F>(F::NAME.to_owned(), files(design));
    drive(block, case, F::set, F::get, F::set_clock)
}

/// Makes a case of the same block through rust-hdl's own emitter, which is wrong for some.
fn stock_case<F: Form>() -> Case {
    let block = connected::<F>();
    let name = format!("Stock{}", F::NAME);
    let text = generate_verilog(&block).replace("module top(", &format!("module {name}("));
    let case = empty_case::<F>(name.clone(), vec![(name, text)]);
    drive(block, case, F::set, F::get, F::set_clock)
}

/// The cases of the corpus and the random ones.
fn own_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    macro_rules! add {
        ($module:ident: $($form:ident),* $(,)?) => {
            $(cases.push(case::<corpus::$module::$form>());)*
        };
    }
    for_all_forms!(add);
    assert!(cases.len() >= 60, "only {} forms", cases.len());
    cases.extend((0..RANDOM_DESIGNS).map(random::case));
    cases
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn verilator_agrees_with_rust_hdl() {
    let cache = Cache::open().unwrap();
    let start = Instant::now();
    let mut cases = own_cases();
    let own = cases.len();
    // The corpus must have teeth: on these the stock emitter is known to fail.
    cases.push(stock_case::<corpus::combinational::AndEq>());
    cases.push(stock_case::<corpus::combinational::WrapEq>());
    cases.push(stock_case::<corpus::combinational::WrapShr>());
    cases.push(stock_case::<corpus::combinational::NotEq>());
    let simulated = start.elapsed();

    verilated::run(&cache, &mut cases, VECTORS);
    println!(
        "{own} blocks of {VECTORS} vectors: rust-hdl {simulated:.1?}, all {:.1?}",
        start.elapsed()
    );

    let wrong: Vec<_> = cases[..own]
        .iter()
        .filter_map(|c| {
            Some(format!(
                "{}: {} wrong, first {}",
                c.name,
                c.mismatches,
                c.first.as_ref()?
            ))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {own} blocks differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for case in &cases[own..] {
        assert!(
            case.mismatches > 0,
            "{} shows {} faults",
            case.name,
            case.mismatches
        );
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_file_is_clean() {
    let cache = Cache::open().unwrap();
    lint::all(&cache, &own_files());
}

/// All designs, without the simulation: top and files.
fn own_files() -> Vec<(String, Vec<(String, String)>)> {
    let mut designs = Vec::new();
    macro_rules! add {
        ($module:ident: $($form:ident),* $(,)?) => {
            $({
                type F = corpus::$module::$form;
                let design = emit(F::NAME, &connected::<F>(), "A block of the corpus.").unwrap();
                designs.push((F::NAME.to_owned(), files(design)));
            })*
        };
    }
    for_all_forms!(add);
    designs.extend((0..RANDOM_DESIGNS).map(random::design));
    designs
}

/// Packs the values of one vector of all cases, inputs or outputs.
pub fn pack<'a>(values: impl Iterator<Item = (usize, &'a BigUint)>) -> Packed {
    let mut packed = Packed::default();
    values.for_each(|(width, value)| packed.push(value, width));
    packed
}
