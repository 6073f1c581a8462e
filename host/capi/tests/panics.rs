//! A panic that left a function of C would end the program (the Rust Reference, "Unwinding"). Here the driver below
//! panics in every function that calls it.

#[allow(dead_code, reason = "the host library's tests use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

use least::Least;
use peerlane::*;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::{record, uapi};
use peerlane_host::{
    Context, Device, Memory, MemoryKind, Moderation, RawChannel, Result, SlowPath,
};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A driver that panics at its next call, once it is armed.
#[derive(Clone)]
struct Panics(Least, Arc<AtomicBool>);

impl std::fmt::Debug for Panics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Panics")
    }
}

impl Panics {
    fn least(&self) -> &Least {
        // Only once: a panic while another one unwinds ends every program.
        assert!(!self.1.swap(false, Ordering::SeqCst), "on purpose");
        &self.0
    }
}

impl Context for Panics {
    fn name(&self) -> String {
        self.least().name()
    }
    fn info(&self) -> &uapi::Info {
        self.least().info()
    }
    fn memory(&self, kind: MemoryKind, bytes: usize) -> Result<Memory> {
        self.least().memory(kind, bytes)
    }
    fn register(&self, region: &mut uapi::Register) -> Result<()> {
        self.least().register(region)
    }
    fn unregister(&self, handle: u32, flags: u32) -> Result<()> {
        self.least().unregister(handle, flags)
    }
    fn allocate(&self, wanted: &mut uapi::Allocate) -> Result<()> {
        self.least().allocate(wanted)
    }
    fn free(&self, flags: u32) -> Result<[u64; 2]> {
        self.least().free(flags)
    }
    fn open_channel(&self) -> Result<Option<RawChannel>> {
        self.least().open_channel()
    }
    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) -> u32 {
        self.least().post(direction, descriptor, freed)
    }
    fn queue_free(&self) -> [u32; 2] {
        self.least().queue_free()
    }
    fn take_refused(&self) -> bool {
        self.least().take_refused()
    }
    fn status(&self, slot: u32) -> u32 {
        self.least().status(slot)
    }
    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        self.least().record(slot)
    }
    fn query(&self) -> Result<uapi::Query> {
        self.least().query()
    }
    fn await_event(&self, limit: Option<Duration>) -> Result<bool> {
        self.least().await_event(limit)
    }
    fn file(&self) -> Option<BorrowedFd<'_>> {
        self.least().file()
    }
    fn now(&self) -> Duration {
        self.least().now()
    }
    fn pause(&self) {
        self.least().pause();
    }
    fn stop(&self, drain: Duration) -> Result<bool> {
        self.least().stop(drain)
    }
    fn moderate(&self, moderation: Moderation) -> Result<()> {
        self.least().moderate(moderation)
    }
    fn slow_path(&self) -> Option<&dyn SlowPath> {
        self.least().slow_path()
    }
}

/// Returns the functions that the header declares.
fn declared() -> BTreeSet<&'static str> {
    let header = include_str!("../include/libpeerlane.h");
    let lines = header
        .lines()
        .filter(|line| !line.starts_with([' ', '*', '/', '#']));
    let names = lines
        .filter_map(|line| line.split_once('('))
        .map(|(before, _)| before);
    let names = names.filter_map(|before| before.rsplit([' ', '*']).next());
    names.filter(|name| name.starts_with("pl_")).collect()
}

/// One handle of each kind, with a transfer under way; the driver panics at its next call.
struct All {
    device: *mut pl_device,
    region: *mut pl_region,
    queue: *mut pl_queue,
    transfer: *mut pl_transfer,
    armed: Arc<AtomicBool>,
}

impl All {
    fn new() -> Self {
        let (least, armed) = (Least::new(), Arc::<AtomicBool>::default());
        least.stuck.store(true, Ordering::Relaxed);
        let device = pl_device::over(Device::over(Panics(least, Arc::clone(&armed))).unwrap());
        let mut all = Self {
            device,
            region: null_mut(),
            queue: null_mut(),
            transfer: null_mut(),
            armed,
        };
        // SAFETY: places are places, and the driver touches no memory.
        unsafe {
            let (region, queue) = (&raw mut all.region, &raw mut all.queue);
            assert_eq!(
                pl_register_nvidia(device, 0x1_0000, 4096, 1, 3, region),
                PL_OK
            );
            assert_eq!(pl_queue_open(device, queue), PL_OK);
            let request = all.request();
            let transfer = &raw mut all.transfer;
            assert_eq!(pl_submit(all.queue, &raw const request, transfer), PL_OK);
        }
        all.armed.store(true, Ordering::SeqCst);
        all
    }

    /// Makes a device without other handles.
    fn bare() -> Self {
        let (least, armed) = (Least::new(), Arc::<AtomicBool>::default());
        let device = Device::over(Panics(least, Arc::clone(&armed))).unwrap();
        armed.store(true, Ordering::SeqCst);
        Self {
            device: pl_device::over(device),
            region: null_mut(),
            queue: null_mut(),
            transfer: null_mut(),
            armed,
        }
    }

    fn request(&self) -> pl_request {
        pl_request {
            size: size_of::<pl_request>() as u64,
            direction: PL_FROM_FPGA,
            flags: 0,
            region: self.region,
            offset: 0,
            fpga_address: 0,
            length: 64,
        }
    }
}

fn statistics() -> pl_statistics {
    // SAFETY: numbers.
    let zero: pl_statistics = unsafe { std::mem::zeroed() };
    let size = size_of::<pl_statistics>() as u64;
    pl_statistics { size, ..zero }
}

type Call = fn(All) -> i32;

#[test]
fn a_panic_is_an_error_of_every_function() {
    open_by(|_| panic!("on purpose"));
    // SAFETY: for all of them: the handles live, a function that ends one gets it once, and places are places.
    let calls: [(&str, Call); 31] = unsafe {
        [
            ("pl_version", |_| i32::from(pl_version() != PL_VERSION)),
            ("pl_error_text", |_| i32::from(pl_error_text().is_null())),
            ("pl_error_remedy", |_| {
                i32::from(pl_error_remedy().is_null())
            }),
            ("pl_error_number", |_| i32::from(pl_error_number() < 0)),
            ("pl_error_piece", |_| i32::from(pl_error_piece() != -1)),
            ("pl_code_name", |_| {
                pl_code_name(PL_OK);
                PL_OK
            }),
            ("pl_open", |_| {
                pl_open(c"/dev/peerlane0".as_ptr(), &mut null_mut())
            }),
            ("pl_close", |all| {
                pl_close(all.device);
                PL_OK
            }),
            ("pl_file", |all| pl_file(all.device)),
            ("pl_allocate", |_| {
                pl_allocate(All::bare().device, 4096, &mut 0)
            }),
            ("pl_register", |all| {
                pl_register(all.device, null_mut(), 64, 3, &mut null_mut())
            }),
            ("pl_register_dmabuf", |all| {
                pl_register_dmabuf(all.device, 0, 0, 64, 3, &mut null_mut())
            }),
            ("pl_register_nvidia", |all| {
                pl_register_nvidia(all.device, 0, 64, 1, 3, &mut null_mut())
            }),
            ("pl_region_probe", |all| {
                pl_region_probe(all.region, 0, 0, [0; PL_PROBE_BYTES].as_mut_ptr())
            }),
            ("pl_region_set_copy", |all| {
                i32::from(pl_region_set_copy(all.region, None, null_mut()) != PL_INVALID)
            }),
            ("pl_unregister", |all| pl_unregister(all.region)),
            ("pl_queue_open", |_| {
                pl_queue_open(All::bare().device, &mut null_mut())
            }),
            ("pl_queue_close", |all| {
                pl_transfer_free(all.transfer);
                pl_queue_close(all.queue)
            }),
            ("pl_submit", |all| {
                pl_submit(all.queue, &all.request(), &mut null_mut())
            }),
            ("pl_list_submit", |all| {
                pl_list_submit(all.queue, &all.request(), 1, 0, &mut null_mut())
            }),
            ("pl_queue_statistics", |all| {
                let mut statistics = statistics();
                pl_queue_statistics(all.queue, &mut statistics)
            }),
            ("pl_copy_to_fpga", |all| {
                pl_copy_to_fpga(all.queue, 0, 0x1000 as *const _, 64, 0)
            }),
            ("pl_copy_from_fpga", |all| {
                pl_copy_from_fpga(all.queue, 0, 0x1000 as *mut _, 64, 0)
            }),
            ("pl_transfer_poll", |all| {
                pl_transfer_poll(all.transfer, null_mut())
            }),
            ("pl_transfer_wait", |all| {
                pl_transfer_wait(all.transfer, 0, null_mut())
            }),
            ("pl_transfer_stop", |all| {
                pl_transfer_stop(all.transfer, 0, null_mut())
            }),
            ("pl_transfer_free", |all| {
                pl_transfer_free(all.transfer);
                PL_OK
            }),
            ("pl_queue_drain", |all| pl_queue_drain(all.queue, 0)),
            ("pl_queue_restart", |all| pl_queue_restart(all.queue)),
            ("pl_queue_turn", |all| pl_queue_turn(all.queue)),
            ("pl_queue_next_turn", |all| {
                pl_queue_next_turn(all.queue, &mut 0)
            }),
        ]
    };
    let tried: BTreeMap<&str, Call> = calls.into_iter().collect();
    assert_eq!(tried.keys().copied().collect::<BTreeSet<_>>(), declared());
    // These call no driver, or return no error.
    let silent = [
        "pl_version",
        "pl_code_name",
        "pl_error_text",
        "pl_error_remedy",
        "pl_error_number",
        "pl_error_piece",
        "pl_queue_statistics",
        "pl_close",
        "pl_region_set_copy",
        "pl_queue_next_turn",
        "pl_transfer_free",
    ];
    for (name, call) in tried {
        let code = call(All::new());
        let expected = match silent.contains(&name) {
            true => PL_OK,
            false => PL_INTERNAL,
        };
        assert_eq!(code, expected, "{name}");
    }
    // A queue that is closed with a transfer under way has called the driver: the panic happened, and did not leave the
    // function.
    let all = All::new();
    // SAFETY: as above.
    unsafe {
        pl_transfer_free(all.transfer);
        let _ = pl_queue_close(all.queue);
    }
    assert!(!all.armed.load(Ordering::SeqCst));
}
