// SPDX-License-Identifier: GPL-2.0

//! `/sys/bus/pci/devices/<board>/peerlane/`: properties and state of the board, one value a file, except for `peers`.
//! docs/operate/driver.md has the meaning of each.
//!
//! The driver core makes the files when `probe` has succeeded, before it notifies user space that the device is
//! bound. Before `unbind` it removes them and waits for threads that read one. So a file exists only while the board
//! does.

use crate::{
    board::Board,
    boards::Name,
    callbacks,
    logic::{
        fpga_memory::FpgaMemory, peers::Verdict, quota::Limits, regs::csr::PORT_PACE,
        steps::Register,
    },
};
use core::ptr;
use kernel::{bindings, ffi::c_char, prelude::*, str::CString};

/// Contents of a file.
enum Value {
    Text(&'static CStr),
    Name(Name),
    Number(u32),
    Bytes(u64),
    Hash(u32),
}

/// A value for the kernel that is never written.
#[repr(transparent)]
struct Shown<T>(T);
// SAFETY: it is never written, and it points to static data.
unsafe impl<T> Sync for Shown<T> {}

/// # Safety
/// `device` is bound to this driver, and `buffer` a page of sysfs's.
unsafe fn emit(
    device: *mut bindings::device,
    buffer: *mut c_char,
    look: fn(&Board) -> Result<Value>,
) -> isize {
    // SAFETY: by contract.
    let value = match unsafe { callbacks::board(device) } {
        Some(board) => look(&board),
        None => Err(ENODEV),
    };
    // SAFETY: by contract; each format has the argument that it wants.
    unsafe {
        (match value {
            Ok(Value::Text(text)) => {
                bindings::sysfs_emit(buffer, c"%s\n".as_char_ptr(), text.as_char_ptr())
            }
            Ok(Value::Name(name)) => {
                bindings::sysfs_emit(buffer, c"%s\n".as_char_ptr(), name.as_char_ptr())
            }
            Ok(Value::Number(number)) => {
                bindings::sysfs_emit(buffer, c"%u\n".as_char_ptr(), number)
            }
            Ok(Value::Bytes(bytes)) => bindings::sysfs_emit(buffer, c"%llu\n".as_char_ptr(), bytes),
            Ok(Value::Hash(hash)) => bindings::sysfs_emit(buffer, c"0x%08x\n".as_char_ptr(), hash),
            Err(error) => error.to_errno(),
        }) as isize
    }
}

/// Returns a limit of ATT entries, on a board that may have fewer.
fn limit(board: &Board, look: fn(&Limits) -> u32) -> u32 {
    let (entries, _) = board.entries();
    board.with_quota(|quota| look(quota.limits())).min(entries)
}

/// Returns the bytes that contexts may allocate.
fn pool(board: &Board) -> u64 {
    let pool = board.memory.look(FpgaMemory::pool);
    pool.end - pool.start
}

/// Writes a line for each peer of which something is known.
///
/// # Safety
/// Called by sysfs for a device that is bound to this driver.
unsafe extern "C" fn show_peers(
    device: *mut bindings::device,
    _: *mut bindings::device_attribute,
    buffer: *mut c_char,
) -> isize {
    // SAFETY: by contract.
    let Some(board) = (unsafe { callbacks::board(device) }) else {
        return ENODEV.to_errno() as isize;
    };
    let mut length = 0;
    board.for_each_peer(|peer, verdict| {
        let verdict = match verdict {
            Verdict::Answers => c"answers",
            Verdict::Silent => c"silent",
        };
        if let Ok(peer) = CString::try_from_fmt(fmt!("{}", peer)) {
            let format = c"%s %s\n".as_char_ptr();
            let (peer, verdict) = (peer.as_char_ptr(), verdict.as_char_ptr());
            // SAFETY: a page of sysfs's, of which so much is used; the format has its arguments.
            length += unsafe { bindings::sysfs_emit_at(buffer, length, format, peer, verdict) };
        }
    });
    length as isize
}

/// Drops the knowledge of all peers, for any text that is written.
///
/// # Safety
/// As above.
unsafe extern "C" fn forget_peers(
    device: *mut bindings::device,
    _: *mut bindings::device_attribute,
    _: *const c_char,
    length: usize,
) -> isize {
    // SAFETY: by contract.
    match unsafe { callbacks::board(device) } {
        Some(board) => {
            board.forget_peers();
            length as isize
        }
        None => ENODEV.to_errno() as isize,
    }
}

type Show = unsafe extern "C" fn(
    *mut bindings::device,
    *mut bindings::device_attribute,
    *mut c_char,
) -> isize;
type Store = unsafe extern "C" fn(
    *mut bindings::device,
    *mut bindings::device_attribute,
    *const c_char,
    usize,
) -> isize;

/// Makes an attribute, which all users may read. Root may write it if it can be written.
const fn attribute(
    name: &'static CStr,
    show: Option<Show>,
    store: Option<Store>,
) -> bindings::device_attribute {
    let mut attribute: bindings::device_attribute = pin_init::zeroed();
    attribute.attr.name = name.as_ptr().cast();
    attribute.attr.mode = if store.is_some() { 0o644 } else { 0o444 };
    // Later kernels have a second form of each function.
    #[cfg(PEERLANE_HAS_CONST_ATTRIBUTES)]
    {
        attribute.__bindgen_anon_1.show = show;
        attribute.__bindgen_anon_2.store = store;
    }
    #[cfg(not(PEERLANE_HAS_CONST_ATTRIBUTES))]
    {
        attribute.show = show;
        attribute.store = store;
    }
    attribute
}

static PEERS: Shown<bindings::device_attribute> = Shown({
    attribute(c"peers", Some(show_peers), Some(forget_peers))
});

macro_rules! attributes {
    ($($name:ident => $look:expr;)*) => {
        $(mod $name {
            use super::*;

            /// # Safety
            /// Called by sysfs for a device that is bound to this driver.
            unsafe extern "C" fn show(
                device: *mut bindings::device,
                _: *mut bindings::device_attribute,
                buffer: *mut c_char,
            ) -> isize {
                // SAFETY: by contract.
                unsafe { emit(device, buffer, $look) }
            }

            pub(super) static ATTRIBUTE: Shown<bindings::device_attribute> = Shown({
                let name = concat!(stringify!($name), "\0").as_bytes();
                match CStr::from_bytes_with_nul(name) {
                    Ok(name) => attribute(name, Some(show), None),
                    Err(_) => panic!(),
                }
            });
        })*

        static ATTRIBUTES: Shown<[*mut bindings::attribute; [$(stringify!($name)),*].len() + 2]> =
            Shown([
                $((&raw const $name::ATTRIBUTE.0.attr).cast_mut(),)*
                (&raw const PEERS.0.attr).cast_mut(),
                ptr::null_mut(),
            ]);
    };
}

attributes! {
    board => |board| Ok(Value::Name(board.hw.place().name));
    map_id => |board| Ok(Value::Hash(board.identity.map_id));
    build_id => |board| Ok(Value::Hash(board.identity.build_id));
    state => |board| Ok(Value::Text(board.hw.state()));
    channels => |board| Ok(Value::Number(board.capabilities.channels));
    channels_free => |board| Ok(Value::Number(board.free_channels()));
    att_entries => |board| Ok(Value::Number(board.entries().0));
    att_entries_free => |board| Ok(Value::Number(board.entries().1));
    fpga_memory => |board| Ok(Value::Bytes(board.memory.look(FpgaMemory::bytes)));
    fpga_memory_free => |board| Ok(Value::Bytes(board.memory.look(FpgaMemory::free_bytes)));
    link_speed => |board| {
        // PCI Express Base Specification, 7.5.3.8, Current Link Speed.
        Ok(Value::Text(match board.link_status().0 {
            1 => c"2.5 GT/s",
            2 => c"5.0 GT/s",
            3 => c"8.0 GT/s",
            4 => c"16.0 GT/s",
            _ => c"unknown",
        }))
    };
    link_width => |board| Ok(Value::Number(board.link_status().1));
    context_entries => |board| Ok(Value::Number(limit(board, |limits| limits.channel_entries)));
    user_channels => |board| {
        let limit = board.with_quota(|quota| quota.limits().user_channels);
        Ok(Value::Number(limit.min(board.capabilities.channels)))
    };
    user_entries => |board| Ok(Value::Number(limit(board, |limits| limits.user_entries)));
    user_memory => |board| {
        let limit = board.with_quota(|quota| quota.limits().user_memory);
        Ok(Value::Bytes(limit.min(pool(board))))
    };
    user_gpu => |board| Ok(Value::Bytes(board.with_quota(|quota| quota.limits().user_gpu)));
    memory_pool => |board| Ok(Value::Bytes(pool(board)));
    hold_all => |board| Ok(Value::Number(board.settings.hold_all.into()));
    configure_all => |board| Ok(Value::Number(board.settings.configure_all.into()));
    configure_s => |board| Ok(Value::Number(board.settings.configure_s));
    kept_regions => |board| Ok(Value::Number(board.settings.kept.count));
    kept_host => |board| Ok(Value::Bytes(board.settings.kept.host_bytes));
    kept_gpu => |board| Ok(Value::Bytes(board.settings.kept.gpu_bytes));
    patience_ms => |board| Ok(Value::Number(board.settings.patience_ms));
    port_timeout => |board| Ok(Value::Number(board.port_timeout_cycles()));
    recovery_s => |board| Ok(Value::Number(board.settings.recovery_s));
    peer_reads => |board| Ok(Value::Number(board.settings.peer_reads.parameter()));
    any_distance => |board| Ok(Value::Number(board.settings.any_distance.into()));
    verbose => |board| Ok(Value::Number(board.settings.verbose.into()));
    link_pace => |board| {
        let _inside = board.gate.enter()?;
        Ok(Value::Number(board.hw.read(Register::Csr(PORT_PACE))?))
    };
}

static GROUP: Shown<bindings::attribute_group> = Shown({
    let mut group: bindings::attribute_group = pin_init::zeroed();
    group.name = c"peerlane".as_ptr().cast();
    let attributes = (&raw const ATTRIBUTES.0).cast_mut().cast();
    #[cfg(PEERLANE_HAS_CONST_GROUPS)]
    {
        group.__bindgen_anon_2.attrs = attributes;
    }
    #[cfg(not(PEERLANE_HAS_CONST_GROUPS))]
    {
        group.attrs = attributes;
    }
    group
});

static GROUPS: Shown<[*const bindings::attribute_group; 2]> =
    Shown([&raw const GROUP.0, ptr::null()]);

/// Returns the groups for the driver's `dev_groups`.
pub(crate) fn groups() -> *mut *const bindings::attribute_group {
    (&raw const GROUPS.0).cast_mut().cast()
}
