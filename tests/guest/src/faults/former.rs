//! Tests of a driver that had the board before, played by a program: its descriptors and entries in the block must not
//! reach anything once another driver has the board.

use super::{address, bind, unbind};
use crate::lab::{Buffer, LIMIT, Lab, Mover, huge, same, told};
use crate::physical::{Watch, ranges};
use crate::raw;
use crate::suite::skip;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::att::{AttAddress, Entry, PageSize, Permissions};
use peerlane_core::channel::{self, LocalRange, Moderation, Settings};
use peerlane_core::descriptor::{self, Control, Descriptor, Local};
use peerlane_core::fault::Fault;
use peerlane_core::owners::Owners;
use peerlane_core::record::{DWORDS, STATUS};
use peerlane_core::regs::{Completion, chan};
use peerlane_core::ring::{Ring, Slots};
use peerlane_core::steps::{self, Bus, Register, Step};
use peerlane_core::table;
use peerlane_core::uapi::map;
use peerlane_host::{Device, Memory};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Offsets of the block's slaves in the reference BSP's BAR 2, as in the driver's own table.
const CSR: usize = 0x3000;
const CHAN: usize = 0x2_0000;
const ATT: usize = 0x2_8000;
const BAR_BYTES: usize = 256 << 10;

/// The entry for the former driver's regions.
const ENTRY: u32 = 700;
const RING_LOG2: u32 = 8;
/// Offset of the rings in the former driver's memory; data is below.
const RINGS: usize = 1 << 20;
/// Transfers of 1 MiB each that the former driver has in progress on each channel.
const TRANSFERS: usize = 40;

/// A mapping of one of the board's files in sysfs.
struct Mapped {
    base: *mut u8,
    bytes: usize,
}

impl Mapped {
    fn new(file: &File, bytes: usize, offset: u64) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let none = std::ptr::null_mut();
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base =
            unsafe { rustix::mm::mmap(none, bytes, protection, MapFlags::SHARED, file, offset) }?;
        Ok(Self {
            base: base.cast(),
            bytes,
        })
    }

    fn dword(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset < self.bytes);
        // SAFETY: aligned, in the mapping, and only used by atomics.
        unsafe { AtomicU32::from_ptr(self.base.add(offset).cast()) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        let _ = unsafe { rustix::mm::munmap(self.base.cast(), self.bytes) };
    }
}

/// Access to the block's registers without a driver.
struct Bar {
    bar: Mapped,
    since: Instant,
}

impl Bar {
    fn place(&self, register: Register) -> &AtomicU32 {
        if let Some((select, value)) = register.select() {
            let select = self.bar.dword(CSR + select);
            select.store(value, Ordering::SeqCst);
        }
        let base = match register {
            Register::Csr(_) | Register::Channel { .. } | Register::Stream { .. } => CSR,
            Register::Page { .. } => CHAN,
            Register::Att(_) => ATT,
        };
        self.bar.dword(base + register.offset())
    }
}

impl Bus for Bar {
    type Error = ();

    fn write(&mut self, register: Register, value: u32) -> Result<(), ()> {
        self.place(register).store(value, Ordering::SeqCst);
        Ok(())
    }

    fn read(&mut self, register: Register) -> Result<u32, ()> {
        Ok(self.place(register).load(Ordering::SeqCst))
    }

    fn pause(&mut self, _: Register) -> Result<bool, ()> {
        std::thread::sleep(Duration::from_millis(1));
        Ok(self.since.elapsed() < LIMIT)
    }
}

/// Sets the Memory and Bus Master bits of the Command register.
fn command(value: u8) -> Result<()> {
    let path = format!("/sys/bus/pci/devices/{}/config", address()?);
    let file = File::options().write(true).open(&path)?;
    file.write_all_at(&[value], 4).context(path)
}

/// Returns the descriptor of a write to the former driver's memory.
fn to_old_entry(local: u64, length: u32) -> Result<[u32; descriptor::DWORDS]> {
    let peer = AttAddress::new(PageSize::Mib2, ENTRY, 0).context("an ATT address")?;
    let descriptor = Descriptor {
        peer,
        local: Local::Memory(local),
        length,
        control: Control {
            record: true,
            interrupt: true,
            ..Control::default()
        },
        cookie: 7,
    };
    Ok(descriptor.encode()?)
}

/// Makes all channels write to the former driver's memory, which begins at the physical address `at`.
fn start(bar: &mut Bar, device: &peerlane_core::capability::Capabilities, at: u64) -> Result<()> {
    let memory = device.memory_bytes();
    let page = Entry {
        address: at,
        page_size: PageSize::Mib2,
        permissions: Permissions::ReadWrite,
    };
    let mut all: Vec<Step> = steps::reset().into();
    all.extend(table::set_owners(Owners::ALL));
    all.extend(table::write_entry(ENTRY, page.encode()?));
    for number in 0..device.channels {
        let settings = Settings {
            ring: at + RINGS as u64 + (u64::from(number) << 14),
            ring_log2: RING_LOG2,
            range: LocalRange::new(0..memory, memory)?,
            moderation: Moderation::default(),
        };
        all.extend(channel::open(number, &settings));
    }
    all.extend(steps::start());
    let dwords = to_old_entry(0, RINGS as u32)?;
    for number in (0..device.channels).cycle().take(TRANSFERS * 2) {
        let write = |(index, dword): (usize, &u32)| {
            Step::Write(channel::page(number, chan::WRITE_DESC + 4 * index), *dword)
        };
        all.extend(dwords.iter().enumerate().map(write));
        all.push(Step::Write(channel::page(number, chan::WRITE_DOORBELL), 0));
    }
    match steps::run(bar, all) {
        Ok(()) => Ok(()),
        Err(stopped) => bail!("the block without a driver: {stopped:?}"),
    }
}

/// The mapped ring of a context.
struct Records(Mapped);

impl Slots for Records {
    fn status(&mut self, index: u32) -> u32 {
        let place = index as usize * Completion::SIZE + 4 * STATUS;
        self.0.dword(place).load(Ordering::Acquire)
    }

    fn record(&mut self, index: u32) -> [u32; DWORDS] {
        std::array::from_fn(|dword| {
            let place = index as usize * Completion::SIZE + 4 * dword;
            self.0.dword(place).load(Ordering::Relaxed)
        })
    }
}

/// A context names the old entry in its own page. Checks that the entry does not exist.
fn name_old_entry(device: &Device) -> Result<()> {
    let local = device.allocate(4096).map_err(told)?.keep().start;
    let info = device.info();
    let file = File::from(rustix::io::dup(raw::fd(device))?);
    let page = Mapped::new(&file, usize::try_from(info.page_bytes)?, map::PAGE)?;
    let none = std::ptr::null_mut();
    let bytes = usize::try_from(info.ring_bytes)?;
    // SAFETY: a new mapping at a place of the kernel's choice.
    let ring = unsafe {
        rustix::mm::mmap(
            none,
            bytes,
            ProtFlags::READ,
            MapFlags::SHARED,
            &file,
            map::RING,
        )
    }?;
    let mut records = Records(Mapped {
        base: ring.cast(),
        bytes,
    });
    let mut ring = Ring::new(info.ring_log2, info.channel)?;
    device.query().map_err(told)?;
    for (index, dword) in to_old_entry(local, 4096)?.into_iter().enumerate() {
        page.dword(chan::WRITE_DESC + 4 * index)
            .store(dword, Ordering::SeqCst);
    }
    page.dword(chan::WRITE_DOORBELL).store(0, Ordering::SeqCst);
    let begin = Instant::now();
    let record = loop {
        if let Some(record) = ring.poll(&mut records)? {
            break record;
        }
        ensure!(begin.elapsed() < LIMIT, "no record");
        std::thread::sleep(Duration::from_millis(1));
    };
    ensure!(
        record.outcome == Err(Fault::AttInvalid) && record.bytes_done == 0,
        "channel {}: an old entry gave {:?} after {} bytes",
        info.channel,
        record.outcome,
        record.bytes_done
    );
    Ok(())
}

/// A board is taken over in the state that a kernel finds after another kernel has used it (kexec): with entries, and
/// channels that work. Checks that nothing of it reaches memory from probe on.
pub(super) fn taken_over(lab: &mut Lab) -> Result<&'static str> {
    if Watch::new(lab.host).is_none() {
        return skip("bus addresses are not known under an IOMMU");
    }
    let capabilities = *lab.open()?.capabilities();
    // One huge page, which does not move.
    let memory: Memory = huge(2 << 20)?;
    memory.write(0, &vec![0x5a; memory.length()])?;
    let found = ranges(memory.address(), memory.length() as u64, "rw")?;
    let [range] = &found[..] else {
        bail!("a huge page in {} pieces", found.len())
    };
    for round in 0..lab.rounds.min(3) {
        unbind()?;
        let resource = format!("/sys/bus/pci/devices/{}/resource2", address()?);
        let file = File::options().read(true).write(true).open(resource)?;
        command(6)?;
        let mut former = Bar {
            bar: Mapped::new(&file, BAR_BYTES, 0)?,
            since: Instant::now(),
        };
        start(&mut former, &capabilities, range.0)?;
        std::thread::sleep(Duration::from_millis(30));
        // Whether the earlier driver has lost this right already or not, its last writes have arrived.
        command(2)?;
        former.read(Register::Csr(0)).ok();
        let mut before = vec![0; memory.length()];
        memory.read(0, &mut before)?;
        ensure!(
            before[0] != 0x5a || round > 0,
            "the former driver did nothing"
        );
        bind()?;
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        let place = lab.place(mover.device())?;
        lab.check_some(&mut mover, &buffer, place, 4, 50_000)?;
        drop((mover, buffer));
        let devices: Vec<Device> = (0..capabilities.channels)
            .map(|_| lab.open())
            .collect::<Result<_>>()?;
        for device in &devices {
            name_old_entry(device)?;
            device.query().map_err(told)?;
        }
        let mut after = vec![0; memory.length()];
        memory.read(0, &mut after)?;
        same(&before, &after, 0).context("the former driver's memory was written")?;
        memory.write(0, &vec![0x5a; memory.length()])?;
    }
    Ok("")
}
