//! Test of the table of vectors, which is in the BAR: it is not written while the BAR does not answer.

use super::{arrived, configure, image, is_there};
use crate::faults::reset;
use crate::lab::{Lab, told};
use crate::opencl_side::{holder, program, take};
use crate::suite::skip;
use anyhow::{Context, Result, ensure};
use peerlane_core::uapi::reprogram;
use peerlane_guest::{Fault, core_image};
use rustix::io::Errno;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory where tracefs is mounted.
const TRACING: &str = "/sys/kernel/tracing";

/// Functions of the kernel (`drivers/pci/msi`) that write a table of vectors, and the offset of the interrupt's number
/// in the structure that their first argument points to (`struct irq_data`, `struct msi_desc`).
const WRITERS: [(&str, u32); 3] = [
    ("pci_irq_mask_msix", 4),
    ("pci_irq_unmask_msix", 4),
    ("__pci_write_msi_msg", 0),
];

/// Records the writes of the table of the board's vectors.
struct Watch {
    instance: PathBuf,
    irqs: Vec<String>,
}

impl Watch {
    fn new() -> Result<Self> {
        let root = Path::new(TRACING);
        let text = fs::read_to_string("/proc/interrupts")?;
        let ours = text.lines().filter(|line| line.contains("peerlane"));
        let irqs = ours.filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
        let watch = Self {
            instance: root.join("instances/peerlane-vectors"),
            irqs: irqs.collect(),
        };
        ensure!(!watch.irqs.is_empty(), "no vectors in {text}");
        for (function, at) in WRITERS {
            let probe = format!("p:peerlane_vectors/{function} {function} irq=+{at}($arg1):u32\n");
            append(&root.join("kprobe_events"), &probe).with_context(|| probe)?;
        }
        fs::create_dir(&watch.instance)?;
        watch.enable(true)?;
        Ok(watch)
    }

    fn enable(&self, on: bool) -> Result<()> {
        let switch = self.instance.join("events/peerlane_vectors/enable");
        Ok(fs::write(switch, if on { "1" } else { "0" })?)
    }

    /// Returns the writes of the board's table since the last call.
    fn take(&self) -> Result<Vec<String>> {
        let trace = self.instance.join("trace");
        let text = fs::read_to_string(&trace)?;
        fs::write(&trace, "")?;
        let is_ours = |line: &&str| {
            let irq = line.split_once("irq=").map(|(_, irq)| irq.trim());
            irq.is_some_and(|irq| self.irqs.iter().any(|ours| ours == irq))
        };
        Ok(text.lines().filter(is_ours).map(str::to_owned).collect())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.enable(false);
        let _ = fs::remove_dir(&self.instance);
        for (function, _) in WRITERS {
            let probe = format!("-:peerlane_vectors/{function}\n");
            let _ = append(&Path::new(TRACING).join("kprobe_events"), &probe);
        }
    }
}

fn append(file: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let mut file = fs::OpenOptions::new().append(true).open(file)?;
    Ok(file.write_all(text.as_bytes())?)
}

/// Checks that the driver does not write the table from the beginning of a configuration that fails until the next
/// start, even if the holder, which waits for the kernels, releases the OpenCL side or ends.
pub(super) fn left_alone(lab: &mut Lab) -> Result<String> {
    if !Path::new(TRACING).join("kprobe_events").exists() {
        return skip("this kernel has no probes, or tracefs is not mounted");
    }
    let device = holder(lab)?;
    if !device.capabilities().msix {
        return skip("this build has no table of vectors");
    }
    let bad = core_image(&[1; 4000], 1);
    let watch = Watch::new()?;
    let side = take(&device)?;
    side.arm().map_err(told)?;
    let armed = watch.take()?;
    ensure!(
        !armed.is_empty(),
        "nothing is seen of a vector that is armed"
    );
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    watch.take()?;
    // The bracket is given up at its end.
    ensure!(configure(&*side, &bad)? == Err(Errno::IO));
    ensure!(program(&device, reprogram::END) == Err(Errno::IO));
    drop(side);
    let given_back = watch.take()?;
    ensure!(given_back.is_empty(), "released: {given_back:#?}");
    // Taken again, but without a waiter: kernels of a board that is away cannot be armed.
    let side = take(&device)?;
    ensure!(side.arm().is_err());
    drop((side, device));
    let closed = watch.take()?;
    ensure!(closed.is_empty(), "closed: {closed:#?}");
    lab.host.fault(Fault::Configure {})?;
    reset()?;
    watch.take()?;
    // A thread that waits is notified when the board is there again, and the vector works as before.
    let device = holder(lab)?;
    let side = take(&device)?;
    side.arm().map_err(told)?;
    let good = image(13, 4000);
    let configured = side.reprogram(false, &mut || {
        side.configure(&good, peerlane_host::Packing::AsTold)
    });
    configured.map_err(told)?;
    arrived(lab, 13, 4000)?;
    ensure!(side.wait(Some(crate::lab::LIMIT)).map_err(told)?);
    side.arm().map_err(told)?;
    is_there(&*side)?;
    ensure!(!watch.take()?.is_empty());
    Ok(format!("{} vectors", watch.irqs.len()))
}
