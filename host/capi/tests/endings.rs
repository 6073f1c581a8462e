//! Results of functions for transfers that are ended, or watched by their file. The driver below behaves like the
//! kernel's in these cases.

#[allow(dead_code, reason = "the host library's tests use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

use least::Least;
use peerlane::*;
use peerlane_host::{Device, Errno};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A device with a queue and a region.
struct Open {
    least: Least,
    device: *mut pl_device,
    region: *mut pl_region,
    queue: *mut pl_queue,
}

impl Open {
    fn over(least: Least) -> Self {
        let device = pl_device::over(Device::over(least.clone()).unwrap());
        let (mut region, mut queue) = (null_mut(), null_mut());
        // SAFETY: places are places, and the driver touches no memory.
        unsafe {
            let code = pl_register_nvidia(device, 0x1_0000, 4096, 1, 3, &raw mut region);
            assert_eq!(code, PL_OK);
            assert_eq!(pl_queue_open(device, &raw mut queue), PL_OK);
        }
        Self {
            least,
            device,
            region,
            queue,
        }
    }

    fn submit(&self, flags: u32) -> *mut pl_transfer {
        let request = pl_request {
            size: size_of::<pl_request>() as u64,
            direction: PL_FROM_FPGA,
            flags,
            region: self.region,
            offset: 0,
            fpga_address: 0,
            length: 64,
        };
        let mut transfer = null_mut();
        // SAFETY: the handles live, and places are places.
        let code = unsafe { pl_submit(self.queue, &raw const request, &raw mut transfer) };
        assert_eq!(code, PL_OK);
        transfer
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the handles live, and are not used again.
        unsafe {
            let _ = pl_queue_close(self.queue);
            let _ = pl_unregister(self.region);
            pl_close(self.device);
        }
    }
}

/// The driver's STOP: EAGAIN and EIO while it restarts the board (peerlane.h, PEERLANE_IOC_STOP), for which the library
/// waits. After every error the transfer is under way, so the code must be one that means this.
#[test]
fn what_may_be_under_way_is_told_by_its_code() {
    for (refused, expected) in [
        (Errno::AGAIN, PL_TIMEOUT),
        (Errno::IO, PL_TIMEOUT),
        (Errno::INTR, PL_BROKEN),
        (Errno::INVAL, PL_BROKEN),
        (Errno::NODEV, PL_GONE),
    ] {
        let least = Least::new();
        least.stuck.store(true, Ordering::Relaxed);
        *least.clock.lock().unwrap() = Some(Duration::ZERO);
        let open = Open::over(least);
        let transfer = open.submit(0);
        *open.least.refuse_stop.lock().unwrap() = Some(refused);
        // SAFETY: the handles live.
        unsafe {
            assert_eq!(pl_queue_restart(open.queue), expected, "{refused}");
            // A board that is gone is an error of the library's own.
            let number = match refused {
                Errno::NODEV => 0,
                refused => refused.raw_os_error(),
            };
            assert_eq!(pl_error_number(), number);
            let code = pl_transfer_stop(transfer, 0, null_mut());
            assert_eq!(code, expected, "{refused}");
            assert_eq!(pl_transfer_poll(transfer, null_mut()), 0, "{refused}");
            pl_transfer_free(transfer);
        }
    }
}

/// Data that cannot be proven to have arrived: the transfer has ended, and its memory may still change.
#[test]
fn data_that_may_be_on_their_way_are_told_by_the_code() {
    let open = Open::over(Least::new());
    *open.least.refuse_flush.lock().unwrap() = Some((Errno::IO, u32::MAX));
    let transfer = open.submit(PL_NO_FLUSH);
    // SAFETY: the handles live.
    unsafe {
        assert_eq!(pl_transfer_stop(transfer, 0, null_mut()), PL_BROKEN);
        assert_eq!(pl_transfer_wait(transfer, 0, null_mut()), PL_BROKEN);
        pl_transfer_free(transfer);
    }
}

/// A program's loop around poll(). As with the kernel's file, only a query acknowledges reports.
#[test]
fn a_turn_acknowledges_what_the_file_told() {
    let least = Least::new();
    let file = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
    least.file.set(file.into()).unwrap();
    let open = Open::over(least);
    let readable = || {
        // SAFETY: the handle lives, and the file as long as it.
        let file = unsafe { BorrowedFd::borrow_raw(pl_file(open.device)) };
        let mut polled = [PollFd::new(&file, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::default())).unwrap() == 1
    };
    // SAFETY: handles live, and places are places.
    unsafe {
        assert!(!readable());
        let mut next = 0;
        assert_eq!(pl_queue_next_turn(open.queue, &raw mut next), PL_OK);
        assert_eq!(next, 1_000_000_000);
        let transfer = open.submit(0);
        assert!(readable());
        // A poll of the transfer acknowledges nothing: a loop without turns would not sleep.
        assert_eq!(pl_transfer_poll(transfer, null_mut()), 1);
        assert!(readable());
        assert_eq!(pl_queue_turn(open.queue), PL_OK);
        assert!(!readable());

        assert_eq!(pl_queue_turn(null()), PL_INVALID);
        assert_eq!(pl_queue_next_turn(null(), &raw mut next), PL_INVALID);
        assert_eq!(pl_queue_next_turn(open.queue, null_mut()), PL_INVALID);
        pl_transfer_free(transfer);
    }
}

/// Arguments of a program that the driver refuses: not a dma-buf, missing memory, no bytes.
#[test]
fn wrong_arguments_are_invalid_whoever_finds_them() {
    for refused in [Errno::INVAL, Errno::FAULT, Errno::BADF] {
        let least = Least::new();
        *least.refuse.lock().unwrap() = Some((refused, 1));
        let device = pl_device::over(Device::over(least).unwrap());
        let mut region = null_mut();
        // SAFETY: handles live, and places are places.
        unsafe {
            let code = pl_register_dmabuf(device, 0, 0, 64, PL_READ, &raw mut region);
            assert_eq!(code, PL_INVALID, "{refused}");
            pl_close(device);
        }
    }
}

/// Calls of the program's function: offset and bytes. It fails when no successes are left.
struct Copies {
    seen: Vec<(u64, u64)>,
    left: usize,
}

unsafe extern "C" fn copy(
    user: *mut c_void,
    offset: u64,
    bytes: *const c_void,
    length: u64,
) -> i32 {
    assert!(!bytes.is_null());
    // SAFETY: it is the argument that was set with the function, and no other call is in progress.
    let copies = unsafe { &mut *user.cast::<Copies>() };
    if copies.left == 0 {
        return 719;
    }
    copies.left -= 1;
    copies.seen.push((offset, length));
    0
}

/// Writes of other bytes than whole dwords to a GPU's memory, on a board that writes dwords, work with the program's
/// function.
#[test]
fn the_programs_function_copies_the_ends() {
    let open = Open::over(Least::of_dwords());
    let mut copies = Copies {
        seen: Vec::new(),
        left: 3,
    };
    let user = (&raw mut copies).cast();
    let begin = |offset, length| {
        let request = pl_request {
            size: size_of::<pl_request>() as u64,
            direction: PL_FROM_FPGA,
            flags: 0,
            region: open.region,
            offset,
            fpga_address: 0,
            length,
        };
        let mut transfer = null_mut();
        // SAFETY: the handles live, and places are places.
        let code = unsafe { pl_submit(open.queue, &raw const request, &raw mut transfer) };
        (code, transfer)
    };
    // SAFETY: the handles live, and the function matches its argument.
    unsafe {
        assert_eq!(begin(1, 10).0, PL_INVALID);
        assert_eq!(begin(4, 8).0, PL_OK);
        assert_eq!(pl_region_set_copy(open.region, None, user), PL_INVALID);
        assert_eq!(pl_region_set_copy(null(), Some(copy), user), PL_INVALID);
        assert_eq!(pl_region_set_copy(open.region, Some(copy), user), PL_OK);
        for (offset, length, code) in [(1, 10, PL_OK), (4, 2, PL_OK), (4, 2, PL_FAULT)] {
            let (begun, transfer) = begin(offset, length);
            assert_eq!(begun, PL_OK);
            assert_eq!(pl_transfer_wait(transfer, 1_000_000_000, null_mut()), code);
            pl_transfer_free(transfer);
        }
        let text = std::ffi::CStr::from_ptr(pl_error_text()).to_str().unwrap();
        assert!(text.ends_with("returned 719"), "{text}");
    }
    drop(open);
    assert_eq!(copies.seen, [(1, 3), (8, 3), (4, 2)]);
}

/// A list is a transfer like any other, and an error has the index of its piece.
#[test]
fn a_list_says_which_piece_is_wrong_or_has_failed() {
    let open = Open::over(Least::new());
    let piece = |offset| pl_request {
        size: size_of::<pl_request>() as u64,
        direction: PL_FROM_FPGA,
        flags: 0,
        region: open.region,
        offset,
        fpga_address: 0,
        length: 64,
    };
    let text = || {
        // SAFETY: it is a string until the thread's next error.
        let text = unsafe { std::ffi::CStr::from_ptr(pl_error_text()) };
        text.to_str().unwrap().to_owned()
    };
    let counted = || {
        // SAFETY: numbers, the handle lives, and the place is one.
        unsafe {
            let mut statistics: pl_statistics = std::mem::zeroed();
            statistics.size = size_of::<pl_statistics>() as u64;
            assert_eq!(pl_queue_statistics(open.queue, &raw mut statistics), PL_OK);
            statistics
        }
    };
    let (good, mut transfer) = ([piece(0), piece(64), piece(256)], null_mut());
    // SAFETY: the handles live, and places are places.
    unsafe {
        let mut begin = |pieces: &[pl_request], flags| {
            let (first, count) = (pieces.as_ptr(), pieces.len() as u64);
            pl_list_submit(open.queue, first, count, flags, &raw mut transfer)
        };
        for (index, wrong) in [
            pl_request { size: 8, ..good[0] },
            pl_request {
                flags: PL_URGENT,
                ..good[1]
            },
            pl_request {
                region: null(),
                ..good[2]
            },
            pl_request {
                direction: 2,
                ..good[0]
            },
            piece(4096),
            pl_request {
                length: 0,
                ..good[2]
            },
            pl_request {
                fpga_address: u64::MAX,
                ..good[0]
            },
        ]
        .into_iter()
        .enumerate()
        {
            let mut pieces = good;
            pieces[index % 3] = wrong;
            assert_eq!(begin(&pieces, 0), PL_INVALID, "{wrong:?}");
            assert_eq!(pl_error_piece(), (index % 3) as i64, "{}", text());
            assert!(
                text().starts_with(&format!("piece {}: ", index % 3)),
                "{}",
                text()
            );
        }
        assert_eq!(begin(&good, 16), PL_INVALID);
        assert_eq!(pl_error_piece(), -1, "it is the list's");
        assert_eq!(begin(&[], 0), PL_INVALID);
        for (pieces, count) in [
            (null(), 0),
            (null(), 3),
            (good.as_ptr(), 0),
            (good.as_ptr(), u64::MAX),
        ] {
            let mut handle = std::ptr::without_provenance_mut(8);
            let code = pl_list_submit(open.queue, pieces, count, 0, &raw mut handle);
            assert!(code == PL_INVALID && handle.is_null() && pl_error_piece() == -1);
        }
        let (first, count) = (good.as_ptr(), good.len() as u64);
        assert_eq!(
            pl_list_submit(null(), first, count, 0, &raw mut transfer),
            PL_INVALID
        );
        assert_eq!(
            pl_list_submit(open.queue, first, count, 0, null_mut()),
            PL_INVALID
        );
        let before = counted();
        assert_eq!(
            (before.descriptors, before.under_way),
            (0, 0),
            "nothing was moved"
        );

        let code = pl_list_submit(open.queue, first, count, PL_URGENT, &raw mut transfer);
        assert_eq!(code, PL_OK, "{}", text());
        let mut moved = 0;
        assert_eq!(
            pl_transfer_wait(transfer, 1_000_000_000, &raw mut moved),
            PL_OK
        );
        assert_eq!(
            (moved, pl_transfer_poll(transfer, &raw mut moved)),
            (3 * 64, 1)
        );
        assert_eq!(pl_transfer_stop(transfer, 0, &raw mut moved), PL_OK);
        pl_transfer_free(transfer);
        let after = counted();
        assert_eq!(
            (after.descriptors, after.records, after.under_way),
            (3, 3, 0)
        );
        assert_eq!(after.late_records, 0);

        // The failed piece is known by its index when all have ended. A piece that is under way has not failed.
        open.least.stuck.store(true, Ordering::Relaxed);
        assert_eq!(
            pl_list_submit(open.queue, first, count, 0, &raw mut transfer),
            PL_OK
        );
        assert_eq!(pl_transfer_poll(transfer, null_mut()), 0);
        assert_eq!(pl_transfer_wait(transfer, 0, null_mut()), PL_TIMEOUT);
        assert_eq!((pl_error_piece(), counted().under_way), (-1, 3));
        open.least.failing.store(true, Ordering::Relaxed);
        open.least.end_held(true);
        assert_eq!(
            pl_transfer_wait(transfer, 1_000_000_000, null_mut()),
            PL_FAULT
        );
        assert_eq!(pl_error_piece(), 0);
        assert!(text().starts_with("piece 0: "), "{}", text());
        pl_transfer_free(transfer);
        // The next error is not about a list.
        assert_eq!(pl_queue_turn(null()), PL_INVALID);
        assert_eq!(pl_error_piece(), -1);
        let mut statistics = pl_statistics { size: 8, ..after };
        assert_eq!(
            pl_queue_statistics(open.queue, &raw mut statistics),
            PL_INVALID
        );
        assert_eq!(pl_queue_statistics(open.queue, null_mut()), PL_INVALID);
        assert_eq!(pl_queue_statistics(null(), &raw mut statistics), PL_INVALID);
    }
}

/// The order in which programs clean up after PL_TIMEOUT: memory that the board may still write is not released, and
/// the result shows that.
#[test]
fn memory_of_a_transfer_under_way_is_not_released() {
    let least = Least::new();
    let mut open = Open::over(least.clone());
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = open.submit(0);
    // SAFETY: the handles live until a call has ended them.
    unsafe {
        assert_eq!(pl_transfer_wait(transfer, 0, null_mut()), PL_TIMEOUT);
        pl_transfer_free(transfer);
        assert_eq!(pl_unregister(open.region), PL_BUSY);
        assert_eq!(least.unregistered.load(Ordering::Relaxed), 0);
        // A queue that cannot be stopped stays, too.
        *least.refuse_stop.lock().unwrap() = Some(Errno::INVAL);
        assert_eq!(pl_queue_close(open.queue), PL_BROKEN);
        assert_eq!(pl_unregister(open.region), PL_BUSY);
        *least.refuse_stop.lock().unwrap() = None;
        least.end_held(true);
        assert_eq!(pl_queue_close(open.queue), PL_OK);
        assert_eq!(pl_unregister(open.region), PL_OK);
        assert_eq!(least.unregistered.load(Ordering::Relaxed), 1);
    }
    (open.queue, open.region) = (null_mut(), null_mut());
    drop(open);
    // On a board that is gone no bytes are moved, and all can be released.
    let least = Least::new();
    let mut open = Open::over(least.clone());
    least.stuck.store(true, Ordering::Relaxed);
    let transfer = open.submit(0);
    least.gone.store(true, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe {
        pl_transfer_free(transfer);
        assert_eq!(pl_unregister(open.region), PL_OK);
        *least.refuse_stop.lock().unwrap() = Some(Errno::NODEV);
        assert_eq!(pl_queue_close(open.queue), PL_GONE);
    }
    (open.queue, open.region) = (null_mut(), null_mut());
}

#[test]
fn each_code_has_its_name() {
    let name = |code| {
        // SAFETY: it is a string for good.
        let name = unsafe { std::ffi::CStr::from_ptr(pl_code_name(code)) };
        name.to_str().unwrap().to_owned()
    };
    let header = include_str!("../include/libpeerlane.h");
    let mut found = 0;
    for line in header.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let ["#define", word, code] = words[..]
            && let Ok(code @ ..=-1) = code.trim_matches(['(', ')']).parse::<i32>()
        {
            assert_eq!(name(code), word);
            found += 1;
        }
    }
    assert_eq!(
        (found, name(0), name(1)),
        (13, "PL_OK".into(), "PL_OK".into())
    );
    assert_eq!(name(-14), "not a code of libpeerlane");
}
