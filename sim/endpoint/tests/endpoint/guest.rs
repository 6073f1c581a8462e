//! A guest without QEMU: the vfio-user crate's client, some memory, and the driver's own steps.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use peerlane_core::att::{AttAddress, Entry, PageSize, Permissions};
use peerlane_core::channel::{self, LocalRange, Moderation, Settings};
use peerlane_core::descriptor::{Control, Descriptor, Direction, Local};
use peerlane_core::owners::Owners;
use peerlane_core::record::{DWORDS, Record};
use peerlane_core::regs::{chan, csr};
use peerlane_core::ring::{Ring, Slots};
use peerlane_core::steps::{self, Bus, Register, Step};
use peerlane_core::table;
use peerlane_endpoint::{Config, Endpoint, Handle, Irq, Params, Port, Resets};
use peerlane_verilated::Library;
use vfio_bindings::bindings::vfio::*;
use vfio_user::Client;
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EventFd};

pub const MIB: u64 = 1 << 20;
/// Address of the guest's memory on the bus, and its bytes.
pub const RAM: u64 = 0x1_0000_0000;
pub const RAM_BYTES: u64 = 16 * MIB;
/// Address of the GPU's BAR.
pub const GPU: u64 = 0x38_0000_0000;
pub const GPU_BYTES: u64 = 4 * MIB;

const BAR: u32 = VFIO_PCI_BAR2_REGION_INDEX;
const CONFIG: u32 = VFIO_PCI_CONFIG_REGION_INDEX;
const RING_LOG2: u32 = 8;
const SOCKET: &str = "board";
/// Longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn params(port: Port, irq: Irq) -> Params {
    Params {
        port,
        irq,
        queue_log2: 8,
        ..Params::default()
    }
}

fn built(params: &Params) -> &'static Library {
    static TXS: OnceLock<Library> = OnceLock::new();
    static STREAM: OnceLock<Library> = OnceLock::new();
    static TLP: OnceLock<Library> = OnceLock::new();
    static TLP_LINE: OnceLock<Library> = OnceLock::new();
    static LINE: OnceLock<Library> = OnceLock::new();
    let cell = match (params.port, params.irq) {
        (Port::Txs, Irq::Msix) => &TXS,
        (Port::Stream, _) => &STREAM,
        (Port::Tlp, Irq::Msix) => &TLP,
        (Port::Tlp, Irq::Rxm) => &TLP_LINE,
        (Port::Txs, Irq::Rxm) => &LINE,
    };
    cell.get_or_init(|| peerlane_block::library(params).expect("the block builds"))
}

/// Memory that is shared with the endpoint.
pub struct Shared {
    file: File,
    region: MmapRegion,
}

impl Shared {
    fn new(file: File, bytes: u64) -> Self {
        file.set_len(bytes).unwrap();
        let offset = FileOffset::new(file.try_clone().unwrap(), 0);
        let region = MmapRegion::from_file(offset, bytes as usize).unwrap();
        Self { file, region }
    }

    pub fn write(&self, at: u64, data: &[u8]) {
        let slice = self.region.as_volatile_slice();
        slice.write_slice(data, at as usize).unwrap();
    }

    pub fn read(&self, at: u64, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        let slice = self.region.as_volatile_slice();
        slice.read_slice(&mut data, at as usize).unwrap();
        data
    }

    fn word(&self, at: u64) -> u32 {
        let word = self.region.get_atomic_ref::<AtomicU32>(at as usize);
        word.unwrap().load(Ordering::Acquire)
    }
}

pub struct Guest {
    pub client: Client,
    pub handle: Handle,
    pub endpoint: Endpoint,
    pub ram: Shared,
    pub gpu: Shared,
    pub events: Vec<EventFd>,
    ring: Ring,
    /// Records read since the last doorbell.
    freed: u32,
    pub config: Config,
    dir: tempfile::TempDir,
}

/// The completion ring, at the start of the guest's memory.
struct Records<'a>(&'a Shared);

impl Slots for Records<'_> {
    fn status(&mut self, index: u32) -> u32 {
        self.0.word(u64::from(index) * 32 + 4)
    }

    fn record(&mut self, index: u32) -> [u32; DWORDS] {
        std::array::from_fn(|n| self.0.word(u64::from(index) * 32 + n as u64 * 4))
    }
}

impl Guest {
    /// Makes a client that has mapped its memory and enabled the function, with a descriptor for each vector.
    pub fn new(params: Params) -> Self {
        Self::with(params, |_| ())
    }

    /// Makes such a client for a function whose resets have this effect.
    pub fn with_resets(params: Params, resets: Resets) -> Self {
        Self::with(params, |config| config.resets = resets)
    }

    /// Makes such a client for a changed configuration.
    pub fn with(params: Params, change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gpu");
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path);
        let gpu = Shared::new(file.unwrap(), GPU_BYTES);
        let ram = Shared::new(tempfile::tempfile().unwrap(), RAM_BYTES);
        let mut config = Config::new(params);
        config.gpu = Some(path);
        change(&mut config);
        let socket = dir.path().join(SOCKET);
        let endpoint = Endpoint::with_library(built(&config.block()), &config, &socket).unwrap();
        let mut guest = Self {
            client: Client::new(&socket).unwrap(),
            handle: endpoint.handle(),
            endpoint,
            ram,
            gpu,
            events: Vec::new(),
            ring: Ring::new(RING_LOG2, 0).unwrap(),
            freed: 0,
            config,
            dir,
        };
        for (base, shared) in [(RAM, &guest.ram), (GPU, &guest.gpu)] {
            let bytes = shared.file.metadata().unwrap().len();
            let file = shared.file.as_raw_fd();
            guest.client.dma_map(0, base, bytes, file).unwrap();
        }
        guest.enable();
        guest
    }

    /// Enables the function as the kernel does: bus mastering, interrupts.
    pub fn enable(&mut self) {
        self.write_config(0x18, 0xE000_0000);
        self.write_config(0x04, 0x6);
        let (index, control) = match self.config.params.irq {
            Irq::Msix => (VFIO_PCI_MSIX_IRQ_INDEX, 0x68),
            Irq::Rxm => (VFIO_PCI_MSI_IRQ_INDEX, 0x50),
        };
        let vectors = self.client.get_irq_info(index).unwrap().count;
        self.events = (0..vectors)
            .map(|_| EventFd::new(EFD_NONBLOCK).unwrap())
            .collect();
        for vector in 0..vectors {
            self.unmask(vector);
        }
        let enable = if index == VFIO_PCI_MSIX_IRQ_INDEX {
            0x8000_0000
        } else {
            0x0001_0000
        };
        self.write_config(control, enable);
    }

    /// Sends the descriptor of a vector, as QEMU does each time that its guest unmasks it.
    pub fn unmask(&mut self, vector: u32) {
        let index = match self.config.params.irq {
            Irq::Msix => VFIO_PCI_MSIX_IRQ_INDEX,
            Irq::Rxm => VFIO_PCI_MSI_IRQ_INDEX,
        };
        let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
        let fds = [self.events[vector as usize].as_raw_fd()];
        let set = self.client.set_irqs(index, flags, vector, 1, &fds);
        set.unwrap();
    }

    pub fn read_config(&mut self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.client.region_read(CONFIG, offset, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    pub fn write_config(&mut self, offset: u64, value: u32) {
        let bytes = value.to_le_bytes();
        self.client.region_write(CONFIG, offset, &bytes).unwrap();
    }

    pub fn read_bar<const N: usize>(&mut self, offset: u64) -> [u8; N] {
        let mut bytes = [0; N];
        self.client.region_read(BAR, offset, &mut bytes).unwrap();
        bytes
    }

    pub fn write_bar(&mut self, offset: u64, data: &[u8]) {
        self.client.region_write(BAR, offset, data).unwrap();
    }

    pub fn read_csr(&mut self, offset: usize) -> u32 {
        self.read(Register::Csr(offset)).unwrap()
    }

    pub fn write_csr(&mut self, offset: usize, value: u32) {
        self.write(Register::Csr(offset), value).unwrap();
    }

    pub fn steps(&mut self, steps: impl IntoIterator<Item = Step>) {
        steps::run(self, steps).expect("the block does what it promises");
    }

    /// Resets the block and opens channel 0, as the driver does.
    pub fn open(&mut self) {
        self.steps(steps::reset());
        self.write_csr(csr::PORT_TIMEOUT, 20_000);
        self.steps(table::set_owners(Owners::channel(0)));
        self.ram.write(0, &[0; 32 << RING_LOG2]);
        self.ring = Ring::new(RING_LOG2, 0).unwrap();
        self.freed = 0;
        let settings = Settings {
            ring: RAM,
            ring_log2: RING_LOG2,
            range: LocalRange::new(0..64 * MIB, 1 << 32).unwrap(),
            moderation: Moderation::default(),
        };
        self.steps(channel::open(0, &settings));
        self.steps(steps::start());
    }

    /// Maps a page of 2 MiB on the bus; returns its ATT address.
    pub fn map(&mut self, index: u32, address: u64) -> AttAddress {
        let entry = Entry {
            address,
            page_size: PageSize::Mib2,
            permissions: Permissions::ReadWrite,
        };
        self.steps(table::write_entry(index, entry.encode().unwrap()));
        AttAddress::new(PageSize::Mib2, index, 0).unwrap()
    }

    /// Writes a descriptor as one burst, and rings the doorbell.
    pub fn submit(&mut self, direction: Direction, peer: AttAddress, local: u64, length: u32) {
        let descriptor = Descriptor {
            peer,
            local: Local::Memory(local),
            length,
            control: Control {
                record: true,
                interrupt: true,
                ..Control::default()
            },
            cookie: length,
        };
        let (slot, bell) = match direction {
            Direction::FromFpga => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
            Direction::ToFpga => (chan::READ_DESC, chan::READ_DOORBELL),
        };
        let words = descriptor.encode().unwrap().map(u32::to_le_bytes);
        let base = self.config.layout.chan;
        self.write_bar(base + slot as u64, words.as_flattened());
        let freed = std::mem::take(&mut self.freed);
        self.write_bar(base + bell as u64, &freed.to_le_bytes());
    }

    /// Waits for the next record, and returns it.
    pub fn record(&mut self) -> Record {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(record) = self.ring.poll(&mut Records(&self.ram)).unwrap() {
                self.freed += 1;
                return record;
            }
            let late = Instant::now() > end;
            assert!(!late, "no record; {:#?}", self.handle.status());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for an interrupt of a vector.
    pub fn interrupt(&self, vector: usize) {
        let end = Instant::now() + PATIENCE;
        while self.events[vector].read().is_err() {
            let late = Instant::now() > end;
            assert!(!late, "no interrupt; {:#?}", self.handle.status());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join(SOCKET)
    }

    pub fn settle(&self) {
        self.handle.wait_idle(PATIENCE).unwrap();
    }
}

impl Bus for Guest {
    type Error = std::convert::Infallible;

    fn write(&mut self, register: Register, value: u32) -> Result<(), Self::Error> {
        self.select(register);
        let offset = self.offset(register);
        self.write_bar(offset, &value.to_le_bytes());
        Ok(())
    }

    fn read(&mut self, register: Register) -> Result<u32, Self::Error> {
        self.select(register);
        let offset = self.offset(register);
        Ok(u32::from_le_bytes(self.read_bar(offset)))
    }

    fn pause(&mut self, _: Register) -> Result<bool, Self::Error> {
        std::thread::sleep(Duration::from_millis(1));
        Ok(true)
    }
}

impl Guest {
    fn select(&mut self, register: Register) {
        if let Some((select, value)) = register.select() {
            self.write_csr(select, value);
        }
    }

    fn offset(&self, register: Register) -> u64 {
        let layout = &self.config.layout;
        let base = match register {
            Register::Csr(_) | Register::Channel { .. } | Register::Stream { .. } => layout.csr,
            Register::Page { .. } => layout.chan,
            Register::Att(_) => layout.att,
        };
        base + register.offset() as u64
    }
}

/// Returns bytes that differ from place to place.
pub fn noise(bytes: usize, seed: u32) -> Vec<u8> {
    (0..bytes as u32)
        .map(|n| (n ^ seed).wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect()
}
