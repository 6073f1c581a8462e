// SPDX-License-Identifier: GPL-2.0

//! The OpenCL side of a board: registers of the vendor's shell and the kernels' interrupt, which one context
//! at a time holds.
//!
//! The kernels' interrupt is a level. On a line of the hard IP it is next to the block's line and shares its message.
//! So it is enabled once for each time that its holder asks ([`Board::arm_kernels`]): while it is active, the block's
//! line would make no message. An own vector of the kernels is masked instead, so that the block sends a message for
//! a level that is active when the vector is unmasked. The mask is in a table in the BAR, so it is a register like
//! others: it is not accessed on a board that is away ([`State::mask`]).
//!
//! The side is released with the process that took it ([`Context::leave`]), even if other processes have the file
//! open.

use crate::{
    board::Board,
    boards::Line,
    context::Context,
    events::EventFd,
    ffi::peerlane_is_leaving,
    hw::{Failure, Hw},
    logic::{
        channel::LocalRange,
        lifecycle::Epoch,
        regs::{csr, MAP_ID},
        shell::{Area, OpenCl},
        steps::Register,
        uapi,
    },
};
use kernel::{
    bindings, current,
    io::Io,
    new_mutex,
    page::PAGE_SIZE,
    pci,
    prelude::*,
    sync::{Mutex, MutexGuard},
    task::Pid,
    time::{delay::fsleep, Delta},
};

/// Looks at kernels that are being reset: the reset lasts 2^10 cycles of a clock of 50 MHz.
const LOOKS: u32 = 100;
const PAUSE: Delta = Delta::from_micros(100);

/// The holder of the OpenCL side.
struct Holder {
    channel: u32,
    eventfd: Option<EventFd>,
    /// The number of the process that took it.
    process: Pid,
    /// That process has ended.
    left: bool,
}

/// The kernels' own vector.
struct Vector {
    /// The kernel's number of it.
    number: u32,
    /// Whether it is enabled.
    enabled: bool,
}

impl Vector {
    /// Writes the table in the BAR. The registers' lock must be held, and the board be there.
    fn enable(&mut self, enabled: bool) {
        if core::mem::replace(&mut self.enabled, enabled) == enabled {
            return;
        }
        // SAFETY: it is our vector's number, as long as it is here. It is disabled at first, and then the two calls
        // alternate.
        unsafe {
            match enabled {
                true => bindings::enable_irq(self.number),
                false => bindings::disable_irq_nosync(self.number),
            }
        }
    }
}

pub(crate) struct State {
    holder: Option<Holder>,
    /// The holder waits for an interrupt.
    armed: bool,
    /// The kernels' own vector. It is enabled while `armed` is set, except on a board that is away: there it stays as
    /// it was until the board is started.
    vector: Option<Vector>,
}

impl State {
    pub(crate) fn is_held_by(&self, channel: u32) -> bool {
        let holder = self.holder.as_ref();
        holder.is_some_and(|holder| holder.channel == channel)
    }

    /// Masks the kernels' vector, if they have one and the board is there. Otherwise the next start of the board does
    /// it.
    fn mask(&mut self, hw: &Hw) {
        if let (Some(vector), Some(epoch)) = (&mut self.vector, hw.live()) {
            let masked = hw.with_shell_in(epoch, |_| {
                vector.enable(false);
                Some(())
            });
            // The next start does it.
            let _ = masked;
        }
    }

    /// Ends the wait for an interrupt.
    fn disarm(&mut self, hw: &Hw) {
        self.armed = false;
        self.mask(hw);
    }

    /// Notifies the holder, once.
    fn interrupt(&mut self, hw: &Hw) {
        self.disarm(hw);
        if let Some(eventfd) = self.holder.as_ref().and_then(|holder| holder.eventfd.as_ref()) {
            eventfd.signal();
        }
    }
}

/// The OpenCL side of a board.
#[pin_data]
pub(crate) struct Holding {
    #[pin]
    state: Mutex<State>,
}

impl Holding {
    /// Makes an OpenCL side without a holder.
    pub(crate) fn new() -> impl PinInit<Self> {
        let state = State {
            holder: None,
            armed: false,
            vector: None,
        };
        pin_init!(Self { state <- new_mutex!(state) })
    }

    /// Locks the state: no thread acquires or releases the side, or handles an interrupt, in the meantime.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Board {
    /// Returns the addresses of the OpenCL side.
    pub(crate) fn opencl(&self) -> OpenCl {
        self.hw.place().opencl
    }

    /// Returns the bytes of the interface to the kernels that may be mapped.
    pub(crate) fn kernels_map_bytes(&self) -> usize {
        let opencl = self.opencl();
        match opencl.is_mappable(PAGE_SIZE as u64) {
            true => opencl.bytes(Area::Kernels) as usize,
            false => 0,
        }
    }

    /// Whether a context has the OpenCL side.
    pub(crate) fn has_opencl(&self, channel: u32) -> bool {
        self.holding.lock().is_held_by(channel)
    }

    fn take_opencl(&self, channel: u32, eventfd: Option<EventFd>) -> Result {
        if !self.opencl().is_there() {
            return Err(EOPNOTSUPP);
        }
        let mut state = self.holding.lock();
        match &state.holder {
            Some(holder) if holder.channel == channel => return Err(EEXIST),
            Some(_) => return Err(EBUSY),
            None => {}
        }
        // This stays true: a thread that frees the memory looks here first, under the lock of its own share.
        if !self.memory.look(|memory| memory.holds_all(channel)) {
            return Err(EPERM);
        }
        state.holder = Some(Holder {
            channel,
            eventfd,
            process: current!().tgid(),
            left: false,
        });
        Ok(())
    }

    /// Records that the calling process leaves, if a channel's context holds the OpenCL side for this process.
    fn note_leaving(&self, channel: u32) -> bool {
        let mut state = self.holding.lock();
        let is_its = |holder: &&mut Holder| holder.channel == channel && holder.process == current!().tgid();
        let holder = state.holder.as_mut().filter(is_its);
        holder.map(|holder| holder.left = true).is_some()
    }

    /// Whether a channel's context holds the OpenCL side for a process that has ended.
    pub(crate) fn is_left(&self, channel: u32) -> bool {
        let state = self.holding.lock();
        let holder = state.holder.as_ref();
        holder.is_some_and(|holder| holder.channel == channel && holder.left)
    }

    /// Releases the OpenCL side of a context, and stops the kernels. `ENOENT`: it does not hold it.
    pub(crate) fn return_opencl(&self, context: &Context) -> Result {
        let mut state = self.holding.lock();
        if !state.is_held_by(context.channel) {
            return Err(ENOENT);
        }
        context.unmap_kernels();
        state.disarm(&self.hw);
        // A board that is away stops the kernels when it is started. A board that does not stop them now is cut off
        // and started again, which stops them, too.
        self.settle_by(|epoch| {
            self.enable_lines(epoch, &state)?;
            self.stop_kernels(epoch)
        });
        let holder = state.holder.take();
        drop(state);
        drop(holder);
        Ok(())
    }

    /// Resets all kernels of the FPGA. Their stores in progress end in the memory's interconnect.
    fn stop_kernels(&self, epoch: Epoch) -> Result<(), Failure> {
        let Some(reset) = self.opencl().kernels_reset() else {
            return Ok(());
        };
        let look = |bar: &pci::Bar<'_>| bar.try_read32(reset).ok();
        // When this read is answered, a reset that is in progress has ended: a store during it would make it last for
        // ever.
        self.hw.with_shell_in(epoch, look)?;
        let store = |bar: &pci::Bar<'_>| bar.try_write32(0, reset).ok();
        self.hw.with_shell_in(epoch, store)?;
        for _ in 0..LOOKS {
            match self.hw.with_shell_in(epoch, look)? {
                0 => fsleep(PAUSE),
                u32::MAX => {
                    // Or no register has answered.
                    let id = self.hw.read_in(epoch, Register::Csr(csr::MAP_ID))?;
                    return match id == MAP_ID {
                        true => Ok(()),
                        false => Err(Failure::Gone),
                    };
                }
                _ => return Ok(()),
            }
        }
        Err(Failure::Kernels)
    }

    /// Stops the kernels of a board that is being started, if no context holds them: the memory that they use is
    /// about to get other owners.
    pub(crate) fn stop_orphans(&self, epoch: Epoch) -> Result<(), Failure> {
        let state = self.holding.lock();
        match state.holder {
            Some(_) => Ok(()),
            None => self.stop_kernels(epoch),
        }
    }

    /// Sets which lines the hard IP makes messages of, if the block has one.
    fn write_lines(&self, epoch: Epoch, lines: impl FnOnce(&Line) -> u32) -> Result<(), Failure> {
        let Some(line) = &self.hw.place().line else {
            return Ok(());
        };
        let value = lines(line);
        self.hw
            .with_shell_in(epoch, |bar| bar.try_write32(value, line.enable()).ok())
    }

    /// Enables messages of the block's line, and of the kernels' line if their holder waits.
    fn enable_lines(&self, epoch: Epoch, state: &State) -> Result<(), Failure> {
        self.write_lines(epoch, |line| line.enabled(state.armed))
    }

    /// Enables the block's interrupts on a board that is being started, and disables those of the kernels.
    pub(crate) fn open_lines(&self, epoch: Epoch) -> Result<(), Failure> {
        let mut state = self.holding.lock();
        state.mask(&self.hw);
        self.write_lines(epoch, |line| line.enabled(false))
    }

    /// Has the hard IP look at its lines again: active lines make a message.
    pub(crate) fn new_edge(&self) {
        let state = self.holding.lock();
        // On a board that does not run its start does it.
        if let Ok(epoch) = self.hw.usable() {
            self.close_lines(epoch);
            let _ = self.enable_lines(epoch, &state);
        }
    }

    /// Masks the kernels' vector on a board that is being stopped. A holder that waits for it is notified when the
    /// board is started.
    pub(crate) fn mask_kernels(&self) {
        self.holding.lock().mask(&self.hw);
    }

    /// Disables messages of all lines, if the board takes it.
    pub(crate) fn close_lines(&self, epoch: Epoch) {
        // A board that does not take it is not ours any more, or was reset.
        let _ = self.write_lines(epoch, |_| 0);
    }

    /// Passes the frame of a page of the interface to the kernels to `insert`, or `None` if a channel does not hold
    /// it.
    pub(crate) fn with_kernels<R>(
        &self,
        channel: u32,
        page: usize,
        insert: impl FnOnce(Option<usize>) -> R,
    ) -> R {
        let state = self.holding.lock();
        let frame = match state.is_held_by(channel) {
            true => self.opencl().kernels.and_then(|kernels| {
                let first = self.bar_pfn(kernels.offset as usize)?;
                Some(first + page)
            }),
            false => None,
        };
        insert(frame)
    }

    /// Notifies a holder that waits, so that it looks at the kernels: the message of their own vector has come, or
    /// the board was started, in which they may have been reset.
    pub(crate) fn wake_holder(&self) {
        let mut state = self.holding.lock();
        if state.armed {
            state.interrupt(&self.hw);
        }
    }

    /// Sets the kernels' own vector, which is disabled; or removes it, as it is about to be freed.
    pub(crate) fn set_kernels_vector(&self, number: Option<u32>) {
        let mut state = self.holding.lock();
        state.armed = false;
        state.vector = number.map(|number| Vector {
            number,
            enabled: false,
        });
    }

    /// Whether the kernels' line is active and its holder waits for it. Then the holder is notified, and the line is
    /// disabled until the holder asks again.
    pub(crate) fn take_kernels_line(&self) -> bool {
        let Some(line) = &self.hw.place().line else {
            return false;
        };
        let mut state = self.holding.lock();
        state.armed && self.take_line(line, &mut state).unwrap_or(false)
    }

    fn take_line(&self, line: &Line, state: &mut State) -> Result<bool, Failure> {
        let mask = line.kernels_mask();
        let enabled = line.enabled(false);
        let taken = self.hw.with_shell(|bar| {
            let status = bar.try_read32(line.status()).ok()?;
            // A function that is not there reads as ones.
            let stands = status != u32::MAX && status & mask != 0;
            if stands {
                bar.try_write32(enabled, line.enable()).ok()?;
            }
            Some(stands)
        })?;
        if taken {
            state.interrupt(&self.hw);
        }
        Ok(taken)
    }

    fn arm_kernels(&self, channel: u32, armed: bool) -> Result {
        let mut state = self.holding.lock();
        if !state.is_held_by(channel) {
            return Err(EPERM);
        }
        let epoch = self.hw.usable()?;
        let line = &self.hw.place().line;
        let interrupts = match line {
            Some(line) => line.kernels.is_some(),
            None => state.vector.is_some(),
        };
        if !interrupts {
            return Err(EOPNOTSUPP);
        }
        if !armed {
            state.disarm(&self.hw);
            return Ok(self.enable_lines(epoch, &state)?);
        }
        let Some(line) = line else {
            // Not on a board that is being stopped.
            self.hw.with_shell(|_| {
                let vector = state.vector.as_mut()?;
                vector.enable(true);
                Some(())
            })?;
            state.armed = true;
            return Ok(());
        };
        // A line that is already active makes no message: so it does not keep a handler busy.
        if self.take_line(line, &mut state)? {
            return Ok(());
        }
        state.armed = true;
        self.enable_lines(epoch, &state)?;
        // It may have become active before it was enabled, together with the block's: then it makes no message.
        self.take_line(line, &mut state)?;
        Ok(())
    }
}

impl Context {
    /// Acquires the OpenCL side, or releases it.
    pub(crate) fn opencl(&self, arguments: &mut uapi::OpenCl) -> Result {
        match arguments.flags {
            0 => {
                let eventfd = match arguments.fd {
                    -1 => None,
                    fd => Some(EventFd::from_fd(fd)?),
                };
                // The memory stays the context's in the meantime.
                let share = self.share.lock();
                if share.process() == LocalRange::EMPTY {
                    return Err(EPERM);
                }
                self.board.take_opencl(self.channel, eventfd)?;
                let opencl = self.board.opencl();
                let [bytes @ .., status_bytes] = Area::ALL.map(|area| opencl.bytes(area));
                (arguments.bytes, arguments.status_bytes) = (bytes, status_bytes);
                arguments.map_bytes = self.board.kernels_map_bytes() as u64;
                // It may have empty pages.
                self.unmap_kernels();
                Ok(())
            }
            uapi::opencl::RELEASE if arguments.fd == -1 => self.board.return_opencl(self),
            _ => Err(EINVAL),
        }
    }

    /// Enables one interrupt of the kernels, or disables it.
    pub(crate) fn arm(&self, arguments: &uapi::Arm) -> Result {
        match arguments.flags {
            0 => self.board.arm_kernels(self.channel, true),
            uapi::arm::DISARM => self.board.arm_kernels(self.channel, false),
            _ => Err(EINVAL),
        }
    }

    /// Handles that a process closes a descriptor of the file. If this process took the OpenCL side, and it ends or
    /// has become another program, the side is released, and all FPGA memory, which the next holder needs. Other
    /// processes may have the file: children that it made before.
    ///
    /// While the FPGA is being configured, the release is left to the end of the configuration.
    pub(crate) fn leave(&self) {
        // SAFETY: the call only reads the state of the calling process.
        if !unsafe { peerlane_is_leaving() } {
            return;
        }
        // In this order: a thread that ends the configuration clears it, then looks whether its process has left.
        if self.board.note_leaving(self.channel) && !self.board.is_reprogrammed_by(self.channel) {
            self.give_up_opencl();
        }
    }

    /// Releases the OpenCL side for a process that has ended, and the memory that its kernels used.
    pub(crate) fn give_up_opencl(&self) {
        let board = &self.board;
        {
            let _held = self.submission.lock();
            // When the gate is closed, unbind has released everything.
            let Ok(_inside) = board.gate.enter() else {
                return;
            };
            let writer = self.writer.lock();
            let mut share = self.share.lock();
            // A child may have taken the side for itself while this process waited for a stop.
            if !board.is_left(self.channel) || board.return_opencl(self).is_err() {
                return;
            }
            let _ = board.return_window(self);
            self.give_up_memory(&writer, &mut share);
            // This may have cut it off. Scheduled inside of the gate: unbind stops the watchdog after it has closed
            // the gate.
            board.watch();
        }
    }
}
