// SPDX-License-Identifier: GPL-2.0

//! Injected bugs, one of each kind that a kernel with checks must report. Never installed.
//!
//! A driver of QEMU's `pci-testdev`; its parameter selects the bug that it has when it is bound. It is written like
//! Peerlane's driver, in Rust with a little C, because the checks only see code that the compilers prepare for them.

use core::{ffi::c_void, hint::black_box};
use kernel::{
    device::{Core, Device},
    new_mutex, new_spinlock, pci,
    prelude::*,
};
use pin_init::stack_pin_init;

/// Bytes of an allocation: fewer than the allocator gives, so that the bytes after them belong to no object.
const BYTES: usize = 100;
type Memory = [u8; BYTES];

// misuse.h
unsafe extern "C" {
    fn planted_map_for_ever(device: *const c_void, buffer: *mut c_void, bytes: usize);
    fn planted_unmap_twice(device: *const c_void, buffer: *mut c_void, bytes: usize);
    fn planted_shift(value: u32, by: u32) -> u32;
}

struct Planted;

kernel::pci_device_table!(
    IDS,
    <Planted as pci::Driver>::IdInfo,
    // docs/specs/pci-ids.rst of QEMU.
    [(pci::DeviceId::from_id(pci::Vendor::REDHAT, 0x0005), ())]
);

impl pci::Driver for Planted {
    type IdInfo = ();
    type Data<'bound> = Self;
    const ID_TABLE: pci::IdTable<Self::IdInfo> = &IDS;

    fn probe<'bound>(
        device: &'bound pci::Device<Core<'_>>,
        _: Option<&'bound ()>,
    ) -> impl PinInit<Self, Error> + 'bound {
        pin_init::pin_init_scope(move || {
            // tests/planted.rs uses the same numbers.
            match module_parameters::bug.value() {
                0 => {}
                1 => lock_order(),
                2 => sleep_in_atomic()?,
                3 => mapped_for_ever(device.as_ref())?,
                4 => unmapped_twice(device.as_ref())?,
                5 => use_after_free()?,
                6 => out_of_bounds()?,
                7 => shift(),
                8 => leak()?,
                _ => return Err(EINVAL),
            }
            Ok(Ok(Self))
        })
    }
}

/// The C structure, of which `Device` is a transparent wrapper.
fn raw(device: &Device) -> *const c_void {
    core::ptr::from_ref(device).cast()
}

/// Takes two locks in both orders. No thread waits here; only the order is wrong.
fn lock_order() {
    stack_pin_init!(let first = new_mutex!(0, "planted::first"));
    stack_pin_init!(let second = new_mutex!(0, "planted::second"));
    {
        let _first = first.lock();
        let _second = second.lock();
    }
    let _second = second.lock();
    let _first = first.lock();
}

/// Allocates in a way that may sleep, under a lock that forbids it.
fn sleep_in_atomic() -> Result {
    stack_pin_init!(let lock = new_spinlock!(0));
    let _guard = lock.lock();
    memory().map(drop)
}

fn mapped_for_ever(device: &Device) -> Result {
    let buffer = KBox::into_raw(memory()?);
    // SAFETY: the buffer lives as long as its mapping, for ever.
    unsafe { planted_map_for_ever(raw(device), buffer.cast(), BYTES) };
    Ok(())
}

fn unmapped_twice(device: &Device) -> Result {
    let mut buffer = memory()?;
    // SAFETY: the device never writes it. The second unmapping is the bug.
    unsafe { planted_unmap_twice(raw(device), buffer.as_mut_ptr().cast(), BYTES) };
    Ok(())
}

fn use_after_free() -> Result {
    let buffer = KBox::into_raw(memory()?);
    // SAFETY: it came from `into_raw`.
    drop(unsafe { KBox::from_raw(buffer) });
    // SAFETY: none, which is the bug. It is only read.
    black_box(unsafe { buffer.cast::<u8>().read_volatile() });
    Ok(())
}

fn out_of_bounds() -> Result {
    let buffer = memory()?;
    // SAFETY: none, which is the bug. It is only read.
    black_box(unsafe { buffer.as_ptr().add(black_box(BYTES)).read_volatile() });
    Ok(())
}

/// Shifts by as many bits as the value has.
fn shift() {
    // SAFETY: the bug is in C, where the result is undefined.
    black_box(unsafe { planted_shift(1, black_box(u32::BITS)) });
}

/// More allocations than stale pointers may hide: the allocator leaves them in its sheaves (mm/slub.c).
fn leak() -> Result {
    for _ in 0..200 {
        let _ = KBox::into_raw(memory()?);
    }
    Ok(())
}

fn memory() -> Result<KBox<Memory>> {
    Ok(KBox::new(black_box([0x5a; BYTES]), GFP_KERNEL)?)
}

kernel::module_pci_driver! {
    type: Planted,
    name: "planted",
    authors: ["The Peerlane authors"],
    description: "Bugs on purpose, to test the kernel's checks with: not to be installed",
    license: "GPL",
    params: {
        bug: u32 {
            default: 0,
            description: "Which; 0 for none",
        },
    },
}
