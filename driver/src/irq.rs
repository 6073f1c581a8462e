// SPDX-License-Identifier: GPL-2.0

//! The board's interrupts.
//!
//! With a table of vectors (`irq = "msix"`) vector 0 reports faults, 1 is the OpenCL kernel's, and `2 + c` channel
//! c's. Without one all interrupts share a single message, made by the hard IP of its `RxmIrq` line.

use crate::{
    board::Board,
    events,
    ffi::{pci_dev, peerlane_mask_when_disabled},
    logic::{
        brake::{Brake, INTERVAL_NS},
        regs::csr,
        steps::{self, Register, Step},
    },
    trace,
};
use kernel::{
    bindings,
    device::Bound,
    irq::{Flags, IrqRequest, IrqReturn, ThreadedHandler, ThreadedRegistration},
    new_mutex,
    pci::{self, IrqType, IrqTypes, IrqVectorRegistration},
    prelude::*,
    sync::{Arc, Mutex},
    time::{delay::fsleep, Delta},
};

/// Rounds in which the line is looked at before its handler returns.
const ROUNDS: u32 = 16;
/// Time for which a handler sleeps then: the kernel runs it before all ordinary work.
const PAUSE: Delta = Delta::from_millis(1);

/// The first channel's vector.
const CHANNELS: u32 = 2;

/// Receivers of a vector's interrupts.
#[derive(Clone, Copy)]
enum Cause {
    /// All: the only message of a board without a table.
    All,
    /// The driver, for a fault.
    Fault,
    /// The holder of the OpenCL side.
    Kernels,
    /// A channel's context.
    Channel(u32),
}

/// Handler of one vector.
#[pin_data]
pub(crate) struct Handler {
    board: Arc<Board>,
    cause: Cause,
    /// The kernel's number of the vector.
    irq: u32,
    /// Limits the interrupts of a channel's vector.
    #[pin]
    brake: Mutex<Brake>,
}

impl Handler {
    /// Clears the causes in the block, and returns whether there were any. Faults among them are traced.
    fn take_causes(&self) -> bool {
        let register = Register::Csr(csr::IRQ_STATUS);
        let Ok(causes) = self.board.hw.read(register) else {
            return false;
        };
        if causes == 0 || self.board.hw.run([Step::Write(register, causes)]).is_err() {
            return false;
        }
        let error = causes & csr::IRQ_STATUS_ERROR_MASK != 0;
        let refused = causes & csr::IRQ_STATUS_REFUSED_MASK != 0;
        if error || refused {
            trace::fault_interrupt(&self.board, error, refused);
        }
        // A port that was dead has lost records: do not let threads wait for them until the next look.
        let status = || self.board.hw.read(Register::Csr(csr::STATUS));
        if error && status().is_ok_and(|status| status & csr::STATUS_PORT_LOST_MASK != 0) {
            self.board.watch_now();
        }
        true
    }

    /// Keeps the vector from interrupting for a while, and this thread from running. A message that comes in this
    /// time is handled after it.
    fn rest(&self) {
        // SAFETY: it is our vector's number; we are its handler, and it is not released before we have returned. The
        // interrupt that is disabled here is enabled here.
        unsafe { bindings::disable_irq_nosync(self.irq) };
        fsleep(Delta::from_nanos(INTERVAL_NS));
        // SAFETY: as above.
        unsafe { bindings::enable_irq(self.irq) };
    }

    /// Handles the causes of the interrupt line until none is left, or for so many rounds.
    ///
    /// The message is made when the first of the enabled lines of the hard IP rises. All lines must have been low at
    /// the same time before this returns. Otherwise a cause that came between look and clearing keeps one line high,
    /// and no other message is ever made. A process can make causes without pause, by doorbells that are refused. So
    /// after some rounds other threads get the processor, and the line is raised again, with an edge if there are
    /// causes.
    fn lower_line(&self) -> IrqReturn {
        for _ in 0..ROUNDS {
            // In this order: the kernels' line is down before the block's line is, which only this thread lowers. So
            // both are down at the same time.
            let kernels = self.board.take_kernels_line();
            let block = self.take_causes();
            if !kernels && !block {
                // An MSI is not shared with other devices, even if its cause has gone.
                return IrqReturn::Handled;
            }
            if block {
                self.board.for_each_user(|user| user.events.interrupt());
            }
        }
        fsleep(PAUSE);
        // A board that does not run makes an edge when it is started.
        let _ = self.board.hw.run(steps::new_edge());
        self.board.new_edge();
        IrqReturn::Handled
    }
}

impl ThreadedHandler for Handler {
    fn handle_threaded(&self) -> IrqReturn {
        match self.cause {
            Cause::Channel(channel) => {
                self.board
                    .with_user(channel, |user| user.events.interrupt());
                let rest = self.brake.lock().wake(events::now());
                if rest {
                    self.rest();
                }
            }
            Cause::Fault => {
                self.take_causes();
                // Faults that a process makes without pause are one message after it.
                fsleep(PAUSE);
            }
            Cause::Kernels => self.board.wake_holder(),
            Cause::All => return self.lower_line(),
        }
        IrqReturn::Handled
    }
}

type Registration<'a> = Pin<KBox<ThreadedRegistration<'a, Handler>>>;

/// The vectors of a board with their handlers.
pub(crate) struct Interrupts<'a> {
    board: Arc<Board>,
    // Before the vectors.
    handlers: KVec<Registration<'a>>,
    _vectors: Pin<KBox<IrqVectorRegistration<'a>>>,
}

impl Drop for Interrupts<'_> {
    fn drop(&mut self) {
        // After it is released, it must not be enabled any more.
        self.board.set_kernels_vector(None);
    }
}

/// Logs why there are fewer vectors than wanted.
///
/// Channels cannot share one: the block sends each channel's message by an entry of its own, and the PCI core writes
/// only those entries that it gives as vectors.
fn explain_shortage(device: &pci::Device<Bound>, wanted: u32, error: Error) {
    if wanted == 1 {
        dev_err!(device, "the kernel does not give it an interrupt vector: {:?}\n", error);
        return;
    }
    // SAFETY: a valid device.
    let entries = unsafe { bindings::pci_msix_vec_count(pci_dev(device)) };
    if u32::try_from(entries).is_ok_and(|entries| entries >= wanted) {
        dev_err!(
            device,
            "it needs {} interrupt vectors, two and one for each channel: its table has {} entries, and the kernel does not give so many ({:?}); a build with fewer channels needs fewer\n",
            wanted,
            entries,
            error
        );
    } else {
        dev_err!(
            device,
            "it needs {} interrupt vectors, two and one for each channel: its table has {} entries, a parameter of the hard IP\n",
            wanted,
            entries.max(0)
        );
    }
}

impl<'a> Interrupts<'a> {
    /// Takes as many vectors as there are uses. Where the kernel does not give so many, the board cannot be used.
    pub(crate) fn new(device: &'a pci::Device<Bound>, board: &Arc<Board>) -> Result<Self> {
        let capabilities = &board.capabilities;
        let wanted = if capabilities.msix {
            CHANNELS + capabilities.channels
        } else {
            1
        };
        let table = IrqTypes::default().with(IrqType::MsiX);
        let vectors = if capabilities.msix {
            device.alloc_irq_vectors(wanted, wanted, table)
        } else {
            device.alloc_irq_vectors(1, 1, table.with(IrqType::Msi))
        };
        let vectors = vectors.inspect_err(|error| explain_shortage(device, wanted, *error))?;
        let vectors = KBox::pin(vectors, GFP_KERNEL)?;
        // SAFETY: the vectors are boxed, and dropped after the handlers that borrow them.
        let lent: &'a IrqVectorRegistration<'a> = unsafe { &*core::ptr::from_ref(&*vectors) };
        let mut handlers = KVec::with_capacity(wanted as usize, GFP_KERNEL)?;
        for index in 0..wanted {
            let cause = match index.checked_sub(CHANNELS) {
                _ if wanted == 1 => Cause::All,
                Some(channel) => Cause::Channel(channel),
                None if index == 0 => Cause::Fault,
                None => Cause::Kernels,
            };
            let request: IrqRequest<'a> = lent.index(index as usize)?.into();
            let irq = request.irq();
            let flags = match cause {
                Cause::Kernels => {
                    // SAFETY: it is our vector's number, and no handler was requested for it yet.
                    unsafe { peerlane_mask_when_disabled(irq) };
                    Flags::TRIGGER_NONE | Flags::NO_AUTOEN
                }
                _ => Flags::TRIGGER_NONE,
            };
            let of_handler = board.clone();
            let handler = try_pin_init!(Handler {
                board: of_handler,
                cause,
                irq,
                brake <- new_mutex!(Brake::new()),
            });
            // SAFETY: it is dropped with us, never leaked.
            let registration = unsafe {
                ThreadedRegistration::new(request, flags, c"peerlane", handler)
            };
            handlers.push(KBox::pin_init(registration, GFP_KERNEL)?, GFP_KERNEL)?;
            if let Cause::Kernels = cause {
                board.set_kernels_vector(Some(irq));
            }
        }
        Ok(Self {
            board: board.clone(),
            handlers,
            _vectors: vectors,
        })
    }

    /// Returns the number of vectors.
    pub(crate) fn count(&self) -> usize {
        self.handlers.len()
    }
}
