//! The kernels' interrupt.

use crate::handlers::Handlers;
use crate::messages::{end, say};
use peerlane_host::{Errno, Error, OpenCl, Result};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Period in which the handler is called even if no interrupt has come: a lost interrupt must not hang the program. The
/// runtime then checks the kernels, and finds nothing.
const PERIOD: Duration = Duration::from_millis(250);

/// An interrupt that comes sooner than this after the previous one means one of two cases: the line was high all the
/// time, or a short kernel was launched in between. To launch it the runtime has [written](Writes).
const AT_ONCE: Duration = Duration::from_micros(50);

/// Up to so many of them in a row are kernels that end together. More of them are a line that stays high in spite of
/// the handler: the line of a kernel that the runtime does not know to run, or a broken line. It is checked less and
/// less often then, down to once in a [`PERIOD`]. It is checked as often as before when it has been low once, or the
/// runtime has written.
const IN_A_ROW: u32 = 64;

/// The first pause; each is twice the one before.
const PAUSE: Duration = Duration::from_micros(100);

thread_local! {
    /// Whether this thread waits for the kernels of a board, and calls the runtime's handler.
    static WATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Writes of the runtime to the kernels' registers, without those of its interrupt handler. The handler only clears a
/// kernel's status; kernels are launched in the program's threads (`acl_kernel_if_update_status`,
/// `acl_kernel_if_launch_kernel_on_custom_sof` of `acl_kernel_if.cpp`, intel/fpga-runtime-for-opencl v2025.0).
#[derive(Debug, Default)]
pub(crate) struct Writes(AtomicU64);

impl Writes {
    /// Notes a write of the calling thread; returns whether it counts. Call this before the write: the kernel may end
    /// at once.
    pub(crate) fn note(&self) -> bool {
        let counts = !WATCHES.get();
        self.0.fetch_add(u64::from(counts), Ordering::SeqCst);
        counts
    }

    fn so_far(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Interrupts that came one right after the other, without a write of the runtime in between.
#[derive(Debug, Default)]
struct Row {
    length: u32,
    /// The [`Writes`] at the last interrupt.
    writes: u64,
}

impl Row {
    /// Takes whether an interrupt has come, how long it was waited for, and the writes until now. Returns the pause
    /// before the next interrupt is enabled.
    fn next(&mut self, came: bool, waited: Duration, writes: u64) -> Duration {
        let wrote = std::mem::replace(&mut self.writes, writes) != writes;
        match came && waited < AT_ONCE && !wrote {
            true => self.length = self.length.saturating_add(1),
            false => self.length = 0,
        }
        match self.length.checked_sub(IN_A_ROW) {
            None => Duration::ZERO,
            Some(more) => PERIOD.min(PAUSE.saturating_mul(1 << more.min(16))),
        }
    }
}

/// Waits for the interrupt of a board's kernels.
pub(crate) struct Watch<'a> {
    pub(crate) name: &'a str,
    pub(crate) handle: c_int,
    pub(crate) side: &'a dyn OpenCl,
    pub(crate) handlers: &'a Handlers,
    pub(crate) writes: &'a Writes,
    /// Ends the process if the board was reset: otherwise a thread that waits for a kernel would wait for ever.
    pub(crate) look: &'a (dyn Fn() + Sync),
    /// Set when the board is being closed.
    pub(crate) closing: &'a AtomicBool,
}

impl Watch<'_> {
    /// The body of the thread. It lives as long as the board is open: an interrupt that cannot be had now may come
    /// later, and without one the runtime checks the kernels once in a [`PERIOD`].
    pub(crate) fn run(&self) {
        WATCHES.set(true);
        let mut told = false;
        let mut looked = Instant::now();
        let mut row = Row::default();
        while !self.is_closing() {
            let begin = Instant::now();
            let waited = self.side.wait(Some(PERIOD));
            if self.is_closing() {
                break;
            }
            let came = matches!(waited, Ok(true));
            let pause = row.next(came, begin.elapsed(), self.writes.so_far());
            // The check is a system call. A board whose kernels interrupt works: it is checked less often.
            if !came || looked.elapsed() >= PERIOD {
                (self.look)();
                looked = Instant::now();
            }
            let pause = if waited.is_err() { PERIOD } else { pause };
            let waited = waited.map(drop);
            match self.look(waited) {
                Ok(()) => {}
                Err(Error::Gone) if self.handlers.has_interrupt() => {
                    // A program that waits for a kernel would wait for ever.
                    let gone = Error::Gone;
                    end(format_args!("{}: {gone}. {}", self.name, gone.hint()));
                }
                // Either no program waits for a kernel, or the board is being started, and is there at the next period.
                Err(
                    Error::Gone
                    | Error::Call {
                        source: Errno::AGAIN,
                        ..
                    },
                ) => {}
                Err(error) => {
                    if !told {
                        say(format_args!(
                            "{}: the kernels' interrupt is not available ({error}): the kernels are polled every \
                             {PERIOD:?}",
                            self.name
                        ));
                    }
                    told = true;
                }
            }
            std::thread::sleep(pause);
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Makes the runtime check the kernels, and enables their interrupt.
    fn look(&self, waited: Result<()>) -> Result<()> {
        // Nothing is armed before a handler is set.
        if matches!(waited, Err(Error::Gone)) || !self.handlers.has_interrupt() {
            return waited;
        }
        // A handler that cannot be called now would leave the line high.
        match self.handlers.interrupt(self.handle) {
            true => self.side.arm().and(waited),
            false => waited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub::{Answers, Stub, refused};
    use std::ffi::c_void;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, Sender, channel};

    unsafe extern "C" fn count(_: c_int, calls: *mut c_void) {
        // SAFETY: it was set with a pointer to this.
        unsafe { &*calls.cast::<AtomicUsize>() }.fetch_add(1, Ordering::SeqCst);
    }

    /// Sets the handler that counts.
    fn set(handlers: &Handlers, calls: &'static AtomicUsize) {
        let user = std::ptr::from_ref(calls).cast_mut().cast();
        // SAFETY: the number lives as long as the process.
        unsafe { handlers.set_interrupt(Some(count), user) };
    }

    /// Watches until a condition holds.
    fn until(side: &Stub, handlers: &Handlers, so: impl Fn() -> bool) {
        until_looking(side, handlers, &|| {}, so);
    }

    /// Watches as [`until`], with a function that is called where resets are looked for.
    fn until_looking(
        side: &Stub,
        handlers: &Handlers,
        look: &(dyn Fn() + Sync),
        so: impl Fn() -> bool,
    ) {
        until_written(side, handlers, &Writes::default(), look, so);
    }

    /// Watches as [`until_looking`], with the runtime's writes.
    fn until_written(
        side: &Stub,
        handlers: &Handlers,
        writes: &Writes,
        look: &(dyn Fn() + Sync),
        so: impl Fn() -> bool,
    ) {
        let closing = AtomicBool::new(false);
        let watch = Watch {
            name: "toy0",
            handle: 3,
            side,
            handlers,
            writes,
            look,
            closing: &closing,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| watch.run());
            let begin = Instant::now();
            let mut there = so();
            while !there && begin.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
                there = so();
            }
            closing.store(true, Ordering::SeqCst);
            assert!(there, "the thread has ended");
        });
    }

    #[test]
    fn an_interrupt_that_is_refused_is_asked_for_again() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        for errno in [Errno::AGAIN, Errno::OPNOTSUPP, Errno::IO] {
            let side = Stub {
                arms: Answers::of([refused(errno), refused(errno)]),
                ..Stub::default()
            };
            let handlers = Handlers::default();
            let before = CALLS.load(Ordering::SeqCst);
            set(&handlers, &CALLS);
            until(&side, &handlers, || {
                CALLS.load(Ordering::SeqCst) >= before + 4 && side.arms.asked() >= 4
            });
        }
    }

    #[test]
    fn resets_are_looked_for_at_ticks_and_errors_alone() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let looks = AtomicUsize::new(0);
        let look = || {
            looks.fetch_add(1, Ordering::SeqCst);
        };
        let handlers = Handlers::default();
        set(&handlers, &CALLS);
        // With an interrupt each millisecond.
        let side = Stub {
            interrupts: true,
            ..Stub::default()
        };
        let begin = Instant::now();
        until_looking(&side, &handlers, &look, || {
            CALLS.load(Ordering::SeqCst) >= 100
        });
        let periods = begin.elapsed().as_millis() / PERIOD.as_millis();
        let looked = looks.load(Ordering::SeqCst) as u128;
        assert!(looked <= periods, "{looked} in {periods} periods");
        // Without an interrupt.
        let side = Stub::default();
        let before = CALLS.load(Ordering::SeqCst);
        until_looking(&side, &handlers, &look, || {
            CALLS.load(Ordering::SeqCst) >= before + 10
        });
        assert!(looks.load(Ordering::SeqCst) >= 10);
        // With errors.
        let side = Stub {
            interrupts: true,
            waits: Answers::of([refused(Errno::NOMEM)]),
            ..Stub::default()
        };
        let before = looks.load(Ordering::SeqCst);
        until_looking(&side, &handlers, &look, || {
            looks.load(Ordering::SeqCst) > before
        });
    }

    #[test]
    fn a_line_that_stays_high_does_not_keep_a_processor_busy() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let side = Stub {
            interrupts: true,
            at_once: true,
            ..Stub::default()
        };
        let handlers = Handlers::default();
        set(&handlers, &CALLS);
        let begin = Instant::now();
        until(&side, &handlers, || begin.elapsed() > 3 * PERIOD);
        let calls = CALLS.load(Ordering::SeqCst);
        assert!(calls < 2000, "{calls} calls in {:?}", begin.elapsed());
        // The board is still checked.
        assert!(calls > 64, "{calls} calls");
    }

    /// The state of a runtime's handler that launches a kernel after each one that ends, and writes itself.
    struct Launches {
        calls: AtomicUsize,
        writes: Writes,
        /// To the program's thread, and back.
        ended: Mutex<Sender<()>>,
        launched: Mutex<Receiver<()>>,
    }

    unsafe extern "C" fn launch(_: c_int, launches: *mut c_void) {
        // SAFETY: it was set with a pointer to this.
        let launches = unsafe { &*launches.cast::<Launches>() };
        launches.calls.fetch_add(1, Ordering::SeqCst);
        launches.writes.note();
        launches.ended.lock().unwrap().send(()).unwrap();
        launches.launched.lock().unwrap().recv().unwrap();
    }

    /// Counts calls while a line is high all the time, with a handler that writes; with `launching`, the program writes
    /// after each call, too.
    fn calls_of_short_kernels(launching: bool) -> usize {
        let (ended, ends) = channel();
        let (launch_made, launched) = channel();
        let launches: &Launches = Box::leak(Box::new(Launches {
            calls: AtomicUsize::new(0),
            writes: Writes::default(),
            ended: Mutex::new(ended),
            launched: Mutex::new(launched),
        }));
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            for () in ends {
                if launching {
                    launches.writes.note();
                }
                launch_made.send(()).unwrap();
            }
        });
        let side = Stub {
            interrupts: true,
            at_once: true,
            ..Stub::default()
        };
        let handlers = Handlers::default();
        let user = std::ptr::from_ref(launches).cast_mut().cast();
        // SAFETY: it lives as long as the process.
        unsafe { handlers.set_interrupt(Some(launch), user) };
        let begin = Instant::now();
        until_written(&side, &handlers, &launches.writes, &|| {}, || {
            begin.elapsed() > 3 * PERIOD
        });
        launches.calls.load(Ordering::SeqCst)
    }

    #[test]
    fn short_kernels_one_behind_the_other_are_not_waited_with() {
        let calls = calls_of_short_kernels(true);
        assert!(calls > 1000, "{calls} calls");
        // The handler's own writes do not launch a kernel.
        let calls = calls_of_short_kernels(false);
        assert!((64..200).contains(&calls), "{calls} calls");
    }

    #[test]
    fn a_row_ends_with_a_write() {
        let mut row = Row::default();
        assert!((1..500).all(|writes| row.next(true, Duration::ZERO, writes).is_zero()));
        let pause: Duration = (0..64).map(|_| row.next(true, Duration::ZERO, 499)).sum();
        assert!(!pause.is_zero());
        assert!(row.next(true, Duration::ZERO, 500).is_zero());
    }

    #[test]
    fn interrupts_that_come_together_are_not_waited_with() {
        let mut row = Row::default();
        let pauses =
            |row: &mut Row, count| (0..count).map(|_| row.next(true, Duration::ZERO, 0)).sum();
        let pause: Duration = pauses(&mut row, 63);
        assert!(pause.is_zero());
        assert!(!row.next(true, Duration::ZERO, 0).is_zero());
        let pause: Duration = pauses(&mut row, 30);
        assert!(pause > Duration::from_secs(2), "{pause:?}");
        assert_eq!(row.next(true, Duration::ZERO, 0), PERIOD);
        // The line is low once.
        assert!(row.next(true, Duration::from_millis(1), 0).is_zero());
        let pause: Duration = pauses(&mut row, 63);
        assert!(pause.is_zero());
    }

    #[test]
    fn a_wait_that_fails_is_no_end() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let side = Stub {
            waits: Answers::of([refused(Errno::NOMEM)]),
            ..Stub::default()
        };
        let handlers = Handlers::default();
        set(&handlers, &CALLS);
        until(&side, &handlers, || CALLS.load(Ordering::SeqCst) >= 3);
    }

    #[test]
    fn a_board_that_is_gone_before_a_handler_is_set_is_looked_at_later() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let side = Stub {
            waits: Answers::of([Error::Gone]),
            ..Stub::default()
        };
        let handlers = Handlers::default();
        until(&side, &handlers, || {
            if side.waits.asked() >= 2 && !handlers.has_interrupt() {
                set(&handlers, &CALLS);
            }
            CALLS.load(Ordering::SeqCst) >= 1
        });
    }
}
