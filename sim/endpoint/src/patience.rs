//! Decides when the block's clock may stop.
//!
//! A simulated cycle costs processor time, so the clock runs only while something can happen. The models report their
//! remaining work; of the block itself, `STATUS` reports whether it works. `STATUS` does not cover the block's own
//! timers: an interrupt that moderation holds back by age. Their duration is known from the host's writes.

use peerlane_core::regs::csr;

/// Cycles without activity on the ports, after which the block is asked: more than an interrupt message waits for its
/// vector's turn (66 vectors).
const QUIET: u64 = 192;
/// Interval of further questions, in cycles.
const AGAIN: u64 = 4096;
/// Cycles of a unit of CHANNEL_MODERATION.AGE.
const AGE_UNIT: u64 = 256;
/// A sequence in the block waits for the link at most this many times PORT_TIMEOUT.
const WAITS: u64 = 4;

/// Events that the block may be waiting for.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Cycles since the last activity on the ports.
    quiet: u64,
    /// The value of `quiet` at the next question.
    ask_at: u64,
    activity: u64,
    port_timeout: u64,
    selected: usize,
    ages: [u64; 64],
}

/// The next action of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Continue to run.
    Run,
    /// Ask the block whether it is working.
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

    /// Notes that a command came from outside.
    pub(crate) fn stir(&mut self) {
        self.quiet = 0;
        self.ask_at = QUIET;
    }

    /// Records a write to the CSR.
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

    /// Notes that the clock ran this number of cycles. `activity` grows with each activity on the ports; `busy`: the
    /// models have work to do.
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

    /// Returns whether the clock may stop, with this value of `STATUS`.
    pub(crate) fn may_stop(&self, status: u32) -> bool {
        let oldest = self.ages.iter().max().copied().unwrap_or(0);
        let timers = if oldest == 0 { 0 } else { oldest + AGE_UNIT };
        let working = csr::STATUS_WRITE_BUSY_MASK
            | csr::STATUS_READ_BUSY_MASK
            | csr::STATUS_COMPLETER_BUSY_MASK
            | csr::STATUS_ATT_SWEEP_MASK;
        // A channel that is held keeps its descriptors, and `STATUS` keeps its busy bit, for ever.
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

    /// Returns the number of cycles until the clock may stop, without activity on the ports.
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
        // Another channel's age does not shorten the time, its own does.
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
            "a dead port is not work"
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
