//! The host library for Python: `python/peerlane/_peerlane.pyi` has its documentation.

mod buffer;
mod error;
mod exit;
mod fpga;
mod queue;
mod region;
mod source;
#[cfg(feature = "testing")]
mod testing;

use error::{closed, told};
use exit::detached;
use fpga::{FpgaMemory, Owner};
use peerlane_gpu::Gpu;
use peerlane_host::Permissions;
use pyo3::prelude::*;
use queue::{Queue, Statistics, Transfer};
use region::Region;
use source::Source;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Translates the permissions of a region.
fn permissions(py: Python<'_>, read: bool, write: bool) -> PyResult<Permissions> {
    match (read, write) {
        (true, true) => Ok(Permissions::ReadWrite),
        (true, false) => Ok(Permissions::Read),
        (false, true) => Ok(Permissions::Write),
        (false, false) => Err(error::invalid(
            py,
            "a region that the board may neither read nor write",
            "Leave read or write as it is.",
        )),
    }
}

/// A board, opened: a context with a channel of its own.
#[pyclass(frozen, weakref, module = "peerlane")]
struct Device(Mutex<Option<Open>>);

/// Parts of a device until it is closed.
#[derive(Clone)]
struct Open {
    device: peerlane_host::Device,
    /// NVIDIA's GPUs whose memory was registered. Each keeps its primary context, which is expensive to make. Where the
    /// program uses another context, it would otherwise be made for each registration.
    gpus: Arc<Mutex<BTreeMap<usize, Gpu>>>,
    owner: Owner,
}

impl Device {
    fn over(device: peerlane_host::Device) -> Self {
        let (gpus, owner) = (Arc::default(), Owner::default());
        Self(Mutex::new(Some(Open {
            device,
            gpus,
            owner,
        })))
    }

    /// Returns the parts of the device, unless it was closed.
    fn open(&self, py: Python<'_>) -> PyResult<Open> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| closed(py, "the device"))
    }

    fn get(&self, py: Python<'_>) -> PyResult<peerlane_host::Device> {
        Ok(self.open(py)?.device)
    }
}

/// Variable with the path for programs that give none.
const DEVICE: &str = "PEERLANE_DEVICE";

/// Opens the board of a path, or the first one that is free.
fn open(path: Option<PathBuf>) -> peerlane_host::Result<peerlane_host::Device> {
    let default = || std::env::var_os(DEVICE).filter(|path| !path.is_empty());
    match path.or_else(|| default().map(PathBuf::from)) {
        // SAFETY: programs reach the device by this package alone, which keeps the memory that it registers alive.
        // Files in place of dma-bufs are those of tests.
        #[cfg(feature = "simulated")]
        Some(path) if path.as_os_str() == peerlane_simulated::named::NAME => unsafe {
            peerlane_simulated::named::open()
        },
        Some(path) => peerlane_host::Device::open(path),
        None => peerlane_host::Device::first(),
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (path = None))]
    fn new(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Self> {
        Ok(Self::over(told(py, detached(py, || open(path)))?))
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.get(py)?.name())
    }

    fn allocate(&self, py: Python<'_>, length: u64) -> PyResult<FpgaMemory> {
        let Open { device, owner, .. } = self.open(py)?;
        let memory = told(py, detached(py, || device.allocate(length)))?;
        // It belongs to the context once there is a queue, so it always belongs to the context.
        Ok(FpgaMemory::new(memory.keep(), owner))
    }

    #[pyo3(signature = (source, *, read = true, write = true))]
    fn register(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        read: bool,
        write: bool,
    ) -> PyResult<Region> {
        let permissions = permissions(py, read, write)?;
        let open = self.open(py)?;
        Region::new(py, &open, Source::of(source, write)?, permissions)
    }

    #[pyo3(signature = (file, length, *, offset = 0, read = true, write = true))]
    fn register_dmabuf(
        &self,
        py: Python<'_>,
        file: &Bound<'_, PyAny>,
        length: u64,
        offset: u64,
        read: bool,
        write: bool,
    ) -> PyResult<Region> {
        let permissions = permissions(py, read, write)?;
        let open = self.open(py)?;
        let number = match file.extract::<i32>() {
            Ok(number) => number,
            Err(_) => file.call_method0("fileno")?.extract()?,
        };
        if number < 0 {
            let text = format!("{number} is not a file descriptor");
            return Err(error::invalid(
                py,
                &text,
                "Give the file descriptor of a dma-buf.",
            ));
        }
        // SAFETY: it is used within the call only. The driver refuses one that is not open.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        Region::of_dmabuf(py, &open, (file, offset, length), permissions)
    }

    fn queue(&self, py: Python<'_>) -> PyResult<Queue> {
        let Open { device, owner, .. } = self.open(py)?;
        let queue = told(py, detached(py, || device.queue()))?;
        Ok(Queue::new(queue, owner))
    }

    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        let device = self.get(py)?;
        let file = device.file().map(|file| file.as_raw_fd());
        file.ok_or_else(|| {
            let what = "this board is in the process and has no file";
            error::unsupported(py, what, "Wait in a thread, or await the transfer.")
        })
    }

    fn close(&self, py: Python<'_>) {
        let open = (self.0.lock().unwrap_or_else(PoisonError::into_inner)).take();
        detached(py, || drop(open));
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _type: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) {
        self.close(py);
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match self.get(py) {
            Ok(device) => format!("<peerlane.Device {}>", device.name()),
            Err(_) => "<peerlane.Device, closed>".into(),
        }
    }
}

/// Opens a device of a board that cannot be stopped. Unregistering its first region takes `forgets` seconds.
#[cfg(feature = "testing")]
#[pyfunction(name = "stuck", signature = (number, forgets = 0.0))]
fn open_stuck(py: Python<'_>, number: i32, forgets: f64) -> PyResult<Device> {
    Ok(Device::over(told(py, testing::stuck(number, forgets))?))
}

/// Opens a device of a board that takes its first descriptor after a second.
#[cfg(feature = "testing")]
#[pyfunction(name = "slow")]
fn open_slow(py: Python<'_>) -> PyResult<Device> {
    Ok(Device::over(told(py, testing::slow())?))
}

/// Opens a device of a board whose restart by its driver never ends.
#[cfg(feature = "testing")]
#[pyfunction(name = "away")]
fn open_away(py: Python<'_>) -> PyResult<Device> {
    Ok(Device::over(told(py, testing::away())?))
}

/// Opens a device of a board that ends all descriptors with a fault.
#[cfg(feature = "testing")]
#[pyfunction(name = "failing")]
fn open_failing(py: Python<'_>) -> PyResult<Device> {
    Ok(Device::over(told(py, testing::failing())?))
}

/// Returns the number of calls of the last such board's driver, and of looks at its ring.
#[cfg(feature = "testing")]
#[pyfunction]
fn counts() -> (usize, usize) {
    testing::counts()
}

/// Opens a device with a file: a duplicate of an eventfd that does not block.
#[cfg(feature = "testing")]
#[pyfunction(name = "watched")]
fn open_watched(py: Python<'_>, file: i32) -> PyResult<Device> {
    // SAFETY: the caller has it open.
    let file = unsafe { BorrowedFd::borrow_raw(file) }.try_clone_to_owned()?;
    Ok(Device::over(told(py, testing::watched(file))?))
}

#[pymodule]
fn _peerlane(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    exit::register(module)?;
    module.add_class::<Device>()?;
    module.add_class::<FpgaMemory>()?;
    module.add_class::<Region>()?;
    module.add_class::<Queue>()?;
    module.add_class::<Statistics>()?;
    module.add_class::<Transfer>()?;
    #[cfg(feature = "testing")]
    {
        module.add_function(wrap_pyfunction!(open_stuck, module)?)?;
        module.add_function(wrap_pyfunction!(open_watched, module)?)?;
        module.add_function(wrap_pyfunction!(open_away, module)?)?;
        module.add_function(wrap_pyfunction!(open_failing, module)?)?;
        module.add_function(wrap_pyfunction!(open_slow, module)?)?;
        module.add_function(wrap_pyfunction!(counts, module)?)?;
    }
    Ok(())
}
