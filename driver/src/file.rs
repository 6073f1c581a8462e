// SPDX-License-Identifier: GPL-2.0

//! `/dev/peerlane*`: the file operations, and the mappings of a context.

use crate::{
    board::Board,
    context::Context,
    ffi::{
        is_capable, pci_dev, peerlane_insert_frame, peerlane_make_uncached, peerlane_map_frames,
    },
    logic::{
        quota::User,
        regs::chan,
        uapi::map,
    },
};
use kernel::{
    bindings, container_of,
    error::to_result,
    ffi::{c_int, c_ulong},
    fs::File,
    miscdevice::{MiscDevice, MiscDeviceOptions, MiscDeviceRegistration},
    mm::virt::VmaNew,
    page::PAGE_SHIFT,
    prelude::*,
    seq_file::SeqFile,
    str::CString,
    sync::{poll::PollTable, Arc},
    types::{ForeignOwnable, Opaque},
};

/// The operations of an open file.
pub(crate) struct Operations;

#[vtable]
impl MiscDevice for Operations {
    type Ptr = Arc<Context>;

    fn open(file: &File, misc: &MiscDeviceRegistration<Self>) -> Result<Arc<Context>> {
        let misc = core::ptr::from_ref(misc).cast::<Opaque<bindings::miscdevice>>();
        // SAFETY: every registration of these operations is the field of a `Node`, and
        // `misc_open` keeps it from going during this call.
        let node = unsafe { &*container_of!(misc.cast_mut(), Node, misc) };
        let inside = node.board.gate.enter()?;
        // SAFETY: a file's mapping does not change.
        let mapping = unsafe { (*file.as_ptr()).f_mapping };
        let opened = Context::open(&node.board, &inside, mapping, opener(file));
        // In any case: this call may have cut the board off, or something before it, after the watchdog had looked
        // for the last time.
        node.board.watch();
        opened
    }

    fn release(context: Arc<Context>, _: &File) {
        // The inode may be freed after this call.
        context.forget_file();
        if context.board.is_reprogrammed_by(context.channel) {
            // Its end says in the log why the board does not start.
            let _ = context.board.end_reprogramming(context.channel, true);
        }
        match context.board.gate.enter() {
            Ok(_inside) => {
                context.close();
                context.board.dismiss(context.channel);
            }
            // Unbind closes the context. The process may use its memory again after this.
            Err(_) => context.board.gate.wait_for_the_end(),
        }
    }

    fn ioctl(
        context: <Self::Ptr as ForeignOwnable>::Borrowed<'_>,
        _: &File,
        code: u32,
        argument: usize,
    ) -> Result<isize> {
        let done = context.ioctl(code, argument);
        if done == Err(ENODEV) {
            // A call reports the end of the board only when the board reaches no memory any more.
            context.board.gate.wait_for_the_end();
        }
        done.map(|()| 0)
    }

    fn show_fdinfo(
        context: <Self::Ptr as ForeignOwnable>::Borrowed<'_>,
        file: &SeqFile,
        _: &File,
    ) {
        context.show_fdinfo(file);
    }

    fn mmap(
        context: <Self::Ptr as ForeignOwnable>::Borrowed<'_>,
        _: &File,
        vma: &VmaNew,
    ) -> Result {
        let raw = vma.as_ptr();
        // SAFETY: it is being set up, and ours alone.
        let (offset, flags) = unsafe { ((*raw).vm_pgoff as u64, vma.flags()) };
        if flags & kernel::mm::virt::flags::SHARED == 0 {
            return Err(EINVAL);
        }
        let pages = (vma.end() - vma.start()) >> PAGE_SHIFT;
        let (area, index) = Area::at(offset << PAGE_SHIFT).ok_or(EINVAL)?;
        let bytes = match area {
            Area::Page => chan::SIZE,
            Area::Ring => context.with_ring(|ring| ring.bytes())?,
            Area::Window => context.board.window_bytes(),
            Area::Kernels => context.board.kernels_map_bytes(),
        };
        // Not the first page of the kernels' interface: a second store to their reset hangs the BAR.
        let hidden = area == Area::Kernels && index == 0;
        if hidden || index + pages > bytes >> PAGE_SHIFT {
            return Err(EINVAL);
        }
        vma.try_clear_mayexec()?;
        match area {
            Area::Page => {
                // SAFETY: it is being set up.
                unsafe { peerlane_make_uncached(raw) };
            }
            Area::Ring => vma.try_clear_maywrite()?,
            Area::Window => {
                let held = context.board.window_of(context.channel);
                held.ok_or(EPERM)?;
                // Not write-combining: stores would wait in the processor and be overtaken by later stores to the
                // channel page. Also, the kernel has mapped the BAR uncached already, so the same memory would be
                // mapped in two ways. The slave takes one access at a time.
                // SAFETY: it is being set up.
                unsafe { peerlane_make_uncached(raw) };
            }
            Area::Kernels => {
                if !context.board.has_opencl(context.channel) {
                    return Err(EPERM);
                }
                // SAFETY: it is being set up.
                unsafe { peerlane_make_uncached(raw) };
            }
        }
        if area == Area::Page {
            // The last that can fail: from here on the process is the channel's writer.
            context.hand_over()?;
        }
        vma.set_io();
        vma.set_dontexpand();
        vma.set_dontdump();
        // A child does not use its parent's queue.
        vma.set_dontcopy();
        // SAFETY: it is being set up; pages come by frame number, when they are touched.
        unsafe {
            peerlane_map_frames(raw);
            (*raw).vm_ops = &raw const MAPPING.0;
        }
        Ok(())
    }
}

/// Returns the user who opens a file. Users are identified as by the kernel, independent of their namespaces.
fn opener(file: &File) -> User {
    User {
        id: file.cred().euid().into_raw().val,
        exempt: is_capable(bindings::CAP_SYS_RESOURCE),
    }
}

/// Areas that can be mapped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    /// The channel's page.
    Page,
    /// The completion ring.
    Ring,
    /// The window into FPGA memory.
    Window,
    /// The interface to the OpenCL kernels.
    Kernels,
}

impl Area {
    /// Number of areas.
    pub(crate) const COUNT: usize = 4;

    /// Returns the area at a byte offset, and the page in it.
    fn at(offset: u64) -> Option<(Self, usize)> {
        let areas = [
            (Self::Kernels, map::KERNELS),
            (Self::Window, map::WINDOW),
            (Self::Ring, map::RING),
            (Self::Page, map::PAGE),
        ];
        let (area, base) = areas.into_iter().find(|(_, base)| offset >= *base)?;
        let index = (offset - base) >> PAGE_SHIFT;
        (index <= 1 << 20).then_some((area, index as usize))
    }
}

/// A table of operations that is never written.
struct Table<T>(T);
// SAFETY: it is never written, and it points to functions.
unsafe impl<T> Sync for Table<T> {}

static MAPPING: Table<bindings::vm_operations_struct> = Table({
    let mut operations: bindings::vm_operations_struct = pin_init::zeroed();
    operations.fault = Some(fault);
    operations
});

/// Gives a process the page that it touches: the real one while the device is bound, of the BAR while the board is
/// awake and, of the window, while it is the context's; else an empty page, so that no process is killed because
/// something was released.
///
/// # Safety
/// Called by the kernel for a mapping that `mmap` has set up.
unsafe extern "C" fn fault(fault: *mut bindings::vm_fault) -> bindings::vm_fault_t {
    // SAFETY: by contract; the mapping holds the file, and the file the context.
    let (vma, address, offset, context) = unsafe {
        let fault = &(*fault).__bindgen_anon_1;
        let file = (*fault.vma).vm_file;
        let context = <Arc<Context> as ForeignOwnable>::borrow((*file).private_data);
        (fault.vma, fault.address, fault.pgoff as u64, context)
    };
    let Some((area, index)) = Area::at(offset << PAGE_SHIFT) else {
        return bindings::vm_fault_reason_VM_FAULT_SIGBUS;
    };
    let board = &context.board;
    // Held until the page is in the table: unbind removes all pages after it has closed the gate.
    let inside = board.gate.enter();
    let insert = |real: Option<usize>| {
        let pfn = real.unwrap_or_else(|| context.empty_pfn(area));
        // The ring is memory, and so are the empty pages.
        let registers = real.is_some() && area != Area::Ring;
        // SAFETY: a mapping of frame numbers, and an address in it.
        unsafe { peerlane_insert_frame(vma, address, pfn as c_ulong, registers) }
    };
    match (&inside, area) {
        (Err(_), _) => insert(None),
        (Ok(_), Area::Ring) => insert(context.ring_pfn(index)),
        (Ok(_), area) => board.with_view(context.channel, area, index, insert),
    }
}

const MISC: bindings::miscdevice = MiscDeviceOptions { name: c"peerlane" }.into_raw::<Operations>();
/// `miscdevice` knows neither `poll` nor `flush`.
static FILE: Table<bindings::file_operations> = Table({
    // SAFETY: `into_raw` points to a constant.
    let mut table = unsafe { *MISC.fops };
    table.poll = Some(poll);
    table.flush = Some(flush);
    table
});

/// # Safety
/// Called by the kernel with a file that [`Operations`] has opened, of which the calling process closes a descriptor.
unsafe extern "C" fn flush(file: *mut bindings::file, _: bindings::fl_owner_t) -> c_int {
    // SAFETY: by contract; `release` comes later.
    let context = unsafe { <Arc<Context> as ForeignOwnable>::borrow((*file).private_data) };
    context.leave();
    0
}

/// # Safety
/// Called by the kernel with a file that [`Operations`] has opened.
unsafe extern "C" fn poll(
    file: *mut bindings::file,
    table: *mut bindings::poll_table_struct,
) -> bindings::__poll_t {
    // SAFETY: by contract; `release` comes later.
    let (context, file, table) = unsafe {
        (
            <Arc<Context> as ForeignOwnable>::borrow((*file).private_data),
            File::from_raw_file(file),
            PollTable::from_raw(table),
        )
    };
    context.events.poll(file, table)
}

/// A board's node in `/dev`.
#[pin_data(PinnedDrop)]
pub(crate) struct Node {
    #[pin]
    misc: Opaque<bindings::miscdevice>,
    // The device's name is in it.
    _name: CString,
    board: Arc<Board>,
}

// SAFETY: it may be registered and deregistered by any thread.
unsafe impl Send for Node {}

impl Node {
    /// Makes the node; from now on it can be opened.
    pub(crate) fn new(board: Arc<Board>, number: usize) -> impl PinInit<Self, Error> {
        pin_init::pin_init_scope(move || {
            let name = CString::try_from_fmt(fmt!("peerlane{}", number))?;
            let text = name.as_char_ptr();
            // SAFETY: a valid device; only its address is taken.
            let parent = unsafe { &raw mut (*pci_dev(board.gate.device())).dev };
            Ok(try_pin_init!(Self {
                _name: name,
                board,
                misc <- Opaque::try_ffi_init(move |slot: *mut bindings::miscdevice| {
                    // SAFETY: `slot` is pinned; the name lives as long as it, and the table for ever.
                    unsafe {
                        slot.write(MISC);
                        (*slot).name = text;
                        (*slot).parent = parent;
                        (*slot).fops = &raw const FILE.0;
                        to_result(bindings::misc_register(slot))
                    }
                }),
            }))
        })
    }
}

#[pinned_drop]
impl PinnedDrop for Node {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: it was registered.
        unsafe { bindings::misc_deregister(self.misc.get()) }
    }
}
