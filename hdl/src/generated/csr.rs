// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Registers of the block `csr`: decoder, flip-flops and read multiplexer of its Avalon-MM
//! slave.
//!
//! Reads have a latency of one cycle and hold their value until the next. Writes act only with all
//! byte enables set. A stored field or a pulse changes in the cycle after the write; a `_we` strobe
//! and its index are valid in the cycle of the write, beside the slave's `writedata`.

use rust_hdl::prelude::*;

/// Registers of the block `csr`.
#[derive(LogicBlock, Default)]
pub struct CsrRegs {
    /// Clock of the slave and of all other ports.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Slave: word address.
    pub address: Signal<In, Bits<8>>,
    /// Slave: read request.
    pub read: Signal<In, Bit>,
    /// Slave: write request.
    pub write: Signal<In, Bit>,
    /// Slave: data to write.
    pub writedata: Signal<In, Bits<32>>,
    /// Slave: bytes to write; all four or the write is ignored.
    pub byteenable: Signal<In, Bits<4>>,
    /// Slave: data of the read in the cycle before.
    pub readdata: Signal<Out, Bits<32>>,
    /// BUILD_ID.value: First 32 bits of the SHA-256 of the map's canonical form followed by the
    /// build parameters.
    pub build_id: Signal<In, Bits<32>>,
    /// CAPS0.channels: Number of channels, and so of 4 KiB channel pages.
    pub caps0_channels: Signal<In, Bits<8>>,
    /// CAPS0.port_bytes: Width of the PCIe port: 16 (128-bit) or 32 (256-bit).
    pub caps0_port_bytes: Signal<In, Bits<8>>,
    /// CAPS0.txs_addr_bits: Width of the addresses that the PCIe port takes: 64, an ATT entry holds
    /// a PCIe bus address; 32, it holds an address inside the PCIe IP's own translation windows.
    pub caps0_txs_addr_bits: Signal<In, Bits<8>>,
    /// CAPS1.queue_log2: Depth of each descriptor queue. There is one queue a direction.
    pub caps1_queue_log2: Signal<In, Bits<8>>,
    /// CAPS1.att_log2: Number of ATT entries.
    pub caps1_att_log2: Signal<In, Bits<8>>,
    /// CAPS1.max_burst_log2: Longest request that the block gives to the PCIe port.
    pub caps1_max_burst_log2: Signal<In, Bits<8>>,
    /// CAPS1.mem_addr_bits: Bytes of FPGA memory, log2. A descriptor that reaches beyond ends with
    /// LENGTH and moves nothing.
    pub caps1_mem_addr_bits: Signal<In, Bits<8>>,
    /// CONTROL.enable: 1: queued descriptors are executed. 0: no new descriptor is started; one
    /// that runs is finished.
    pub control_enable: Signal<Out, Bit>,
    /// CONTROL.irq_enable: 1: the interrupt line is high while any bit of IRQ_STATUS is set. 0: the
    /// line is low; IRQ_STATUS is kept.
    pub control_irq_enable: Signal<Out, Bit>,
    /// CONTROL.reset: Write 1: the descriptors that run end with ABORTED at their next request,
    /// then the queues are emptied without a record for what was in them. STATUS reads 0 when it is
    /// done. The ATT, the rings and the other fields of this register are kept. Completions that
    /// are still owed to reads stay counted (STATUS.read_quarantine).
    pub control_reset: Signal<Out, Bit>,
    /// STATUS.write_busy: The write engine (FPGA to peer) is executing a descriptor, or its queue
    /// is not empty.
    pub status_write_busy: Signal<In, Bit>,
    /// STATUS.read_busy: The read engine (peer to FPGA) is executing a descriptor, or its queue is
    /// not empty.
    pub status_read_busy: Signal<In, Bit>,
    /// STATUS.read_quarantine: A read timed out and its completion has not come. No read is issued
    /// until every completion that is owed has arrived and been dropped, or the driver writes
    /// QUARANTINE.
    pub status_read_quarantine: Signal<In, Bit>,
    /// STATUS.att_sweep: The ATT is being cleared after a reset of the block. Wait for 0 before the
    /// first write to the ATT.
    pub status_att_sweep: Signal<In, Bit>,
    /// STATUS.completer_busy: Completion records or interrupts wait to be sent.
    pub status_completer_busy: Signal<In, Bit>,
    /// IRQ_STATUS.completion: A descriptor with `irq` set has ended, and its completion record, if
    /// it asked for one, was sent before.
    pub irq_status_completion: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.completion.
    pub irq_status_completion_set: Signal<In, Bit>,
    /// IRQ_STATUS.error: A descriptor has ended with a status code other than OK.
    pub irq_status_error: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.error.
    pub irq_status_error_set: Signal<In, Bit>,
    /// IRQ_STATUS.refused: A doorbell of any channel was refused. The channel's REFUSED register
    /// says which.
    pub irq_status_refused: Signal<Out, Bit>,
    /// Sets IRQ_STATUS.refused.
    pub irq_status_refused_set: Signal<In, Bit>,
    /// READ_TIMEOUT.cycles: Time without an answer after which the descriptor ends with
    /// READ_TIMEOUT and the read port goes into quarantine. The reset value is 50 ms at 250 MHz. 0
    /// turns the timeout off.
    pub read_timeout_cycles: Signal<Out, Bits<32>>,
    /// ATT_OWNER.channels: One bit a channel: the mask that is stored with an ATT entry when its
    /// high word is written. A channel whose bit is 0 cannot use the entry.
    pub att_owner_channels: Signal<Out, Bits<8>>,
    /// QUARANTINE.drop_owed: Write 1: forgets the completions that are still owed, and opens the
    /// read port. Only correct after a link reset or a similar event made sure that none of them
    /// can come any more: a late completion would be taken as the answer to a new read.
    pub quarantine_drop_owed: Signal<Out, Bit>,
    /// COUNTER_SNAPSHOT.take: Write 1: the counter registers show the values of this moment until
    /// the next snapshot. Before the first one they read as 0.
    pub counter_snapshot_take: Signal<Out, Bit>,
    /// WINDOW.base: Bits 39:16 of the byte address in FPGA memory that the first byte of the window
    /// shows.
    pub window_base: Signal<Out, Bits<24>>,
    /// WRITE_BYTES.value: Count at the last snapshot.
    pub write_bytes: Signal<In, Bits<64>>,
    /// WRITE_REQUESTS.value: Count at the last snapshot.
    pub write_requests: Signal<In, Bits<64>>,
    /// READ_BYTES.value: Count at the last snapshot.
    pub read_bytes: Signal<In, Bits<64>>,
    /// READ_REQUESTS.value: Count at the last snapshot.
    pub read_requests: Signal<In, Bits<64>>,
    /// RECORDS.value: Count at the last snapshot.
    pub records: Signal<In, Bits<64>>,
    /// STALL_TXS.value: Count at the last snapshot.
    pub stall_txs: Signal<In, Bits<64>>,
    /// STALL_TAGS.value: Count at the last snapshot.
    pub stall_tags: Signal<In, Bits<64>>,
    /// STALL_MEM.value: Count at the last snapshot.
    pub stall_mem: Signal<In, Bits<64>>,
    /// IRQS.value: Count at the last snapshot.
    pub irqs: Signal<In, Bits<64>>,
    /// FAULTS.value: Count at the last snapshot.
    pub faults: Signal<In, Bits<64>>,
    /// RING_LO: written in this cycle with `writedata`. Completion ring of a channel: element c is
    /// channel c. Writing the low word with `enable` set starts the ring at its first slot, on the
    /// first lap; so write the high word first. The value is handed to the block and cannot be read
    /// back: a ring is the driver's own memory, and keeping 64 of them readable would cost a memory
    /// for nothing.
    pub ring_lo_we: Signal<Out, Bit>,
    /// RING_HI: written in this cycle with `writedata`. Completion ring of a channel: element c is
    /// channel c. Writing the low word with `enable` set starts the ring at its first slot, on the
    /// first lap; so write the high word first. The value is handed to the block and cannot be read
    /// back: a ring is the driver's own memory, and keeping 64 of them readable would cost a memory
    /// for nothing.
    pub ring_hi_we: Signal<Out, Bit>,
    /// RING: the element that is written.
    pub ring_index: Signal<Out, Bits<6>>,
    act: Signal<Local, Bit>,
    readdata_reg: DFF<Bits<32>>,
    control_enable_reg: DFF<Bit>,
    control_irq_enable_reg: DFF<Bit>,
    control_reset_reg: DFF<Bit>,
    irq_status_completion_reg: DFF<Bit>,
    irq_status_error_reg: DFF<Bit>,
    irq_status_refused_reg: DFF<Bit>,
    read_timeout_cycles_reg: DFF<Bits<32>>,
    att_owner_channels_reg: DFF<Bits<8>>,
    quarantine_drop_owed_reg: DFF<Bit>,
    counter_snapshot_take_reg: DFF<Bit>,
    window_lo_base_reg: DFF<Bits<16>>,
    window_hi_base_reg: DFF<Bits<8>>,
}

impl Logic for CsrRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            readdata_reg,
            control_enable_reg,
            control_irq_enable_reg,
            control_reset_reg,
            irq_status_completion_reg,
            irq_status_error_reg,
            irq_status_refused_reg,
            read_timeout_cycles_reg,
            att_owner_channels_reg,
            quarantine_drop_owed_reg,
            counter_snapshot_take_reg,
            window_lo_base_reg,
            window_hi_base_reg
        );
        self.readdata.next = self.readdata_reg.q.val();
        self.act.next = self.write.val() & self.byteenable.val().all();
        self.control_enable.next = self.control_enable_reg.q.val();
        self.control_irq_enable.next = self.control_irq_enable_reg.q.val();
        self.control_reset.next = self.control_reset_reg.q.val();
        self.irq_status_completion.next = self.irq_status_completion_reg.q.val();
        self.irq_status_error.next = self.irq_status_error_reg.q.val();
        self.irq_status_refused.next = self.irq_status_refused_reg.q.val();
        self.read_timeout_cycles.next = self.read_timeout_cycles_reg.q.val();
        self.att_owner_channels.next = self.att_owner_channels_reg.q.val();
        self.quarantine_drop_owed.next = self.quarantine_drop_owed_reg.q.val();
        self.counter_snapshot_take.next = self.counter_snapshot_take_reg.q.val();
        self.window_base.next = bit_cast::<24, 16>(self.window_lo_base_reg.q.val()) | (bit_cast::<24, 8>(self.window_hi_base_reg.q.val()) << 16);
        self.ring_lo_we.next = self.act.val() & self.address.val().get_bit(7) & !self.address.val().get_bit(0);
        self.ring_hi_we.next = self.act.val() & self.address.val().get_bit(7) & self.address.val().get_bit(0);
        self.ring_index.next = self.address.val().get_bits::<6>(1);
        // Writes.
        self.control_reset_reg.d.next = false;
        if self.act.val() & (self.address.val() == 4) {
            self.control_enable_reg.d.next = self.writedata.val().get_bit(0);
            self.control_irq_enable_reg.d.next = self.writedata.val().get_bit(1);
            self.control_reset_reg.d.next = self.writedata.val().get_bit(8);
        }
        if self.act.val() & (self.address.val() == 6) {
            self.irq_status_completion_reg.d.next = self.irq_status_completion_reg.q.val() & !self.writedata.val().get_bit(0);
            self.irq_status_error_reg.d.next = self.irq_status_error_reg.q.val() & !self.writedata.val().get_bit(1);
            self.irq_status_refused_reg.d.next = self.irq_status_refused_reg.q.val() & !self.writedata.val().get_bit(2);
        }
        if self.irq_status_completion_set.val() {
            self.irq_status_completion_reg.d.next = true;
        }
        if self.irq_status_error_set.val() {
            self.irq_status_error_reg.d.next = true;
        }
        if self.irq_status_refused_set.val() {
            self.irq_status_refused_reg.d.next = true;
        }
        if self.act.val() & (self.address.val() == 8) {
            self.read_timeout_cycles_reg.d.next = self.writedata.val();
        }
        if self.act.val() & (self.address.val() == 9) {
            self.att_owner_channels_reg.d.next = self.writedata.val().get_bits::<8>(0);
        }
        self.quarantine_drop_owed_reg.d.next = false;
        if self.act.val() & (self.address.val() == 10) {
            self.quarantine_drop_owed_reg.d.next = self.writedata.val().get_bit(0);
        }
        self.counter_snapshot_take_reg.d.next = false;
        if self.act.val() & (self.address.val() == 11) {
            self.counter_snapshot_take_reg.d.next = self.writedata.val().get_bit(0);
        }
        if self.act.val() & (self.address.val() == 28) {
            self.window_lo_base_reg.d.next = self.writedata.val().get_bits::<16>(16);
        }
        if self.act.val() & (self.address.val() == 29) {
            self.window_hi_base_reg.d.next = self.writedata.val().get_bits::<8>(0);
        }
        // Reads: registered, and 0 where nothing is.
        if self.read.val() {
            self.readdata_reg.d.next = 0u64.into();
            if self.address.val().get_bits::<2>(6) == 0 {
                if self.address.val().get_bit(5) {
                    if self.address.val().get_bit(4) {
                        if self.address.val().get_bits::<2>(2) == 0 {
                            if self.address.val().get_bit(1) {
                                if self.address.val().get_bit(0) {
                                    self.readdata_reg.d.next = self.faults.val().get_bits::<32>(32);
                                } else {
                                    self.readdata_reg.d.next = self.faults.val().get_bits::<32>(0);
                                }
                            } else {
                                if self.address.val().get_bit(0) {
                                    self.readdata_reg.d.next = self.irqs.val().get_bits::<32>(32);
                                } else {
                                    self.readdata_reg.d.next = self.irqs.val().get_bits::<32>(0);
                                }
                            }
                        }
                    } else {
                        if self.address.val().get_bit(3) {
                            if self.address.val().get_bit(2) {
                                if self.address.val().get_bit(1) {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.stall_mem.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.stall_mem.val().get_bits::<32>(0);
                                    }
                                } else {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.stall_tags.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.stall_tags.val().get_bits::<32>(0);
                                    }
                                }
                            } else {
                                if self.address.val().get_bit(1) {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.stall_txs.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.stall_txs.val().get_bits::<32>(0);
                                    }
                                } else {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.records.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.records.val().get_bits::<32>(0);
                                    }
                                }
                            }
                        } else {
                            if self.address.val().get_bit(2) {
                                if self.address.val().get_bit(1) {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.read_requests.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.read_requests.val().get_bits::<32>(0);
                                    }
                                } else {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.read_bytes.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.read_bytes.val().get_bits::<32>(0);
                                    }
                                }
                            } else {
                                if self.address.val().get_bit(1) {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.write_requests.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.write_requests.val().get_bits::<32>(0);
                                    }
                                } else {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.write_bytes.val().get_bits::<32>(32);
                                    } else {
                                        self.readdata_reg.d.next = self.write_bytes.val().get_bits::<32>(0);
                                    }
                                }
                            }
                        }
                    }
                } else {
                    if self.address.val().get_bit(4) {
                        if self.address.val().get_bits::<3>(1) == 6 {
                            if self.address.val().get_bit(0) {
                                self.readdata_reg.d.next = bit_cast::<32, 8>(self.window_hi_base_reg.q.val());
                            } else {
                                self.readdata_reg.d.next = bit_cast::<32, 16>(self.window_lo_base_reg.q.val()) << 16;
                            }
                        }
                    } else {
                        if self.address.val().get_bit(3) {
                            if self.address.val().get_bits::<2>(1) == 0 {
                                if self.address.val().get_bit(0) {
                                    self.readdata_reg.d.next = bit_cast::<32, 8>(self.att_owner_channels_reg.q.val());
                                } else {
                                    self.readdata_reg.d.next = self.read_timeout_cycles_reg.q.val();
                                }
                            }
                        } else {
                            if self.address.val().get_bit(2) {
                                if self.address.val().get_bit(1) {
                                    if !self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.irq_status_completion_reg.q.val().into()) | (bit_cast::<32, 1>(self.irq_status_error_reg.q.val().into()) << 1) | (bit_cast::<32, 1>(self.irq_status_refused_reg.q.val().into()) << 2);
                                    }
                                } else {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.status_write_busy.val().into()) | (bit_cast::<32, 1>(self.status_read_busy.val().into()) << 1) | (bit_cast::<32, 1>(self.status_read_quarantine.val().into()) << 2) | (bit_cast::<32, 1>(self.status_att_sweep.val().into()) << 3) | (bit_cast::<32, 1>(self.status_completer_busy.val().into()) << 4);
                                    } else {
                                        self.readdata_reg.d.next = bit_cast::<32, 1>(self.control_enable_reg.q.val().into()) | (bit_cast::<32, 1>(self.control_irq_enable_reg.q.val().into()) << 1);
                                    }
                                }
                            } else {
                                if self.address.val().get_bit(1) {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = bit_cast::<32, 8>(self.caps1_queue_log2.val()) | (bit_cast::<32, 8>(self.caps1_att_log2.val()) << 8) | (bit_cast::<32, 8>(self.caps1_max_burst_log2.val()) << 16) | (bit_cast::<32, 8>(self.caps1_mem_addr_bits.val()) << 24);
                                    } else {
                                        self.readdata_reg.d.next = bits::<32>(0x1u64) | (bit_cast::<32, 8>(self.caps0_channels.val()) << 8) | (bit_cast::<32, 8>(self.caps0_port_bytes.val()) << 16) | (bit_cast::<32, 8>(self.caps0_txs_addr_bits.val()) << 24);
                                    }
                                } else {
                                    if self.address.val().get_bit(0) {
                                        self.readdata_reg.d.next = self.build_id.val();
                                    } else {
                                        self.readdata_reg.d.next = bits::<32>(0x35a38240u64);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        if self.reset.val() {
            self.control_enable_reg.d.next = false;
            self.control_irq_enable_reg.d.next = false;
            self.control_reset_reg.d.next = false;
            self.irq_status_completion_reg.d.next = false;
            self.irq_status_error_reg.d.next = false;
            self.irq_status_refused_reg.d.next = false;
            self.read_timeout_cycles_reg.d.next = 12500000u64.into();
            self.att_owner_channels_reg.d.next = 1u64.into();
            self.quarantine_drop_owed_reg.d.next = false;
            self.counter_snapshot_take_reg.d.next = false;
            self.window_lo_base_reg.d.next = 0u64.into();
            self.window_hi_base_reg.d.next = 0u64.into();
        }
    }
}