//! Tests of allocating and freeing FPGA memory with arguments that must be refused.

use super::{Bench, good_submit, refuse};
use crate::lab::{PLACE, told};
use crate::raw;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{
    self, Allocate, Free, Info, Submit,
    allocate::{ALL, TAKE_OVER},
    free::OFFER,
};
use rustix::io::Errno;

fn info(bench: &Bench) -> Result<Info> {
    let mut info = Info {
        version: uapi::VERSION,
        ..Default::default()
    };
    raw::with(&bench.device, uapi::INFO, &mut info)?;
    Ok(info)
}

/// Tries sizes, flags, tokens and orders that make no sense; at the end the context has memory again.
pub(super) fn arguments(bench: &Bench) -> Result<()> {
    let allocate = |argument, error| refuse(bench, uapi::ALLOCATE, argument, error);
    let free = |argument, error| refuse(bench, uapi::FREE, argument, error);
    let some = Allocate {
        bytes: 1,
        ..Default::default()
    };
    let range = bench.device.range();
    let now = info(bench)?;
    ensure!((now.local_base..now.local_end) == range, "{now:?}");
    // In the second round the context has no memory.
    for has in [true, false] {
        for flags in [ALL | TAKE_OVER, 4, 1 << 31, u32::MAX] {
            allocate(Allocate { flags, ..some }, Errno::INVAL)?;
        }
        for base in [1, 1 << 16, u64::MAX] {
            allocate(Allocate { base, ..some }, Errno::INVAL)?;
        }
        for token in [[1, 0], [0, 1], [u64::MAX; 2]] {
            allocate(Allocate { token, ..some }, Errno::INVAL)?;
            let flags = ALL;
            allocate(
                Allocate {
                    token,
                    flags,
                    ..some
                },
                Errno::INVAL,
            )?;
            // A caller that takes memory over does not give its size.
            let flags = TAKE_OVER;
            allocate(
                Allocate {
                    token,
                    flags,
                    ..some
                },
                Errno::INVAL,
            )?;
            free(
                Free {
                    token,
                    ..Free::default()
                },
                Errno::INVAL,
            )?;
        }
        for flags in [2, 3, 1 << 31, u32::MAX] {
            free(
                Free {
                    flags,
                    ..Free::default()
                },
                Errno::INVAL,
            )?;
        }
        let take = Allocate {
            flags: TAKE_OVER,
            token: [1, 2],
            ..Default::default()
        };
        if has {
            for argument in [some, take, Allocate { flags: ALL, ..some }] {
                allocate(argument, Errno::EXIST)?;
            }
            raw::with(&bench.device, uapi::FREE, &mut Free::default())?;
            let now = info(bench)?;
            ensure!(now.local_base == now.local_end, "freed: {now:?}");
        } else {
            free(Free::default(), Errno::NOENT)?;
            free(
                Free {
                    flags: OFFER,
                    ..Free::default()
                },
                Errno::NOENT,
            )?;
            allocate(take, Errno::NOENT)?;
            allocate(Allocate { bytes: 0, ..some }, Errno::INVAL)?;
            for bytes in [1 << 40, 1 << 63, u64::MAX] {
                allocate(Allocate { bytes, ..some }, Errno::NOSPC)?;
                let flags = ALL;
                allocate(
                    Allocate {
                        bytes,
                        flags,
                        ..some
                    },
                    Errno::NOSPC,
                )?;
            }
            for local in [0, range.start, range.end - 64] {
                let submit = Submit {
                    local,
                    ..good_submit(bench)
                };
                refuse(bench, uapi::SUBMIT, submit, Errno::INVAL)?;
            }
        }
    }
    let again = bench.device.allocate(PLACE).map_err(told)?.keep();
    ensure!(again == range, "{again:x?} instead of {range:x?}");
    Ok(())
}

/// Tries structures that are shorter and longer.
pub(super) fn lengths(bench: &Bench) -> Result<()> {
    let free = || raw::with(&bench.device, uapi::FREE, &mut Free::default());
    let good = Allocate {
        bytes: PLACE,
        ..Default::default()
    };
    let bytes = raw::bytes(&good);
    let token = std::mem::offset_of!(Allocate, token);
    for length in [token, bytes.len(), bytes.len() + 24] {
        free()?;
        let mut argument = bytes.clone();
        argument.resize(length.max(bytes.len()), 0);
        argument[length.min(bytes.len())..].fill(0);
        let guard = argument.split_off(length);
        raw::call(&bench.device, uapi::ALLOCATE, &mut argument)?;
        let Allocate { base, bytes, .. } = raw::structure(&argument);
        ensure!(
            (base..base + bytes) == bench.device.range(),
            "{length} bytes: {base:#x}, {bytes:#x}"
        );
        ensure!(guard.iter().all(|byte| *byte == 0), "written after the end");
    }
    let mut shorter = [0; 8];
    raw::call(&bench.device, uapi::FREE, &mut shorter)?;
    let mut unknown = [bytes, vec![0, 0, 0, 0, 0, 0, 0, 1]].concat();
    let result = raw::call(&bench.device, uapi::ALLOCATE, &mut unknown);
    ensure!(result == Err(Errno::TOOBIG), "a byte too many: {result:?}");
    let mut argument = good;
    raw::with(&bench.device, uapi::ALLOCATE, &mut argument)?;
    Ok(())
}
