"""The referee's tests of a design with its own transaction layer, on a root complex that is not ours.

Everything that the host does, register accesses and interrupt vectors included, are packets. The root complex
numbers the function, gives it its BAR, sets its sizes and its interrupts as an operating system does.
"""

import logging
import os

import cocotb
from cocotb.triggers import ClockCycles, First, Timer
from cocotbext.avalon import AvalonMMMemoryBFM
from cocotbext.pcie.core import RootComplex

from hip import HardIp, HostMemory
from ports import pauses
from referee import CHANNELS, EACH_WAY, random_transfers

# Offsets of the slaves in the BAR; the last only in a design with a table of vectors.
CSR, CHAN, ATT, MSIX = (int(place, 0) for place in os.environ["REFEREE_PLACES"].split(","))
HAS_TABLE = os.environ["REFEREE_MSIX"] == "1"
GENERATION = int(os.environ["REFEREE_GENERATION"])

# Memory of the host and of peers; the root complex's own memory is below.
LOWEST = 1 << 32
HIGHEST = 1 << 47
# Nanoseconds within which an interrupt must come.
PATIENCE = 20_000


class Slave:
    """A slave of the block, by its words."""

    def __init__(self, ports, base):
        self.ports, self.base = ports, base

    async def write(self, word, value):
        await self.ports.window.write_dword(self.base + 4 * word, value)

    async def read(self, word):
        return await self.ports.window.read_dword(self.base + 4 * word)


class PacketPorts:
    """All models of a design, in place of `ports.Ports`."""

    # Pages of peers are above the root complex's own memory, in units of 2 MiB.
    lowest = LOWEST >> 21
    # A write begins and ends at any byte.
    WRITE_GRAIN = 1

    def __init__(self, dut, bus, fpga, *, gaps, not_ready, percent, split, request):
        # It logs every packet, and every number without a function.
        logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)
        self.request = request
        self.root = RootComplex()
        self.root.max_payload_size = 1
        self.root.split_on_all_rcb = split
        memory = HostMemory(bus, HIGHEST)
        self.root.mem_address_space.register_region(memory, LOWEST, HIGHEST - LOWEST, offset=None)
        self.txs = self.hip = HardIp(
            dut,
            generation=GENERATION,
            msix_offset=MSIX if HAS_TABLE else None,
            gaps=gaps,
            not_ready=not_ready,
        )
        self.root.make_port().connect(self.hip)
        self.csr, self.chan, self.att = (Slave(self, base) for base in (CSR, CHAN, ATT))
        self.dut = dut
        self.mem_rd, self.mem_wr = (
            AvalonMMMemoryBFM.from_prefix(
                dut, name, dut.clk, dut.reset, memory=fpga, read_latency=latency
            )
            for name, latency in (("mem_rd", 12), ("mem_wr", 0))
        )
        for memory in (self.mem_rd, self.mem_wr):
            if percent:
                memory.set_pause_generator(pauses(percent))

    def start(self):
        dut = self.dut
        dut.kernel_irq.value = 0
        # The board has no other users.
        dut.board_waitrequest.value = 0
        dut.board_readdata.value = 0
        dut.board_readdatavalid.value = 0
        self.hip.start()
        for memory in (self.mem_rd, self.mem_wr):
            memory.start()

    async def before_reset_ends(self):
        """The link is up, and both ends know each other's credits."""
        while not self.hip.upstream_port.fc_initialized:
            await ClockCycles(self.dut.pcie_clk, 10)

    async def bring_up(self):
        await self.root.enumerate()
        self.device = self.root.find_device(self.hip.function.pcie_id)
        await self.device.enable_device()
        await self.device.set_master()
        await self.device.set_readrq(self.request)
        vectors = CHANNELS + 2 if HAS_TABLE else 1
        self.window = self.device.bar_window[0]
        assert await self.device.alloc_irq_vectors(vectors, vectors) == vectors
        # The design has been shown the whole configuration.
        await ClockCycles(self.dut.pcie_clk, 300)

    async def end_of_packet(self):
        """A packet is there in full, or not at all."""

    def forget_interrupts(self):
        for vector in self.device.msi_vectors:
            vector.event.clear()

    async def interrupt(self, channel):
        """Until the interrupt of a channel has come."""
        vector = self.device.msi_vectors[2 + channel if HAS_TABLE else 0]
        if not vector.event.is_set():
            await First(vector.event.wait(), Timer(PATIENCE, "ns"))
        assert vector.event.is_set(), f"no interrupt for channel {channel}"


@cocotb.test()
async def large_completions(dut):
    """Half of the transfers: completions as large as they may be, nobody ever waits."""
    referee = await random_transfers(
        dut,
        EACH_WAY // 2,
        make=PacketPorts,
        gaps=0,
        not_ready=0,
        percent=0,
        split=False,
        request=2,
    )
    assert referee.ports.hip.most_reads > 8, "reads never overlapped"


@cocotb.test()
async def small_completions(dut):
    """The other half: completions of one boundary each, short reads, and gaps everywhere."""
    await random_transfers(
        dut,
        EACH_WAY - EACH_WAY // 2,
        make=PacketPorts,
        gaps=0.3,
        not_ready=0.3,
        percent=40,
        split=True,
        request=1,
    )
