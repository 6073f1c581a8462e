//! Calls of the functions of C for a fuzzer: any of them, in any order, with any arguments that their documentation
//! allows. `host/capi/tests/fuzz.rs` includes this file for a bounded run without a fuzzer.

use peerlane::*;
use peerlane_host::Device;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

/// Bytes, used as numbers and choices; zeros when they have run out.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn ends(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a number: small, near an edge, or any.
    fn number(&mut self) -> u64 {
        let (kind, byte) = (self.byte(), u64::from(self.byte()));
        match kind % 8 {
            0 => 0,
            1 => byte,
            2 => byte << 12,
            3 => (1 << 30) - byte,
            4 => u64::MAX - byte,
            5 => i64::MAX as u64 - byte,
            6 => u64::from(u32::MAX) + byte,
            _ => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    /// Returns one of some handles, or null.
    fn handle<T>(&mut self, of: &[*mut T]) -> *mut T {
        let choice = usize::from(self.byte());
        match choice % 16 {
            15 => null_mut(),
            _ if of.is_empty() => null_mut(),
            _ => of[choice % of.len()],
        }
    }
}

/// Checks a result code.
fn known(code: i32) {
    assert!((PL_INTERNAL..=1).contains(&code), "{code}");
    assert_ne!(code, PL_INTERNAL, "a panic");
    if code < 0 {
        // SAFETY: both are strings until the thread's next error.
        let texts =
            unsafe { [pl_error_text(), pl_error_remedy()].map(|text| CStr::from_ptr(text)) };
        for text in texts {
            let text = text.to_str().expect("texts are UTF-8");
            assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
        }
    }
}

/// Returns the initial value of a handle's place: a plausible address that no function returns.
fn stale<T>() -> *mut T {
    std::ptr::without_provenance_mut(0xdead)
}

/// Checks the handle that a function has left in its place.
fn made<T>(code: i32, handle: *mut T, of: &mut Vec<*mut T>) {
    known(code);
    assert_eq!(code == PL_OK, !handle.is_null(), "{code}");
    if !handle.is_null() {
        of.push(handle);
    }
}

/// Takes a handle out of the list, to be ended.
fn taken<T>(input: &mut Input<'_>, of: &mut Vec<*mut T>) -> *mut T {
    match of.is_empty() {
        true => null_mut(),
        false => of.swap_remove(usize::from(input.byte()) % of.len()),
    }
}

/// Makes a request, or a piece of a list.
fn request(input: &mut Input<'_>, regions: &[*mut pl_region]) -> pl_request {
    pl_request {
        size: size_of::<pl_request>() as u64 - u64::from(input.byte() == 1),
        direction: u32::from(input.byte() % 3),
        flags: u32::from(input.byte() % 20),
        region: input.handle(regions),
        offset: input.number(),
        fpga_address: input.number(),
        length: input.number(),
    }
}

/// Calls functions as the bytes choose, for a device whose driver takes any memory and whose time does not advance.
pub fn calls(device: Device, data: &[u8]) {
    let mut input = Input(data);
    let devices = [pl_device::over(device)];
    let mut queues: Vec<*mut pl_queue> = Vec::new();
    let mut regions: Vec<*mut pl_region> = Vec::new();
    let mut transfers: Vec<*mut pl_transfer> = Vec::new();
    while !input.ends() {
        // SAFETY: handles are passed while they live, and once to the function that ends them; places are places; the
        // driver does not access registered memory.
        unsafe {
            match input.byte() % 21 {
                0 => {
                    let length = usize::from(input.byte() % 32);
                    let bytes = (0..length).map(|_| input.byte().max(1));
                    let path: Vec<u8> = b"/dev/null/".iter().copied().chain(bytes).collect();
                    let path = CString::new(path).expect("there is no zero in it");
                    let mut device = stale();
                    let code = pl_open(path.as_ptr(), &raw mut device);
                    known(code);
                    assert!(code < 0 && device.is_null());
                }
                1 => {
                    let code = pl_file(input.handle(&devices));
                    known(code);
                    assert!(code < 0, "it has no file");
                }
                2 => {
                    let mut address = 0;
                    let place = if input.byte() == 0 {
                        null_mut()
                    } else {
                        &raw mut address
                    };
                    known(pl_allocate(input.handle(&devices), input.number(), place));
                }
                3 => {
                    let mut region = stale();
                    let at = std::ptr::without_provenance_mut(input.number() as usize);
                    let (bytes, access) = (input.number(), input.byte() % 6);
                    let device = input.handle(&devices);
                    let code = pl_register(device, at, bytes, access.into(), &raw mut region);
                    made(code, region, &mut regions);
                }
                4 => {
                    let mut region = stale();
                    let file = i32::from(input.byte() as i8).min(2);
                    let (offset, bytes, access) =
                        (input.number(), input.number(), input.byte() % 6);
                    let device = input.handle(&devices);
                    let place = &raw mut region;
                    let code =
                        pl_register_dmabuf(device, file, offset, bytes, access.into(), place);
                    made(code, region, &mut regions);
                }
                5 => {
                    let mut region = stale();
                    let (at, bytes, identity) = (input.number(), input.number(), input.number());
                    let access = u32::from(input.byte() % 6);
                    let device = input.handle(&devices);
                    let place = &raw mut region;
                    let code = pl_register_nvidia(device, at, bytes, identity, access, place);
                    made(code, region, &mut regions);
                }
                6 => {
                    let region = taken(&mut input, &mut regions);
                    let code = pl_unregister(region);
                    known(code);
                    // The handle stays.
                    regions.extend((code == PL_BUSY).then_some(region));
                }
                7 => {
                    let mut queue = stale();
                    let code = pl_queue_open(input.handle(&devices), &raw mut queue);
                    made(code, queue, &mut queues);
                }
                8 => {
                    let queue = taken(&mut input, &mut queues);
                    let code = pl_queue_close(queue);
                    known(code);
                    queues.extend((![PL_OK, PL_GONE].contains(&code)).then_some(queue));
                }
                9 => pl_transfer_free(taken(&mut input, &mut transfers)),
                10 => {
                    let mut bytes = 0;
                    let place = if input.byte() == 0 {
                        null_mut()
                    } else {
                        &raw mut bytes
                    };
                    known(pl_transfer_poll(input.handle(&transfers), place));
                }
                11 => {
                    // A transfer under way may not be waited for: time does not advance.
                    known(pl_transfer_wait(input.handle(&transfers), 0, null_mut()));
                }
                12 => known(pl_queue_drain(input.handle(&queues), 0)),
                13 => known(pl_queue_restart(input.handle(&queues))),
                14 => {
                    let grace = i64::from(input.byte() % 2) - 1;
                    known(pl_transfer_stop(
                        input.handle(&transfers),
                        grace,
                        null_mut(),
                    ));
                }
                17 => known(pl_queue_turn(input.handle(&queues))),
                18 => {
                    let mut next = 0;
                    let place = if input.byte() == 0 {
                        null_mut()
                    } else {
                        &raw mut next
                    };
                    known(pl_queue_next_turn(input.handle(&queues), place));
                    assert!(next <= 1_000_000_000, "{next}");
                }
                15 => {
                    let mut data = [0; PL_PROBE_BYTES];
                    let place = if input.byte() == 0 {
                        null_mut()
                    } else {
                        data.as_mut_ptr()
                    };
                    let region = input.handle(&regions);
                    known(pl_region_probe(
                        region,
                        input.number(),
                        input.number(),
                        place,
                    ));
                }
                19 => {
                    let mut transfer = stale();
                    let mut pieces: Vec<_> = (0..input.byte() % 5)
                        .map(|_| request(&mut input, &regions))
                        .collect();
                    // Most pieces have no flags of their own.
                    if input.byte() != 0 {
                        pieces.iter_mut().for_each(|piece| piece.flags = 0);
                    }
                    let (asked, count) = match input.byte() {
                        0 => (null(), input.number()),
                        // Refused before a second piece is read.
                        1 if !pieces.is_empty() => {
                            (pieces.as_ptr(), u64::MAX - u64::from(input.byte()))
                        }
                        _ => (pieces.as_ptr(), pieces.len() as u64),
                    };
                    let asked = if count == 0 { null() } else { asked };
                    let flags = u32::from(input.byte() % 20);
                    let queue = input.handle(&queues);
                    let code = pl_list_submit(queue, asked, count, flags, &raw mut transfer);
                    let piece = pl_error_piece();
                    made(code, transfer, &mut transfers);
                    assert!(code == PL_OK || piece < pieces.len() as i64, "{piece}");
                }
                20 => {
                    let size = size_of::<pl_statistics>() as u64 - u64::from(input.byte() == 1);
                    let mut statistics = pl_statistics {
                        size,
                        under_way: 0,
                        descriptors: 0,
                        stores: 0,
                        records: 0,
                        system_calls: 0,
                        late_records: 0,
                    };
                    let place = if input.byte() == 0 {
                        null_mut()
                    } else {
                        &raw mut statistics
                    };
                    known(pl_queue_statistics(input.handle(&queues), place));
                    assert!(statistics.records <= statistics.descriptors);
                }
                _ => {
                    let mut transfer = stale();
                    let request = request(&mut input, &regions);
                    let asked = if input.byte() == 0 {
                        null()
                    } else {
                        &raw const request
                    };
                    let code = pl_submit(input.handle(&queues), asked, &raw mut transfer);
                    made(code, transfer, &mut transfers);
                }
            }
        }
    }
    // In the order that a program may not use: the device first.
    // SAFETY: the handles live, and are not used again.
    unsafe {
        devices.into_iter().for_each(|device| pl_close(device));
        for queue in queues {
            known(pl_queue_close(queue));
        }
        for region in regions {
            known(pl_unregister(region));
        }
        transfers
            .into_iter()
            .for_each(|transfer| pl_transfer_free(transfer));
    }
}
