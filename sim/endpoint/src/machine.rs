//! The thread that owns the board and runs its clock.
//!
//! Everything that happens to the board comes as a [`Command`], in the order in which the guest did it. The clock runs
//! in slices between the commands, and stops when nothing can happen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use peerlane_core::regs::{chan, csr};
use peerlane_sim::{Backpressure, Board, Side, Space};

use crate::config_space::{Function, Resets};
use crate::interrupts::{ADDRESS, Interrupts};
use crate::layout::{Map, Place};
use crate::patience::{Patience, Verdict};
use crate::pieces::pieces;
use crate::status::{Accesses, Status};

/// Cycles between two looks for a command: few, so that a register read waits for little more than its own cycles. A
/// look costs a small part of the cost of simulating a cycle.
const SLICE: u64 = 4;
/// Cycles after a reset before the host's accesses come: the block holds its own reset for longer than
/// the pins are held, so that both of its clocks see it.
const RESET_ENDS: u64 = 100;
/// Register accesses that may wait in the board before more commands are taken.
const BACKLOG: usize = 32;

/// Requests of the vfio-user server or of a handle to the machine.
pub(crate) enum Command {
    /// A posted write to the BAR.
    Write { offset: u64, data: Box<[u8]> },
    /// A read of so many bytes of the BAR.
    Read {
        offset: u64,
        bytes: usize,
        reply: SyncSender<Vec<u8>>,
    },
    /// The function's permissions have changed.
    Function(Function),
    /// The function is reset.
    Reset(Resets),
    /// The client is gone.
    Left,
    /// Event file descriptors for vectors.
    Events {
        start: u32,
        events: Vec<Option<std::fs::File>>,
    },
    /// The client takes no interrupt any more.
    NoEvents,
    /// The client signals a vector itself, to try it.
    Trigger(u32),
    /// The thread ends.
    Stop,
    /// Anything else, by a handle.
    Call(Box<dyn FnOnce(&mut Machine) + Send>),
}

/// Whether the clock has stopped, for threads that wait for that.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    state: Mutex<bool>,
    changed: Condvar,
}

impl Idle {
    fn set(&self, idle: bool) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = idle;
        self.changed.notify_all();
    }

    /// Waits until the clock has stopped; returns `false` if it still runs after `limit`.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(state, limit, |idle| !*idle)
            .unwrap_or_else(PoisonError::into_inner);
        *waited.0
    }
}

/// The board, and the state of the guest's side of it.
pub(crate) struct Machine {
    pub(crate) board: Board,
    map: Map,
    pub(crate) interrupts: Interrupts,
    /// Whether messages come from the block's table, not from its interrupt line.
    table: bool,
    function: Function,
    patience: Patience,
    idle: Arc<Idle>,
    running: bool,
    dead: bool,
    line_seen: u64,
    stick_at: Option<u64>,
    resets: u64,
    absent: bool,
    /// Whether an access to the OpenCL side is unanswered, and holds up all later ones.
    held_up: bool,
    /// `BUILD_ID` of another block than the simulated one.
    build_id: Option<u32>,
    /// The channel whose doorbell is rung again whenever causes of the line are acknowledged.
    ringing: Option<u32>,
    left: u64,
    bars: BTreeSet<u64>,
    undecoded: u64,
    first_undecoded: Option<String>,
    left_as_master: u64,
    cycles_base: u64,
    seconds: f64,
    mmio: BTreeMap<&'static str, Accesses>,
    violations: u64,
    first_error: Option<String>,
}

fn name(place: Place) -> &'static str {
    match place {
        Place::Slave(Space::Csr, _) => "csr",
        Place::Slave(Space::Chan, _) => "chan",
        Place::Slave(Space::Att, _) => "att",
        Place::Slave(Space::Msix, _) => "msix",
        Place::Window(_) => "window",
        Place::OpenCl(_) => "opencl",
        Place::Nothing => "nothing",
    }
}

/// Returns whether an access was not answered.
fn is_held_up<T>(result: &peerlane_sim::Result<T>) -> bool {
    matches!(result, Err(peerlane_sim::Error::Timeout { .. }))
}

impl Machine {
    pub(crate) fn new(board: Board, map: Map, vectors: Option<u32>, idle: Arc<Idle>) -> Self {
        Self {
            board,
            map,
            interrupts: Interrupts::new(vectors.unwrap_or(1)),
            table: vectors.is_some(),
            function: Function::default(),
            patience: Patience::new(),
            idle,
            running: true,
            dead: false,
            line_seen: 0,
            stick_at: None,
            resets: 0,
            absent: false,
            held_up: false,
            build_id: None,
            ringing: None,
            left: 0,
            bars: BTreeSet::new(),
            undecoded: 0,
            first_undecoded: None,
            left_as_master: 0,
            cycles_base: 0,
            seconds: 0.0,
            mmio: BTreeMap::new(),
            violations: 0,
            first_error: None,
        }
    }

    /// Serves commands until the command to stop, or until no sender is left.
    pub(crate) fn run(mut self, commands: &Receiver<Command>) {
        let ran = self.board.run(RESET_ENDS);
        self.checked(ran);
        loop {
            if !self.running {
                self.idle.set(true);
                let Ok(command) = commands.recv() else {
                    return;
                };
                self.idle.set(false);
                self.running = true;
                if !self.take(command) {
                    return;
                }
            }
            while self.board.host_backlog() < BACKLOG {
                let Ok(command) = commands.try_recv() else {
                    break;
                };
                if !self.take(command) {
                    return;
                }
            }
            self.slice();
        }
    }

    /// Runs the clock a little.
    fn slice(&mut self) {
        if self.dead {
            self.running = false;
            return;
        }
        let start = Instant::now();
        let ran = self.board.run(SLICE);
        self.checked(ran);
        self.deliver();
        if let Some(at) = self.stick_at
            && self.board.port_words() >= at
        {
            self.hold_port(true);
        }
        let (activity, busy) = (self.board.activity(), self.board.busy());
        if self.patience.ran(SLICE, activity, busy) == Verdict::Ask {
            let status = self.board.bar_read32(Space::Csr, csr::STATUS as u64);
            if let Some(status) = self.checked(status) {
                self.running = !self.patience.may_stop(status);
            }
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// Records errors. After a broken rule the board continues; a model that failed is dead.
    fn checked<T>(&mut self, result: peerlane_sim::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                match &error {
                    peerlane_sim::Error::Violations { count, .. } => self.violations += count,
                    peerlane_sim::Error::Timeout { .. } => {}
                    _ => self.dead = true,
                }
                self.first_error.get_or_insert_with(|| error.to_string());
                None
            }
        }
    }

    /// Signals the interrupts whose messages have arrived.
    fn deliver(&mut self) {
        for message in self.board.take_messages() {
            if message.address == ADDRESS {
                self.interrupts.signal(message.data);
            } else {
                self.interrupts.lost += 1;
            }
        }
        let line = self.board.irqs_delivered();
        if !self.table && line > self.line_seen && self.function.msi {
            self.interrupts.signal(0);
        }
        self.line_seen = line;
    }

    /// Executes a command; returns `false` if that is to stop.
    fn take(&mut self, command: Command) -> bool {
        self.patience.stir();
        match command {
            Command::Stop => return false,
            Command::Write { offset, data } => self.write(offset, &data),
            Command::Read {
                offset,
                bytes,
                reply,
            } => {
                let start = Instant::now();
                let data = self.read(offset, bytes);
                self.deliver();
                self.seconds += start.elapsed().as_secs_f64();
                // The server may have given up.
                let _ = reply.send(data);
            }
            Command::Function(function) => self.set_function(function),
            Command::Reset(resets) => self.reset(resets),
            Command::Left => {
                self.left += 1;
                // A connection that was cut is not a machine that went off.
                self.left_as_master += u64::from(self.function.master && !self.dead);
                self.interrupts.clear();
                self.program_table();
            }
            Command::Events { start, events } => {
                // The guest has masked them before: the block notices it now.
                self.interrupts.close(start, events.len());
                self.program_table();
                self.interrupts.set(start, events);
                self.program_table();
            }
            Command::NoEvents => {
                self.interrupts.clear();
                self.program_table();
            }
            Command::Trigger(vector) => self.interrupts.signal(vector),
            Command::Call(call) => call(self),
        }
        true
    }

    fn count(&mut self, place: Place) -> &mut Accesses {
        self.mmio.entry(name(place)).or_default()
    }

    /// Returns whether the function accepts an access to its BAR. Records an access that it does not accept.
    fn takes(&mut self, place: Place, write: bool) -> bool {
        if !self.function.memory {
            self.undecoded += 1;
            let what = if write { "write to" } else { "read of" };
            self.first_undecoded
                .get_or_insert_with(|| format!("{what} {place:?}: {:?}", self.function));
        }
        !self.dead && !self.absent && !self.held_up && self.function.memory
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        let place = self.map.locate(offset);
        self.count(place).writes += 1;
        if !self.takes(place, true) {
            return;
        }
        if let Place::Window(at) = place {
            let written = self.board.window_write(at, data);
            self.checked(written);
            return;
        }
        for (at, from, take) in pieces(offset, data.len()) {
            let lane = (at % 4) as usize;
            let mut bytes = [0; 4];
            bytes[lane..lane + take].copy_from_slice(&data[from..from + take]);
            let value = u32::from_le_bytes(bytes);
            let enable = ((1_u8 << take) - 1) << lane;
            match self.map.locate(at - lane as u64) {
                // Only the model writes the table.
                Place::Slave(Space::Msix, _) => {}
                Place::Slave(space, at) => self.write_slave(space, at, value, enable),
                Place::OpenCl(at) => {
                    let written = self.board.opencl_write(at, value, enable);
                    self.held_up |= is_held_up(&written);
                    self.checked(written);
                }
                _ => {}
            }
        }
    }

    fn write_slave(&mut self, space: Space, at: u64, value: u32, enable: u8) {
        if space == Space::Csr && enable == 15 {
            self.patience.note_write(at, value);
        }
        let written = self.board.bar_write_bytes(space, at, value, enable);
        self.checked(written);
        if (space, at) == (Space::Csr, csr::IRQ_STATUS as u64) {
            self.ring_again();
        }
    }

    fn read(&mut self, offset: u64, bytes: usize) -> Vec<u8> {
        let place = self.map.locate(offset);
        self.count(place).reads += 1;
        let mut data = vec![0xFF; bytes];
        if !self.takes(place, false) {
            return data;
        }
        if let Place::Window(at) = place {
            let read = self.board.window_read(at, &mut data);
            if self.checked(read).is_none() {
                data.fill(0xFF);
            }
            return data;
        }
        for (at, from, take) in pieces(offset, bytes) {
            let lane = (at % 4) as usize;
            let value = match self.map.locate(at - lane as u64) {
                Place::Slave(space, at) => {
                    let read = self.board.bar_read32(space, at);
                    let read = self.checked(read).unwrap_or(u32::MAX);
                    match (space, self.build_id) {
                        (Space::Csr, Some(other)) if at == csr::BUILD_ID as u64 => other,
                        _ => read,
                    }
                }
                Place::OpenCl(at) => {
                    let read = self.board.opencl_read(at);
                    self.held_up |= is_held_up(&read);
                    self.checked(read).unwrap_or(u32::MAX)
                }
                _ => 0,
            };
            data[from..from + take].copy_from_slice(&value.to_le_bytes()[lane..lane + take]);
        }
        data
    }

    fn set_function(&mut self, function: Function) {
        self.function = function;
        if function.memory {
            self.bars.insert(function.bar);
        }
        self.board.bus_mut().set_master(function.master);
        self.board.set_msix(function.msix, function.msix_mask);
        // One message, for a block that makes it itself; the client has its address and data.
        self.board
            .set_msi((function.msi && !self.table).then_some((ADDRESS, 0)));
    }

    pub(crate) fn reset(&mut self, resets: Resets) {
        self.resets += 1;
        if self.dead {
            return;
        }
        if resets != Resets::Configuration {
            self.power_up();
        }
        self.board.reset_hard_ip();
    }

    /// Plays a store loop that rings this channel's doorbell: once now, and again whenever causes are acknowledged,
    /// before the next look at them. `None` ends it.
    pub(crate) fn ring_without_end(&mut self, channel: Option<u32>) {
        self.ringing = channel;
        self.ring_again();
    }

    fn ring_again(&mut self) {
        if let Some(channel) = self.ringing {
            let page = u64::from(channel) * chan::SIZE as u64;
            let doorbell = page + chan::WRITE_DOORBELL as u64;
            let rung = self.board.bar_write32(Space::Chan, doorbell, 0);
            self.checked(rung);
        }
    }

    /// Configures the FPGA with another block, which only differs in its `BUILD_ID`.
    pub(crate) fn configure_other(&mut self, build_id: u32) {
        self.configure();
        self.build_id = Some(build_id);
    }

    /// Configures the FPGA with the right block, which is then as after power-up.
    pub(crate) fn configure(&mut self) {
        self.power_up();
        self.build_id = None;
    }

    /// Sets everything in the FPGA's configuration to its state after power-up: the block, its table of vectors and the
    /// OpenCL side.
    fn power_up(&mut self) {
        if self.dead {
            return;
        }
        self.held_up = false;
        self.interrupts.lose_table();
        self.patience = Patience::new();
        self.hold_port(false);
        let reset = self.board.reset().and_then(|()| self.board.run(RESET_ENDS));
        self.checked(reset);
        if let Some(side) = self.board.opencl_mut() {
            side.power_up();
        }
        self.board.take_messages();
        self.line_seen = self.board.irqs_delivered();
    }

    /// Resets only FPGA memory's side of the block.
    pub(crate) fn reset_memory_side(&mut self) {
        if self.dead {
            return;
        }
        let reset = self.board.reset_side(Side::Memory);
        let reset = reset.and_then(|()| self.board.run(RESET_ENDS));
        self.checked(reset);
    }

    /// Opens the vectors of the block's table for which the client has sent descriptors since the table was lost.
    fn program_table(&mut self) {
        if !self.table || self.dead {
            return;
        }
        let words = self.interrupts.open().enumerate().flat_map(|(n, open)| {
            [
                ADDRESS as u32,
                (ADDRESS >> 32) as u32,
                n as u32,
                u32::from(!open),
            ]
        });
        for (index, word) in words.collect::<Vec<_>>().into_iter().enumerate() {
            let written = self.board.bar_write32(Space::Msix, index as u64 * 4, word);
            self.checked(written);
        }
    }

    /// Stops the port towards PCIe after `after` more words.
    pub(crate) fn stick_port(&mut self, after: u64) {
        self.stick_at = Some(self.board.port_words().saturating_add(after));
        if after == 0 {
            self.hold_port(true);
        }
    }

    /// Releases the port, unless the block takes it for dead. A bridge that stalled that long does not continue in the
    /// middle of a burst.
    pub(crate) fn free_port(&mut self) {
        let status = self.board.bar_read32(Space::Csr, csr::STATUS as u64);
        let status = self.checked(status).unwrap_or(0);
        if status & csr::STATUS_PORT_DEAD_MASK == 0 {
            self.hold_port(false);
        } else {
            self.stick_at = None;
        }
    }

    /// Holds the port, or releases it.
    pub(crate) fn hold_port(&mut self, hold: bool) {
        let config = self.board.config();
        let (txs, stream) = if hold {
            (Backpressure::Random(100), Backpressure::Random(100))
        } else {
            (config.txs.backpressure, config.stream.backpressure)
        };
        self.press_port(txs, stream);
    }

    /// Has the port take a word in few cycles.
    pub(crate) fn slow_port(&mut self) {
        self.press_port(Backpressure::Random(99), Backpressure::Random(99));
    }

    fn press_port(&mut self, txs: Backpressure, stream: Backpressure) {
        self.stick_at = None;
        self.board.set_txs_backpressure(txs);
        self.board.set_stream_backpressure(stream);
    }

    /// Hides the BAR, or shows it again.
    pub(crate) fn hide_bar(&mut self, hide: bool) {
        self.absent = hide;
    }

    /// Stops the board for good.
    pub(crate) fn kill(&mut self) {
        self.dead = true;
    }

    /// Returns the part of the status that is known here.
    pub(crate) fn status(&self) -> Status {
        Status {
            dead: self.dead,
            function: self.function,
            resets: self.resets,
            bars: self.bars.iter().copied().collect(),
            undecoded: self.undecoded,
            first_undecoded: self.first_undecoded.clone(),
            left: self.left,
            left_as_master: self.left_as_master,
            cycles: self.board.cycles() - self.cycles_base,
            seconds: self.seconds,
            mmio: self.mmio.clone(),
            interrupts: self.interrupts.signalled.clone(),
            interrupts_lost: self.interrupts.lost,
            violations: self.violations,
            first_error: self.first_error.clone(),
            ..Status::default()
        }
    }

    pub(crate) fn clear_counters(&mut self) {
        self.resets = 0;
        self.undecoded = 0;
        self.first_undecoded = None;
        self.left_as_master = 0;
        self.cycles_base = self.board.cycles();
        self.seconds = 0.0;
        self.mmio.clear();
        self.interrupts.clear_counters();
    }
}
