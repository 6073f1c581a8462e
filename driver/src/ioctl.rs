// SPDX-License-Identifier: GPL-2.0

//! The ioctls: copying and checking their structures.

use crate::{
    context::{Context, Writer},
    events::{self, Deadline, EventFd},
    gate::Inside,
    logic::{
        channel::{self, Moderation},
        events::{Admission, Seen},
        regs::{chan, Completion},
        streams::Counts,
        uapi::{self, feature, Ioctl},
    },
    memory::nvidia,
    trace,
};
use core::mem::offset_of;
use kernel::{
    page::PAGE_SIZE,
    prelude::*,
    sync::atomic::{ordering, Atomic},
    transmute::{AsBytes, FromBytes},
    uaccess::{UserPtr, UserSlice, UserSliceReader},
};

/// A structure of the interface: plain numbers without padding, for which zero is a value.
trait Structure: FromBytes + AsBytes + Default {}

macro_rules! structures {
    ($($name:ident),*) => {$(
        // SAFETY: all bit patterns are values.
        unsafe impl FromBytes for uapi::$name {}
        // SAFETY: it has no padding: `uapi.rs` promises it, and a test on the host checks it.
        unsafe impl AsBytes for uapi::$name {}
        impl Structure for uapi::$name {}
    )*};
}
structures!(
    Info, Register, Unregister, Submit, Wait, Query, EventFd, Stop, Probe, Moderate, Allocate,
    Window, Free, OpenCl, Access, Arm, Reprogram, Configure, Flush, Stream
);

/// Checks that all bytes of the caller's structure beyond the known ones are zero.
fn expect_zeros(mut reader: UserSliceReader) -> Result {
    let mut chunk = [0; 64];
    while !reader.is_empty() {
        let chunk = &mut chunk[..reader.len().min(64)];
        reader.read_slice(chunk)?;
        if chunk.iter().any(|byte| *byte != 0) {
            return Err(E2BIG);
        }
    }
    Ok(())
}

/// Runs an ioctl on a structure that may be shorter or longer at the caller.
fn call<T: Structure>(
    ioctl: Ioctl,
    code: u32,
    argument: usize,
    run: impl FnOnce(&mut T) -> Result,
) -> Result {
    let length = uapi::size_of_code(code);
    let user = UserSlice::new(UserPtr::from_addr(argument), length);
    let (mut reader, mut writer) = user.reader_writer();
    let mut structure = T::default();
    let shared = length.min(size_of::<T>());
    {
        // SAFETY: every pattern of its bytes is a value.
        let bytes = unsafe {
            core::slice::from_raw_parts_mut((&raw mut structure).cast::<u8>(), size_of::<T>())
        };
        reader.read_slice(&mut bytes[..shared])?;
    }
    expect_zeros(reader)?;
    let done = run(&mut structure);
    // This error has an answer, too: the number that is too large.
    if ioctl.writes_back && (done.is_ok() || done == Err(EFBIG)) {
        // SAFETY: it has no padding.
        let bytes = unsafe {
            core::slice::from_raw_parts((&raw const structure).cast::<u8>(), size_of::<T>())
        };
        writer.write_slice(&bytes[..shared])?;
    }
    done
}

fn zero(reserved: &[u64]) -> Result {
    if reserved.iter().any(|word| *word != 0) {
        return Err(EINVAL);
    }
    Ok(())
}

/// Whether NVIDIA's driver is there. If it does not export its functions as Debian's kernel requires, the kernel logs
/// each search for them, so the search is not repeated at once.
fn has_nvidia() -> bool {
    /// Nanoseconds.
    const PAUSE: i64 = 10_000_000_000;
    /// Time until which it is taken for missing, in `CLOCK_MONOTONIC`.
    static MISSING: Atomic<i64> = Atomic::new(0);
    let now = events::now();
    if now < MISSING.load(ordering::Relaxed) {
        return false;
    }
    let found = nvidia::is_there();
    if !found {
        MISSING.store(now.saturating_add(PAUSE), ordering::Relaxed);
    }
    found
}

impl Context {
    /// Runs the ioctl that a request code names.
    pub(crate) fn ioctl(&self, code: u32, argument: usize) -> Result {
        match code {
            // These calls enter the gate themselves, between their waits.
            code if uapi::WAIT.is(code) => {
                call(uapi::WAIT, code, argument, |wait: &mut uapi::Wait| {
                    zero(&[wait.reserved])?;
                    self.wait(wait)
                })
            }
            code if uapi::REGISTER.is(code) => self.call_register(code, argument),
            code if uapi::ALLOCATE.is(code) => call(
                uapi::ALLOCATE,
                code,
                argument,
                |arguments: &mut uapi::Allocate| {
                    zero(&[u64::from(arguments.reserved)])?;
                    self.allocate(arguments)
                },
            ),
            code if uapi::INFO.is(code) => {
                self.call_inside(uapi::INFO, code, argument, |_, info| self.info(info))
            }
            code if uapi::QUERY.is(code) => self.call_query(code, argument),
            code if uapi::UNREGISTER.is(code) => {
                self.call_inside(uapi::UNREGISTER, code, argument, |_, arguments| {
                    self.unregister(arguments)
                })
            }
            code if uapi::FLUSH.is(code) => {
                let flush = |_: &Inside<'_>, flush: &mut uapi::Flush| {
                    zero(&[u64::from(flush.reserved)])?;
                    self.flush(flush.handle)
                };
                self.call_inside(uapi::FLUSH, code, argument, flush)
            }
            code if uapi::SUBMIT.is(code) => {
                let submit = |submit: &mut uapi::Submit| {
                    zero(&[u64::from(submit.reserved)])?;
                    // It may be held as long as a stop takes.
                    let held = self.submission.lock();
                    let inside = self.board.gate.enter()?;
                    self.submit(held, &inside, submit)
                };
                call(uapi::SUBMIT, code, argument, submit)
            }
            code if uapi::EVENTFD.is(code) => {
                self.call_inside(uapi::EVENTFD, code, argument, |_, arguments| {
                    self.set_eventfd(arguments)
                })
            }
            code if uapi::STOP.is(code) => {
                let stop = |arguments: &mut uapi::Stop| {
                    zero(&[u64::from(arguments.reserved)])?;
                    let deadline = Deadline::from_user(arguments.deadline_ns)?;
                    arguments.aborted = u32::from(self.stop(deadline)?);
                    Ok(())
                };
                call(uapi::STOP, code, argument, stop)
            }
            code if uapi::PROBE.is(code) => {
                let probe = |inside: &Inside<'_>, probe: &mut uapi::Probe| {
                    zero(&probe.reserved)?;
                    self.probe(inside, probe)
                };
                self.call_inside(uapi::PROBE, code, argument, probe)
            }
            code if uapi::MODERATE.is(code) => {
                let moderate = |_: &Inside<'_>, arguments: &mut uapi::Moderate| {
                    self.moderate(Moderation {
                        count: arguments.count.try_into()?,
                        age: arguments.age.try_into()?,
                    })
                };
                self.call_inside(uapi::MODERATE, code, argument, moderate)
            }
            code if uapi::FREE.is(code) => {
                let free = |_: &Inside<'_>, arguments: &mut uapi::Free| {
                    zero(&[u64::from(arguments.reserved)])?;
                    self.free(arguments)
                };
                self.call_inside(uapi::FREE, code, argument, free)
            }
            code if uapi::WINDOW.is(code) => {
                self.call_inside(uapi::WINDOW, code, argument, |_, arguments| {
                    self.window(arguments)
                })
            }
            code if uapi::OPENCL.is(code) => {
                let opencl = |_: &Inside<'_>, arguments: &mut uapi::OpenCl| {
                    zero(&[arguments.status_bytes, arguments.reserved])?;
                    self.opencl(arguments)
                };
                self.call_inside(uapi::OPENCL, code, argument, opencl)
            }
            // It copies from and to the process, so it enters the gate itself.
            code if uapi::ACCESS.is(code) => {
                call(uapi::ACCESS, code, argument, |arguments: &mut uapi::Access| {
                    zero(&[u64::from(arguments.reserved)])?;
                    self.access(arguments)
                })
            }
            code if uapi::ARM.is(code) => {
                let arm = |_: &Inside<'_>, arguments: &mut uapi::Arm| {
                    zero(&[u64::from(arguments.reserved)])?;
                    self.arm(arguments)
                };
                self.call_inside(uapi::ARM, code, argument, arm)
            }
            code if uapi::STREAM.is(code) => {
                self.call_inside(uapi::STREAM, code, argument, |_, arguments| self.stream(arguments))
            }
            // Under the device's lock, which comes before the gate.
            code if uapi::REPROGRAM.is(code) => {
                call(uapi::REPROGRAM, code, argument, |arguments: &mut uapi::Reprogram| {
                    zero(&[u64::from(arguments.reserved)])?;
                    self.reprogram(arguments)
                })
            }
            // Also under the device's lock, and it copies from the process before.
            code if uapi::CONFIGURE.is(code) => {
                call(uapi::CONFIGURE, code, argument, |arguments: &mut uapi::Configure| {
                    zero(&[u64::from(arguments.reserved)])?;
                    self.configure(arguments)
                })
            }
            _ => Err(ENOTTY),
        }
    }

    /// Runs an ioctl inside of the gate, except for the copying: a user's page fault may take as long as the user
    /// likes.
    fn call_inside<T: Structure>(
        &self,
        ioctl: Ioctl,
        code: u32,
        argument: usize,
        run: impl FnOnce(&Inside<'_>, &mut T) -> Result,
    ) -> Result {
        call(ioctl, code, argument, |arguments| {
            let inside = self.board.gate.enter()?;
            run(&inside, arguments)
        })
    }

    fn info(&self, info: &mut uapi::Info) -> Result {
        if !uapi::speaks(info.version) {
            return Err(EPROTO);
        }
        zero(&[info.caps3.into(), info.reserved0.into(), info.reserved])?;
        let (features, required) = (self.features(), info.required);
        if required & !features != 0 {
            return Err(EOPNOTSUPP);
        }
        let identity = &self.board.identity;
        let range = self.share.lock().process().bytes();
        *info = uapi::Info {
            version: uapi::VERSION,
            oldest: uapi::OLDEST,
            features,
            required,
            map_id: identity.map_id,
            build_id: identity.build_id,
            caps: [identity.caps0, identity.caps1, identity.caps2],
            channel: self.channel,
            ring_log2: self.ring_log2,
            generation: self.events.seen().generation,
            local_base: range.start,
            local_end: range.end,
            page_bytes: chan::SIZE as u64,
            ring_bytes: ((Completion::SIZE << self.ring_log2).next_multiple_of(PAGE_SIZE)) as u64,
            window_bytes: self.board.window_bytes() as u64,
            resets: self.board.resets(),
            most_entries: self.board.most_entries(self.channel).into(),
            caps3: identity.caps3,
            reserved0: 0,
            reserved: 0,
        };
        Ok(())
    }

    /// Answers a query. The caller has seen the answer when it has been written.
    fn call_query(&self, code: u32, argument: usize) -> Result {
        let (mut told, mut gone) = (None, false);
        self.call_inside(uapi::QUERY, code, argument, |_, query: &mut uapi::Query| {
            let peeks = query.flags & uapi::query::PEEK != 0;
            let seen = self.query(query)?;
            gone = seen.gone;
            told = (!peeks).then_some(seen);
            Ok(())
        })?;
        if gone {
            // As for a call that returns ENODEV.
            self.board.gate.wait_for_the_end();
        }
        let of_generation = offset_of!(uapi::Query, generation) + size_of::<u32>();
        // When the gate is closed, no board is left whose doorbells could be rung.
        if let (Some(seen), Ok(_inside)) = (told, self.board.gate.enter()) {
            self.told(&seen, uapi::size_of_code(code) >= of_generation);
        }
        Ok(())
    }

    /// Returns the features of driver and board that not all have.
    fn features(&self) -> u64 {
        let capabilities = &self.board.capabilities;
        let with = |there: bool, feature: u64| if there { feature } else { 0 };
        feature::HOST
            | feature::DMABUF
            | feature::SUBMIT
            | feature::PAGE
            | feature::PROBE
            | feature::ALLOCATE
            | feature::RESETS
            | feature::FLUSH
            | feature::PEEK
            | feature::MIXED
            | with(has_nvidia(), feature::NVIDIA)
            | with(self.board.window_bytes() > 0, feature::WINDOW)
            | with(self.board.opencl().is_there(), feature::OPENCL)
            | with(self.board.opencl().is_there() && self.board.has_cvp(), feature::CVP)
            | with(capabilities.streams != Counts::default(), feature::STREAMS)
            | with(capabilities.msix, feature::MSIX)
            | with(capabilities.tagged, feature::TAGGED_READS)
            | with(self.board.proves_peers(), feature::PROVED_PEERS)
    }

    fn query(&self, query: &mut uapi::Query) -> Result<Seen> {
        zero(&[query.flags & !uapi::query::PEEK])?;
        let seen = self.events.seen();
        // After the generation: a caller that gets a new generation also gets the counter that was raised with it.
        let resets = self.board.resets();
        let doubts = self.board.doubts();
        let (regions, region_bytes) = self.regions.lock().usage();
        *query = uapi::Query {
            events: seen.events,
            generation: seen.generation,
            state: if seen.gone { uapi::state::GONE } else { 0 },
            outstanding: self.outstanding(),
            regions,
            region_bytes,
            revoked: seen.revoked,
            resets,
            doubts,
            flags: 0,
        };
        Ok(seen)
    }

    fn call_register(&self, code: u32, argument: usize) -> Result {
        let mut handle = None;
        let called = call(
            uapi::REGISTER,
            code,
            argument,
            |arguments: &mut uapi::Register| {
                let fits = uapi::size_of_code(code) >= size_of::<uapi::Register>();
                if arguments.flags & uapi::register::MIXED != 0 && !fits {
                    return Err(EINVAL);
                }
                self.register(arguments)?;
                handle = Some(arguments.handle);
                Ok(())
            },
        );
        if let (Err(_), Some(handle)) = (&called, handle) {
            // The caller does not know the handle.
            // Without the gate all regions have gone.
            if let Ok(_inside) = self.board.gate.enter() {
                let _ = self.unregister(&mut uapi::Unregister { handle, flags: 0 });
            }
        }
        called
    }

    fn unregister(&self, arguments: &mut uapi::Unregister) -> Result {
        if arguments.flags & !uapi::unregister::KEEP != 0 {
            return Err(EINVAL);
        }
        let keep = arguments.flags & uapi::unregister::KEEP != 0;
        let kept = self.give_back(arguments.handle, keep)?;
        trace::unregistered(&self.board, self.channel, arguments.handle, kept);
        Ok(())
    }

    fn set_eventfd(&self, arguments: &mut uapi::EventFd) -> Result {
        if arguments.flags != 0 {
            return Err(EINVAL);
        }
        let eventfd = match arguments.fd {
            -1 => None,
            fd => Some(EventFd::from_fd(fd)?),
        };
        drop(self.events.set_eventfd(eventfd));
        Ok(())
    }

    fn window(&self, arguments: &uapi::Window) -> Result {
        zero(&[u64::from(arguments.reserved)])?;
        if self.board.window_bytes() == 0 {
            return Err(EOPNOTSUPP);
        }
        match (arguments.flags, arguments.base) {
            (0, base) => self.hold_window(base),
            (uapi::window::RELEASE, 0) => self.board.return_window(self),
            _ => Err(EINVAL),
        }
    }

    /// Makes the process the writer of descriptors. It may begin when `QUERY` has returned how often the channel was
    /// started, for it begins at the first slot.
    pub(crate) fn hand_over(&self) -> Result {
        let _inside = self.board.gate.enter()?;
        let mut writer = self.writer.lock();
        match *writer {
            Writer::Driver(_) => Err(EBUSY),
            Writer::Nobody => {
                *writer = Writer::Process(Admission::new(self.events.seen().generation));
                // The start of a board that is away uses the channel's present writer.
                let hw = &self.board.hw;
                if let Some(epoch) = hw.live() {
                    let _ = hw.upkeep(epoch, [channel::halt(self.channel)]);
                }
                Ok(())
            }
            Writer::Process(_) => Ok(()),
        }
    }
}
