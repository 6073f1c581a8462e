//! MSI-X: the table, the pending bits, and the messages (PCI Local Bus Specification 3.0, section
//! 6.8.2; PCI Express Base Specification, "MSI-X Capability and Table Structure").
//!
//! Vector 0 is for general causes, vector 1 for the OpenCL kernel, vector 2 + c for channel c. A cause sets the
//! vector's pending bit. A vector that is pending, and masked neither by itself nor with its function, becomes a
//! message; the pending bit is cleared when the port takes the message, and stays if there is a new cause in that
//! cycle. A masked vector stays pending and is sent when it is unmasked. The specification wants a pending bit
//! withdrawn when its cause is settled while the vector is masked: the kernel's is, as its level falls; whether a
//! completion has been read cannot be seen from here. The kernel's level is pending whenever it is high while its
//! vector is masked. So software that masks the vector, looks at the kernels and unmasks it gets a message if one of
//! them still interrupts.
//!
//! Each vector has its turn, one cycle if it has nothing to send. So between the moment when a vector
//! may be sent and its message there is at most one message of each other vector.
//!
//! The table is a RAM that the host and the messages share, the host first. A message is read word by word, and given
//! up when its vector is masked before the last word: a host masks a vector before it sets a new address. A complete
//! message stays until it is taken, even if the host masks the vector before that. Addresses and data of the table are
//! undefined after a reset of the function, but every vector is masked.

use crate::prim::BlockRam;
use crate::rtl::ports::{PostSource, RegisterSlave};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// Vectors before those of the channels.
pub const FIRST_CHANNEL: usize = 2;

/// MSI-X for up to 64 channels.
#[derive(DocBlock)]
pub struct Msix {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// With the function: every vector is masked. The host sees no other reset.
    pub mask_all: Signal<In, Bit>,
    /// Causes.
    pub general: Signal<In, Bit>,
    /// A level. Its rising edge is the cause, and so is a high level while MSI-X is not enabled or the vector is
    /// masked.
    pub kernel_irq: Signal<In, Bit>,
    pub fired: Signal<In, Bit>,
    pub fired_channel: Signal<In, Bits<6>>,
    /// The host's slave: a dword address, 4 KiB. Reads have a latency of one cycle, writes of less than
    /// a dword do nothing. The table is at 0, the pending bits at 0x800.
    pub table: RegisterSlave<10>,
    /// The function's Message Control register.
    pub enable: Signal<In, Bit>,
    pub function_mask: Signal<In, Bit>,
    /// The message: a write of four bytes.
    pub message: PostSource<32>,

    /// Four words a vector as the host sees them, but for the mask.
    #[given]
    words: BlockRam<Bits<32>, 9>,
    pending: DFF<Bits<66>>,
    /// The vectors that are not masked.
    open: DFF<Bits<66>>,
    kernel_seen: DFF<Bit>,
    /// The vector whose turn it is.
    vector: DFF<Bits<7>>,
    /// Words of its message that have been read.
    word: DFF<Bits<2>>,
    /// One of them is in the RAM's output register.
    landing: DFF<Bit>,
    standing: DFF<Bit>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    data: DFF<Bits<32>>,
    /// The word that the host has read: a word of the table, or this.
    from_table: DFF<Bit>,
    is_address: DFF<Bit>,
    shown: DFF<Bits<32>>,

    entry: Signal<Local, Bits<7>>,
    in_table: Signal<Local, Bit>,
    is_control: Signal<Local, Bit>,
    writing: Signal<Local, Bit>,
    causes: Signal<Local, Bits<66>>,
    kept: Signal<Local, Bits<66>>,
    pending_wide: Signal<Local, Bits<128>>,
    open_wide: Signal<Local, Bits<128>>,
    ready_wide: Signal<Local, Bits<128>>,
    pending_dword: Signal<Local, Bits<2>>,
    may_send: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    pass: Signal<Local, Bit>,
    last_vector: Constant<Bits<7>>,
    used: Constant<Bits<66>>,
}

impl Msix {
    /// MSI-X for `2^channels_log2` channels, at most 64.
    pub fn new(channels_log2: usize) -> Self {
        assert!(channels_log2 <= 6, "2^{channels_log2} channels, at most 64");
        let vectors = FIRST_CHANNEL + (1 << channels_log2);
        let words = 4 * vectors;
        let mut used = Bits::<66>::default();
        for vector in 0..vectors {
            used = used.replace_bit(vector, true);
        }
        Self::fresh(MsixGiven {
            words: BlockRam::new(words.next_power_of_two().ilog2() as usize),
            last_vector: Constant::new((vectors as u64 - 1).into()),
            used: Constant::new(used),
        })
    }
}

impl Logic for Msix {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            pending,
            open,
            kernel_seen,
            vector,
            word,
            landing,
            standing,
            low,
            high,
            data,
            from_table,
            is_address,
            shown
        );
        self.words.write_clock.next = self.clock.val();
        self.words.read_clock.next = self.clock.val();
        self.pending_wide.next = bit_cast::<128, 66>(self.pending.q.val());
        self.open_wide.next = bit_cast::<128, 66>(self.open.q.val());
        self.ready_wide.next = bit_cast::<128, 66>(self.pending.q.val() & self.open.q.val());

        // The host.
        self.entry.next = self.table.address.val().get_bits::<7>(2);
        self.in_table.next =
            !self.table.address.val().get_bit(9) & (self.entry.val() <= self.last_vector.val());
        self.is_control.next = self.table.address.val().get_bits::<2>(0).all();
        self.writing.next =
            self.table.write.val() & self.table.byteenable.val().all() & self.in_table.val();
        self.words.write_enable.next = self.writing.val();
        self.words.write_address.next = self.table.address.val().get_bits::<9>(0);
        self.words.write_data.next = self.table.writedata.val();
        if self.writing.val() & self.is_control.val() {
            self.open.d.next = self.open.q.val().replace_bit(
                self.entry.val().index(),
                !self.table.writedata.val().get_bit(0),
            ) & self.used.val();
        }
        self.from_table.d.next = self.in_table.val() & !self.is_control.val();
        self.is_address.d.next = !self.table.address.val().get_bits::<2>(0).any();
        self.shown.d.next = 0.into();
        self.pending_dword.next = self.table.address.val().get_bits::<2>(0);
        if self.table.address.val().get_bit(9) {
            if !self.table.address.val().get_bits::<7>(2).any() {
                self.shown.d.next = self
                    .pending_wide
                    .val()
                    .get_bits::<32>(self.pending_dword.val().index() * 32);
            }
        } else if self.in_table.val()
            & self.is_control.val()
            & !self.open_wide.val().get_bit(self.entry.val().index())
        {
            self.shown.d.next = 1.into();
        }
        self.table.readdata.next = self.shown.q.val();
        if self.from_table.q.val() {
            self.table.readdata.next = self.words.read_data.val();
            // The two low bits of an address are always 0, regardless of the written value.
            if self.is_address.q.val() {
                self.table.readdata.next = (self.words.read_data.val() >> 2) << 2;
            }
        }

        // Pending bits.
        self.kernel_seen.d.next = self.kernel_irq.val()
            & self.enable.val()
            & !self.function_mask.val()
            & self.open.q.val().get_bit(1);
        self.causes.next = 0.into();
        if self.general.val() {
            self.causes.next = 1.into();
        }
        if self.kernel_irq.val() & !self.kernel_seen.q.val() {
            self.causes.next = self.causes.val() | 2;
        }
        if self.fired.val() {
            self.causes.next =
                self.causes.val() | (bit_cast::<66, 64>(1 << self.fired_channel.val()) << 2);
        }
        self.taken.next = self.standing.q.val() & self.message.take.val();
        self.kept.next = self.pending.q.val();
        if self.taken.val() {
            self.kept.next = self
                .pending
                .q
                .val()
                .replace_bit(self.vector.q.val().index(), false);
        }
        if !self.kernel_irq.val() & (self.function_mask.val() | !self.open.q.val().get_bit(1)) {
            self.kept.next = self.kept.val().replace_bit(1, false);
        }
        self.pending.d.next = 0.into();
        if self.enable.val() {
            self.pending.d.next = (self.kept.val() | self.causes.val()) & self.used.val();
        }

        // Messages.
        self.may_send.next = self.enable.val()
            & !self.function_mask.val()
            & self.ready_wide.val().get_bit(self.vector.q.val().index());
        self.words.read_address.next = self.table.address.val().get_bits::<9>(0);
        self.words.read_enable.next = self.table.read.val();
        self.landing.d.next = false;
        self.pass.next = self.taken.val();
        if self.taken.val() {
            self.standing.d.next = false;
        } else if !self.standing.q.val() {
            if !self.may_send.val() {
                self.word.d.next = 0.into();
                self.pass.next = true;
            } else if self.word.q.val().all() {
                self.standing.d.next = true;
                self.word.d.next = 0.into();
            } else if !self.table.read.val() & !self.table.write.val() {
                self.words.read_address.next = bit_cast::<9, 2>(self.word.q.val())
                    | (bit_cast::<9, 7>(self.vector.q.val()) << 2);
                self.words.read_enable.next = true;
                self.landing.d.next = true;
                self.word.d.next = self.word.q.val() + 1;
            }
        }
        if self.landing.q.val() {
            self.low.d.next = self.high.q.val();
            self.high.d.next = self.data.q.val();
            self.data.d.next = self.words.read_data.val();
        }
        if self.pass.val() {
            self.vector.d.next = self.vector.q.val() + 1;
            if self.vector.q.val() == self.last_vector.val() {
                self.vector.d.next = 0.into();
            }
        }
        self.message.valid.next = self.standing.q.val();
        self.message.address.next = ((bit_cast::<64, 32>(self.low.q.val()) >> 2) << 2)
            | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        self.message.data.next = self.data.q.val();

        if self.reset.val() {
            self.pending.d.next = 0.into();
            self.kernel_seen.d.next = false;
            self.vector.d.next = 0.into();
            self.word.d.next = 0.into();
            self.landing.d.next = false;
            self.standing.d.next = false;
        }
        if self.mask_all.val() {
            self.open.d.next = 0.into();
        }
    }
}
