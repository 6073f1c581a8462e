//! The endpoint, and the handles that control it.

use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use peerlane_core::board::{self, Shell};
use peerlane_core::regs::MAP_ID;
use peerlane_core::shell::{KERNELS_BYTES, Line, OpenCl, Range as Area};
use peerlane_hdl::{Irq, Params, shell_hash};
use peerlane_sim::opencl::{self, Contents, Cvp, CvpConfig, Program};
use peerlane_sim::{
    Answer, BarConfig, BarSizes, Board, BoardConfig, FaultRule, GpuConfig, Hits, LinkConfig,
    OpenClSide,
};
use peerlane_verilated::Library;
use serde::{Deserialize, Serialize};
use vfio_bindings::bindings::vfio::{
    VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_MSI_IRQ_INDEX, VFIO_PCI_MSIX_IRQ_INDEX,
};
use vfio_user::Server;

use crate::config_space::{ConfigSpace, Features, Ids, Messages, Resets};
use crate::connection;
use crate::error::{Error, Result};
use crate::layout::{Layout, Map};
use crate::ledger::Touched;
use crate::machine::{Command, Idle, Machine};
use crate::memory::{FileId, Mapped, Memory};
use crate::programming::Programming;
use crate::server::{self, Backend};
use crate::stall::Stall;
use crate::status::Status;

/// Number of commands that may wait for the machine. A guest that writes faster than the block accepts has to wait, as
/// with flow control.
const WAITING: usize = 1024;

/// Vectors of a build with a table: 0 for faults, 1 for the OpenCL kernel, 2 + c for channel c.
const FIRST_CHANNEL: u32 = peerlane_hdl::rtl::interrupts::msix::FIRST_CHANNEL as u32;

/// Configuration of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Parameters of the block. The places of its slaves and the hash of the rest of the board in them are ignored: the
    /// layout has these.
    pub params: Params,
    /// Places of its slaves in the BAR.
    pub layout: Layout,
    /// Identity of the function.
    pub ids: Ids,
    /// Whether the function reports errors before software has enabled that, as after firmware that switches it on.
    /// QEMU's `pcie_aer_inject_error` looks at the value that it found at the start.
    #[serde(default)]
    pub error_reporting: bool,
    /// Effect of resets of the function.
    #[serde(default)]
    pub resets: Resets,
    /// Entries of the table of vectors in the function's configuration space, if they are fewer than the block has:
    /// this is a parameter of the hard IP.
    #[serde(default)]
    pub table_entries: Option<u32>,
    /// Backing file of the memory of a peer that counts as the GPU: QEMU's `memory-backend-file` of an `ivshmem-plain`
    /// device. It must exist. Mappings of this file have the GPU's latencies.
    pub gpu: Option<PathBuf>,
    /// The OpenCL side, for a layout with parts of it. The places of these parts in it are ignored: the layout has
    /// them.
    #[serde(default)]
    pub opencl: opencl::Config,
    /// Images with which the FPGA can be configured over PCIe; `None`: the function has no capability for that.
    #[serde(default)]
    pub cvp: Option<CvpConfig>,
    /// The models around the block. Of `host` and the GPU only the latencies count: the memories are the client's.
    pub board: BoardConfig,
}

impl Config {
    /// Makes a configuration for these parameters, with the reference BSP's layout.
    ///
    /// Register accesses and writes to the host have no latency, and reads half of the usual one, so that fewer cycles
    /// are simulated; packets take their time on the link. Writes to the GPU arrive later than those to the host, as
    /// always. FPGA memory has the same clock as the PCIe side, which halves the edges to simulate. Its size is that of
    /// the parameters; memory that is not used costs nothing.
    pub fn new(params: Params) -> Self {
        let mut board = BoardConfig {
            host: (0, 0),
            gpu: GpuConfig {
                bytes: 0,
                bar_base: 0,
                bar_bytes: 0,
                bar_reserved: 0,
                read_round_trip_ns: 500,
                ..GpuConfig::default()
            },
            link: LinkConfig {
                read_round_trip_ns: 500,
                write_latency_ns: 0,
                mmio_latency_ns: 0,
                ..LinkConfig::default()
            },
            clk_ps: BoardConfig::default().pcie_clk_ps,
            clk_phase_ps: 0,
            ..BoardConfig::default()
        };
        board.ddr.bytes = 1 << params.memory_log2;
        Self {
            layout: Layout::of(&params),
            ids: Ids::default(),
            error_reporting: false,
            resets: Resets::default(),
            table_entries: None,
            gpu: None,
            opencl: opencl::Config::default(),
            cvp: None,
            board,
            params,
        }
    }

    /// Returns the parameters of the block for this layout, including the places of its slaves.
    pub fn block(&self) -> Params {
        Params {
            slaves: Some(self.layout.slaves()),
            shell: Some(shell_hash(&self.shell())),
            ..self.params
        }
    }

    /// Returns the parts of the board that are not the block's own, as `peerlane extend` finds them in the reference
    /// BSP.
    pub fn shell(&self) -> Shell {
        let layout = &self.layout;
        let area = |offset, bytes| Some(Area { offset, bytes });
        Shell {
            memory: 1 << self.params.memory_log2,
            clock: 1_000_000_000_000 / self.board.pcie_clk_ps,
            // In the order in which the reference BSP connects them: the kernels first.
            line: layout
                .cra
                .filter(|_| self.params.irq == Irq::Rxm)
                .map(|cra| Line {
                    cra,
                    block: 1,
                    kernels: Some(0),
                }),
            opencl: layout.opencl.map_or_else(OpenCl::default, |parts| OpenCl {
                kernels: area(parts.kernels, KERNELS_BYTES),
                // The span of `acl_kernel_clk`.
                clock: area(parts.clock, 0x800),
                // In a system of its own, which `peerlane extend` does not read.
                version: None,
                temperature: None,
                status: parts.status.and_then(|offset| area(offset, 4)),
            }),
        }
    }

    /// Returns the description of the board, as `peerlane extend` writes it.
    pub fn description(&self, name: &str) -> String {
        let block = self.block();
        board::Board {
            name,
            ids: board::Ids {
                vendor: self.ids.vendor,
                device: self.ids.device,
                // The BSP's vendor is also the subsystem's.
                subvendor: None,
                subdevice: Some(self.ids.subsystem),
            },
            map_id: MAP_ID,
            block: &block.canonical(),
            build_id: block.build_id(),
            shell: self.shell(),
        }
        .to_string()
    }

    /// Returns the board, whose host finds the slaves at the places of the layout.
    fn board(&self) -> BoardConfig {
        let layout = &self.layout;
        BoardConfig {
            bar: BarConfig {
                csr: layout.csr,
                // Outside of the BAR, without a window.
                window: layout.window.unwrap_or(layout.size),
                channels: layout.chan,
                att: layout.att,
                msix: layout.msix.unwrap_or(layout.size),
                number: layout.bar,
                sizes: Some(BarSizes {
                    channels: u64::from(self.params.channels) << 12,
                    att: 8 << self.params.att_log2,
                    msix: if layout.msix.is_some() { 4096 } else { 0 },
                }),
            },
            ..self.board.clone()
        }
    }

    fn messages(&self) -> Messages {
        match self.params.irq {
            Irq::Rxm => Messages::Msi,
            Irq::Msix => {
                let all = FIRST_CHANNEL + self.params.channels;
                Messages::MsiX(self.table_entries.map_or(all, |some| some.clamp(1, all)))
            }
        }
    }
}

impl Default for Config {
    /// Returns the default build with an MSI-X table.
    fn default() -> Self {
        Self::new(Params {
            irq: Irq::Msix,
            ..Params::default()
        })
    }
}

/// A PCIe endpoint that listens for a vfio-user client. Dropping it ends the connection and its
/// threads, and removes the socket.
#[derive(Debug)]
pub struct Endpoint {
    handle: Handle,
    threads: Vec<JoinHandle<()>>,
}

/// Controls an endpoint from any thread.
#[derive(Debug, Clone)]
pub struct Handle {
    commands: SyncSender<Command>,
    memory: Memory,
    stall: Arc<Stall>,
    idle: Arc<Idle>,
    stopped: Arc<AtomicBool>,
    socket: Arc<Path>,
    programming: Option<Programming>,
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(body).map_err(Error::Thread)
}

/// Serves one client after the other.
fn serve(server: &Server, mut backend: Backend, stopped: &AtomicBool) {
    while !stopped.load(Ordering::SeqCst) {
        let ended = server.run(&mut backend);
        let accepting = !matches!(ended, Err(vfio_user::Error::SocketAccept(_)));
        if backend.disconnected().is_err() || !accepting {
            break;
        }
    }
}

impl Endpoint {
    /// Builds the block and starts an endpoint that listens at `socket`, a path without a file.
    ///
    /// # Errors
    /// As [`peerlane_block::library`], and if the configuration is impossible or the socket cannot be made.
    pub fn start(config: &Config, socket: &Path) -> Result<Self> {
        Self::with_library(&peerlane_block::library(&config.block())?, config, socket)
    }

    /// Starts an endpoint with a block that is already built, from [`Config::block`].
    ///
    /// # Errors
    /// If the configuration is impossible or the socket cannot be made.
    pub fn with_library(library: &Library, config: &Config, socket: &Path) -> Result<Self> {
        let gpu = config.gpu.as_deref().map(FileId::at).transpose()?;
        let memory = Memory::new(gpu);
        let model = library.instance().map_err(peerlane_block::Error::from)?;
        let mut board = Board::new(model, config.board())?;
        board.bus_mut().attach(Box::new(memory.clone()));
        if let Some(offsets) = config.layout.offsets() {
            let side = opencl::Config {
                offsets,
                ..config.opencl.clone()
            };
            board.attach_opencl(OpenClSide::new(side).map_err(peerlane_sim::Error::from)?);
        }
        let map = Map::new(&config.layout, &board)?;
        let messages = config.messages();
        let (irq_index, vectors) = match messages {
            Messages::Msi => (VFIO_PCI_MSI_IRQ_INDEX, None),
            Messages::MsiX(vectors) => (VFIO_PCI_MSIX_IRQ_INDEX, Some(vectors)),
        };
        let idle = Arc::<Idle>::default();
        let machine = Machine::new(board, map, vectors, idle.clone());
        let regions = server::regions(&config.layout);
        let server =
            Server::new(socket, true, server::irqs(messages), regions).map_err(|source| {
                Error::Listen {
                    path: socket.to_owned(),
                    source,
                }
            })?;
        let (commands, received) = sync_channel(WAITING);
        let features = Features {
            messages,
            error_reporting: config.error_reporting,
            programming: config.cvp.is_some(),
        };
        let programming = config.cvp.map(Programming::new);
        let space = ConfigSpace::new(&config.ids, &config.layout, &config.board.link, features);
        let stall = Arc::<Stall>::default();
        let backend = Backend {
            config: space,
            memory: memory.clone(),
            commands: commands.clone(),
            stall: stall.clone(),
            bar: VFIO_PCI_BAR0_REGION_INDEX + u32::from(config.layout.bar),
            bar_bytes: config.layout.size,
            irq_index,
            resets: config.resets,
            programming: programming.clone(),
        };
        let stopped = Arc::<AtomicBool>::default();
        let mut endpoint = Self {
            handle: Handle {
                commands,
                memory,
                stall,
                idle,
                stopped: stopped.clone(),
                socket: socket.into(),
                programming,
            },
            threads: Vec::new(),
        };
        let machine = thread("endpoint-clock", move || machine.run(&received))?;
        endpoint.threads.push(machine);
        let server = thread("endpoint-server", move || serve(&server, backend, &stopped))?;
        endpoint.threads.push(server);
        Ok(endpoint)
    }

    /// Returns a handle to control it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Serves clients until the endpoint is killed.
    pub fn wait(mut self) {
        if let Some(server) = self.threads.pop() {
            // A thread that panicked has printed its message.
            let _ = server.join();
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.handle.disconnect();
        let server = self.threads.split_off(self.threads.len().min(1));
        for thread in server {
            let _ = thread.join();
        }
        // The thread still runs unless it panicked.
        let _ = self.handle.commands.send(Command::Stop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Handle {
    /// Ends the connection, and prevents new ones.
    fn disconnect(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.stall.clear();
        connection::shut_down(&self.socket);
        // A server that waits for a client gets one that leaves at once.
        drop(UnixStream::connect(&self.socket));
    }

    /// Calls `what` with the machine between two slices of its clock; returns its result.
    fn call<R: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Machine) -> R + Send + 'static,
    ) -> Result<R> {
        let (reply, answer) = sync_channel(1);
        let call = move |machine: &mut Machine| {
            // The caller waits for it.
            let _ = reply.send(what(machine));
        };
        let sent = self.commands.send(Command::Call(Box::new(call)));
        sent.map_err(|_| Error::Gone)?;
        answer.recv().map_err(|_| Error::Gone)
    }

    /// Calls `what` with the board between two cycles, for statistics or other faults.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn with_board<R: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Board) -> R + Send + 'static,
    ) -> Result<R> {
        self.call(|machine| what(&mut machine.board))
    }

    /// Returns state and counters.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn status(&self) -> Result<Status> {
        let idle = self.idle.wait(Duration::ZERO);
        let status = self.call(|machine| machine.status())?;
        let ledger = self.memory.ledger();
        Ok(Status {
            idle,
            host: ledger.host,
            gpu: ledger.gpu,
            unmapped_total: ledger.unmapped_total,
            unmapped: ledger.unmapped.clone(),
            strays: ledger.violations,
            first_stray: ledger.violation,
            ..status
        })
    }

    /// Sets all counters to 0, and clears the record of accesses. The list of allowed accesses stays.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn clear_counters(&self) -> Result<()> {
        self.call(Machine::clear_counters)?;
        self.memory.ledger().clear();
        Ok(())
    }

    /// Returns the bus addresses that the client's mappings show at this moment.
    pub fn mapped(&self) -> Mapped {
        self.memory.mapped()
    }

    /// Returns the bus addresses that the block has accessed since the counters were cleared.
    pub fn touched(&self) -> Touched {
        self.memory.ledger().touched.clone()
    }

    /// From now on an access outside of these addresses is a stray: it is carried out and counted, and the first one is
    /// recorded in [`Status::first_stray`]. `None` allows all.
    pub fn allow_only(&self, allowed: Option<Touched>) {
        self.memory.ledger().watch(allowed);
    }

    /// Waits until the block is idle. A guest that keeps asking prevents that.
    ///
    /// # Errors
    /// [`Error::Busy`] if the block is still busy after `limit`, [`Error::Gone`].
    pub fn wait_idle(&self, limit: Duration) -> Result<()> {
        // After this call all earlier commands have been seen.
        self.call(|_| ())?;
        if self.idle.wait(limit) {
            return Ok(());
        }
        Err(Error::Busy {
            seconds: limit.as_secs_f64(),
        })
    }

    /// Copies from FPGA memory.
    ///
    /// # Errors
    /// If the range does not exist as a whole, [`Error::Gone`].
    pub fn read_fpga(&self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let read = self.with_board(move |board| {
            let mut data = vec![0; bytes];
            board.ddr().read(address, &mut data).map(|()| data)
        })?;
        Ok(read?)
    }

    /// Copies into FPGA memory.
    ///
    /// # Errors
    /// As [`Handle::read_fpga`].
    pub fn write_fpga(&self, address: u64, data: &[u8]) -> Result<()> {
        let data = data.to_vec();
        let written = self.with_board(move |board| board.ddr_mut().write(address, &data))?;
        Ok(written?)
    }

    /// Sets the level of the OpenCL kernel's interrupt.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn set_kernel_irq(&self, level: bool) -> Result<()> {
        self.with_board(move |board| board.set_kernel_irq(level))
    }

    /// Answers reads of the block in this way: `times` requests on the link that touch these bus addresses, after the
    /// next `skip` of them. `Txs` has no status: with [`Answer::Unsupported`] and [`Answer::Abort`] no answer comes, as
    /// with [`Answer::Never`], and the data of [`Answer::Poisoned`] are taken for good.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn fail_reads(
        &self,
        answer: Answer,
        addresses: Range<u64>,
        skip: u64,
        times: u64,
    ) -> Result<()> {
        let rule = FaultRule {
            hits: Hits::Counted {
                addresses,
                skip,
                times,
            },
            answer,
        };
        self.with_board(move |board| board.bus_mut().inject(rule))
    }

    /// Stops the port towards PCIe after `after` more words of writes and reads.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn stick_port(&self, after: u64) -> Result<()> {
        self.call(move |machine| machine.stick_port(after))
    }

    /// Slows the port towards PCIe down: it takes about one word in a hundred cycles.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn slow_port(&self) -> Result<()> {
        self.call(Machine::slow_port)
    }

    /// Configures the FPGA again, with the same design and program: block and kernels are then as after power-up. FPGA
    /// memory and the function's configuration space stay as they are.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn configure(&self) -> Result<()> {
        if let Some(programming) = &self.programming {
            programming.with(Cvp::configure);
        }
        self.call(Machine::configure)
    }

    /// Calls `what` with the registers by which the FPGA is configured over PCIe; `None`: they do not exist.
    pub fn with_cvp<R>(&self, what: impl FnOnce(&mut Cvp) -> R) -> Option<R> {
        let programming = self.programming.as_ref()?;
        Some(programming.with(what))
    }

    /// Hides or shows the function, if it has these registers. All registers of a hidden function read as ones, and so
    /// does its BAR.
    pub fn hide_function(&self, hide: bool) {
        if let Some(programming) = &self.programming {
            programming.set_gone(hide);
        }
    }

    /// Makes the function, if it has these registers, not come back from its next reset, like one whose link does not
    /// train or whose hard IP does not answer: from then on all of its registers read as ones, until
    /// [`Self::hide_function`] shows it.
    pub fn lose_at_reset(&self) {
        if let Some(programming) = &self.programming {
            programming.lose_at_reset();
        }
    }

    /// Configures the FPGA with another design, of this `BUILD_ID`. Everything else is as in the simulated design,
    /// until [`Self::configure`].
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn configure_other(&self, build_id: u32) -> Result<()> {
        self.call(move |machine| machine.configure_other(build_id))
    }

    /// Replaces the FPGA's kernels. FPGA memory keeps its contents or becomes all zero. The block continues, as when
    /// only the kernels' region is configured; [`Self::configure`] is for the rest.
    ///
    /// # Errors
    /// If the program is not possible or the layout has no OpenCL side, [`Error::Gone`].
    pub fn reprogram(&self, program: Program, contents: Contents) -> Result<()> {
        Ok(self.with_board(move |board| board.reprogram(program, contents))??)
    }

    /// Rings the write doorbell of a channel now, and again whenever the guest has acknowledged causes of the interrupt
    /// line, before it can look at them. A process that stores without pause does that on hardware, but the guest looks
    /// at a simulated board faster than a process's stores reach it.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn ring_without_end(&self, channel: u32) -> Result<()> {
        self.call(move |machine| machine.ring_without_end(Some(channel)))
    }

    /// Waits until a client that was connected has gone, and all that it did before has been seen. `false`: none has
    /// gone after `limit`.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn wait_left(&self, limit: Duration) -> Result<bool> {
        let begin = Instant::now();
        while self.call(|machine| machine.status().left)? == 0 {
            if begin.elapsed() > limit {
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(true)
    }

    /// Resets only FPGA memory's side of the block, as its memory controller may.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn reset_memory_side(&self) -> Result<()> {
        self.call(Machine::reset_memory_side)
    }

    /// Hides the BAR: reads give ones, writes do nothing. The configuration space still answers, and the block
    /// continues.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn hide_bar(&self) -> Result<()> {
        self.call(|machine| machine.hide_bar(true))
    }

    /// Delays `times` register reads of the guest, after the next `skip`, each for `time`. The client waits as long.
    pub fn stall_reads(&self, skip: u64, times: u64, time: Duration) {
        self.stall.set(skip, times, time);
    }

    /// Ends all faults: reads are answered, the port takes data, register reads continue. State that the block has lost
    /// until then stays lost. A port that the block has found dead becomes free only after a reset that reaches the
    /// fabric, which always frees it.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn clear_faults(&self) -> Result<()> {
        self.stall.clear();
        self.call(|machine| {
            machine.hide_bar(false);
            machine.ring_without_end(None);
            machine.free_port();
            machine.board.bus_mut().clear_faults();
        })
    }

    /// Makes the endpoint die, as if its process was killed: the connection ends, no other is accepted, and the block
    /// accesses nothing any more. A client sees all-ones from then on. The record of accesses and the counters can
    /// still be read.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn kill(&self) -> Result<()> {
        self.call(Machine::kill)?;
        self.disconnect();
        Ok(())
    }
}
