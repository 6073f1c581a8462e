//! The kernel of a step, and an event after it.

use crate::cuda::{Gpu, SUCCESS};
use crate::error::Result;
use cudarc::driver::sys;
use std::borrow::Cow;
use std::ffi::{CString, c_int, c_void};

/// The kernel of one thread that executes a step: the functions of `peerlane_gpu.h` in PTX.
const PTX: &str = include_str!("../queue.ptx");

/// The first driver with PTX ISA 8.2: that of CUDA 12.2, as CUDA writes versions (PTX ISA, "Release Notes").
const MMIO_DRIVER: c_int = 12_020;

/// The compute capability's major number from which a GPU has `st.mmio` (PTX ISA, "st", Target ISA Notes).
const MMIO_GPU: c_int = 7;

/// Differences of the text for older drivers and GPUs. It has volatile stores: PTX says that hardware may merge them or
/// perform more than there are ("Memory Consistency Model", "Volatile Operation").
const OLDER: [(&str, &str); 3] = [
    (".version 8.2", ".version 6.0"),
    (".target sm_70", ".target sm_50"),
    ("st.mmio.relaxed.sys.global", "st.volatile.global"),
];

/// Returns the text for a driver and a GPU.
fn text(driver: c_int, gpu: c_int) -> Cow<'static, str> {
    if driver >= MMIO_DRIVER && gpu >= MMIO_GPU {
        return PTX.into();
    }
    let older = |text: String, (new, old)| text.replace(new, old);
    OLDER.into_iter().fold(PTX.to_string(), older).into()
}

/// A kernel that the driver has compiled.
pub(super) struct Program {
    gpu: Gpu,
    module: sys::CUmodule,
    kernel: sys::CUfunction,
}

// SAFETY: any thread may use CUDA's modules and functions; nothing is accessed through the pointers.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Program {
    /// Compiles the kernel for a GPU.
    pub(super) fn step(gpu: &Gpu) -> Result<Self> {
        let _bound = gpu.bind()?;
        let driver = gpu.driver();
        let mut version = 0;
        // SAFETY: a place for the version.
        let code = unsafe { (driver.version)(&raw mut version) };
        driver.check("cuDriverGetVersion", code)?;
        let text = CString::new(&*text(version, gpu.major()?)).unwrap_or_default();
        let mut module = std::ptr::null_mut();
        // SAFETY: PTX as a string, and a place for the module.
        let code = unsafe { (driver.module_load)(&raw mut module, text.as_ptr().cast()) };
        driver.check("cuModuleLoadData", code)?;
        let mut program = Self {
            gpu: gpu.clone(),
            module,
            kernel: std::ptr::null_mut(),
        };
        let place = &raw mut program.kernel;
        // SAFETY: the module was just loaded; a place for the function, and its name.
        let code = unsafe { (driver.module_function)(place, module, c"peerlane_step".as_ptr()) };
        driver.check("cuModuleGetFunction", code)?;
        Ok(program)
    }

    /// Enqueues the kernel.
    ///
    /// # Safety
    /// The stream is a living one of this GPU's context, each argument points to one of the kernel's, in their order,
    /// and the accesses that the kernel makes with them are sound.
    pub(super) unsafe fn launch(
        &self,
        stream: sys::CUstream,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        let _bound = self.gpu.bind()?;
        let driver = self.gpu.driver();
        let none = std::ptr::null_mut();
        // SAFETY: the caller promises it. One thread, and only this way of passing arguments.
        let code = unsafe {
            let arguments = arguments.as_mut_ptr();
            (driver.launch)(self.kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, none)
        };
        driver.check("cuLaunchKernel", code)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the module was loaded, this unloads it once, and no kernel of it runs.
        let _ = self.gpu.give_back(|| unsafe {
            let _ = (self.gpu.driver().module_unload)(self.module);
        });
    }
}

/// A place in a stream.
pub(crate) struct Event {
    gpu: Gpu,
    raw: sys::CUevent,
}

// SAFETY: any thread may use CUDA's events; nothing is accessed through the pointer.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Makes an event that is in no stream yet.
    pub(crate) fn new(gpu: &Gpu) -> Result<Self> {
        let _bound = gpu.bind()?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: a place for the event.
        let code = unsafe { (gpu.driver().event_create)(&raw mut raw, flags) };
        gpu.driver().check("cuEventCreate", code)?;
        Ok(Self {
            gpu: gpu.clone(),
            raw,
        })
    }

    /// Returns the event, for functions of CUDA's.
    pub(crate) fn raw(&self) -> sys::CUevent {
        self.raw
    }

    /// Puts it after the work that was enqueued.
    pub(crate) fn record(&self, stream: sys::CUstream) -> Result<()> {
        // The default stream is that of the thread's context.
        let _bound = self.gpu.bind()?;
        // SAFETY: the event and the stream are of the same context.
        let code = unsafe { (self.gpu.driver().event_record)(self.raw, stream) };
        self.gpu.driver().check("cuEventRecord", code)
    }

    /// Whether all work before it has run. An event whose query fails counts as not reached.
    pub(super) fn is_reached(&self) -> bool {
        let Ok(_bound) = self.gpu.bind() else {
            return false;
        };
        // SAFETY: the event is this value's.
        unsafe { (self.gpu.driver().event_query)(self.raw) == SUCCESS }
    }

    /// Waits until all work before it has run. An event that was never recorded has no work before it ("Event
    /// Management", `cuEventSynchronize`).
    pub(super) fn synchronize(&self) -> Result<()> {
        let _bound = self.gpu.bind()?;
        // SAFETY: the event is this value's.
        let code = unsafe { (self.gpu.driver().event_synchronize)(self.raw) };
        self.gpu.driver().check("cuEventSynchronize", code)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.gpu.is_inherited() {
            return;
        }
        let _bound = self.gpu.bind();
        // SAFETY: the event is this value's, and destroyed once. CUDA itself waits for the work before it.
        let _ = unsafe { (self.gpu.driver().event_destroy)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::STATE_BYTES;
    use peerlane_host::peerlane_core::record;
    use peerlane_host::peerlane_core::regs::{self, chan};

    /// Finds the instructions that store to the page: at its descriptor, and at its doorbell.
    fn page_stores(text: &str) -> Vec<&str> {
        let places = ["[%place", "[%bell]"];
        let stores = text.lines().map(str::trim);
        let stores = stores.filter(|line| places.iter().any(|place| line.contains(place)));
        stores.collect()
    }

    #[test]
    fn registers_are_stored_to_as_such_where_the_gpu_can() {
        // Hopper with the driver of CUDA 13.0, and the oldest driver and GPU that have the instruction.
        for (driver, gpu) in [(13_000, 9), (12_020, 7)] {
            let text = text(driver, gpu);
            assert!(text.contains(".version 8.2\n.target sm_70\n"));
            let stores = page_stores(&text);
            assert_eq!(stores.len(), 5);
            let mmio = |store: &&str| store.starts_with("st.mmio.relaxed.sys.global.u");
            assert!(stores.iter().all(mmio), "{stores:?}");
        }
        // The driver of CUDA 12.1 does not know the instruction, and Pascal does not have it.
        for (driver, gpu) in [(12_010, 9), (13_000, 6), (11_080, 5)] {
            let text = text(driver, gpu);
            assert!(text.contains(".version 6.0\n.target sm_50\n"));
            let instructions = text.lines().filter(|line| !line.starts_with("//"));
            assert!(instructions.into_iter().all(|line| !line.contains("mmio")));
            let stores = page_stores(&text);
            let volatile = |store: &&str| store.starts_with("st.volatile.global.u");
            assert!(
                stores.len() == 5 && stores.iter().all(volatile),
                "{stores:?}"
            );
        }
    }

    /// Late steps are counted without the lock, so all threads count them in one access; and the limit includes the
    /// wait for the lock.
    #[test]
    fn the_limit_begins_before_the_lock_is_taken() {
        let line = |text: &str| {
            let mut lines = PTX.lines().map(str::trim);
            lines.position(|line| line == text).expect(text)
        };
        let begin = line("mov.u64 %begin, %globaltimer;");
        assert!(begin < line("take:") && line("take:") < line("taken:"));
        assert_eq!(PTX.matches("%begin, %globaltimer").count(), 1);
        // In the loop, before the lock is taken, and at the record.
        assert_eq!(PTX.matches("setp.gt.u64 %p, %now, %limit;").count(), 2);
        let counts: Vec<&str> = PTX
            .lines()
            .filter(|line| line.contains("[%result+32]"))
            .collect();
        let count = "red.global.add.u32 [%result+32], %late;";
        assert!(counts.len() == 2 && counts.iter().all(|line| line.trim() == count));
    }

    /// The PTX has numbers of the register map in its text; so they are compared with the map here.
    #[test]
    fn the_kernel_has_the_maps_numbers() {
        assert_eq!(chan::WRITE_DESC, 0);
        // Direction 1 is 128 bytes after direction 0, doorbells are 64 bytes after descriptors.
        assert_eq!(chan::READ_DESC, 128);
        assert_eq!(chan::WRITE_DOORBELL, 64);
        assert_eq!(chan::READ_DOORBELL, 128 + 64);
        assert_eq!(regs::Completion::SIZE, 32);
        assert!(PTX.contains("add.u64 %lock, %queue, 44;"));
        assert_eq!(STATE_BYTES, 48);
        assert_eq!(record::STATUS, 1);
        assert_eq!(record::SEQUENCE, 3);
        let status = regs::Completion::default().with_status_phase(true).status;
        assert_eq!(status, 1);
        let code = regs::Completion {
            status: 16_711_680,
            ..Default::default()
        };
        assert!(code.status_code().is_err(), "all bits of the code");
        assert!(!code.status_phase() && code.status_channel() == 0);
        for text in [
            "and.b32 %code, %status, 16711680;",
            "add.u64 %bell, %place, 64;",
        ] {
            assert!(PTX.contains(text), "{text}");
        }
    }
}
