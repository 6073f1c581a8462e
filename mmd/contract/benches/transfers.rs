//! Time that a transfer takes on the host, in addition to board and bus: `cargo bench -p peerlane-contract --bench
//! transfers`.
//!
//! The calls are the runtime's: `aocl_mmd_write` and `aocl_mmd_read` of FPGA memory, with an operation, whose end the
//! status handler gets, and blocking. The board below has ended a transfer before its doorbell returns, and moves
//! nothing. So a time is that of the library's code alone: its checks, a copy to or from memory that the board knows,
//! the descriptor, the look at the record, the handler. It has no system call, no uncached store, and none of the
//! board's time, which must be added. "the bench's board alone" is in each of the others. Times are the processor's, of
//! all threads of the process, so that other programs do not count: to wake a thread takes longer until it runs.
//!
//! With the vendor's library a transfer of less than 1 KiB goes by accesses of the processor's through a window of the
//! BAR, and DMA begins at 1 KiB. The time of such accesses can only be measured with a board.

mod quick;

use criterion::Criterion;
use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{Control, Descriptor, Direction, Local};
use peerlane_host::Context;
use peerlane_mmd_core::{Flavour, Mmd};
use quick::{One, Quick};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// The interface that is memory.
const MEMORY: c_int = peerlane_mmd_core::MEMORY;

/// The thread that waits, and the number of reported ends.
struct Told {
    waits: Thread,
    ends: AtomicU64,
}

unsafe extern "C" fn told(_: c_int, told: *mut c_void, _: *mut c_void, _: c_int) {
    // SAFETY: it was set with a pointer to this, which lives as long as the process.
    let told = unsafe { &*told.cast::<Told>() };
    told.ends.fetch_add(1, Ordering::Release);
    told.waits.unpark();
}

/// Returns the processor's time of the process, all its threads together.
fn process_time() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: there is room for it.
    let told = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    assert_eq!(told, 0);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Returns the time that so many calls of a function take.
fn spent(times: u64, mut f: impl FnMut()) -> Duration {
    let begin = process_time();
    (0..times).for_each(|_| f());
    process_time() - begin
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let quick = Quick::default();
    let mmd = Mmd::new(Flavour::TOOL, One(quick.clone(), || None));
    let mmd: &'static Mmd = Box::leak(Box::new(mmd));
    // SAFETY: it is a string.
    let handle = unsafe { mmd.open(c"quick0".as_ptr()) };
    assert!(handle >= 0);
    let heard: &'static Told = Box::leak(Box::new(Told {
        waits: std::thread::current(),
        ends: AtomicU64::new(0),
    }));
    let user = std::ptr::from_ref(heard).cast_mut().cast();
    // SAFETY: the handler takes this pointer.
    let set = unsafe { mmd.set_status_handler(handle, Some(told), user) };
    assert_eq!(set, 0);
    let mut memory = vec![0x5a_u8; 1 << 20];
    let from: *mut c_void = memory.as_mut_ptr().cast();
    let (op, none) = (std::ptr::without_provenance_mut(1), std::ptr::null_mut());
    // Waits for the end of a transfer with an operation.
    let ended = |before: u64| {
        while heard.ends.load(Ordering::Acquire) == before {
            std::thread::park();
        }
    };
    // The last size is handed to a thread of the library's, and staged like the others.
    for (bytes, name) in [
        (64, "64 B"),
        (4 << 10, "4 KiB"),
        (8 << 10, "8 KiB, by another thread"),
    ] {
        criterion.bench_function(&format!("write {name}"), |bencher| {
            bencher.iter_custom(|times| {
                spent(times, || {
                    let before = heard.ends.load(Ordering::Acquire);
                    // SAFETY: the memory is there until the end was reported.
                    let begun =
                        unsafe { mmd.write(handle, op, black_box(bytes), from, MEMORY, 0x1000) };
                    assert_eq!(begun, 0);
                    ended(before);
                })
            });
        });
        criterion.bench_function(&format!("read {name}"), |bencher| {
            bencher.iter_custom(|times| {
                spent(times, || {
                    let before = heard.ends.load(Ordering::Acquire);
                    // SAFETY: as above, and no other code uses it.
                    let begun =
                        unsafe { mmd.read(handle, op, black_box(bytes), from, MEMORY, 0x1000) };
                    assert_eq!(begun, 0);
                    ended(before);
                })
            });
        });
    }
    for (bytes, name) in [(64, "64 B"), (4 << 10, "4 KiB")] {
        criterion.bench_function(&format!("write {name}, blocking"), |bencher| {
            bencher.iter_custom(|times| {
                spent(times, || {
                    // SAFETY: the call blocks.
                    let written =
                        unsafe { mmd.write(handle, none, black_box(bytes), from, MEMORY, 0x1000) };
                    assert_eq!(written, 0);
                })
            });
        });
    }
    let words = Descriptor {
        peer: AttAddress::new(PageSize::Kib64, 0, 0).expect("it is one"),
        local: Local::Memory(0x1000),
        length: 64,
        control: Control {
            record: true,
            ..Control::default()
        },
        cookie: 1,
    };
    let words = words.encode().expect("it is one");
    criterion.bench_function("the bench's board alone", |bencher| {
        bencher.iter_custom(|times| {
            spent(times, || {
                quick.post(Direction::ToFpga, black_box(&words), 0);
            })
        });
    });
    // The library's threads live on.
    std::process::exit(0);
}
