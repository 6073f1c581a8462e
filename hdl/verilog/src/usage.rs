//! Which bits of the signals have a reader.

use num_bigint::BigUint;

use crate::ir::{Expr, SignalId, ones};
use crate::signals::Signals;

/// Bits read, by signal.
pub(crate) struct Usage {
    read: Vec<BigUint>,
}

impl Usage {
    pub fn new(signals: &Signals) -> Usage {
        Usage {
            read: vec![BigUint::ZERO; signals.ids().len()],
        }
    }

    /// Notes all bits that the expression reads.
    pub fn expr(&mut self, signals: &Signals, expr: &Expr) {
        expr.for_each_select(&mut |id, bits| match bits {
            Some((low, width)) => self.read[id] |= ones(width) << low,
            None => self.whole(signals, id),
        });
    }

    /// Notes that all of the signal is read.
    pub fn whole(&mut self, signals: &Signals, id: SignalId) {
        self.read[id] = ones(signals[id].width);
    }

    pub fn is_read(&self, id: SignalId) -> bool {
        self.read[id] != BigUint::ZERO
    }

    /// Ranges `(high, low)` of bits without a reader, the highest first.
    pub fn unread(&self, signals: &Signals, id: SignalId) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        let mut high = None;
        for bit in (0..signals[id].width).rev() {
            match (self.read[id].bit(bit as u64), high) {
                (false, None) => high = Some(bit),
                (true, Some(top)) => {
                    ranges.push((top, bit + 1));
                    high = None;
                }
                _ => {}
            }
        }
        ranges.extend(high.map(|top| (top, 0)));
        ranges
    }
}
