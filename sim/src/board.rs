//! The board: clocks, the design, and the models around it.

mod host_access;
mod opencl;
mod view;

use peerlane_sim_opencl::{Cra, OpenClSide};
use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    bus::Bus,
    config::BoardConfig,
    ddr::{Budget, DdrPort},
    interconnect::Interconnect,
    logic::Logic,
    memory::{Gpu, HostMemory, Memory},
    packets::PacketPort,
    pcie::{Kind, Pcie, Shape},
    slaves::Slaves,
    space::Space,
    stream::Stream,
    txs::Txs,
    violation::{Error, Log, Result},
    window::Window,
    wires::Wires,
};

/// Cycles of each clock that a reset lasts.
const RESET_CYCLES: u64 = 16;

/// Cycles until a design has been shown the function's configuration twice.
const CONFIGURED: u64 = 256;

#[derive(Debug)]
struct Domain {
    clock: Port,
    reset: Option<Port>,
    /// Femtoseconds.
    period: u64,
    next: u64,
    cycles: u64,
}

/// A simulated board: a Verilated design with `peerlane_dma`'s ports, and PCIe, host memory, a
/// GPU and FPGA memory around it.
///
/// An interface whose ports the design lacks is left out, so that a part of the block, or a test
/// master, runs as well; `pcie_clk` there must be.
///
/// # Time
/// Both clocks run on one time axis with a configured phase. At an edge the models read the outputs of the design as
/// they were before the edge, and decide their next actions. Then the clock rises, the design is settled, and only then
/// its inputs change. So neither a model nor the design sees effects of the same edge.
///
/// # Errors
/// Rules that the design breaks are collected; [`Board::run`] and the functions that call it end at the first cycle
/// with one and return [`Error::Violations`]. The board continues when called again.
#[derive(Debug)]
pub struct Board {
    model: Model,
    config: BoardConfig,
    pcie_clk: Domain,
    clk: Option<Domain>,
    now: u64,
    txs: Option<Txs>,
    stream: Option<Stream>,
    packets: Option<PacketPort>,
    pcie: Pcie,
    bus: Bus,
    ddr: Memory,
    mem_rd: Option<DdrPort>,
    mem_wr: Option<DdrPort>,
    mem_win: Option<DdrPort>,
    budget: Budget,
    /// The logic at the block's streams.
    logic: Logic,
    slaves: Slaves,
    window: Window,
    interconnect: Option<Interconnect>,
    wires: Wires,
    opencl: Option<OpenClSide>,
    /// Accesses of its kernels outside of FPGA memory.
    kernel_strays: u64,
    /// `kernel_irq` as set by the caller.
    kernel_irq: bool,
    irq: Option<Port>,
    /// Whether the hard IP makes messages of interrupt lines. A design with an MSI-X table, or that makes packets, has
    /// its own messages.
    lines: bool,
    irq_level: bool,
    irqs: u64,
    /// The sides whose reset is asserted: their models do not move.
    in_reset: InReset,
    log: Log,
}

/// A side of the board with a clock and a reset of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The hard IP, the link and the host's slaves, in `pcie_clk`: `pcie_reset`.
    Pcie,
    /// FPGA memory and its interconnect, in `clk`: `reset`.
    Memory,
}

#[derive(Debug, Clone, Copy, Default)]
struct InReset {
    pcie: bool,
    memory: bool,
}

fn domain(
    library: &Library,
    names: [&str; 2],
    period_ps: u64,
    first_ps: u64,
) -> Result<Option<Domain>> {
    let has = |name: &str| library.ports().iter().any(|port| port.name == name);
    if !has(names[0]) {
        return Ok(None);
    }
    let reset = if has(names[1]) {
        Some(library.port_as(names[1], Direction::Input, 1)?)
    } else {
        None
    };
    Ok(Some(Domain {
        clock: library.port_as(names[0], Direction::Input, 1)?,
        reset,
        period: period_ps * 1000,
        next: first_ps * 1000,
        cycles: 0,
    }))
}

impl Board {
    /// Makes a board around an instance of the design, reset and ready.
    ///
    /// # Errors
    /// If the configuration is impossible, `pcie_clk` or part of an interface is missing, or the design stops during
    /// reset.
    pub fn new(model: Model, config: BoardConfig) -> Result<Self> {
        if let Some(message) = config.problem() {
            return Err(Error::Config { message });
        }
        let library = model.library().clone();
        let first = config.pcie_clk_ps;
        let Some(pcie_clk) = domain(
            &library,
            ["pcie_clk", "pcie_reset"],
            config.pcie_clk_ps,
            first,
        )?
        else {
            // Looked up again so that the error names the port.
            return Err(library.port("pcie_clk").err().map_or_else(
                || Error::Config {
                    message: "the design has no pcie_clk".to_owned(),
                },
                Error::from,
            ));
        };
        let clk = domain(
            &library,
            ["clk", "reset"],
            config.clk_ps,
            first + config.clk_phase_ps,
        )?;
        let txs = Txs::bind(&library, &config)?;
        let stream = Stream::bind(&library, &config)?;
        let packets = PacketPort::bind(&library, &config)?;
        let tagged = packets.as_ref().map(PacketPort::width);
        let shape = match tagged.or(stream.as_ref().map(Stream::width)) {
            Some(width) => Shape {
                width,
                link: config.stream.link,
                buffer: config.stream.post_buffer,
                reorder: 0,
                kind: match packets {
                    Some(_) => Kind::Packets,
                    None => Kind::Stream,
                },
            },
            None => Shape {
                width: txs.as_ref().map_or(16, Txs::width),
                link: true,
                buffer: config.txs.write_buffer,
                reorder: u64::from(config.txs.reorder_cycles) * config.pcie_clk_ps * 1000,
                kind: Kind::Txs,
            },
        };
        let mut host = HostMemory::default();
        host.add_range(config.host.0, config.host.1)?;
        let gpu = Gpu::new(&config.gpu)?;
        let (bar, size) = (gpu.bar_base(), gpu.bar_size());
        if host
            .ranges()
            .any(|(base, len)| base < bar + size && bar < base + len)
        {
            return Err(Error::Overlap {
                what: "the GPU's BAR",
                address: bar,
            });
        }
        let port = |name, stream| DdrPort::bind(&library, name, &config.ddr, config.seed, stream);
        let mut bus = Bus::new(host, gpu);
        bus.behind_bridge = txs.is_some() && stream.is_none() && packets.is_none();
        if stream.is_some() {
            bus.signals = ["ask_address", "post_address"];
        }
        if packets.is_some() {
            bus.signals = ["tx_st_data"; 2];
        }
        let irq = library.ports().iter().any(|port| port.name == "dma_irq");
        let window = Window::bind(&library)?;
        let mut board = Self {
            pcie_clk,
            clk,
            now: 0,
            txs,
            pcie: Pcie::new(&config, shape),
            stream,
            packets,
            bus,
            ddr: Memory::new("FPGA memory", 0, config.ddr.bytes)?,
            mem_rd: port("mem_rd", 3)?,
            mem_wr: port("mem_wr", 4)?,
            mem_win: port("mem_win", 5)?,
            budget: Budget::default(),
            logic: Logic::bind(&library, config.seed)?,
            slaves: Slaves::bind(&library, &config.bar)?,
            interconnect: Interconnect::bind(
                &library,
                config.bar.window..config.bar.window + window.size(),
            )?,
            window,
            wires: Wires::bind(&library)?,
            opencl: None,
            kernel_strays: 0,
            kernel_irq: false,
            irq: irq
                .then(|| library.port_as("dma_irq", Direction::Output, 1))
                .transpose()?,
            lines: true,
            irq_level: false,
            irqs: 0,
            in_reset: InReset::default(),
            log: Log::default(),
            model,
            config,
        };
        board.lines = board.space_size(Space::Msix) == 0 && board.packets.is_none();
        board.reset()?;
        Ok(board)
    }

    /// Resets the block (both resets together), the link and everything in progress. Memories and counters stay.
    ///
    /// # Errors
    /// If the design stops itself.
    pub fn reset(&mut self) -> Result<()> {
        self.reset_sides(&[Side::Pcie, Side::Memory])
    }

    /// Resets only one side, with the models on it. Data that the other side owes the block, or is owed by it, stay
    /// due: answers come late, and a burst that has begun has to be finished.
    ///
    /// # Errors
    /// If the design stops itself, and violations on the other side, as [`Board::run`].
    pub fn reset_side(&mut self, side: Side) -> Result<()> {
        self.reset_sides(&[side])?;
        self.check()
    }

    fn reset_sides(&mut self, sides: &[Side]) -> Result<()> {
        for side in sides {
            match side {
                Side::Pcie => self.forget_pcie(),
                Side::Memory => self.forget_memory(),
            }
        }
        self.set_resets(sides, true);
        let cycles = self.pcie_clk.cycles + RESET_CYCLES;
        let memory = self.clk.as_ref().map_or(0, |clk| clk.cycles + RESET_CYCLES);
        while self.pcie_clk.cycles < cycles
            || self.clk.as_ref().is_some_and(|clk| clk.cycles < memory)
        {
            self.edge()?;
        }
        self.set_resets(sides, false);
        self.settle()?;
        self.irq_level = false;
        if self.interconnect.is_some() && sides.contains(&Side::Pcie) {
            // The host makes no accesses before it has given the function its number, which the design has been shown
            // by then.
            for _ in 0..CONFIGURED {
                while !self.edge()? {}
            }
        }
        Ok(())
    }

    fn forget_pcie(&mut self) {
        self.pcie.reset();
        self.slaves.reset();
        if let Some(interconnect) = &mut self.interconnect {
            interconnect.reset();
        }
        self.reset_hard_ip();
        if let Some(txs) = &mut self.txs {
            txs.reset(&mut self.pcie);
        }
        if let Some(stream) = &mut self.stream {
            stream.reset();
        }
        if let Some(packets) = &mut self.packets {
            packets.reset();
        }
    }

    fn forget_memory(&mut self) {
        self.window.reset();
        for port in [&mut self.mem_rd, &mut self.mem_wr, &mut self.mem_win]
            .into_iter()
            .flatten()
        {
            port.reset();
        }
    }

    fn set_resets(&mut self, sides: &[Side], value: bool) {
        for side in sides {
            let reset = match side {
                Side::Pcie => {
                    self.in_reset.pcie = value;
                    self.pcie_clk.reset
                }
                Side::Memory => {
                    self.in_reset.memory = value;
                    self.clk.as_ref().and_then(|clk| clk.reset)
                }
            };
            if let Some(reset) = reset {
                self.model.set(reset, value.into());
            }
        }
    }

    /// Takes the link down and up again without a reset of the block: writes that have not crossed it are lost, and
    /// reads are not owed answers any more. This resets the bridge of `Txs`: tags begin again at 0, and no interrupt
    /// message waits. A burst that has begun is finished.
    pub fn link_reset(&mut self) {
        if let Some(txs) = &mut self.txs {
            txs.reset_bridge(&mut self.pcie);
        }
        self.pcie.reset();
    }

    /// Resets the block by its own inputs, both together. Link, hard IP and the bridge of `Txs` continue: owed answers
    /// come to the block, and a burst that has begun must be finished. The host's registers belong to the block.
    ///
    /// # Errors
    /// As [`Board::reset_side`].
    pub fn reset_block(&mut self) -> Result<()> {
        self.forget_memory();
        self.set_block_in_reset(true);
        let cycles = self.pcie_clk.cycles + RESET_CYCLES;
        let memory = self.clk.as_ref().map_or(0, |clk| clk.cycles + RESET_CYCLES);
        while self.pcie_clk.cycles < cycles
            || self.clk.as_ref().is_some_and(|clk| clk.cycles < memory)
        {
            self.edge()?;
        }
        self.set_block_in_reset(false);
        self.settle()?;
        self.check()
    }

    fn set_block_in_reset(&mut self, value: bool) {
        self.set_resets(&[Side::Pcie, Side::Memory], value);
        self.in_reset.pcie = false;
        if let Some(txs) = &mut self.txs {
            txs.block_in_reset = value;
        }
    }

    fn settle(&mut self) -> Result<()> {
        let cycle = self.pcie_clk.cycles;
        self.model
            .eval()
            .map_err(|fault| Error::Fault { cycle, fault })
    }

    /// Advances to the next edge, of one clock or of both; returns `true` if `pcie_clk` rose.
    fn edge(&mut self) -> Result<bool> {
        let memory_next = self.clk.as_ref().map_or(u64::MAX, |clk| clk.next);
        let now = (self.pcie_clk.next).min(memory_next).min(self.logic.due());
        let (pcie_rises, memory_rises) = (self.pcie_clk.next == now, memory_next == now);
        self.now = now;
        let cycle = self.pcie_clk.cycles;
        self.logic.rise(now, cycle, &mut self.model, &mut self.log);
        if pcie_rises {
            self.sample_pcie();
            self.pcie_clk.next += self.pcie_clk.period;
            self.pcie_clk.cycles += 1;
            self.model.set(self.pcie_clk.clock, 1);
        }
        if memory_rises {
            self.sample_memory();
            if let Some(clk) = &mut self.clk {
                clk.next += clk.period;
                clk.cycles += 1;
                self.model.set(clk.clock, 1);
            }
        }
        self.settle()?;
        // The clocks fall when the inputs change: the block only uses rising edges.
        if pcie_rises {
            self.model.set(self.pcie_clk.clock, 0);
            self.slaves.drive(&mut self.model);
            if let Some(interconnect) = &self.interconnect {
                interconnect.drive(&mut self.model);
            }
            if let Some(txs) = &mut self.txs {
                txs.drive(&mut self.model);
            }
            if let Some(stream) = &self.stream {
                stream.drive(&mut self.model);
            }
            if let Some(packets) = &mut self.packets {
                packets.drive(&mut self.model);
            }
            self.wires.drive(&mut self.model);
        }
        if memory_rises {
            if let Some(clk) = &self.clk {
                self.model.set(clk.clock, 0);
            }
            self.window.drive(&mut self.model);
            for port in [&self.mem_rd, &self.mem_wr, &self.mem_win]
                .into_iter()
                .flatten()
            {
                port.drive(&mut self.model);
            }
        }
        self.logic.drive(&mut self.model);
        self.settle()?;
        if pcie_rises
            && let Some(txs) = &mut self.txs
            && txs.follow(&mut self.model)
        {
            self.settle()?;
        }
        Ok(pcie_rises)
    }

    fn sample_pcie(&mut self) {
        let (now, cycle) = (self.now, self.pcie_clk.cycles);
        if self.in_reset.pcie {
            return;
        }
        self.pcie.advance(now, cycle, &mut self.bus, &mut self.log);
        if let Some(txs) = &mut self.txs {
            let (pcie, bus) = (&mut self.pcie, &mut self.bus);
            txs.sample(&self.model, now, cycle, pcie, bus, &mut self.log);
        }
        if let Some(stream) = &mut self.stream {
            let (pcie, bus) = (&mut self.pcie, &mut self.bus);
            stream.sample(&self.model, now, cycle, pcie, bus, &mut self.log);
        }
        if let Some(packets) = &mut self.packets {
            let (pcie, bus) = (&mut self.pcie, &mut self.bus);
            packets.sample(&self.model, now, cycle, pcie, bus, &mut self.log);
        }
        let host = self.packets.as_mut().map(PacketPort::host_mut);
        self.slaves.sample(&self.model, now, cycle, host);
        if let Some(interconnect) = &mut self.interconnect {
            let (window, side) = (&mut self.window, self.opencl.as_mut());
            interconnect.sample(&self.model, cycle, window, side, &mut self.log);
        }
        if self.clk.is_none() {
            self.tick_opencl();
        }
        self.sample_interrupts(now);
    }

    /// Reads the interrupt lines. If the hard IP's interrupt registers exist, they decide which transitions become
    /// messages; otherwise every rising edge of `dma_irq` is one.
    fn sample_interrupts(&mut self, now: u64) {
        let opencl = self.opencl.as_ref().is_some_and(OpenClSide::kernel_irq);
        let kernel = self.kernel_irq || opencl;
        self.wires.set_kernel_irq(kernel);
        let Some(irq) = self.irq else {
            return;
        };
        let level = self.model.get(irq) != 0;
        let rises = level && !self.irq_level;
        self.irq_level = level;
        self.irqs += u64::from(rises);
        let message = match self.opencl.as_mut().and_then(OpenClSide::cra_mut) {
            Some(cra) => {
                let line = |level: bool, line: u16| if level && self.lines { line } else { 0 };
                cra.set_lines(line(kernel, Cra::KERNEL) | line(level, Cra::DMA));
                cra.take_message()
            }
            None => rises && self.packets.is_none(),
        };
        match &mut self.txs {
            Some(txs) if message => txs.bridge.interrupt(),
            None if message => self.pcie.interrupt(now),
            _ => {}
        }
    }

    fn sample_memory(&mut self) {
        if self.in_reset.memory {
            return;
        }
        let cycle = self.clk.as_ref().map_or(0, |clk| clk.cycles);
        let calibrated = self.opencl.as_ref().is_none_or(OpenClSide::calibrated);
        self.budget.refill(calibrated);
        for port in [&mut self.mem_win, &mut self.mem_wr, &mut self.mem_rd]
            .into_iter()
            .flatten()
        {
            let (memory, budget) = (&mut self.ddr, &mut self.budget);
            port.sample(&self.model, cycle, memory, budget, &mut self.log);
        }
        self.window.sample(&self.model);
        self.tick_opencl();
    }

    /// Runs one cycle of `pcie_clk`, with the edges of `clk` that come before its end.
    fn step(&mut self) -> Result<()> {
        while !self.edge()? {}
        if self.log.fresh() {
            self.log.take()
        } else {
            Ok(())
        }
    }

    /// Runs `cycles` cycles of `pcie_clk`.
    ///
    /// # Errors
    /// [`Error::Violations`] at the first cycle in which the design breaks a rule, [`Error::Fault`] if it stops itself.
    pub fn run(&mut self, cycles: u64) -> Result<()> {
        for _ in 0..cycles {
            self.step()?;
        }
        Ok(())
    }

    /// Runs until `done` holds, checked at every cycle of `pcie_clk`; returns the cycles run.
    ///
    /// # Errors
    /// As [`Board::run`], and [`Error::Timeout`] after `max_cycles`.
    pub fn run_until(
        &mut self,
        mut done: impl FnMut(&Self) -> bool,
        max_cycles: u64,
    ) -> Result<u64> {
        for cycle in 0..=max_cycles {
            if done(self) {
                return Ok(cycle);
            }
            if cycle < max_cycles {
                self.step()?;
            }
        }
        Err(Error::Timeout {
            what: "the awaited state".to_owned(),
            cycles: max_cycles,
        })
    }

    /// Runs until the design has had nothing on its ports, all host accesses taken, no read that is owed an answer and
    /// all writes landed, for `quiet` consecutive cycles.
    ///
    /// # Errors
    /// As [`Board::run_until`].
    pub fn run_until_quiet(&mut self, quiet: u64, max_cycles: u64) -> Result<u64> {
        let (mut last, mut still) = (0, 0);
        self.run_until(
            |board| {
                let now = board.activity() + board.port_stats().wait_cycles;
                let idle = board.reads_outstanding() == 0
                    && board.txs.as_ref().is_none_or(|txs| txs.bridge.quiet())
                    && board.pcie.writes_landed()
                    && board.packets.as_ref().is_none_or(PacketPort::quiet)
                    && board.slaves.idle()
                    && board.window.idle()
                    && board.interconnect.as_ref().is_none_or(Interconnect::idle)
                    && now == last;
                last = now;
                still = if idle { still + 1 } else { 0 };
                still >= quiet
            },
            max_cycles,
        )
    }

    /// Returns the violations since the last report, as `run` would.
    ///
    /// # Errors
    /// [`Error::Violations`] if there are any.
    pub fn check(&mut self) -> Result<()> {
        self.log.take()
    }
}
