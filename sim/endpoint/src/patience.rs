//! When the block's clock may stand still.
//!
//! A simulated cycle costs processor time, so the clock runs only while something can happen. The
//! models say what they still have to do; of the block itself, `STATUS` says whether it is at work. What
//! `STATUS` does not say are its own timers: an interrupt that moderation holds back by age. How long
//! they run is known from what the host wrote.

use peerlane_core::regs::csr;

/// Cycles without anything on the ports, after which the block is asked: more than an interrupt message
/// waits for its vector's turn (66 vectors).
const QUIET: u64 = 192;
/// And from then on so often.
const AGAIN: u64 = 4096;
/// Cycles of a unit of CHANNEL_MODERATION.AGE.
const AGE_UNIT: u64 = 256;
/// A sequence in the block waits for the link at most so many times PORT_TIMEOUT.
const WAITS: u64 = 4;

/// What the block may be waiting for.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Cycles since something was on the ports.
    quiet: u64,
    /// The next time to ask.
    ask_at: u64,
    activity: u64,
    port_timeout: u64,
    selected: usize,
    ages: [u64; 64],
}

/// What the clock is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Run on.
    Run,
    /// Ask the block whether it is at work.
    Ask,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self {
            quiet: 0,
            ask_at: QUIET,
            activity: 0,
            port_timeout: csr::PORT_TIMEOUT_RESET.into(),
            selected: 0,
            ages: [0; 64],
        }
    }

    /// Something came from outside.
    pub(crate) fn stir(&mut self) {
        self.quiet = 0;
        self.ask_at = QUIET;
    }

    /// Takes note of a write to the CSR.
    pub(crate) fn note_write(&mut self, offset: u64, value: u32) {
        match usize::try_from(offset) {
            Ok(csr::PORT_TIMEOUT) => self.port_timeout = value.into(),
            Ok(csr::CHANNEL_SELECT) => {
                self.selected = (value & csr::CHANNEL_SELECT_CHANNEL_MASK) as usize;
            }
            Ok(csr::CHANNEL_MODERATION) => {
                let age =
                    (value & csr::CHANNEL_MODERATION_AGE_MASK) >> csr::CHANNEL_MODERATION_AGE_LSB;
                self.ages[self.selected] = u64::from(age) * AGE_UNIT;
            }
            _ => {}
        }
    }

    /// The clock ran so many cycles. `activity` grows with what is on the ports; `busy`: the models
    /// have something to do.
    pub(crate) fn ran(&mut self, cycles: u64, activity: u64, busy: bool) -> Verdict {
        if busy || activity != self.activity {
            self.activity = activity;
            self.stir();
            return Verdict::Run;
        }
        self.quiet += cycles;
        if self.quiet < self.ask_at {
            return Verdict::Run;
        }
        self.ask_at = self.quiet + AGAIN;
        Verdict::Ask
    }

    /// Whether the clock may stand still, with this value of `STATUS`.
    pub(crate) fn may_stop(&self, status: u32) -> bool {
        let oldest = self.ages.iter().max().copied().unwrap_or(0);
        let timers = if oldest == 0 { 0 } else { oldest + AGE_UNIT };
        let working = csr::STATUS_WRITE_BUSY_MASK
            | csr::STATUS_READ_BUSY_MASK
            | csr::STATUS_COMPLETER_BUSY_MASK
            | csr::STATUS_ATT_SWEEP_MASK;
        // A channel that is held keeps its descriptors, and STATUS its busy bit, for ever.
        let most = if status & working == 0 {
            0
        } else {
            self.port_timeout.saturating_mul(WAITS)
        };
        self.quiet > timers + most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles that pass until the clock may stop, with nothing on the ports.
    fn until_stop(patience: &mut Patience, status: u32) -> u64 {
        patience.stir();
        for slice in 1..1_000_000 {
            if patience.ran(64, 7, false) == Verdict::Ask && patience.may_stop(status) {
                return slice * 64;
            }
        }
        u64::MAX
    }

    #[test]
    fn a_block_at_rest_stops_soon() {
        let mut patience = Patience::new();
        assert_eq!(patience.ran(64, 7, false), Verdict::Run);
        assert!(until_stop(&mut patience, 0) < 1024);
    }

    #[test]
    fn timers_run_to_their_end() {
        let mut patience = Patience::new();
        patience.ran(64, 7, false);
        patience.note_write(0x80, 3);
        patience.note_write(0x8C, 100 << 16 | 5);
        let cycles = until_stop(&mut patience, 0);
        assert!((25_600..32_000).contains(&cycles), "{cycles}");
        // Another channel's age does not shorten it, its own does.
        patience.note_write(0x80, 4);
        patience.note_write(0x8C, 0);
        assert!(until_stop(&mut patience, 0) > 25_600);
        patience.note_write(0x80, 3);
        patience.note_write(0x8C, 0);
        assert!(until_stop(&mut patience, 0) < 1024);
    }

    #[test]
    fn a_block_at_work_runs_past_its_time_out() {
        let mut patience = Patience::new();
        patience.ran(64, 7, false);
        patience.note_write(0x20, 100_000);
        let cycles = until_stop(&mut patience, 1);
        assert!((400_000..420_000).contains(&cycles), "{cycles}");
        assert!(
            until_stop(&mut patience, 1 << 5) < 1024,
            "a dead port is no work"
        );
    }

    #[test]
    fn what_moves_keeps_the_clock_running() {
        let mut patience = Patience::new();
        for activity in 0..100 {
            assert_eq!(patience.ran(64, activity, false), Verdict::Run);
        }
        for _ in 0..100 {
            assert_eq!(patience.ran(64, 99, true), Verdict::Run);
        }
    }
}
