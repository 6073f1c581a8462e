"""The hard IP between a root complex that is not ours and the design's Avalon-ST interface.

Packets, links with credits and acknowledgements, configuration space and root complex are those of
cocotbext-pcie. Here stands only what lies between: how a packet lies in the beats of the interface, and the
pins beside it, as the Stratix V Avalon-ST user guide (683093) has them.
"""

import random
import struct

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import Region
from cocotbext.pcie.core import Device, Endpoint
from cocotbext.pcie.core.caps import MsiCapability, MsixCapability
from cocotbext.pcie.core.tlp import Tlp, TlpType

MEMORY = {TlpType.MEM_READ, TlpType.MEM_READ_64, TlpType.MEM_WRITE, TlpType.MEM_WRITE_64}

# Cycles between a ready and the cycle that it is for, for packets to the design.
READY_LATENCY = 3
# Completions that the buffer has room for, and units of 16 bytes: setting Low, 256 bytes of payload.
SPACE = (195, 781)
# Bytes of the BAR.
BAR_BYTES = 1 << 18
# Cycles for which a word of the configuration is shown.
WORD_CYCLES = 8
# Packets of the design that wait for the link before it must wait.
QUEUE = 12


class HostMemory(Region):
    """Memory of the host and of peers: one of the referee's memories."""

    def __init__(self, memory, size):
        super().__init__(size=size)
        self.memory = memory

    async def _read(self, address, length, **kwargs):
        return self.memory.read(address, length)

    async def _write(self, address, data, **kwargs):
        self.memory.write(address, bytes(data))


def first_lane(header):
    """The dword in which the payload begins: by bit 2 of the address, of a completion's lower address."""
    odd = header[-1] >> 2 & 1
    if len(header) == 4:
        return 5 if odd else 4
    return 3 if odd else 4


def beats_of(tlp, width):
    """A packet's beats, as integers of so many dwords."""
    packed = tlp.pack_header()
    dwords = list(struct.unpack(f">{len(packed) // 4}L", packed))
    if tlp.has_data():
        start = first_lane(dwords)
        dwords += [random.getrandbits(32) for _ in range(start - len(dwords))]
        dwords += struct.unpack(f"<{len(tlp.data) // 4}L", bytes(tlp.data))
    while len(dwords) % width:
        dwords.append(random.getrandbits(32))
    beats = []
    for start in range(0, len(dwords), width):
        beat = 0
        for lane, dword in enumerate(dwords[start : start + width]):
            beat |= dword << (32 * lane)
        beats.append(beat)
    return beats


def tlp_of(dwords, width, empty):
    """The packet whose beats' dwords these are."""
    header = dwords[: 4 if dwords[0] >> 29 & 1 else 3]
    has_data = dwords[0] >> 30 & 1
    length = (dwords[0] & 0x3FF or 1024) if has_data else 0
    start = first_lane(header) if has_data else len(header)
    end = start + length
    beats = (end + width - 1) // width
    assert len(dwords) == beats * width, f"{len(dwords) // width} beats for {end} dwords"
    assert empty == (beats * width - end) // 2, f"empty is {empty}"
    packed = struct.pack(f">{len(header)}L", *header)
    return Tlp.unpack(packed + struct.pack(f"<{length}L", *dwords[start:end]))


class HardIp(Device):
    """A device with one function, whose memory requests and completions are the design's."""

    def __init__(self, dut, *, generation, msix_offset, gaps, not_ready):
        super().__init__()
        self.dut = dut
        self.width = len(dut.tx_st_data) // 32
        self.gaps, self.not_ready = gaps, not_ready
        self.upstream_port.max_link_speed = generation
        self.upstream_port.max_link_width = 8
        self.broken = []
        self.most_reads = 0
        self.reads = {}
        # To the design: packets that have arrived, with the BAR that claims them, and the space that completions take.
        self.arrived = []
        self.used = [0, 0]
        # From the design: packets that have not left yet. Space consumed by completions that are not its own.
        self.leaving = []
        self.own = []
        self.function = self.append_function(self._function(generation, msix_offset))
        self.values = {}

    def _function(self, generation, msix_offset):
        function = Endpoint()
        function.vendor_id, function.device_id = 0x1172, 0xAB00
        function.configure_bar(0, BAR_BYTES, ext=True, prefetch=True)
        function.pcie_cap.max_payload_size_supported = 1
        function.pcie_cap.extended_tag_supported = True
        function.pcie_cap.max_link_speed = function.pcie_cap.current_link_speed = generation
        function.pcie_cap.max_link_width = function.pcie_cap.negotiated_link_width = 8
        self.msi = MsiCapability()
        self.msi.msi_64bit_address_capable = 1
        self.msix = MsixCapability()
        if msix_offset is None:
            function.register_capability(self.msi)
        else:
            self.msix.msix_table_size = 9
            self.msix.msix_table_offset = msix_offset
            self.msix.msix_pba_offset = msix_offset + 0x800
            function.register_capability(self.msix)
        return function

    async def upstream_recv(self, tlp):
        """A packet from the root complex."""
        bar = 0
        if tlp.fmt_type in MEMORY:
            found = self.function.match_bar(tlp.address)
            if not found:
                return await super().upstream_recv(tlp)
            bar = 1 << found[0]
        elif tlp.fmt_type in {TlpType.CPL, TlpType.CPL_DATA}:
            if self.function.pcie_id != tlp.requester_id or tlp.tag not in self.reads:
                # Dropped, as the hard IP does.
                self.broken.append(f"a completion of no read: {tlp!r}")
                tlp.release_fc()
                return None
            self.reads[tlp.tag] -= tlp.length * 4 - (tlp.lower_address & 3)
            if self.reads[tlp.tag] <= 0 or tlp.fmt_type == TlpType.CPL:
                del self.reads[tlp.tag]
            self.used[0] += 1
            self.used[1] += tlp.get_data_credits()
            if self.used[0] > SPACE[0] or self.used[1] > SPACE[1]:
                self.broken.append(f"completions overrun the buffer: {self.used}")
        else:
            return await super().upstream_recv(tlp)
        tlp.release_fc()
        self.arrived.append((tlp, bar))
        return None

    async def upstream_send(self, tlp):
        """A completion of the configuration's: the design is told what it consumes."""
        self.own.append(0b10 | bool(tlp.get_data_credits()))
        await super().upstream_send(tlp)

    def start(self):
        for name in ("valid", "sop", "eop", "bar", "err"):
            self._set(f"rx_st_{name}", 0)
        cocotb.start_soon(self._edges())
        cocotb.start_soon(self._send())

    def _set(self, name, value):
        """Sets an input of the design, if it is another value than before."""
        if self.values.get(name) != value:
            self.values[name] = value
            getattr(self.dut, name).value = value

    async def _send(self):
        while True:
            while not self.leaving:
                await RisingEdge(self.dut.pcie_clk)
            await super().upstream_send(self.leaving.pop(0))

    def _check(self, tlp):
        """What a request may be."""
        function = self.function
        bytes_ = tlp.length * 4
        if tlp.is_completion():
            wrong = tlp.completer_id != function.pcie_id
            limit = 128 << function.pcie_cap.max_payload_size
        else:
            wrong = tlp.requester_id != function.pcie_id or not function.bus_master_enable
            wrong |= (tlp.address >> 32 == 0) != (tlp.get_header_size() == 12)
            wrong |= tlp.first_be == 0 or (tlp.length == 1) != (tlp.last_be == 0)
            wrong |= tlp.address % 4096 + bytes_ > 4096
            limit = 128 << (
                function.pcie_cap.max_payload_size
                if tlp.is_posted()
                else function.pcie_cap.max_read_request_size
            )
        if wrong or bytes_ > limit or tlp.ep or not tlp.check():
            self.broken.append(f"a packet that must not be: {tlp!r}")
        if tlp.is_nonposted():
            tags = 64 if function.pcie_cap.extended_tag_field_enable else 32
            if tlp.tag in self.reads or tlp.tag >= tags:
                self.broken.append(f"tag {tlp.tag} is in use, or none")
            self.reads[tlp.tag] = tlp.get_be_byte_count()
            self.most_reads = max(self.most_reads, len(self.reads))

    def _word(self, number):
        """The configuration's word of a number."""
        function, capability = self.function, self.function.pcie_cap
        address = self.msi.msi_message_address
        words = {
            0: bool(capability.extended_tag_field_enable) << 24
            | capability.max_payload_size << 21
            | capability.max_read_request_size << 28,
            2: bool(capability.read_completion_boundary) << 19,
            3: bool(function.bus_master_enable) << 10 | bool(function.memory_space_enable) << 9,
            5: (address & 0xFFF) << 20,
            9: address & 0xFFFF_F000,
            6: (address >> 32 & 0xFFF) << 20,
            11: address >> 32 & 0xFFFF_F000,
            13: bool(self.msix.msix_enable) << 31
            | bool(self.msix.msix_function_mask) << 30
            | bool(self.msi.msi_enable),
            15: (self.msi.msi_message_data & 0xFFFF) << 16
            | function.bus_num << 5
            | function.device_num,
        }
        return words.get(number, random.getrandbits(32))

    async def _edges(self):
        dut = self.dut
        ready = [0] * READY_LATENCY
        # Whether it was ready in the cycle that ends, and in the two cycles before.
        free = [False] * 3
        dwords, going, bar = [], [], 0
        cycle = 0
        while True:
            await RisingEdge(dut.pcie_clk)
            cycle += 1
            ready = [int(dut.rx_st_ready.value)] + ready[:-1]
            # Valid must have fallen two cycles after ready, and must be back two cycles after ready within a packet.
            one, two = free[1:]
            if int(dut.tx_st_valid.value):
                dwords = self._beat(dwords)
                if not one and not two:
                    self.broken.append(f"cycle {cycle}: valid though nobody was ready")
            elif dwords and one and two:
                self.broken.append(f"cycle {cycle}: a gap amid a packet")
            # A packet to the design.
            beat = None
            if ready[-1] and random.random() >= self.gaps:
                first = not going
                if first:
                    going, bar = self._next()
                if going:
                    beat = (going.pop(0), first, not going)
            self._set("rx_st_valid", int(beat is not None))
            if beat is not None:
                self._set("rx_st_data", beat[0])
                self._set("rx_st_sop", int(beat[1]))
                self._set("rx_st_eop", int(beat[2]))
                self._set("rx_st_bar", bar)
            takes = len(self.leaving) < QUEUE and random.random() >= self.not_ready
            free = [takes] + free[:2]
            self._set("tx_st_ready", int(takes))
            self._credits()
            if cycle % WORD_CYCLES == 0:
                number = cycle // WORD_CYCLES % 16
                self._set("tl_cfg_add", number)
                self._set("tl_cfg_ctl", self._word(number))

    def _beat(self, dwords):
        """A beat of the design's; gives the dwords of the packet under way."""
        dut = self.dut
        if bool(dwords) == bool(int(dut.tx_st_sop.value)):
            self.broken.append("begin of a packet amid another, or none")
        data = int(dut.tx_st_data.value)
        dwords = dwords + [data >> (32 * lane) & 0xFFFF_FFFF for lane in range(self.width)]
        if not int(dut.tx_st_eop.value):
            return dwords
        tlp = tlp_of(dwords, self.width, int(dut.tx_st_empty.value))
        self._check(tlp)
        self.leaving.append(tlp)
        return []

    def _next(self):
        """The next packet for the design. Requests that want an answer are passed while it wants none."""
        masked = int(self.dut.rx_st_mask.value)
        for at, (tlp, bar) in enumerate(self.arrived):
            if masked and tlp.is_nonposted():
                continue
            del self.arrived[at]
            if tlp.is_completion():
                self.used[0] -= 1
                self.used[1] -= tlp.get_data_credits()
            return beats_of(tlp, self.width), bar
        return [], 0

    def _credits(self):
        state = self.upstream_port.fc_state[0]
        consumed = int(self.dut.tx_cons_cred_sel.value)

        def shown(credit, bits):
            number = credit.tx_credits_consumed if consumed else credit.tx_credit_limit
            return number & ((1 << bits) - 1)

        # The link is up as the other end's limits are known (DL_Up, PCI Express Base Specification 2.1, section 3.2.1).
        self._set("dlup", int(state.fi1))
        self._set("tx_cred_hdrfcp", shown(state.ph, 8))
        self._set("tx_cred_datafcp", shown(state.pd, 12))
        self._set("tx_cred_hdrfcnp", shown(state.nph, 8))
        self._set("tx_cred_hdrfccp", shown(state.cplh, 8))
        self._set("tx_cred_datafccp", shown(state.cpld, 12))
        kinds = (state.cpld, state.cplh, state.npd, state.nph, state.pd, state.ph)
        endless = sum(kind.tx_is_infinite() << bit for bit, kind in enumerate(kinds))
        self._set("tx_cred_fcinfinite", endless)
        self._set("tx_cred_fchipcons", self.own.pop(0) if self.own else 0)
        self._set("ko_cpl_spc_header", SPACE[0])
