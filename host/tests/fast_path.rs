//! The fast path allocates no memory, and calls the driver only for doorbells and records.

mod least;

use least::Least;
use peerlane_host::{Device, Direction, MemoryKind, Permissions, Request, Terms};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
struct Counting;

// SAFETY: every call is the system's, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps to the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn submitting_and_polling_allocate_nothing_and_call_nobody() {
    // Writes of whole dwords are the same on both.
    for least in [Least::new(), Least::of_dwords()] {
        submit_and_poll(least);
    }
}

fn submit_and_poll(least: Least) {
    let device = Device::over(least.clone()).unwrap();
    let memory = device.memory(MemoryKind::Host, 1 << 20).unwrap();
    let region = device
        .register_all(&memory, Permissions::ReadWrite)
        .unwrap();
    let queue = device.queue().unwrap();
    let calls = least.count();
    let allocations = ALLOCATIONS.with(Cell::get);
    let terms = Terms {
        after_from_fpga: true,
        after_to_fpga: true,
        urgent: true,
        no_flush: true,
    };
    // More than the ring has slots, in pieces, several under way; all rounds are equal, also the first.
    for round in 0..200 {
        let mut transfers = [const { None }; 6];
        for (index, transfer) in transfers.iter_mut().enumerate() {
            let request = Request {
                direction: Direction::BOTH[index % 2],
                region: &region,
                offset: 64 * index as u64,
                fpga_address: 4096 * round,
                length: 10_000,
                piece: Some(4096),
            };
            *transfer = Some(queue.submit_with(&request, terms).unwrap());
        }
        for transfer in transfers.iter().flatten() {
            assert_eq!(transfer.poll().unwrap(), Some(10_000));
            assert_eq!(transfer.wait(None).unwrap(), 10_000);
        }
    }
    assert_eq!(ALLOCATIONS.with(Cell::get), allocations);
    assert_eq!(least.count(), calls);
    assert_eq!(queue.statistics().records, queue.statistics().descriptors);
}
