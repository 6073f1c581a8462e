//! Test of a board in a slot that supports hot-plugging.

use super::{VERSION, VERSIONS, dword, holder, take};
use crate::lab::{LIMIT, Lab, pci_device};
use crate::opencl_side::program;
use anyhow::{Result, bail, ensure};
use peerlane_core::uapi::reprogram;
use peerlane_host::Area;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than pciehp waits for a second push of the button, 5 seconds (`pciehp_handle_button_press` in Linux'
/// `drivers/pci/hotplug/pciehp_ctrl.c`), before it takes the device out.
const BUTTON: Duration = Duration::from_secs(9);

/// Checks that events of the slot do not take the board away while the FPGA is configured (on a real board its link
/// goes down then), and that later events do. It is the last test, because the board is gone then.
pub(super) fn events_of_the_slot(lab: &mut Lab) -> Result<String> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let place = pci_device()?;
    for round in 0..2 {
        ensure!(program(&device, reprogram::BEGIN) == Ok(()));
        lab.host.take_out()?;
        std::thread::sleep(BUTTON);
        ensure!(place.exists(), "round {round}: the device was taken out");
        ensure!(program(&device, reprogram::END) == Ok(()));
        ensure!(VERSIONS.contains(&dword(&*side, Area::Kernels, VERSION)?));
    }
    lab.host.take_out()?;
    let took = is_gone(&place)?;
    ensure!(lab.open().is_err(), "a board that was taken out is there");
    Ok(format!("afterwards taken out in {took:?}"))
}

fn is_gone(place: &Path) -> Result<Duration> {
    let begin = Instant::now();
    while place.exists() {
        if begin.elapsed() > LIMIT {
            bail!("the slot's events are still ignored");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(begin.elapsed())
}
