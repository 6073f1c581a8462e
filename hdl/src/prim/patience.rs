//! Times to wait.

use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Macro of a simulation, in addition to `SIMULATION`, that makes all time limits short, because milliseconds are long
/// in a simulation. Synthesis defines neither of the two, so the macro changes no build.
pub const IMPATIENT: &str = "PEERLANE_IMPATIENT";

/// A number of cycles, and the smaller one of a simulation that is [`IMPATIENT`].
#[derive(DocBlock)]
#[module_name(shape)]
pub struct Patience<const N: usize> {
    pub cycles: Signal<Out, Bits<N>>,
    #[given]
    _cycles: u64,
    #[given]
    _short: u64,
}

impl<const N: usize> Patience<N> {
    /// Makes a number of cycles, or in such a simulation `short`, if that is less.
    pub fn new(cycles: u64, short: u64) -> Self {
        assert!(cycles < 1 << N, "{cycles} in {N} bits");
        Self::fresh(PatienceGiven {
            _cycles: cycles,
            _short: short.min(cycles),
        })
    }

    fn shape(&self) -> String {
        format!("patience_{}", self._cycles)
    }
}

impl<const N: usize> Logic for Patience<N> {
    fn update(&mut self) {
        self.cycles.next = self._cycles.into();
    }
    fn connect(&mut self) {
        self.cycles.connect();
    }
    fn hdl(&self) -> Verilog {
        let (cycles, short) = (self._cycles, self._short);
        Verilog::Custom(format!(
            "`ifdef SIMULATION\n\
             `ifdef {IMPATIENT}\n\
             `define PEERLANE_CYCLES {N}'d{short}\n\
             `endif\n\
             `endif\n\
             `ifndef PEERLANE_CYCLES\n\
             `define PEERLANE_CYCLES {N}'d{cycles}\n\
             `endif\n\
             assign cycles = `PEERLANE_CYCLES;\n\
             `undef PEERLANE_CYCLES\n"
        ))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![]
    }
}
