//! Tests of structures and request codes that are malformed.

use super::{Bench, good_probe, good_submit};
use crate::raw;
use anyhow::{Context, Result, ensure};
use peerlane_core::uapi::{
    self, Allocate, EventFd, Free, Info, Ioctl, Moderate, Probe, Query, Stop, Submit, Wait, Window,
};
use rustix::io::Errno;
use rustix::mm::MprotectFlags;
use std::ffi::c_void;

/// Returns a valid structure for each ioctl, for a context that has only registered memory so far. After all of these
/// calls the context still works.
fn good(bench: &Bench) -> Vec<(Ioctl, Vec<u8>)> {
    let info = Info {
        version: uapi::VERSION,
        ..Default::default()
    };
    let stop = Stop::default();
    let eventfd = EventFd { fd: -1, flags: 0 };
    let mut good = vec![
        (uapi::INFO, raw::bytes(&info)),
        (uapi::QUERY, raw::bytes(&Query::default())),
        (uapi::EVENTFD, raw::bytes(&eventfd)),
        (uapi::STOP, raw::bytes(&stop)),
        (uapi::MODERATE, raw::bytes(&Moderate::default())),
        (uapi::PROBE, raw::bytes(&good_probe(bench))),
    ];
    let bytes = bench.device.info().window_bytes;
    if bytes > 0 {
        let window = Window {
            base: bench.place,
            ..Default::default()
        };
        good.push((uapi::WINDOW, raw::bytes(&window)));
    }
    good
}

/// Checks that unknown request codes are refused.
pub(super) fn codes(bench: &Bench) -> Result<()> {
    let mut page = [0u8; 4096];
    let address = page.as_mut_ptr() as usize;
    let known = |code: u32| uapi::ALL.iter().any(|ioctl| ioctl.is(code));
    let mut tried = 0;
    for direction in 0..4u32 {
        for kind in [0, u32::from(b'g'), uapi::IOC_TYPE, 0xff] {
            for number in [0, 1, 5, uapi::ALL.len() as u32, 0x7f, 0xff] {
                let code = direction << 30 | 8 << 16 | kind << 8 | number;
                if known(code) {
                    continue;
                }
                // SAFETY: the page has room for more bytes than the code names.
                let result = unsafe { raw::at(raw::fd(&bench.device), code, address) };
                ensure!(
                    result == Err(Errno::NOTTY),
                    "code {code:#x} gave {result:?}, not ENOTTY"
                );
                tried += 1;
            }
        }
    }
    ensure!(tried > 80, "only {tried} codes tried");
    Ok(())
}

/// Tries structures that are longer, shorter, or not mapped.
pub(super) fn lengths(bench: &Bench) -> Result<()> {
    for (ioctl, bytes) in good(bench) {
        let number = ioctl.number;
        // The structure as it is; with zeros appended; and without trailing bytes that must be zero.
        let mut same = bytes.clone();
        raw::call(&bench.device, ioctl, &mut same).with_context(|| format!("ioctl {number}"))?;
        let mut longer = bytes.clone();
        longer.extend([0; 24]);
        raw::call(&bench.device, ioctl, &mut longer)
            .with_context(|| format!("ioctl {number}, 24 zeros longer"))?;
        ensure!(
            longer[bytes.len()..] == [0; 24],
            "ioctl {number} wrote after the end of its structure"
        );
        let shorter = bytes.len() - 8;
        if bytes[shorter..].iter().all(|byte| *byte == 0) {
            let mut guarded = bytes.clone();
            guarded[shorter..].fill(0xa5);
            raw::call(&bench.device, ioctl, &mut guarded[..shorter])
                .with_context(|| format!("ioctl {number}, 8 bytes shorter"))?;
            ensure!(
                guarded[shorter..] == [0xa5; 8],
                "ioctl {number} wrote after the end of a shorter structure"
            );
        }
        for at in [0, 8, 23] {
            let mut unknown = bytes.clone();
            unknown.extend([0; 24]);
            unknown[bytes.len() + at] = 1;
            let result = raw::call(&bench.device, ioctl, &mut unknown);
            ensure!(
                result == Err(Errno::TOOBIG),
                "ioctl {number} with a byte that it does not know gave {result:?}"
            );
        }
    }
    // A page that ends in the middle of the structure, and addresses without a page.
    let memory = peerlane_host::Memory::new(8192)?;
    let end = memory.address() as usize + 4096;
    // SAFETY: it is the second page of the memory, into which there are no references.
    unsafe { rustix::mm::mprotect(end as *mut c_void, 4096, MprotectFlags::empty())? };
    for ioctl in uapi::ALL {
        for address in [0, 8, usize::MAX - 4095, end - 4, 1 << 47] {
            // SAFETY: the driver must refuse addresses that cannot be read or written.
            let result = unsafe { raw::at(raw::fd(&bench.device), ioctl.code(), address) };
            ensure!(
                result == Err(Errno::FAULT),
                "ioctl {} at {address:#x} gave {result:?}",
                ioctl.number
            );
        }
    }
    Ok(())
}

/// Tries values other than zero in all bytes that must be zero.
pub(super) fn reserved(bench: &Bench) -> Result<()> {
    let set = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] = 1;
        bytes
    };
    let mut cases = Vec::new();
    let mut add = |ioctl: Ioctl, bytes: Vec<u8>, first: usize, last: usize| {
        for at in [first, last] {
            cases.push((ioctl, set(&bytes, at), at));
        }
    };
    let info = Info {
        version: uapi::VERSION,
        ..Default::default()
    };
    let at = std::mem::offset_of!(Info, reserved);
    add(uapi::INFO, raw::bytes(&info), at, size_of::<Info>() - 1);
    let at = std::mem::offset_of!(Submit, reserved);
    let bytes = raw::bytes(&good_submit(bench));
    add(uapi::SUBMIT, bytes, at, size_of::<Submit>() - 1);
    let at = std::mem::offset_of!(Wait, reserved);
    add(
        uapi::WAIT,
        raw::bytes(&Wait::default()),
        at,
        size_of::<Wait>() - 1,
    );
    // The first byte contains a flag.
    let at = std::mem::offset_of!(Query, flags) + 1;
    add(
        uapi::QUERY,
        raw::bytes(&Query::default()),
        at,
        size_of::<Query>() - 1,
    );
    let at = std::mem::offset_of!(Stop, reserved);
    add(
        uapi::STOP,
        raw::bytes(&Stop::default()),
        at,
        size_of::<Stop>() - 1,
    );
    let at = std::mem::offset_of!(Window, reserved);
    add(
        uapi::WINDOW,
        raw::bytes(&Window::default()),
        at,
        size_of::<Window>() - 1,
    );
    let at = std::mem::offset_of!(Allocate, reserved);
    add(uapi::ALLOCATE, raw::bytes(&Allocate::default()), at, at + 3);
    let at = std::mem::offset_of!(Free, reserved);
    add(uapi::FREE, raw::bytes(&Free::default()), at, at + 3);
    let at = std::mem::offset_of!(Probe, reserved);
    let bytes = raw::bytes(&good_probe(bench));
    add(uapi::PROBE, bytes, at, size_of::<Probe>() - 1);
    for (ioctl, mut bytes, at) in cases {
        let result = raw::call(&bench.device, ioctl, &mut bytes);
        ensure!(
            result == Err(Errno::INVAL),
            "ioctl {} with byte {at} set gave {result:?}",
            ioctl.number
        );
    }
    Ok(())
}
