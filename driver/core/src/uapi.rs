// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface between the kernel driver and its users: the ioctls of `/dev/peerlane*` and the layout of its
//! mappings.
//!
//! The rules follow Documentation/process/botching-up-ioctls of the kernel. Structures have the same layout for 32
//! and 64 bits, and no hidden padding. They only grow at the end. A caller may pass a shorter or a longer structure
//! than the driver knows: missing members count as zero, and members that the driver does not know must be zero.
//! Reserved fields must be zero.
//!
//! An addition gets a bit of [`feature`], and does not need another version. The version is raised when something
//! that existed changes its meaning or is removed. A driver reports which versions it speaks, [`OLDEST`] to
//! [`VERSION`]; a caller names the version that it was written for.
//!
//! Times are moments of CLOCK_MONOTONIC, as the caller's time namespace shows it. So a call that a signal interrupts
//! is repeated with the same arguments.
//!
//! A call that needs the board, and `open`, give `EAGAIN` while the board is being reset, sleeps or is started. They
//! give `ENODEV` once the board is gone: it does not answer, cannot be started again, or was released by the driver.
//! A board that is gone may come back by a reset of the function; then the context's generation is raised, as after
//! every start. While the driver is being unbound, a call reports the end of the board, and `close` returns, when the
//! board reaches no memory any more; `poll`, `open` and `mmap` may report the end earlier.

// `driver/uapi/peerlane.h` is written from this file, comments and all, by `cargo xtask regen`.

/// Version of this interface.
pub const VERSION: u32 = 1;

/// The oldest version whose callers are understood.
pub const OLDEST: u32 = 1;

/// Whether the driver understands callers of a version. Version 0 only asks for the versions.
pub const fn speaks(version: u32) -> bool {
    version == 0 || OLDEST <= version && version <= VERSION
}

/// A moment that does not come: the call waits without a limit.
pub const NEVER: i64 = i64::MAX;

/// The type byte of the ioctls, in `_IOC`'s sense.
pub const IOC_TYPE: u32 = 0xe7;

/// One ioctl: its number, and which way its structure goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ioctl {
    /// The `_IOC` number.
    pub number: u32,
    /// Bytes of the structure in this version.
    pub size: u32,
    /// The driver writes the structure back.
    pub writes_back: bool,
}

const DIRECTION_WRITE: u32 = 1;
const DIRECTION_READ: u32 = 2;

impl Ioctl {
    const fn new<T>(number: u32, writes_back: bool) -> Self {
        Self {
            number,
            size: size_of::<T>() as u32,
            writes_back,
        }
    }

    /// Returns the request code, as `_IOW` or `_IOWR` makes it (asm-generic/ioctl.h).
    pub const fn code(&self) -> u32 {
        let direction = if self.writes_back {
            DIRECTION_READ | DIRECTION_WRITE
        } else {
            DIRECTION_WRITE
        };
        direction << 30 | self.size << 16 | IOC_TYPE << 8 | self.number
    }

    /// Whether a request code means this ioctl, with any size of the structure.
    pub const fn is(&self, code: u32) -> bool {
        let size = 0x3fff << 16;
        code & !size == self.code() & !size
    }
}

/// Returns the size of the structure that a request code names.
pub const fn size_of_code(code: u32) -> usize {
    (code >> 16 & 0x3fff) as usize
}

/// Reads the properties of the board and the context: [`Info`].
pub const INFO: Ioctl = Ioctl::new::<Info>(0, true);
/// Makes memory reachable for the board: [`Register`].
pub const REGISTER: Ioctl = Ioctl::new::<Register>(1, true);
/// Unregisters a region: [`Unregister`].
pub const UNREGISTER: Ioctl = Ioctl::new::<Unregister>(2, false);
/// Hands one descriptor to the board: [`Submit`].
pub const SUBMIT: Ioctl = Ioctl::new::<Submit>(3, true);
/// Waits for a descriptor that [`SUBMIT`] submitted: [`Wait`].
pub const WAIT: Ioctl = Ioctl::new::<Wait>(4, true);
/// Reads the state of the context: [`Query`].
pub const QUERY: Ioctl = Ioctl::new::<Query>(5, true);
/// Sets the eventfd for the context's events: [`EventFd`].
pub const EVENTFD: Ioctl = Ioctl::new::<EventFd>(6, false);
/// Ends the channel's descriptors: [`Stop`].
pub const STOP: Ioctl = Ioctl::new::<Stop>(7, true);
/// Tests whether the board can read memory: [`Probe`].
pub const PROBE: Ioctl = Ioctl::new::<Probe>(8, true);
/// Sets how interrupts are moderated: [`Moderate`].
pub const MODERATE: Ioctl = Ioctl::new::<Moderate>(9, false);

/// Gives the context FPGA memory: [`Allocate`].
pub const ALLOCATE: Ioctl = Ioctl::new::<Allocate>(10, true);

/// Acquires, moves or releases the board's window for the processor's stores and loads: [`Window`].
pub const WINDOW: Ioctl = Ioctl::new::<Window>(11, false);

/// Frees the context's FPGA memory: [`Free`].
pub const FREE: Ioctl = Ioctl::new::<Free>(12, true);

/// Acquires or releases the board's OpenCL side: [`OpenCl`].
pub const OPENCL: Ioctl = Ioctl::new::<OpenCl>(13, true);

/// Reads or writes registers of the OpenCL side: [`Access`].
pub const ACCESS: Ioctl = Ioctl::new::<Access>(14, false);

/// Lets the kernels in the FPGA interrupt once: [`Arm`].
pub const ARM: Ioctl = Ioctl::new::<Arm>(15, false);

/// Stops the board, so that its FPGA can be configured again, or starts it again: [`Reprogram`].
pub const REPROGRAM: Ioctl = Ioctl::new::<Reprogram>(16, false);

/// Configures the FPGA over PCIe, between the begin and the end of [`REPROGRAM`]: [`Configure`].
pub const CONFIGURE: Ioctl = Ioctl::new::<Configure>(17, false);

/// Makes sure that the board's writes to a region have arrived: [`Flush`].
pub const FLUSH: Ioctl = Ioctl::new::<Flush>(18, false);

/// Opens, closes or inspects a stream of the FPGA's logic: [`Stream`].
pub const STREAM: Ioctl = Ioctl::new::<Stream>(19, true);

/// All ioctls.
pub const ALL: [Ioctl; 20] = [
    INFO, REGISTER, UNREGISTER, SUBMIT, WAIT, QUERY, EVENTFD, STOP, PROBE, MODERATE, ALLOCATE,
    WINDOW, FREE, OPENCL, ACCESS, ARM, REPROGRAM, CONFIGURE, FLUSH, STREAM,
];

/// Offsets for `mmap`. Each mapping is of the context's own channel. The offsets need an `off_t` of 64 bits: where it
/// has 32, a C program defines `_FILE_OFFSET_BITS` as 64. Otherwise all offsets are that of the channel page.
pub mod map {
    /// The channel page: descriptors and doorbells. Shared, read and write. Once it was mapped,
    /// [`SUBMIT`](super::SUBMIT), [`WAIT`](super::WAIT) and [`PROBE`](super::PROBE) are refused with `EBUSY`, also
    /// after it was unmapped: the queue has one writer. Once `SUBMIT` or `PROBE` has submitted a descriptor, or while
    /// [`ALLOCATE`](super::ALLOCATE) is in progress, the mapping is refused with `EBUSY`. The page takes no doorbell
    /// until [`QUERY`](super::QUERY) was called.
    pub const PAGE: u64 = 0;
    /// The completion ring. Shared, read only. See [`RING_EMPTY`](super::RING_EMPTY).
    pub const RING: u64 = 1 << 32;
    /// The window into FPGA memory, where the board has one. Shared; only while the context holds it
    /// ([`WINDOW`](super::WINDOW)), else `EPERM`. A mapping stays when the window is released. It then shows zeros,
    /// or bytes that were stored there since. It reaches FPGA memory again when this context holds the window again.
    /// A child gets no copy.
    ///
    /// The mapping is uncached. A store is sent to the board before a later store to the channel page is sent, but
    /// the two go through different bridges of the board. So before a doorbell for bytes that were stored here, load
    /// something from here.
    pub const WINDOW: u64 = 2 << 32;
    /// The interface to the kernels in the FPGA, where it has pages of its own
    /// ([`OpenCl::map_bytes`](super::OpenCl::map_bytes)). Shared; only while the context holds the board's OpenCL
    /// side, else `EPERM`. Its first 4096 bytes, the control registers, are not mapped (`EINVAL`):
    /// [`ACCESS`](super::ACCESS) reaches them. The mapping is uncached. It stays when the OpenCL side is released,
    /// and while the board is reset. It then shows zeros, or bytes that were stored there since.
    pub const KERNELS: u64 = 3 << 32;
}

/// The status code of a slot of the completion ring that holds no record; no board writes it. The driver gives the
/// status of all slots this code and phase 0 whenever the channel is started at its first slot, and when the driver
/// releases the board. The sequence number of a slot becomes the complement of the slot's index, which no record of
/// the first lap has there; the other bytes stay as they were. A process that then expects phase 1 sees no record. A
/// process that expects phase 0 sees this code: the descriptors that it submitted are lost, and [`QUERY`] says how to
/// go on. So a reader that finds a new phase looks at the code first.
pub const RING_EMPTY: u32 = 255;

/// Argument of [`INFO`]. The driver only writes all members but `version` and `required`. The first four members have
/// their place and meaning in all versions.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Info {
    /// In: the [`VERSION`] that the caller was written for; `EPROTO` if the driver does not speak it. 0 asks for the
    /// versions, and is always answered. Out: the driver's newest version.
    pub version: u32,
    /// Out: the oldest version that the driver speaks.
    pub oldest: u32,
    /// Out: features of driver and board: bits of [`feature`].
    pub features: u64,
    /// In: features that the caller needs; `EOPNOTSUPP` if one is missing, known to the driver or not. A call that
    /// needs none succeeds, and `features` says which are missing.
    pub required: u64,
    /// Hash of the register map.
    pub map_id: u32,
    /// Hash of the map and the parameters of the build.
    pub build_id: u32,
    /// `CAPS0` to `CAPS2` of the register map.
    pub caps: [u32; 3],
    /// The context's channel.
    pub channel: u32,
    /// log2 of the records in the completion ring.
    pub ring_log2: u32,
    /// Number of restarts of the channel. A process that writes descriptors takes it from [`Query::generation`]
    /// instead, after page and ring are mapped: it may have changed by then.
    pub generation: u32,
    /// FPGA memory that the context has ([`ALLOCATE`]), first byte.
    pub local_base: u64,
    /// End of this memory, exclusive; equal to `local_base` if the context has none.
    pub local_end: u64,
    /// Bytes to map at [`map::PAGE`].
    pub page_bytes: u64,
    /// Bytes to map at [`map::RING`].
    pub ring_bytes: u64,
    /// Bytes to map at [`map::WINDOW`]; 0: the board has no window.
    pub window_bytes: u64,
    /// As [`Query::resets`]; to ask here acknowledges nothing.
    pub resets: u64,
    /// The largest number of ATT entries that the context can ever hold. 0: the driver does not report it.
    pub most_entries: u64,
    /// In: zero. Out: `CAPS3` of the register map: the numbers of streams.
    pub caps3: u32,
    /// Zero.
    pub reserved0: u32,
    /// Zero.
    pub reserved: u64,
}

/// Features that not every driver or board has: bits of [`Info::features`] and [`Info::required`].
pub mod feature {
    /// Regions of the process's own memory.
    pub const HOST: u64 = 1 << 0;
    /// Regions of dma-bufs.
    pub const DMABUF: u64 = 1 << 1;
    /// Regions of an NVIDIA GPU's memory, by address. This feature comes and goes with NVIDIA's driver.
    pub const NVIDIA: u64 = 1 << 2;
    /// The driver writes descriptors: [`SUBMIT`](super::SUBMIT) and [`WAIT`](super::WAIT).
    pub const SUBMIT: u64 = 1 << 8;
    /// The process writes descriptors: [`PAGE`](super::map::PAGE) and [`RING`](super::map::RING).
    pub const PAGE: u64 = 1 << 9;
    /// [`PROBE`](super::PROBE).
    pub const PROBE: u64 = 1 << 10;
    /// Contexts own FPGA memory: [`ALLOCATE`](super::ALLOCATE) and [`FREE`](super::FREE).
    pub const ALLOCATE: u64 = 1 << 11;
    /// The driver counts the times that more than the block was reset: [`Query::resets`](super::Query::resets).
    pub const RESETS: u64 = 1 << 12;
    /// [`FLUSH`](super::FLUSH).
    pub const FLUSH: u64 = 1 << 13;
    /// [`query::PEEK`](super::query::PEEK).
    pub const PEEK: u64 = 1 << 14;
    /// [`register::MIXED`](super::register::MIXED).
    pub const MIXED: u64 = 1 << 15;
    /// The board has a window into its memory: [`WINDOW`](super::WINDOW).
    pub const WINDOW: u64 = 1 << 16;
    /// Each channel has an interrupt of its own.
    pub const MSIX: u64 = 1 << 17;
    /// The board reports in its status code how a read failed, and other reads go on. Without this, a read that is
    /// refused is never answered (`READ_TIMEOUT`). Other reads then end with `PORT_DOWN` until the driver has reset
    /// the board by its link. Data that their sender marked as damaged (poisoned) are taken as good data.
    pub const TAGGED_READS: u64 = 1 << 18;
    /// The driver reaches the board's OpenCL side: [`OPENCL`](super::OPENCL).
    pub const OPENCL: u64 = 1 << 19;
    /// The FPGA's present configuration lets it be configured over PCIe: [`CONFIGURE`](super::CONFIGURE).
    pub const CVP: u64 = 1 << 20;
    /// One read that a peer does not answer ends all reads of the board until its link is reset. So memory of another
    /// device is registered for reading only if the board was seen to read from that device:
    /// [`REGISTER`](super::REGISTER) makes that proof, and gives `EXDEV` without it. Boards without
    /// [`super::feature::TAGGED_READS`] have this, unless the administrator trusts all peers (`peer_reads=2`).
    pub const PROVED_PEERS: u64 = 1 << 21;
    /// The board has streams of the FPGA's logic: [`STREAM`](super::STREAM).
    pub const STREAMS: u64 = 1 << 22;
}

/// Kinds of memory that a region can consist of: [`Register::provider`].
pub mod provider {
    /// Memory of the calling process, by address.
    pub const HOST: u32 = 0;
    /// A dma-buf, by file descriptor.
    pub const DMABUF: u32 = 1;
    /// Memory of an NVIDIA GPU, by its address in the calling process.
    pub const NVIDIA: u32 = 2;
}

/// Rights of the board to a region: bits of [`Register::access`].
pub mod access {
    /// The board reads it: GPU → FPGA. Where it may also write, the board reads back after its writes, to make sure
    /// that they have arrived. Where such reads are not answered, the write ends with a fault: register that memory
    /// for writing alone. Where something else answers them, they prove nothing. With
    /// [`PROVED_PEERS`](super::feature::PROVED_PEERS) a peer's memory has this right only if the peer answers.
    pub const READ: u32 = 1;
    /// The board writes it: FPGA → GPU. If the board may not also read a peer's memory, nothing makes sure that its
    /// writes have arrived: neither before a record, nor by [`FLUSH`](super::FLUSH), nor before the memory goes. Only
    /// time passes.
    pub const WRITE: u32 = 2;
}

/// Argument of [`REGISTER`].
///
/// A cached region, one that was unregistered with [`unregister::KEEP`], is found again by provider, place, length,
/// access and `identity`, and costs nothing then.
///
/// With [`feature::PROVED_PEERS`], the first call that wants to read ([`access::READ`]) from the memory of another
/// PCI device has the board read one word of it, of the width of its port. If no answer comes, the call fails with
/// `EXDEV`, the device counts as one that cannot be read until the administrator or a new driver says otherwise, and
/// the board is reset by its link: all transfers of all contexts end, and [`Query::resets`] is raised.
/// [`register::PROVED_ONLY`] avoids that risk. A region for writing alone needs no proof.
///
/// The proof holds until the board loses reads and is reset by its link: the driver cannot find out which device did
/// not answer. [`Query::doubts`] is raised then, and a region of another device's memory is only written from then
/// on. Reads of it fail with the status `ATT_PERMISSION`, and a record of a write says nothing about its arrival, as
/// for a region that is registered for writing alone. Unregister the region and register it again, which makes the
/// proof again.
///
/// `EXDEV`: the board cannot read from the memory's device, or is not allowed to (`peer_reads=0`), or the proof is
/// missing ([`register::PROVED_ONLY`]), or the driver has no room for another device (64 pairs of a board and a
/// device): register the memory for writing alone. `EAGAIN`: also when reads of the board are down after a failed
/// one. `EINVAL`: no bytes, no or unknown bits of `access` or `flags`, or bytes that are not all in the dma-buf.
/// `ESTALE`: the owner has invalidated the memory, or its device is gone. `EFBIG`: the region needs more ATT entries
/// than the context can ever hold ([`Info::most_entries`]), so register less of the memory at a time;
/// [`Register::entries`] says how many. `ENOSPC`, `EDQUOT`, `ENOMEM`: so many entries are not free at the moment, or
/// this user may not have so many, or too much memory is pinned. `EREMOTEIO`: the kernel does not know that the board
/// can reach the device. `EHOSTUNREACH`: the memory's own driver does not let the board into it. `ENOBUFS`: that
/// driver had no room to map it, for example in the BAR of a GPU. `EPROTO`: that driver hands it over wrongly.
/// `EACCES`: the board is to write, and the dma-buf is open for reading only. `EOPNOTSUPP`: the driver does not have
/// this provider.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Register {
    /// In: [`provider`].
    pub provider: u32,
    /// In: bits of [`access`], one at least.
    pub access: u32,
    /// In: first byte: an address of the process, or the offset in the dma-buf.
    pub address: u64,
    /// In: bytes, at least 1.
    pub length: u64,
    /// In: identity of the buffer, where addresses are used again, for example CUDA's
    /// `CU_POINTER_ATTRIBUTE_BUFFER_ID`. Ignored for dma-bufs.
    pub identity: u64,
    /// In: the dma-buf; -1 for others.
    pub fd: i32,
    /// In: bits of [`register`].
    pub flags: u32,
    /// Out: names the region; never 0.
    pub handle: u32,
    /// Out: log2 of the ATT pages; with [`register::MIXED`], of the largest.
    pub page_shift: u32,
    /// Out: the ATT address of the first byte. The addresses of the next bytes follow, up to the
    /// second extent if the region has one.
    pub att_address: u64,
    /// Out: ATT entries; with `EFBIG`, the number that the region needs at least.
    pub entries: u32,
    /// Out: 1 if a cached region was found, 0 if a region was made.
    pub found: u32,
    /// Out: 0 if the board reads the memory without a proof ([`feature::PROVED_PEERS`]), or not at all. Else the proof
    /// holds as long as [`Query::doubts`] is less than this.
    pub proof: u64,
    /// Out: bytes at the end of the region that are a second and a third extent, in this order, with ATT addresses of
    /// their own; 0: the region does not have this extent. Only with [`register::MIXED`].
    pub second_length: u64,
    /// Out: the ATT address of the second extent's first byte.
    pub second_att_address: u64,
    /// Out: as `second_length`.
    pub third_length: u64,
    /// Out: as `second_att_address`.
    pub third_att_address: u64,
}

/// Bits of [`Register::flags`].
pub mod register {
    /// No read is risked: memory of a device from which the board was not yet seen to read is refused for reading
    /// (`EXDEV`). The bit changes nothing without [`PROVED_PEERS`](super::feature::PROVED_PEERS). Drivers that do not
    /// know that feature refuse the bit (`EINVAL`).
    pub const PROVED_ONLY: u32 = 1;
    /// The ATT pages may be of two sizes: of 4 KiB at the start and at the end, and larger ones between. Memory of a
    /// process often has such a layout, and would otherwise take an entry for each 4 KiB. The region has up to three
    /// extents then, and a descriptor must not cross from one to the next: [`SUBMIT`](super::SUBMIT) refuses such
    /// bytes (`EINVAL`). With [`MIXED`](super::feature::MIXED). `EINVAL`: the caller's structure has no room for
    /// three extents.
    pub const MIXED: u32 = 2;
}

/// Argument of [`UNREGISTER`].
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unregister {
    /// The region.
    pub handle: u32,
    /// Bits of [`unregister`].
    pub flags: u32,
}

/// Bits of [`Unregister::flags`].
pub mod unregister {
    /// The region may stay mapped for a later [`REGISTER`](super::REGISTER) of the same memory. Without this bit the
    /// board cannot reach the memory any more when the call returns: descriptors of the region that have not ended
    /// fail. Its ATT entries count as the context's until those descriptors have ended.
    pub const KEEP: u32 = 1;
}

/// Argument of [`SUBMIT`]. `EAGAIN` also means that the channel has the largest possible number of descriptors of
/// this direction in progress: [`WAIT`] for one of them. `ENOENT`: the region does not exist. `ESTALE`: its owner has
/// invalidated the memory. `EINVAL`: the bytes are not all in the region, or not all in one of its extents
/// ([`register::MIXED`]), or not all in the context's FPGA memory. `EBUSY`: the process writes descriptors itself.
///
/// A board whose `CAPS2` has a write granularity of 4 bytes writes whole dwords of the bus. Where a write to host
/// memory begins or ends inside a dword, the driver writes these 1 to 3 bytes itself, before the rest. The call then
/// waits until all writes have ended that the context submitted before, and with [`submit::AFTER_READ`] all reads. A
/// signal ends that wait with nothing written, as it ends the wait of [`WAIT`]. The driver's write takes an ATT entry
/// while it lasts: `EDQUOT`, `ENOSPC`, `ENOMEM`. A call that fails later, as with `EAGAIN`, may have written these
/// bytes but not the rest. `EOPNOTSUPP`: such a write to a dma-buf, or to memory of an NVIDIA GPU.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Submit {
    /// In: 0 writes the region (FPGA → peer), 1 reads it; in C `enum peerlane_direction`.
    pub direction: u32,
    /// In: bits of [`submit`].
    pub flags: u32,
    /// In: the region.
    pub handle: u32,
    /// In: bytes, at least 1.
    pub length: u32,
    /// In: first byte in the region.
    pub offset: u64,
    /// In: first byte in FPGA memory.
    pub local: u64,
    /// Out: names the descriptor, with its direction.
    pub cookie: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bits of [`Submit::flags`].
pub mod submit {
    /// Do not make sure that the data have arrived before the completion is reported.
    pub const NO_FLUSH: u32 = 1;
    /// Start when all writes submitted before have ended.
    pub const AFTER_WRITE: u32 = 2;
    /// Start when all reads submitted before have ended. A write then finds their data in FPGA memory, if the board's
    /// BSP has no interconnect stage between the block and that memory. This is Peerlane's default. Where it is
    /// otherwise, `peerlane check` of the BSP reports it, and the program has to wait.
    pub const AFTER_READ: u32 = 4;
}

/// Argument of [`WAIT`]. A call that succeeds reports how the descriptor ended; `ABORTED` if a reset of the board has
/// ended it. `ENOENT`: the descriptor does not exist, or the context has since submitted as many descriptors of its
/// direction as the ring has slots.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wait {
    /// In: as in [`Submit::direction`].
    pub direction: u32,
    /// In: the cookie that [`SUBMIT`] returned.
    pub cookie: u32,
    /// In: time at which the call gives up, in nanoseconds of CLOCK_MONOTONIC: it returns `ETIME` then, and not
    /// before. 0, or another moment that has passed, looks once; [`NEVER`] waits without a limit. `EINVAL` if it is
    /// negative. A signal interrupts the call. If the signal's handler was installed with SA_RESTART the call goes
    /// on, else it ends with `EINTR` and may be made again.
    pub deadline_ns: i64,
    /// Out: how the descriptor ended; 0 is success. In C `enum peerlane_status_code`.
    pub status: u32,
    /// Out: bytes moved.
    pub bytes_done: u32,
    /// Out: ATT address of the failing request, 0 if none failed.
    pub fault_address: u64,
    /// Zero.
    pub reserved: u64,
}

/// Argument of [`QUERY`]: zeros but for the flags; the driver overwrites all of it. A process that writes descriptors
/// itself must ask when it has mapped the page, which takes no doorbell before. It must ask again whenever `poll`
/// reports an event, an expected record does not come, or a slot is marked empty. If the generation differs then,
/// ring and queue start from the beginning: the next record is expected in the first slot with the phase, sequence
/// and `freed` of the beginning, and descriptors that had no record by then will not get one. A driver that is
/// unbound answers all calls with `ENODEV`, and `poll` with `POLLHUP` and `POLLERR`; the ring then shows empty slots
/// permanently.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Query {
    /// Interrupts of the channel so far, or without [`MSIX`](feature::MSIX) of any channel of the board, and other
    /// reasons to look at the ring. A call that succeeds acknowledges this number of events: `poll` reports readable
    /// while there are more.
    pub events: u64,
    /// Raised when the block had to be reset: the ring starts again at its first slot, descriptors that were
    /// submitted before are lost, and everything is registered as before. A process that writes descriptors itself
    /// gets the new value here. Its doorbells are refused from the time when it maps the page, and after each time
    /// that this is raised, until a successful call has returned the present value. The counter wraps after 2^32:
    /// test whether it differs.
    pub generation: u32,
    /// Bits of [`state`].
    pub state: u32,
    /// Descriptors that were accepted and have not ended: writes, reads.
    pub outstanding: [u32; 2],
    /// Regions that have a handle, and cached regions without one.
    pub regions: [u32; 2],
    /// Bytes of both.
    pub region_bytes: [u64; 2],
    /// Times that the owner of a region has invalidated its memory. The fault address of a failed transfer
    /// says which region it was.
    pub revoked: u64,
    /// Times, since the driver took the board, that more than the block was reset, or may have been: a reset of the
    /// function or of its link, an error of the bus that such a reset fixed, a sleep, and a configuration of the
    /// FPGA, by [`REPROGRAM`] or without the driver's knowledge. The earlier contents of FPGA memory and the earlier
    /// state of the OpenCL kernels, their registers and their clock are unknown then, and a program that depends on
    /// them starts over. Each of these events also raises `generation`, but this counter first, so a process that
    /// finds another `generation` finds this raised. Where only `generation` was raised, the block was reset alone:
    /// of the rest, only data that transfers were writing are lost. Without [`feature::RESETS`] it is 0.
    pub resets: u64,
    /// Times that the board lost reads and any device that it reads may be the cause ([`Register::proof`]). It is
    /// raised before `generation`.
    pub doubts: u64,
    /// In: bits of [`query`]; others are `EINVAL`. Out: zero.
    pub flags: u64,
}

/// Bits of [`Query::flags`].
pub mod query {
    /// The call acknowledges no events, and the driver does not take the generation as known to the process. A thread
    /// uses this while another thread of the process waits for events. With [`PEEK`](super::feature::PEEK).
    pub const PEEK: u64 = 1;
}

/// Bits of [`Query::state`].
pub mod state {
    /// The board does not answer any more, or the driver has released it.
    pub const GONE: u32 = 1;
}

/// Argument of [`EVENTFD`].
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventFd {
    /// The eventfd that each event adds 1 to; -1: none any more.
    pub fd: i32,
    /// Zero.
    pub flags: u32,
}

/// Argument of [`STOP`]. Descriptors that it ends have their records like all others, in the ring when the call
/// returns; the channel goes on accepting. Data that writes had sent before they were ended may reach a peer's memory
/// a moment later, for they come by another port of the switch: [`FLUSH`] the region before the memory is used for
/// something else. A concurrent [`SUBMIT`] waits until the stop is done, and its descriptor is not ended. Doorbells
/// of the process's own are refused until then. `EIO`: the board does not do it, or was reset without the driver's
/// knowledge and has lost all its descriptors. `EAGAIN`: the board is being started again, as it is after `EIO`. Such
/// a start ends all descriptors, without records: [`Query::generation`] changes when it happens.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stop {
    /// In: moment until which accepted descriptors may end by themselves, in nanoseconds of CLOCK_MONOTONIC; a second
    /// from now at the latest. 0, or another moment that has passed, aborts them at once; `EINVAL` if it is negative.
    pub deadline_ns: i64,
    /// Out: 1 if some descriptors had to be aborted.
    pub aborted: u32,
    /// Zero.
    pub reserved: u32,
}

/// Argument of [`FLUSH`]. When the call returns successfully, the data that the board had written to the region
/// before the call have arrived: the data of writes whose records are in the ring, and of writes that [`STOP`] has
/// ended. A write that succeeds makes sure of that by itself, but not a write that fails, is ended, or asks for no
/// flush ([`submit::NO_FLUSH`]). The board reads from a peer's memory for it, and never from memory that is
/// registered for writing alone: see [`access::WRITE`]. Other transfers go on during the call.
///
/// `ENOENT`: the region does not exist. A region that the context unregistered without [`KEEP`](unregister::KEEP) had
/// its flush then. A region whose owner has invalidated the memory also had its flush, and gives no error. `EIO`: the
/// board did not do it, or was reset without the driver's knowledge.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flush {
    /// The region.
    pub handle: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bytes that [`PROBE`] reads.
pub const PROBE_BYTES: usize = 64;

/// Argument of [`PROBE`].
///
/// The board reads [`PROBE_BYTES`] bytes of the region into FPGA memory and writes them from there into memory of the
/// driver. The driver does not compare the bytes but returns them. `EINVAL`: the bytes are not all in the region, or
/// not all in one of its extents ([`register::MIXED`]).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// In: the region; it must be one that the board may read.
    pub handle: u32,
    /// Out: how the read ended; 0 is success. In C `enum peerlane_status_code`.
    pub status: u32,
    /// In: first byte in the region.
    pub offset: u64,
    /// In: address in FPGA memory for the bytes.
    pub local: u64,
    /// Out: the bytes that the board read.
    pub data: [u8; PROBE_BYTES],
    /// Zero.
    pub reserved: [u64; 2],
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            handle: 0,
            status: 0,
            offset: 0,
            local: 0,
            data: [0; PROBE_BYTES],
            reserved: [0; 2],
        }
    }
}

/// Argument of [`MODERATE`]: `CHANNEL_MODERATION` of the register map.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moderate {
    /// Number of completions that ask for an interrupt after which one is raised, 255 at most; 0 is as 1.
    pub count: u32,
    /// Longest time from the first of these completions to the interrupt, in units of 256 cycles of the PCIe clock,
    /// 65535 at most; 0: no limit by time, so that the last completions may never raise an interrupt.
    pub age: u32,
}

/// Argument of [`ALLOCATE`]: one range of FPGA memory. A context has none at first. The block lets its channel access
/// nothing else.
///
/// Requests are served in their order of arrival. The range is zero when the call returns,
/// without earlier data of other contexts: the board itself fills it, at a few gigabytes a second. A signal
/// interrupts the call as it interrupts [`WAIT`]: the call is made again, or ends with `EINTR`, and the context has
/// nothing then. The next call does not fill again the part that was filled, unless another context took it in
/// between.
///
/// The memory belongs to the context until [`FREE`] or the end of the context, through every restart of the board, in
/// which it may lose its content ([`Query::generation`]).
///
/// `EINVAL`: no bytes, or invalid flags, base or token. `EEXIST`: the context has memory already. `EBUSY`: the
/// process writes the channel's descriptors itself ([`map::PAGE`]), some that the driver wrote have not ended, or,
/// with [`ALL`](allocate::ALL), another context holds all. `EDQUOT`: the user may not have so much more. `ENOSPC`: so
/// much is not free in one piece; also while another context holds all. `ENOENT`: nothing is offered under the token.
/// `EPERM`: the caller may not hold all. `EAGAIN`: the board is being started again, which ends all offers.
/// `ECANCELED`: [`STOP`] was called during the call. `EIO`: the board could not fill it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allocate {
    /// In: bytes, at least 1; with [`ALL`](allocate::ALL) the smallest size that is of use; 0 with
    /// [`TAKE_OVER`](allocate::TAKE_OVER). Out: bytes of the range, in whole 64 KiB.
    pub bytes: u64,
    /// In: zero. Out: FPGA address of the first byte, a multiple of 64 KiB.
    pub base: u64,
    /// In: bits of [`allocate`], one at most.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// In: with [`TAKE_OVER`](allocate::TAKE_OVER) the token that [`FREE`] returned, else zero.
    pub token: [u64; 2],
}

/// Bits of [`Allocate::flags`].
pub mod allocate {
    /// Hold all memory that no other context has, from address 0 up to the memory that others have allocated or,
    /// where the administrator has reserved a part for them, up to that part. One context at a time can hold it. It
    /// is not filled with zeros: this is for processes that load kernels into the FPGA, and these kernels reach all
    /// of its memory anyway. By default it takes `CAP_SYS_RAWIO`.
    ///
    /// A kernel in the FPGA that still runs when the holder frees this, closes its file or is killed would write into
    /// memory that other contexts get. Where the driver knows the board's OpenCL side
    /// ([`feature::OPENCL`](super::feature::OPENCL)) it resets the kernels when the OpenCL side is released. On other
    /// boards, and for a process that runs kernels without holding the OpenCL side, the kernels are not reset: stop
    /// them before. An administrator who grants the right to hold all memory accepts that.
    pub const ALL: u32 = 1;
    /// Take over memory that was offered ([`free::OFFER`](super::free::OFFER)), with its contents.
    pub const TAKE_OVER: u32 = 2;
}

/// Argument of [`FREE`]: the context frees its FPGA memory, and may allocate again.
///
/// `ENOENT`: the context has no memory. `EBUSY`: the process writes the channel's descriptors itself, some that the
/// driver wrote have not ended, or the context holds the board's window ([`WINDOW`]) or its OpenCL side ([`OPENCL`]).
/// `EINVAL`: invalid flags, or the holder of all offers it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Free {
    /// In: bits of [`free`].
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// In: zero. Out: with [`OFFER`](free::OFFER), the token for [`ALLOCATE`].
    pub token: [u64; 2],
}

/// Bits of [`Free::flags`].
pub mod free {
    /// A context with the returned token may take the memory over, once, with all its contents: the token is a
    /// secret. The offer ends when the memory is needed for another context and when the board is started again. The
    /// driver keeps 32 offers: another one replaces the oldest offer of a user with more than a fair share of them.
    pub const OFFER: u32 = 1;
}

/// Argument of [`WINDOW`]: FPGA address for the board's window into FPGA memory, which processes map at
/// [`map::WINDOW`].
///
/// A board has one window, and one context at a time holds it. A call of the holder moves it: when the call returns,
/// every store through it that was made before has gone to the old place, and every later store goes to the new
/// place. Stores that other threads make during the call go to one of the two or nowhere. The context releases the
/// window by this call, and when it is closed.
///
/// While the block is reset and started again the window shows nothing and stores are lost; [`Query::generation`]
/// changes then. After the start the window is at its earlier place.
///
/// An error changes nothing: a window that was held is still held, at its place. `EIO` and `ENODEV` may come from the
/// middle of a move: after them the window shows nothing until a call succeeds or the block was started again.
///
/// `EOPNOTSUPP`: the board has no window. `EINVAL`: not at a multiple of 64 KiB. `EPERM`: not all of it is in the
/// memory that the channel may access. `EBUSY`: another context holds it. `EAGAIN`: the board is being started again.
/// `ENOENT`: the call releases a window that is not held.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// FPGA address of the first byte that the window shows; 0 with
    /// [`RELEASE`](window::RELEASE).
    pub base: u64,
    /// Bits of [`window`].
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bits of [`Window::flags`].
pub mod window {
    /// Releases the window.
    pub const RELEASE: u32 = 1;
}

/// Areas of the OpenCL side: [`Access::area`], and indices of [`OpenCl::bytes`] for those that it has.
pub mod area {
    /// The interface to the kernels (`acl_kernel_interface`): its control registers, the window into the kernels'
    /// registers, and the text that describes them.
    pub const KERNELS: u32 = 0;
    /// The kernels' clock (`acl_kernel_clk`).
    pub const CLOCK: u32 = 1;
    /// The board's version (`version_id`). Only read.
    pub const VERSION: u32 = 2;
    /// The FPGA's temperature. Only read.
    pub const TEMPERATURE: u32 = 3;
    /// Whether the board's memory is calibrated (`uniphy_status`): a dword, 0 when all of it is. Only read. Before
    /// that, memory answers neither the block nor kernels.
    pub const STATUS: u32 = 4;
}

/// Argument of [`OPENCL`]: the context acquires the board's OpenCL side, which is the registers of [`area`] and the
/// kernels' interrupt.
///
/// A kernel in the FPGA reaches all of its memory, so only the context that holds all free memory ([`allocate::ALL`])
/// can acquire this, one context at a time. The OpenCL side is released by this call, by the end of the context or of
/// its process. All kernels are then reset before another context gets the memory.
///
/// The process is the one that has made this call. When it ends, or becomes another program and thereby closes a
/// descriptor of the file (`O_CLOEXEC`), even if it keeps another one, the context loses the OpenCL side, its FPGA
/// memory and the window, even if other processes have the file open. (An exception is a process that shares its
/// table of descriptors with another process, `CLONE_FILES` without `CLONE_THREAD`: there the side stays until the
/// table is closed.) So a child that it made before gets `EPERM`, and its transfers find no memory. A [`REPROGRAM`]
/// that is in progress ends first.
///
/// A holder can affect others, on purpose or not: its kernels read and write all FPGA memory, that of other contexts,
/// too. They never reach registers of Peerlane, nor another context's host or GPU memory. A new design of the FPGA
/// could, so loading one takes another right ([`REPROGRAM`]).
///
/// A holder can also block the whole BAR. Kernels' registers answer in their own clock. If the holder stops that
/// clock ([`area::CLOCK`]) and then accesses one of these registers, the access is never answered, and all later
/// accesses wait. Not even an access that would reset the kernels or their clock is known to pass it; no board was
/// tried. All transfers end then, the driver takes from the board its right to reach memory, and all calls give
/// `ENODEV` until the FPGA is configured again and the function is reset. The clock stays as it was set until a
/// holder sets it again. The processor that made the access waits until the root port gives up (Completion Timeout),
/// and the machine's firmware may take that for a fatal error.
///
/// An administrator who grants the right to hold all memory accepts that.
///
/// `EOPNOTSUPP`: the driver does not know an OpenCL side of this board. `EPERM`: the context does not hold all
/// memory. `EBUSY`: another context has the OpenCL side. `EEXIST`: the context has it already. `ENOENT`: the call
/// releases an OpenCL side that is not held. `EINVAL`: invalid flags, or an eventfd for a release. `EBADF`: the
/// descriptor is not an eventfd.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenCl {
    /// In: bits of [`opencl`].
    pub flags: u32,
    /// In: the eventfd that each interrupt of the kernels adds 1 to; -1: none, and for a release.
    pub fd: i32,
    /// Out: bytes of each [`area`] but [`STATUS`](area::STATUS); 0: the driver does not know its address.
    pub bytes: [u64; 4],
    /// Out: bytes to map at [`map::KERNELS`]; 0: the interface shares pages with something else, and is reached by
    /// [`ACCESS`] only.
    pub map_bytes: u64,
    /// Out: bytes of [`area::STATUS`]; 0: the driver does not know its address, or does not know such an area. In:
    /// zero.
    pub status_bytes: u64,
    /// Zero.
    pub reserved: u64,
}

/// Bits of [`OpenCl::flags`].
pub mod opencl {
    /// Releases the OpenCL side.
    pub const RELEASE: u32 = 1;
}

/// The longest [`Access`], in bytes.
pub const ACCESS_BYTES: usize = 4096;

/// Argument of [`ACCESS`]: bytes of an area are copied from or to the process's memory, in ascending order, 4 at a
/// time where they are aligned so, else 2 or 1: no other byte is accessed. A store to a register that resets the
/// kernels or their clock returns when the reset has ended: another store there before would never be taken.
///
/// `EPERM`: the context does not hold the OpenCL side. `EINVAL`: an unknown area, bytes that are not all in the area,
/// no bytes or more than [`ACCESS_BYTES`], a store to a read-only area, or invalid flags. `EFAULT`: not memory of the
/// process. `EAGAIN`: the board is being started again; some of the bytes may have been written. `ENODEV`: the same;
/// or the board has answered a read with ones because it is not there, and nothing was read.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    /// One of [`area`].
    pub area: u32,
    /// Bits of [`access_flags`].
    pub flags: u32,
    /// First byte in the area.
    pub offset: u64,
    /// First byte in the process.
    pub address: u64,
    /// Bytes.
    pub length: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bits of [`Access::flags`].
pub mod access_flags {
    /// The bytes are written, not read.
    pub const WRITE: u32 = 1;
}

/// Argument of [`ARM`]: the next interrupt of the kernels adds 1 to the eventfd of [`OpenCl::fd`], and is the last
/// one until the next call. An interrupt that is already pending counts as the next one. A start of the board, in
/// which kernels may have been reset, adds 1, too. An event may also come without a reason: look at the kernels.
///
/// `EPERM`: the context does not hold the OpenCL side. `EINVAL`: invalid flags. `EOPNOTSUPP`: the kernels' interrupt
/// is not connected. `EAGAIN`: the board is being started again.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arm {
    /// Bits of [`arm`].
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bits of [`Arm::flags`].
pub mod arm {
    /// Disables the interrupt until the next call.
    pub const DISARM: u32 = 1;
}

/// Argument of [`REPROGRAM`]: a bracket around a new configuration of the FPGA. The caller configures the FPGA: with
/// a tool, or by [`CONFIGURE`].
///
/// [`BEGIN`](reprogram::BEGIN) ends all contexts' transfers. From then on the board reaches no memory, no process
/// reaches the board, and calls that need it are refused with `EAGAIN`. If the board's link goes down, that is
/// neither an error that the port above would report nor the removal of the board from its slot: all hot-plug events
/// of the slot are ignored. [`END`](reprogram::END) restores the function's configuration, checks whether the FPGA
/// has the same kind of block again, and starts it as after every reset: contexts stay open, their registered memory
/// is reachable as before, and their [`Query::generation`] is raised. FPGA memory holds the data that the new
/// configuration left in it. The end of the context or of its process is an `END`, too.
///
/// Only the port directly above the board, and drivers of the kernel, are notified. Others that watch the link, for
/// example the machine's firmware, may still take the board for gone, unless the link is disabled before it goes down
/// ([`LINK_OFF`](reprogram::LINK_OFF)).
///
/// The design that is loaded determines the behaviour of the board as bus master. Without an IOMMU it can read and
/// write all memory of the machine, with one all memory that is mapped for the board. So `BEGIN` takes
/// `CAP_SYS_RAWIO`, even of a context that holds the OpenCL side. The administrator can give the right to all
/// processes that hold the OpenCL side (`configure_all`), but not on a machine whose IOMMU does not translate the
/// board's addresses, or does not see all requests of the board. Such a bracket ends by itself after `configure_s`
/// seconds, as with the end of the context. No process has the right while the kernel is locked down.
///
/// `EPERM`: the context does not hold the OpenCL side, or the caller does not have this right. `EALREADY`: it has
/// begun already. `ENOENT`: it has not begun. `EAGAIN`: the board is being started again, or put to sleep. `EINVAL`:
/// invalid flags. `EIO` of an `END`: no board answers, or its FPGA has no configuration, or the configuration that
/// was found cannot be started or is a different one; the kernel's log says which. The bracket stays open then: `END`
/// can be tried again, after another configuration, too.
///
/// The context ends when the last copy of its file is closed. So a program that runs a tool for the configuration
/// lets another process keep a copy and wait for the tool: if the caller is killed, the bracket ends after the tool.
/// The tool itself gets no copy, as it may leave other processes running. Without such a process the end of the
/// caller starts any board that answers at that moment, and an FPGA that is configured in part does not answer. A
/// process that has the file can also end the bracket with [`END`](reprogram::END), which does not wait for other
/// copies to be closed: if the caller has ended, the context loses the OpenCL side then.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reprogram {
    /// One of [`reprogram`].
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// Values of [`Reprogram::flags`].
pub mod reprogram {
    /// The board is stopped.
    pub const BEGIN: u32 = 1;
    /// The board is started again.
    pub const END: u32 = 2;
    /// A call between `BEGIN` and `END`, for a configuration by another way than the link. The port above disables
    /// the link until the board is started again. A link that goes down this way is not an error by the
    /// specification, whether firmware or kernel handles errors. A link that goes down by surprise may have the
    /// firmware restart the machine. A port that does not have such a bit leaves the link as it is. From then on
    /// [`CONFIGURE`](super::CONFIGURE) finds no board.
    pub const LINK_OFF: u32 = 4;
}

/// The largest number of bytes of an image for [`CONFIGURE`].
pub const CONFIGURE_BYTES: u64 = 64 << 20;

/// Argument of [`CONFIGURE`]: the FPGA's core is configured over PCIe (CvP, of the V-series hard IP), by the context
/// that has begun a [`REPROGRAM`]. The image is that of the core alone (`.core.rbf`), for the periphery that the FPGA
/// has.
///
/// The driver copies the image first. From then on a signal, `SIGKILL` too, takes effect when the FPGA is configured,
/// because an FPGA that is configured in part does not work as a board. With an image of 32 MiB that takes some
/// seconds.
///
/// `EPERM`: the caller may not begin a [`REPROGRAM`]. `ENOENT`: the context has not begun one, or its time is over.
/// `EOPNOTSUPP`: the board does not have [`feature::CVP`]. `EINVAL`: no bytes or more than [`CONFIGURE_BYTES`], or an
/// unknown packing. `EFAULT`: not memory of the process. `ENOMEM`: no memory for the image. `EAGAIN`: the board is
/// being reset, or put to sleep. `EIO`: the FPGA was not configured; the kernel's log says why. It may have no
/// configuration then, which [`REPROGRAM`]'s [`END`](reprogram::END) refuses. The call can be tried again, in the
/// same bracket.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Configure {
    /// First byte of the image in the process.
    pub address: u64,
    /// Bytes. If they are not a multiple of 4, zeros follow.
    pub length: u64,
    /// One of [`packing`].
    pub packing: u32,
    /// Zero.
    pub reserved: u32,
}

/// How an image is packed: [`Configure::packing`].
pub mod packing {
    /// As the hard IP reports the packing of its images.
    pub const AS_TOLD: u32 = 0;
    /// Neither compressed nor encrypted.
    pub const PLAIN: u32 = 1;
    /// Encrypted, not compressed.
    pub const ENCRYPTED: u32 = 2;
    /// Compressed.
    pub const COMPRESSED: u32 = 3;
}

/// Argument of [`STREAM`]. A stream moves data between the FPGA's logic and a region, by descriptors that the process
/// writes to its channel ([`map::PAGE`]): their local address names the stream instead of FPGA memory. One context at a
/// time holds a stream. Descriptors of others that name it end with `LOCAL_RANGE`.
///
/// [`OPEN`](stream::OPEN) takes a free stream, or opens one again that the context holds. The words of a stream move
/// while it is open. Each start of the board closes all streams ([`Query::generation`]). The context still holds them, and
/// opens them again.
///
/// `EOPNOTSUPP`: the board does not have [`feature::STREAMS`]. `EINVAL`: invalid flags, or a stream or a limit that the
/// board does not have. `EBUSY`: another context holds the stream. `EPERM`: the call does not open a stream, and the
/// context does not hold it. `EAGAIN`: the board is being reset, or put to sleep; the context then holds the stream if
/// it did before.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stream {
    /// In: its number among the streams of the direction.
    pub number: u32,
    /// In: bits of [`stream`]. Without [`OPEN`](stream::OPEN) and [`CLOSE`](stream::CLOSE), the call changes nothing.
    pub flags: u32,
    /// In: with `OPEN` of a stream from the logic, the longest time of a block, in units of 256 cycles of the PCIe
    /// clock, at most 65535; 0: no limit. Else zero.
    pub limit: u32,
    /// Out: bits of [`stream_state`].
    pub state: u32,
    /// Out: bytes that wait in the block. From the logic: that a descriptor can have at once. To the logic: that the
    /// logic has not taken.
    pub waiting: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bits of [`Stream::flags`].
pub mod stream {
    /// A stream from peers to the logic; else one from the logic to peers.
    pub const TO_LOGIC: u32 = 1;
    /// Open the stream, with no words of the time before. It is open some cycles of its clock later:
    /// [`stream_state::OPEN`](super::stream_state::OPEN). A stream that the context has open stays open, with its words;
    /// only the limit changes.
    pub const OPEN: u32 = 2;
    /// Close the stream, and release it. Its words are lost that no descriptor, or not the logic, has taken.
    pub const CLOSE: u32 = 4;
}

/// Bits of [`Stream::state`].
pub mod stream_state {
    /// Words move. It stays 0 while the clock of the stream does not run.
    pub const OPEN: u32 = 1;
}
