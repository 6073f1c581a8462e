//! Tests of a process that does everything wrong, next to a process that must not notice.

mod wide;

use crate::lab::{Buffer, Lab, Mover, told};
use crate::physical::Watch;
use crate::process::fork;
use crate::raw;
use crate::suite::Suite;
use crate::window::Mapped;
use crate::worker::Count;
use anyhow::{Context, Result, ensure};
use peerlane_core::uapi::{self, Register, Submit, access, map, provider};
use peerlane_host::{Device, Memory, Permissions, Region};
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use rustix::fd::AsRawFd;
use rustix::mm::{MapFlags, ProtFlags};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The least number of ioctls and stores that the attackers make.
const IOCTLS: u64 = 100_000;
const STORES: u64 = 1_000_000;
const WIDE_STORES: u64 = 200_000;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("hostile.ioctls", || beside(lab, IOCTLS, ioctls));
    suite.run("hostile.stores", || beside(lab, STORES, stores));
    suite.run("hostile.wide_stores", || {
        let remark = beside(lab, WIDE_STORES, wide_stores)?;
        Ok(format!("{remark}; {:?}", wide::usable()))
    });
}

/// State of an attacker.
struct Attacker<'a> {
    device: Device,
    rng: ChaCha8Rng,
    counter: &'a AtomicU64,
    /// The count that ends the attack.
    count: u64,
    /// Its FPGA memory, or its last FPGA memory.
    range: Range<u64>,
    /// Watch on the memory that the board may touch: the victim's memory, and the memory that the attacker has
    /// registered.
    watch: Option<Watch>,
    /// Whether it has registered memory that does not begin at a dword.
    is_ragged: bool,
}

impl Attacker<'_> {
    /// Counts one step, and returns whether the attack goes on.
    fn counts(&self) -> bool {
        self.counter.fetch_add(1, Ordering::Relaxed) < self.count
    }

    /// Adds memory that it has registered to the watch.
    fn registered(&mut self, address: u64, length: u64, access: &str) -> Result<()> {
        let Some(watch) = &mut self.watch else {
            return Ok(());
        };
        watch.memory(address, length, access)?;
        watch.start()
    }
}

type Attack = fn(Attacker<'_>) -> Result<()>;

/// Runs attackers until they have done enough, and transfers of a victim concurrently. Attackers register their own
/// memory, so the board may overwrite data that they need: an attacker that dies of it is replaced by another.
fn beside(lab: &mut Lab, count: u64, attack: Attack) -> Result<String> {
    let mut victim = Mover::fast(lab)?;
    let device = victim.device().clone();
    // The attackers' other FPGA memory does not overlap the victim's.
    let buffer = Buffer::new(&device, 1 << 20)?;
    let place = lab.place(&device)?;
    buffer.memory.write(0, &vec![1; buffer.memory.length()])?;
    let mut watch = Watch::new(lab.host);
    if let Some(watch) = &mut watch {
        let memory = &buffer.memory;
        watch.memory(memory.address(), memory.length() as u64, "rw")?;
        watch.ring(&device)?;
    }
    let counter = Count::new()?;
    let (mut transfers, mut deaths) = (0, 0);
    while counter.get().load(Ordering::Relaxed) < count {
        let branch = lab.branch();
        let counter_ref = &counter;
        let mut watch = watch.clone();
        let mut attacker = fork("attacker", move || {
            let device = branch.open()?;
            branch.place(&device)?;
            if let Some(watch) = &mut watch {
                watch.ring(&device)?;
                watch.start()?;
            }
            attack(Attacker {
                range: device.range(),
                device,
                rng: branch.rng,
                counter: counter_ref.get(),
                count,
                watch,
                is_ragged: false,
            })
        })?;
        loop {
            // Ends of a dword would go into memory of the library's, which is not on the watch's list.
            lab.check_some_of(4, &mut victim, &buffer, place, 2, 20_000)
                .with_context(|| format!("transfer {transfers} of the victim"))?;
            transfers += 2;
            if let Some(status) = attacker.wait_for(Duration::ZERO)? {
                ensure!(
                    status.exit_status().is_none_or(|code| code == 0),
                    "the attacker failed, see above"
                );
                deaths += u32::from(status.exit_status().is_none());
                break;
            }
        }
        ensure!(deaths < 1000, "the attackers die too soon");
    }
    // Ends of a dword go into memory of the library's, as above.
    lab.check_some_of(4, &mut victim, &buffer, place, 10, 1 << 20)
        .context("after the attack")?;
    watch.as_ref().map_or(Ok(()), Watch::end)?;
    lab.check_some(&mut victim, &buffer, place, 10, 1 << 20)
        .context("after the watch")?;
    let done = counter.get().load(Ordering::Relaxed);
    Ok(format!(
        "{done} done, {transfers} transfers of the victim, {deaths} attackers died"
    ))
}

/// Makes a valid argument for a random ioctl, to be corrupted by the caller.
fn sensible(attacker: &mut Attacker<'_>, memory: &Memory) -> (uapi::Ioctl, Vec<u8>) {
    let Attacker { device, rng, .. } = attacker;
    let range = attacker.range.clone();
    // Most often an ioctl that makes the driver do little, so that many can be made.
    const CHEAP: [uapi::Ioctl; 5] = [
        uapi::INFO,
        uapi::QUERY,
        uapi::SUBMIT,
        uapi::WAIT,
        uapi::EVENTFD,
    ];
    let ioctl = match rng.random_ratio(1, 8) {
        true => uapi::ALL[rng.random_range(0..uapi::ALL.len())],
        false => CHEAP[rng.random_range(0..CHEAP.len())],
    };
    let mut bytes = vec![0; ioctl.size as usize];
    if ioctl == uapi::REGISTER {
        let register = Register {
            provider: provider::HOST,
            access: access::READ | access::WRITE,
            address: memory.address() + (rng.random_range(0..4096) & !3),
            length: rng.random_range(1..memory.length() as u64 - 4096),
            fd: -1,
            ..Default::default()
        };
        bytes = raw::bytes(&register);
    } else if ioctl == uapi::SUBMIT {
        // Half of them have whole dwords.
        let mask = if rng.random() { !3 } else { !0 };
        let submit = Submit {
            direction: rng.random_range(0..2),
            flags: rng.random_range(0..8),
            handle: rng.random_range(1..64),
            length: rng.random_range(4..8192) & mask,
            offset: rng.random_range(0..8192) & u64::from(mask),
            local: rng.random_range(range),
            ..Default::default()
        };
        bytes = raw::bytes(&submit);
    } else if ioctl == uapi::INFO {
        bytes[0] = 1;
    } else if ioctl == uapi::WINDOW {
        // Any place, most often one that is allowed.
        let place = rng.random_range(range) >> 16 << 16;
        bytes = raw::bytes(&uapi::Window {
            base: place,
            ..Default::default()
        });
        if rng.random_ratio(1, 8) {
            bytes = raw::bytes(&uapi::Window {
                flags: uapi::window::RELEASE,
                ..Default::default()
            });
        }
    } else if ioctl == uapi::ALLOCATE {
        bytes = raw::bytes(&uapi::Allocate {
            bytes: rng.random_range(1..128 << 10),
            flags: [0, 0, 0, uapi::allocate::ALL, uapi::allocate::TAKE_OVER]
                [rng.random_range(0..5)],
            ..Default::default()
        });
    } else if ioctl == uapi::FREE {
        bytes = raw::bytes(&uapi::Free {
            flags: rng.random_range(0..2) * uapi::free::OFFER,
            ..Default::default()
        });
    } else {
        // Handles and cookies are small numbers, and times are short.
        for word in bytes.chunks_exact_mut(4).take(2) {
            word[0] = rng.random_range(0..64);
        }
        if ioctl == uapi::EVENTFD {
            bytes = raw::bytes(&uapi::EventFd {
                fd: device.file().expect("a device node").as_raw_fd(),
                flags: 0,
            });
        }
    }
    (ioctl, bytes)
}

/// Returns whether the driver would write the ends of this submission.
fn has_ends(attacker: &Attacker<'_>, bytes: &[u8]) -> bool {
    let submit: Submit = raw::structure(bytes);
    let is_whole = submit.offset.is_multiple_of(4) && submit.length.is_multiple_of(4);
    let is_ragged = attacker.is_ragged || !is_whole;
    attacker.device.capabilities().write_granularity > 1 && submit.direction == 0 && is_ragged
}

/// Makes ioctls of all kinds, most of them a little wrong, and stores through the board's window at each place to which
/// the ioctls have moved it.
fn ioctls(mut attacker: Attacker<'_>) -> Result<()> {
    let memory = Memory::new(256 << 10)?;
    let mut accepted = 0u64;
    let mut window = None;
    while attacker.counts() {
        let (ioctl, mut bytes) = sensible(&mut attacker, &memory);
        let rng = &mut attacker.rng;
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..4) {
                0 => bytes[at] ^= 1 << rng.random_range(0..8),
                1 => bytes[at] = rng.random(),
                2 => bytes.truncate(at),
                _ => bytes.extend_from_slice(&[0; 5]),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        // A wait without a deadline would really last for ever.
        if ioctl == uapi::WAIT && bytes.len() >= 16 {
            bytes[9..16].fill(0);
        }
        if ioctl == uapi::STOP && bytes.len() >= 8 {
            bytes[3..8].fill(0);
        }
        // A probe, and a write whose ends the driver writes, make the board write to memory of the driver's own.
        let own = ioctl == uapi::PROBE || ioctl == uapi::SUBMIT && has_ends(&attacker, &bytes);
        let Attacker { device, watch, .. } = &attacker;
        let watched = watch.as_ref().filter(|_| own);
        watched.map_or(Ok(()), Watch::end)?;
        let done = raw::call(device, ioctl, &mut bytes).is_ok();
        watched.map_or(Ok(()), Watch::start)?;
        accepted += u64::from(done);
        if done && ioctl == uapi::REGISTER {
            let register: Register = raw::structure(&bytes);
            let access = match register.access {
                access::READ => "r",
                access::WRITE => "w",
                _ => "rw",
            };
            attacker.registered(register.address, register.length, access)?;
            attacker.is_ragged |= !register.address.is_multiple_of(4);
        }
        if done && ioctl == uapi::ALLOCATE {
            let argument: uapi::Allocate = raw::structure(&bytes);
            // A structure that is too short for the base does not return it.
            let end = argument.base.saturating_add(argument.bytes);
            if argument.base < end {
                attacker.range = argument.base..end;
            }
        }
        let Attacker { device, rng, .. } = &mut attacker;
        if done && ioctl == uapi::WINDOW && window.is_none() {
            // The window may have been released.
            window = Mapped::new(device).ok();
        }
        if let Some(window) = window.as_ref().filter(|_| rng.random_ratio(1, 16)) {
            window.store(rng.random_range(0..Mapped::WORDS), rng.random());
        }
        if rng.random_ratio(1, 64) {
            let code = rng.next_u32();
            // The size in the code is up to 16 KiB, and the driver may write all of it.
            let mut any = vec![0u8; 1 << 14];
            rng.fill_bytes(&mut any);
            // Exclude the file's own ioctls (FIONBIO and the like, type 'T') and waits without a deadline.
            if code >> 8 & 0xff != 0x54 && !uapi::WAIT.is(code) {
                // SAFETY: as many bytes as a code can name.
                let _ = unsafe { raw::at(raw::fd(device), code, any.as_mut_ptr() as usize) };
            }
        }
    }
    ensure!(
        accepted > 0,
        "nothing was accepted: the attack is too blunt"
    );
    Ok(())
}

/// The page of the attacker's channel, and memory that it has registered at the address `base` of the board's table.
struct Page {
    place: *mut u8,
    length: usize,
    base: u64,
    // Registered as long as the page is used.
    _region: Region,
    _memory: Memory,
}

impl Page {
    fn new(attacker: &mut Attacker<'_>) -> Result<Self> {
        let device = attacker.device.clone();
        let memory = Memory::new(1 << 20)?;
        // Descriptors contain computed addresses, which need pages of one size.
        let region = device
            .one_page_size()
            .register(&memory, 0..memory.length(), Permissions::ReadWrite)
            .map_err(told)?;
        attacker.registered(memory.address(), memory.length() as u64, "rw")?;
        let length = usize::try_from(device.info().page_bytes)?;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let page = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                raw::fd(&device),
                map::PAGE,
            )?
        };
        device.query().map_err(told)?;
        Ok(Self {
            place: page.cast(),
            length,
            base: region.att_address().raw(),
            _region: region,
            _memory: memory,
        })
    }

    /// Returns a value for a field of a descriptor.
    fn value(&self, rng: &mut ChaCha8Rng, range: Range<u64>) -> u64 {
        match rng.random_range(0..6) {
            0 => self.base + rng.random_range(0..1 << 20),
            1 => rng.random_range(range),
            2 => rng.random_range(0..64),
            3 => self.base ^ 1 << rng.random_range(0..64),
            _ => rng.random(),
        }
    }
}

/// Makes stores of all widths up to 8 bytes at all places of the page, descriptors that almost make sense among them,
/// and reads the page now and then.
fn stores(mut attacker: Attacker<'_>) -> Result<()> {
    let page = Page::new(&mut attacker)?;
    let range = attacker.device.range();
    while attacker.counts() {
        let rng = &mut attacker.rng;
        // Half of them go to the places of descriptors, and one in eight is a doorbell.
        let offset = match rng.random_range(0..8) {
            0 => [0x40, 0xc0][rng.random_range(0..2)],
            1..=4 => rng.random_range(0..2) * 0x80 + rng.random_range(0..16) * 4,
            _ => rng.random_range(0..page.length / 4) * 4,
        };
        let value = page.value(rng, range.clone());
        // SAFETY: aligned, and in the page.
        unsafe {
            let place = page.place.add(offset);
            match rng.random_range(0..16) {
                0 => place
                    .add(rng.random_range(0..4))
                    .write_volatile(value as u8),
                1 => place.cast::<u16>().write_volatile(value as u16),
                2..=5 if offset % 8 == 0 => place.cast::<u64>().write_volatile(value),
                6 if rng.random_ratio(1, 64) => {
                    place.cast::<u32>().read_volatile();
                }
                _ => place.cast::<u32>().write_volatile(value as u32),
            }
        }
    }
    Ok(())
}

/// Makes loads, and stores of 16 to 64 bytes with every instruction that the processor has for them, half of them
/// aligned, most of them over descriptors and doorbells.
///
/// An emulated processor splits each of them into accesses of 8 bytes where the memory is a device's
/// (`do_st16_mmio_leN` and its callers in QEMU's `accel/tcg/cputlb.c`), and has neither AVX-512 nor `movdir64b`. The
/// tests of the block make whole packets: `hdl/tests/dma/stores.rs`.
fn wide_stores(mut attacker: Attacker<'_>) -> Result<()> {
    let page = Page::new(&mut attacker)?;
    let range = attacker.device.range();
    let ways = wide::usable();
    while attacker.counts() {
        let rng = &mut attacker.rng;
        let way = ways[rng.random_range(0..ways.len())];
        let end = [0x100, page.length][usize::from(rng.random_ratio(1, 4))];
        let mut offset = rng.random_range(0..=end - way.bytes());
        if way.is_aligned() || rng.random() {
            offset -= offset % way.bytes();
        }
        let mut words = [0; 8];
        for word in &mut words {
            *word = page.value(rng, range.clone());
        }
        // SAFETY: in the page, aligned where that must be, and the processor has the instruction.
        unsafe {
            let place = page.place.add(offset);
            match rng.random_ratio(1, 64) {
                true => way.load(place),
                false => way.store(place, &words),
            }
        }
    }
    Ok(())
}
