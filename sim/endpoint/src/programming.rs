//! The configuration of the FPGA over PCIe, in the function's configuration space and BAR.
//!
//! While the FPGA's logic does not exist, nothing answers in the BAR: reads give ones, writes do nothing, and either is
//! a violation. A driver that makes such an access waits, on a real board, until the root port gives up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use peerlane_sim::opencl::{Cvp, CvpConfig};

use crate::pieces::pieces;

/// Offset of the capability in the V-series hard IP (user guide 683889, "VSEC Registers for CvP").
pub(crate) const CAPABILITY: usize = 0x200;
/// Offset of its first register, after headers and marker.
const REGISTERS: u64 = 0x20C;
const END: u64 = CAPABILITY as u64 + Cvp::BYTES;

/// The model, and whether the FPGA's logic existed at the last look.
#[derive(Debug)]
struct State {
    cvp: Cvp,
    core: bool,
    gone: bool,
    /// Whether the function disappears at its next reset.
    lost_at_reset: bool,
}

/// The registers of a function, which its server and its handles share.
#[derive(Debug, Clone)]
pub(crate) struct Programming(Arc<Mutex<State>>);

/// Returns a dword with the bytes at their place in it, and the lanes of these bytes.
fn dword(at: u64, bytes: &[u8]) -> (u32, u8) {
    let lane = (at % 4) as usize;
    let mut word = [0; 4];
    word[lane..lane + bytes.len()].copy_from_slice(bytes);
    (
        u32::from_le_bytes(word),
        ((1_u8 << bytes.len()) - 1) << lane,
    )
}

/// Returns the register that contains a byte of the configuration space.
fn register(at: u64) -> Option<u64> {
    let dword = at & !3;
    (REGISTERS..END)
        .contains(&dword)
        .then(|| dword - CAPABILITY as u64)
}

impl Programming {
    pub(crate) fn new(config: CvpConfig) -> Self {
        Self(Arc::new(Mutex::new(State {
            cvp: Cvp::new(config),
            core: true,
            gone: false,
            lost_at_reset: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `what` with the model.
    pub(crate) fn with<R>(&self, what: impl FnOnce(&mut Cvp) -> R) -> R {
        what(&mut self.lock().cvp)
    }

    /// Makes the function disappear, or come back.
    pub(crate) fn set_gone(&self, gone: bool) {
        let mut state = self.lock();
        state.gone = gone;
        state.lost_at_reset = false;
    }

    /// Returns whether the function does not exist.
    pub(crate) fn is_gone(&self) -> bool {
        self.lock().gone
    }

    /// Makes the function disappear at its next reset.
    pub(crate) fn lose_at_reset(&self) {
        self.lock().lost_at_reset = true;
    }

    /// Resets the function.
    pub(crate) fn reset(&self) {
        let mut state = self.lock();
        state.cvp.reset();
        state.gone |= std::mem::take(&mut state.lost_at_reset);
    }

    /// Puts the values of the registers into the bytes of a configuration read that reach them.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) {
        let mut state = self.lock();
        if state.gone {
            data.fill(0xFF);
            return;
        }
        for (at, from, take) in pieces(offset, data.len()) {
            if let Some(register) = register(at) {
                let lane = (at % 4) as usize;
                let value = state.cvp.read(register).to_le_bytes();
                data[from..from + take].copy_from_slice(&value[lane..lane + take]);
            }
        }
    }

    /// Writes the configuration space.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let mut state = self.lock();
        if state.gone {
            return;
        }
        for (at, from, take) in pieces(offset, data.len()) {
            if let Some(register) = register(at) {
                let (value, lanes) = dword(at, &data[from..from + take]);
                state.cvp.write(register, value, lanes);
            }
        }
    }

    /// Handles a write of the BAR; returns `true` if it does not reach the FPGA's logic.
    pub(crate) fn takes_write(&self, offset: u64, data: &[u8]) -> bool {
        let mut state = self.lock();
        if state.gone {
            return true;
        }
        if state.cvp.takes_memory() {
            for (at, from, take) in pieces(offset, data.len()) {
                let (value, lanes) = dword(at, &data[from..from + take]);
                state.cvp.data(value, lanes);
            }
            return true;
        }
        let away = !state.cvp.has_core();
        if away {
            state.cvp.touched("a write of the BAR");
        }
        away
    }

    /// Handles a read of the BAR; returns `true` if it is not answered.
    pub(crate) fn takes_read(&self) -> bool {
        let mut state = self.lock();
        if state.gone {
            return true;
        }
        let away = state.cvp.takes_memory() || !state.cvp.has_core();
        if away {
            state.cvp.touched("a read of the BAR");
        }
        away
    }

    /// Handles a write of an entry of the client's table of vectors, which on a board is in the BAR. In CvP mode it is
    /// a dword of the image.
    pub(crate) fn note_table_write(&self) {
        let mut state = self.lock();
        if !state.gone && state.cvp.takes_memory() {
            state.cvp.touched("a write of the table of vectors");
        }
    }

    /// Returns whether the FPGA's logic has disappeared, or has come, since the last call: it is then as after
    /// power-up.
    pub(crate) fn take_changed(&self) -> bool {
        let mut state = self.lock();
        let core = state.cvp.has_core();
        std::mem::replace(&mut state.core, core) != core
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_in_parts() {
        let programming = Programming::new(CvpConfig::default());
        let mut bytes = [7; 8];
        programming.read(0x21A, &mut bytes);
        // The two bytes before the status are another register's; it is enabled, up and done.
        assert_eq!(bytes, [0, 0, 0, 0, 0xB0, 0x03, 0, 0]);
        programming.write(0x220, &[2]);
        programming.write(0x221, &[1]);
        programming.read(0x21F, &mut bytes[..3]);
        assert_eq!(bytes[..3], [0x03, 2, 1]);
        // Bytes of other registers are unchanged.
        let mut others = [7; 4];
        programming.read(0x244, &mut others);
        programming.read(0x208, &mut others);
        assert_eq!(others, [7; 4]);
        assert!(!programming.takes_read() && !programming.take_changed());
    }

    #[test]
    fn nothing_answers_in_cvp_mode() {
        let programming = Programming::new(CvpConfig::default());
        assert!(!programming.takes_write(0, &[0; 4]));
        programming.write(0x220, &[2]);
        programming.write(0x220, &[3]);
        assert!(programming.takes_write(0x3000, &[0; 8]));
        assert!(
            programming.with(|cvp| cvp.record().violations) > 0,
            "dummy writes of 64 clocks"
        );
        programming.with(Cvp::clear_record);
        assert!(programming.takes_read());
        assert_eq!(programming.with(|cvp| cvp.record().violations), 1);
        programming.note_table_write();
        assert_eq!(programming.with(|cvp| cvp.record().violations), 2);
    }
}
