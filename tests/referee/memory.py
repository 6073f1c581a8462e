"""Memories: what is really there, and what should be."""

PAGE = 4096


class Memory:
    """Bytes at any address. What was never written is 0."""

    def __init__(self):
        self.pages = {}

    def _pieces(self, address, length):
        done = 0
        while done < length:
            page, start = divmod(address + done, PAGE)
            take = min(PAGE - start, length - done)
            yield page, start, done, take
            done += take

    def read(self, address, length):
        out = bytearray(length)
        for page, start, done, take in self._pieces(address, length):
            if page in self.pages:
                out[done : done + take] = self.pages[page][start : start + take]
        return bytes(out)

    def write(self, address, data):
        for page, start, done, take in self._pieces(address, len(data)):
            there = self.pages.setdefault(page, bytearray(PAGE))
            there[start : start + take] = data[done : done + take]

    def differences(self, other):
        """Addresses of the first differing byte of each page that is not the same."""
        found = []
        for page in sorted(self.pages.keys() | other.pages.keys()):
            mine = self.pages.get(page, bytes(PAGE))
            theirs = other.pages.get(page, bytes(PAGE))
            if mine != theirs:
                first = next(i for i in range(PAGE) if mine[i] != theirs[i])
                found.append(page * PAGE + first)
        return found


class Pair:
    """A memory behind the design, and what it should hold."""

    def __init__(self):
        self.real = Memory()
        self.expected = Memory()

    def put(self, address, data):
        self.real.write(address, data)
        self.expected.write(address, data)


class Region:
    """Pages of one size that the table maps one behind the other."""

    CODES = {12: 0, 16: 1, 21: 2}

    def __init__(self, first_entry, shift, pages):
        self.first_entry = first_entry
        self.shift = shift
        self.pages = pages

    def bytes(self):
        return len(self.pages) << self.shift

    def att_address(self, offset):
        """As a descriptor names it: page size code, entry, offset in the page."""
        return self.CODES[self.shift] << 62 | ((self.first_entry << self.shift) + offset)

    def pieces(self, offset, length):
        """Bus address and length of the parts of a range."""
        end = offset + length
        while offset < end:
            page, start = divmod(offset, 1 << self.shift)
            take = min((1 << self.shift) - start, end - offset)
            yield self.pages[page] + start, take
            offset += take

    def read(self, memory, offset, length):
        return b"".join(memory.read(at, n) for at, n in self.pieces(offset, length))

    def write(self, memory, offset, data):
        done = 0
        for at, n in self.pieces(offset, len(data)):
            memory.write(at, data[done : done + n])
            done += n
