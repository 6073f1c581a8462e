"""An independent referee: random transfers through the emitted Verilog, compared byte for byte.

Nothing of Peerlane's own models, driver or library is used. The numbers of the registers come from
the C header; the layouts of entry, descriptor and record are written out here, from the register
map's text. The bus models are those of cocotbext-avalon.
"""

import os
import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

import header
from memory import Pair, Region
from ports import Ports

# Transfers in each direction, and the number that is queued at once.
EACH_WAY = int(os.environ["REFEREE_TRANSFERS"])
BATCH = 8
# Bytes on each side of a transfer's target that are checked with it.
GUARD = 96
# Cycles without a record after which a batch is given up.
PATIENCE = 20_000

RING = 0x1_2345_6000
RING_LOG2 = 8
CHANNELS = 8
RECORD = struct.Struct("<IIIIQQ")

# Places in FPGA memory: the data of writes, and the targets of reads.
SOURCES = 0x0100_0000
TARGETS = 0x0200_0000
LOCAL_BYTES = 1 << 18

# The code of a write that the port cannot make.
ALIGNMENT = 16

VALID, BOARD_READS, BOARD_WRITES = 1, 2, 4


class Referee:
    """A design with its models, set up to transfer."""

    def __init__(self, dut, make=Ports, **options):
        self.dut = dut
        self.regs = header.load(os.environ["REFEREE_HEADER"])
        self.bus = Pair()
        self.fpga = Pair()
        self.ports = make(dut, self.bus.real, self.fpga.real, **options)
        self.records = [0] * CHANNELS
        # Records read since the channel's last doorbell; the next doorbell reports them.
        self.freed = [0] * CHANNELS
        self.cookie = 0
        self.passed = 0
        self.failed = []

    async def csr_write(self, name, value):
        await self.ports.csr.write(self.regs["CSR_" + name] // 4, value)

    async def csr_read(self, name):
        return await self.ports.csr.read(self.regs["CSR_" + name] // 4)

    async def reset(self):
        dut = self.dut
        for name in ("read", "write", "address", "writedata", "byteenable"):
            getattr(dut, f"s_nondma_{name}").value = 0
        for name in ("waitrequest", "readdata", "readdatavalid"):
            getattr(dut, f"mem_win_{name}").value = 0
        dut.reset.value = 1
        dut.pcie_reset.value = 1
        self.ports.start()
        cocotb.start_soon(Clock(dut.pcie_clk, 4, unit="ns").start())
        cocotb.start_soon(Clock(dut.clk, 5, unit="ns").start())
        await ClockCycles(dut.clk, 20)
        await self.ports.before_reset_ends()
        dut.reset.value = 0
        dut.pcie_reset.value = 0
        await ClockCycles(dut.clk, 20)
        await self.ports.bring_up()
        assert await self.csr_read("MAP_ID") == self.regs["MAP_ID"]
        while await self.csr_read("STATUS") & self.regs["CSR_STATUS_ATT_SWEEP_MASK"]:
            await ClockCycles(dut.pcie_clk, 50)

    async def set_up(self):
        """Ring, table with pages of every size at random places, random bytes everywhere."""
        run = (
            self.regs["CSR_CHANNEL_CONTROL_ACCEPT_MASK"] | self.regs["CSR_CHANNEL_CONTROL_RUN_MASK"]
        )
        size = RING_LOG2 << self.regs["CSR_CHANNEL_RING_LO_SIZE_LOG2_SHIFT"]
        for channel in range(CHANNELS):
            ring = self.ring(channel)
            await self.csr_write("CHANNEL_SELECT", channel)
            await self.csr_write("CHANNEL_RING_HI", ring >> 32)
            await self.csr_write("CHANNEL_RING_LO", ring & 0xFFFF_F000 | size | 1)
            await self.csr_write("CHANNEL_MEM_BASE", 0)
            await self.csr_write("CHANNEL_MEM_END", TARGETS + LOCAL_BYTES >> 12)
            await self.csr_write("CHANNEL_CONTROL", run)
        await self.csr_write("ATT_OWNER_LO", (1 << CHANNELS) - 1)
        taken = {self.ring(channel) >> 21 for channel in range(CHANNELS)}
        entry = 0
        self.regions = {"write": [], "read": []}
        for way, rights in (("write", BOARD_READS | BOARD_WRITES), ("read", BOARD_READS)):
            for shift, count in ((12, 20), (16, 5), (21, 2)):
                pages = []
                for n in range(count):
                    place = random.getrandbits(25)
                    while place in taken or place < self.ports.lowest:
                        place = random.getrandbits(25)
                    taken.add(place)
                    within = random.randrange(1 << (21 - shift)) << shift
                    page = place << 21 | within
                    pages.append(page)
                    value = page | Region.CODES[shift] << 3 | rights | VALID
                    await self.ports.att.write(2 * (entry + n), value & 0xFFFF_FFFF)
                    await self.ports.att.write(2 * (entry + n) + 1, value >> 32)
                self.regions[way].append(Region(entry, shift, pages))
                entry += count
        for base in (SOURCES, TARGETS):
            self.fpga.put(base, random.randbytes(LOCAL_BYTES))
        enable = (
            self.regs["CSR_CONTROL_ENABLE_MASK"] | self.regs["CSR_CONTROL_IRQ_ENABLE_MASK"]
        )
        await self.csr_write("CONTROL", enable)

    def choose(self, way):
        """A random transfer, near an edge as often as not."""
        region = random.choice(self.regions[way])
        length = random.choice(
            (
                random.randint(1, 40),
                random.randint(1, 700),
                random.choice((511, 512, 513, 1024, 4095, 4096, 4097)),
                random.randint(1, 3000),
            )
        )
        room = region.bytes() - length - 2 * GUARD
        offset = random.randrange(room)
        if random.random() < 0.5:
            edge = random.choice((512, 4096, 1 << region.shift))
            near = offset // edge * edge + edge - random.randint(0, length)
            offset = min(max(near, 0), room - 1)
        offset += GUARD
        grain = self.ports.WRITE_GRAIN if way == "write" else 1
        if random.random() < 0.75:
            # Most have an alignment that the port takes.
            offset -= offset % grain
            length += -length % grain
        local = random.randrange(GUARD, LOCAL_BYTES - length - GUARD)
        local += SOURCES if way == "write" else TARGETS
        if way == "write":
            # Fill the target and the bytes around it with values other than zero.
            spot = random.randbytes(length + 2 * GUARD)
            for memory in (self.bus.real, self.bus.expected):
                region.write(memory, offset - GUARD, spot)
        else:
            data = random.randbytes(length)
            for memory in (self.bus.real, self.bus.expected):
                region.write(memory, offset, data)
        self.cookie += 1
        return {
            "way": way,
            "region": region,
            "offset": offset,
            "local": local,
            "length": length,
            "cookie": self.cookie,
            "channel": random.randrange(CHANNELS),
            "refused": offset % grain != 0 or length % grain != 0,
        }

    @staticmethod
    def ring(channel):
        return RING + channel * (RECORD.size << RING_LOG2)

    def choose_apart(self, ways):
        """A transfer for each, none near another: channels are served in any order."""
        chosen = []
        while len(chosen) < len(ways):
            new = self.choose(ways[len(chosen)])
            if not any(near(new, old) for old in chosen):
                chosen.append(new)
        return chosen

    async def queue(self, transfer, interrupt):
        name = transfer["way"].upper()
        record, irq = 1, 2
        dwords = struct.unpack(
            "<7I",
            struct.pack(
                "<QQIII",
                transfer["region"].att_address(transfer["offset"]),
                transfer["local"],
                transfer["length"],
                record | (irq if interrupt else 0),
                transfer["cookie"],
            ),
        )
        order = list(enumerate(dwords))
        random.shuffle(order)
        page = transfer["channel"] << 10
        base = page + self.regs[f"CHAN_{name}_DESC"] // 4
        for n, dword in order:
            await self.ports.chan.write(base + n, dword)
        freed, self.freed[transfer["channel"]] = self.freed[transfer["channel"]], 0
        await self.ports.chan.write(page + self.regs[f"CHAN_{name}_DOORBELL"] // 4, freed)

    async def next_record(self, channel):
        sequence = self.records[channel]
        slot = self.ring(channel) + sequence % (1 << RING_LOG2) * RECORD.size
        phase = sequence >> RING_LOG2 & 1 ^ 1
        for _ in range(PATIENCE):
            record = RECORD.unpack(self.bus.real.read(slot, RECORD.size))
            if record[1] & 1 == phase:
                # The host sees a record as a whole: it is one packet on the link.
                await self.ports.end_of_packet()
                record = RECORD.unpack(self.bus.real.read(slot, RECORD.size))
                break
            await RisingEdge(self.dut.pcie_clk)
        else:
            status = await self.csr_read("STATUS")
            raise AssertionError(f"no record {sequence} of {channel}, status {status:#x}")
        assert record[3] == sequence, f"sequence {record}"
        self.records[channel] += 1
        self.freed[channel] += 1
        return record

    async def batch(self, transfers):
        """Queues them all, waits for their records, and compares."""
        self.ports.forget_interrupts()
        for n, transfer in enumerate(transfers):
            await self.queue(transfer, n + 1 == len(transfers))
        # A channel's descriptors of one direction end in order; other orders are not promised.
        due = {}
        for t in transfers:
            due.setdefault((t["channel"], t["way"]), []).append(t)
        for channel in [t["channel"] for t in transfers]:
            cookie, status, done, _, fault, reserved = await self.next_record(channel)
            transfer = due[channel, "read" if status >> 1 & 1 else "write"].pop(0)
            found = (cookie, status >> 8 & 0xFF, status >> 16, done, fault, reserved)
            wanted = (transfer["cookie"], channel, 0, transfer["length"], 0, 0)
            if transfer["refused"]:
                place = transfer["region"].att_address(transfer["offset"])
                wanted = (transfer["cookie"], channel, ALIGNMENT, 0, place, 0)
            assert found == wanted, f"{found} is the record of {transfer}, not {wanted}"
        await ClockCycles(self.dut.pcie_clk, 20)
        assert int(self.dut.dma_irq.value) == 1, "no interrupt"
        await self.ports.interrupt(transfers[-1]["channel"])
        causes = self.regs["CSR_IRQ_STATUS_COMPLETION_MASK"] | self.regs["CSR_IRQ_STATUS_ERROR_MASK"]
        await self.csr_write("IRQ_STATUS", causes)
        # After the write, which may take a while to arrive.
        await self.csr_read("STATUS")
        await ClockCycles(self.dut.pcie_clk, 4)
        assert int(self.dut.dma_irq.value) == 0, "the interrupt stays"
        for t in transfers:
            if t["refused"]:
                continue
            if t["way"] == "write":
                data = self.fpga.expected.read(t["local"], t["length"])
                t["region"].write(self.bus.expected, t["offset"], data)
            else:
                data = t["region"].read(self.bus.expected, t["offset"], t["length"])
                self.fpga.expected.write(t["local"], data)
        for transfer in transfers:
            self.compare(transfer)

    def compare(self, t):
        whole = t["length"] + 2 * GUARD
        if t["way"] == "write":
            found, wanted = (
                t["region"].read(memory, t["offset"] - GUARD, whole)
                for memory in (self.bus.real, self.bus.expected)
            )
        else:
            found, wanted = (
                memory.read(t["local"] - GUARD, whole)
                for memory in (self.fpga.real, self.fpga.expected)
            )
        if found == wanted:
            self.passed += 1
            return
        at = next(i for i in range(whole) if found[i] != wanted[i]) - GUARD
        self.failed.append(
            f"{t['way']} of {t['length']} bytes, peer offset {t['offset']:#x} in pages of "
            f"2^{t['region'].shift}, local {t['local']:#x}: byte {at} is wrong"
        )

    def whole_memories(self):
        """Nothing was touched that no transfer names."""
        for page in range(RING >> 12, self.ring(CHANNELS) + 4095 >> 12):
            self.bus.real.pages.pop(page, None)
        for name, pair in (("bus", self.bus), ("FPGA memory", self.fpga)):
            found = pair.real.differences(pair.expected)
            if found:
                self.failed.append(f"{name}: wrong at {', '.join(map(hex, found[:8]))}")


def near(a, b):
    """Whether two transfers touch the same bytes, or each other's guards."""

    def close(x, y):
        return x < y + b["length"] + 2 * GUARD and y < x + a["length"] + 2 * GUARD

    if a["way"] != b["way"]:
        return False
    if a["way"] == "read":
        return close(a["local"], b["local"]) or (
            a["region"] is b["region"] and close(a["offset"], b["offset"])
        )
    return a["region"] is b["region"] and close(a["offset"], b["offset"])


async def random_transfers(dut, each_way, **options):
    referee = Referee(dut, **options)
    await referee.reset()
    await referee.set_up()
    ways = ["write", "read"] * each_way
    random.shuffle(ways)
    for start in range(0, len(ways), BATCH):
        await referee.batch(referee.choose_apart(ways[start : start + BATCH]))
    await ClockCycles(dut.pcie_clk, 200)
    referee.whole_memories()
    referee.failed += referee.ports.txs.broken
    with open(os.environ["REFEREE_VERDICT"], "a", encoding="utf-8") as file:
        for line in referee.failed:
            file.write(line + "\n")
        file.write(f"{referee.passed} passed, {len(referee.failed)} failed\n")
    assert not referee.failed, referee.failed[0]
    return referee


@cocotb.test()
async def quick_memories(dut):
    """Half of the transfers with memories that always take."""
    referee = await random_transfers(dut, EACH_WAY // 2, txs_latency=40, percent=0)
    assert referee.ports.txs.most_reads > 1, "reads never overlapped"


@cocotb.test()
async def memories_that_hold(dut):
    """The other half with memories that say wait in two of five cycles."""
    await random_transfers(dut, EACH_WAY - EACH_WAY // 2, txs_latency=8, percent=40)
