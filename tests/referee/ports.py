"""The bus models of cocotbext-avalon around the design."""

import random

from cocotb.triggers import RisingEdge
from cocotbext.avalon import AvalonMMMasterBFM, AvalonMMMemoryBFM

# The contract of the PCIe port (Stratix V Avalon-MM interface for PCIe user guide 683411, A.4.2 and A.4.3), and
# Peerlane's further promise: no burst across 4 KiB.
MOST_READS = 8
MOST_BYTES = 512


class Txs(AvalonMMMemoryBFM):
    """The PCIe port: a memory that also looks at the contract."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.beats_owed = []
        self.broken = []
        self.most_reads = 0

    def _look(self, kind):
        address = int(self.bus.address.value)
        beats = int(self.bus.burstcount.value)
        length = beats * self.word_bytes
        if address % self.word_bytes:
            self.broken.append(f"{kind} at {address:#x} is not at a word")
        if length > MOST_BYTES:
            self.broken.append(f"{kind} of {length} bytes at {address:#x}")
        if address // 4096 != (address + length - 1) // 4096:
            self.broken.append(f"{kind} of {length} bytes at {address:#x} crosses 4 KiB")
        return beats

    def _accept_read(self):
        beats = self._look("read")
        if int(self.bus.byteenable.value) != self._full_byteenable and beats > 1:
            self.broken.append("a read burst leaves bytes out")
        self.beats_owed.append(beats)
        self.most_reads = max(self.most_reads, len(self.beats_owed))
        if len(self.beats_owed) > MOST_READS:
            self.broken.append(f"{len(self.beats_owed)} reads in flight")
        super()._accept_read()

    def _accept_write(self):
        enable = int(self.bus.byteenable.value)
        for dword in range(self.word_bytes // 4):
            if enable >> 4 * dword & 0xF not in (0, 0xF):
                self.broken.append(f"a write enables bytes {enable:#x}: not whole dwords")
        if self._write_burst_remaining == 0:
            self._look("write")
        super()._accept_write()

    def _drive_next_read_response(self):
        before = len(self._read_queue)
        super()._drive_next_read_response()
        if len(self._read_queue) < before:
            self.beats_owed[0] -= 1
            if self.beats_owed[0] == 0:
                self.beats_owed.pop(0)


def pauses(percent):
    """Whether to hold `waitrequest`, cycle by cycle."""
    while True:
        yield random.random() * 100 < percent


class Ports:
    """All models of a design."""

    # A write begins and ends at multiples of so many bytes at the peer.
    WRITE_GRAIN = 4

    def __init__(self, dut, bus, fpga, *, txs_latency, percent):
        self.pcie = pcie = dut.pcie_clk
        clk = dut.clk
        slave = {"read_response_latency": 1}
        self.csr = AvalonMMMasterBFM.from_prefix(dut, "csr", pcie, read_response_latency=2)
        self.chan = AvalonMMMasterBFM.from_prefix(dut, "chan", pcie, **slave)
        self.att = AvalonMMMasterBFM.from_prefix(dut, "att", pcie, **slave)
        self.txs = Txs.from_prefix(
            dut, "txs", pcie, dut.pcie_reset, memory=bus, read_latency=txs_latency
        )
        # Two ports of the same memory.
        self.mem_rd, self.mem_wr = (
            AvalonMMMemoryBFM.from_prefix(dut, name, clk, dut.reset, memory=fpga, read_latency=latency)
            for name, latency in (("mem_rd", 12), ("mem_wr", 0))
        )
        for memory in (self.txs, self.mem_rd, self.mem_wr):
            if percent:
                memory.set_pause_generator(pauses(percent))

    # Addresses of peers' pages, in units of 2 MiB.
    lowest = 0

    async def before_reset_ends(self):
        """Nothing else must be ready."""

    async def bring_up(self):
        """Nothing comes before the first access."""

    async def end_of_packet(self):
        """Until a burst that has begun is there in full."""
        while self.txs._write_burst_remaining:
            await RisingEdge(self.pcie)

    def forget_interrupts(self):
        """There are none but the line."""

    async def interrupt(self, channel):
        """The line is all there is."""

    def start(self):
        for master in (self.csr, self.chan, self.att):
            master.start()
        for memory in (self.txs, self.mem_rd, self.mem_wr):
            memory.start()
