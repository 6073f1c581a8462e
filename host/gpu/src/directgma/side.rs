//! DirectGMA's memory as an end of routes.

use super::{BusBuffer, GmaDevice, PAGE, Remote, Signal};
use crate::error::Error;
use crate::window::{LAST, late};
use peerlane_host::{Device, Memory, Permissions, Window};
use peerlane_routes::opencl::ClMemory;
use peerlane_routes::{Engine, Push, Reach, Residence, Result, Side, Staging};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A board's window into FPGA memory, for a GPU that stores to it by its bus address.
pub trait Aperture: Send {
    /// Returns the bus address of its first byte, a multiple of [`PAGE`].
    fn bus_address(&self) -> u64;

    /// Returns its length in bytes. It is placed at multiples of its length, and shows FPGA memory from there on.
    fn length(&self) -> u64;

    /// Moves it to an FPGA address. Nothing is stored to it during the move.
    ///
    /// # Errors
    /// Those of the board.
    fn place(&mut self, fpga: u64) -> Result<()>;

    /// Waits until all stores have arrived in FPGA memory.
    ///
    /// # Errors
    /// Those of the board.
    fn settle(&mut self) -> Result<()>;

    /// Makes sure that it shows FPGA memory now, at the place where it was put last: a board that is being started
    /// again does not show any.
    ///
    /// # Errors
    /// It shows nothing, or this cannot be found out.
    fn confirm(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The window of a board that the kernel drives.
#[derive(Debug)]
pub struct BoardAperture {
    window: Window,
    bus: u64,
}

impl BoardAperture {
    /// Makes an aperture of a window whose bus address is known. The address is the start of the board's BAR, from the
    /// first line with an address in its file `resource` in sysfs, plus the window's offset in it, which is in the
    /// board's description (`peerlane.board`).
    ///
    /// # Safety
    /// The window is there. No GPU stores to it by this address once this is dropped: the kernel cannot revoke the
    /// address from a GPU, and the next process that has the window maps other FPGA memory into it.
    pub unsafe fn new(window: Window, bus: u64) -> Self {
        Self { window, bus }
    }
}

impl Aperture for BoardAperture {
    fn bus_address(&self) -> u64 {
        self.bus
    }

    fn length(&self) -> u64 {
        self.window.length() as u64
    }

    fn place(&mut self, fpga: u64) -> Result<()> {
        Ok(self.window.place(fpga)?)
    }

    fn settle(&mut self) -> Result<()> {
        self.window.settle();
        Ok(())
    }

    /// Places the window where it is: the driver refuses that while the board is being started again.
    fn confirm(&mut self) -> Result<()> {
        Ok(self.window.place(self.window.base())?)
    }
}

/// A function that takes a board's window.
type Open = dyn Fn(&Device) -> Result<Box<dyn Aperture>> + Send + Sync;

/// A [`BusBuffer`] as an end of routes. Clones are the same end.
#[derive(Clone)]
pub struct GmaMemory {
    buffer: BusBuffer,
    /// The same memory by OpenCL alone.
    plain: ClMemory,
    aperture: Option<Arc<Open>>,
}

impl fmt::Debug for GmaMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GmaMemory")
            .field("buffer", &self.buffer)
            .finish_non_exhaustive()
    }
}

/// Converts an error of the GPU's for routes, with a hint where another route helps.
fn told(device: &GmaDevice, error: Error) -> peerlane_routes::Error {
    let name = format!("the GPU {}", device.name());
    match error {
        Error::Board(error) => error.into(),
        Error::BusAddress => {
            let hint = error.hint();
            peerlane_routes::Error::side(name, format!("{error}. {hint}"))
        }
        error if error.lacks_room() => peerlane_routes::Error::busy(name, error, true),
        error => peerlane_routes::Error::side(name, error),
    }
}

impl GmaMemory {
    /// Makes a side of the buffer.
    ///
    /// # Errors
    /// Those of OpenCL.
    pub fn new(buffer: BusBuffer) -> Result<Self> {
        let device = buffer.device();
        let (context, raw, length) = (device.context(), device.raw(), buffer.length());
        // SAFETY: all three are living ones, the buffer is the context's and has so many bytes.
        let plain = unsafe { ClMemory::over(context, raw, buffer.raw(), length) }?;
        Ok(Self {
            buffer,
            plain,
            aperture: None,
        })
    }

    /// Adds a function that takes a board's window, so that the GPU pushes into it.
    #[must_use]
    pub fn with_aperture(
        mut self,
        open: impl Fn(&Device) -> Result<Box<dyn Aperture>> + Send + Sync + 'static,
    ) -> Self {
        self.aperture = Some(Arc::new(open));
        self
    }

    /// Returns the buffer.
    pub fn buffer(&self) -> &BusBuffer {
        &self.buffer
    }

    /// Returns the same memory by OpenCL alone, for inspection.
    pub fn plain(&self) -> &ClMemory {
        &self.plain
    }
}

impl Side for GmaMemory {
    fn name(&self) -> String {
        format!("the GPU {}", self.buffer.device().name())
    }

    fn length(&self) -> u64 {
        self.buffer.length()
    }

    fn staging(&self, bytes: usize) -> Result<Option<Staging>> {
        self.plain.staging(bytes)
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        self.plain.attach(staging)
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        let device = self.buffer.device();
        let buffer = device.buffer(bytes).map_err(|error| told(device, error))?;
        let another = Self::new(buffer)?;
        Ok(Box::new(Self {
            aperture: self.aperture.clone(),
            ..another
        }))
    }

    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let region = self.buffer.register(device, range, permissions);
        let region = region.map_err(|error| told(self.buffer.device(), error))?;
        Ok(Reach {
            region: region.pages().clone(),
            offset: region.offset(),
        })
    }

    /// Memory with a bus address is the GPU's own.
    fn residence(&self) -> Residence {
        Residence::Device
    }

    fn pusher(&self, device: &Device) -> Result<Box<dyn Push>> {
        let Some(open) = &self.aperture else {
            return Err(peerlane_routes::Error::side(
                self.name(),
                "the bus address of the board's window is not set (GmaMemory::with_aperture)",
            ));
        };
        Ok(Box::new(Stores::over(&self.buffer, open(device)?)?))
    }
}

/// State of the copy that was begun last.
enum Pushed {
    /// It has ended, or there was none.
    Nothing,
    /// Began, with the signal of its end.
    Begun(Signal),
    /// Its queue has it, without a signal of its end: only a wait for all of the queue shows the end.
    Untold,
}

/// The GPU's stores to a board's window.
///
/// When a copy has ended, the GPU has sent its stores. The GPU never reads other devices' memory, so no read pushes the
/// stores ahead of itself: nothing proves that they have arrived when the window moves, they only have had time.
pub(super) struct Stores {
    remote: Remote,
    buffer: BusBuffer,
    pushed: Pushed,
    /// Dropped when nothing is stored to the window any more.
    aperture: ManuallyDrop<Box<dyn Aperture>>,
}

impl Stores {
    /// Makes the GPU of a buffer store from the buffer to a window.
    pub(super) fn over(buffer: &BusBuffer, aperture: Box<dyn Aperture>) -> Result<Self> {
        let gpu = buffer.device();
        let (bus, length) = (aperture.bus_address(), aperture.length());
        // Signals, of which a push has none, would go to the last page.
        let marker = (bus + length).saturating_sub(PAGE);
        // SAFETY: the window is the caller's for as long as there is the aperture, which is dropped after this.
        let remote = unsafe { gpu.remote(bus, marker, length) };
        Ok(Self {
            remote: remote.map_err(|error| told(gpu, error))?,
            buffer: buffer.clone(),
            pushed: Pushed::Nothing,
            aperture: ManuallyDrop::new(aperture),
        })
    }

    fn told(&self) -> impl Fn(Error) -> peerlane_routes::Error + use<> {
        let device = self.buffer.device().clone();
        move |error| told(&device, error)
    }
}

impl Push for Stores {
    fn window(&self) -> u64 {
        self.aperture.length()
    }

    fn place(&mut self, fpga: u64) -> Result<()> {
        // Stores that the GPU still sends are for the old place.
        match &self.pushed {
            Pushed::Nothing => {}
            // Its queue is in order.
            Pushed::Begun(copy) if copy.wait(LAST).map_err(self.told())? => {}
            Pushed::Begun(_) => return Err(late()),
            Pushed::Untold => self.remote.finish().map_err(self.told())?,
        }
        self.pushed = Pushed::Nothing;
        self.aperture.place(fpga)
    }

    fn push(&mut self, from: u64, to: u64, length: u64) -> Result<()> {
        let copy = (self.remote.enqueue(&self.buffer, from, to, length)).map_err(self.told())?;
        if let Some(copy) = copy {
            self.pushed = Pushed::Untold;
            self.pushed = Pushed::Begun(self.remote.begin(copy).map_err(self.told())?);
        }
        Ok(())
    }

    fn settle(&mut self, limit: Duration) -> Result<bool> {
        match &self.pushed {
            Pushed::Nothing => {}
            Pushed::Begun(copy) => {
                if !copy.wait(limit).map_err(self.told())? {
                    return Ok(false);
                }
                self.pushed = Pushed::Nothing;
            }
            // A wait for all of the queue has no limit.
            Pushed::Untold => return Ok(false),
        }
        self.aperture.settle()?;
        Ok(true)
    }

    fn confirm(&mut self) -> Result<()> {
        match self.pushed {
            Pushed::Nothing => self.aperture.confirm(),
            // The window would be moved during the stores, although to the same place.
            _ => Ok(()),
        }
    }
}

impl Drop for Stores {
    fn drop(&mut self) {
        // A child's copy waits for nothing: the child has none of the runtime's threads. A window that the GPU may
        // still store to is not released for others.
        if self.buffer.device().is_inherited() || self.remote.finish().is_ok() {
            // SAFETY: it is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.aperture) };
        }
    }
}
