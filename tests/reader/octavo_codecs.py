"""A second, slow decoder of Octavo's chunks, written from docs/codecs.md: NumPy and zstandard, nothing compiled of ours.

    values, size = decode_chunk(data, offset, coarse, parents, family, width, count, dtype)

A chunk that is not one raises ValueError.
"""

import itertools
import struct

import numpy as np
import zstandard

MASK64 = (1 << 64) - 1
RAW, ZSTD, PLANES, TREE, LOG_GRID, LINEAR_GRID, DELTA, PCP = range(8)
BINS, DIFFERENCES, BOXES = range(9, 12)
BITS, INTEGERS = 16, 17
SCALARS = {"float64": 0, "float32": 1}
INTEGER_SCALARS = {1: 2, 2: 3, 4: 4, 8: 5}
PREVIOUS, PARENT, FITTED_INDEX, FITTED_VALUE = 0, 1, 2, 3
BESIDE, BELOW = 1, 2
NUMBERS, SIGNED_NUMBERS, PLAIN = 0, 1, 2
SPECIALS = 3
SIDES_ORDER = {1: [0], 2: [0, 1], 4: [0, 1, 2, 3], 8: [0, 1, 2, 4, 3, 5, 6, 7]}


# ------------------------------------------------------------------------------------------------ bytes


class Cursor:
    def __init__(self, data):
        self.data, self.at = bytes(data), 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError(f"chunk ends early at byte {self.at}: {size} more bytes expected")
        self.at += size
        return self.data[self.at - size : self.at]

    def rest(self):
        return self.take(len(self.data) - self.at)

    def byte(self):
        return self.take(1)[0]

    def unpack(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


class Bits:
    """Bits of a cursor's bytes, lowest first; only as many bytes are taken as hold the bits read."""

    def __init__(self, cursor):
        self.cursor, self.held, self.filled = cursor, 0, 0

    def get(self, count):
        while self.filled < count:
            self.held |= self.cursor.byte() << self.filled
            self.filled += 8
        value = self.held & ((1 << count) - 1)
        self.held >>= count
        self.filled -= count
        return value


def read_head(cursor):
    codec, second = cursor.byte(), cursor.byte()
    if second >> 4 != 3:
        raise ValueError(f"codec version {second >> 4}, this reader knows 3")
    count, size = cursor.varint(), cursor.varint()
    return codec, second & 15, count, Cursor(cursor.take(size))


def open_chunk(data, offset, codecs, scalar, count):
    cursor = Cursor(memoryview(data)[offset:])
    codec, found_scalar, found_count, payload = read_head(cursor)
    if codec not in codecs or found_scalar != scalar or found_count != count:
        raise ValueError(f"chunk of codec {codec}, scalar {found_scalar}, {found_count} values: expected other ones")
    return codec, payload, cursor.at


def unzstd(frame, size):
    decompressor = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    plain = decompressor.decompress(frame, max_output_size=size) if size else b""
    if len(plain) != size:
        raise ValueError(f"{len(plain)} bytes decompressed, {size} expected")
    return plain


def join_planes(planes, width):
    return np.frombuffer(planes, np.uint8).reshape(width, -1).T.tobytes()


# ------------------------------------------------------------------------------------------------ coded blocks


def unzigzag(u):
    return (u >> 1) ^ -(u & 1)


def symbol_table(alphabet):
    """For each symbol: raw bits that follow, weight, and the number without those bits."""
    bits, weight, base = [0] * 256, [0] * 256, [0] * 256
    for s in range(256):
        if alphabet == PLAIN:
            weight[s] = min(s, 15)
        elif s >= SPECIALS:
            c = (s - SPECIALS) // (2 if alphabet == SIGNED_NUMBERS else 1)
            if c < 8:
                weight[s], base[s] = c.bit_length(), c
            else:
                weight[s] = length = min(4 + (c - 8) // 2, 64)
                bits[s], base[s] = length - 2, (2 + (c & 1)) << (length - 2)
    return bits, weight, base


def read_gamma(bits):
    zeros = 0
    while bits.get(1) == 0:
        zeros += 1
    return (1 << zeros | bits.get(zeros)) - 1


def read_table(bits, alphabet, ends):
    """The counts of a table, and the first and the last symbol; `ends`: those of the table before."""
    counts, length = [0] * 256, [0] * 256
    first = ends[0] + unzigzag(read_gamma(bits))
    last = ends[1] + unzigzag(read_gamma(bits))
    if not 0 <= first <= last <= 255:
        raise ValueError("a frequency table ends before it begins")
    for s in range(first, last + 1):
        like = s - (2 if alphabet == SIGNED_NUMBERS and s >= SPECIALS + 2 else 1)
        expected = 4 if s == first else length[like]
        folded = read_gamma(bits)
        length[s] = folded if folded > 2 * expected else expected + unzigzag(folded)
        if not 0 <= length[s] <= 32:
            raise ValueError("a frequency is out of range")
        if length[s]:
            below = min(length[s] - 1, 2)
            counts[s] = (1 << below | bits.get(below)) << (length[s] - 1 - below)
    return counts, (first, last)


def normalise(counts, scale):
    total = sum(counts)
    frequency = [max(1, (c << scale) // total) if c else 0 for c in counts]
    rest = (1 << scale) - sum(frequency)
    while rest != 0:
        largest = frequency.index(max(frequency))
        change = max(rest, 1 - frequency[largest])
        frequency[largest] += change
        rest -= change
    return frequency


def metric_of(rule, base, k, t, width, activity, symbols, weight):
    if rule == 0:
        return 0
    if rule == 1 or k == 0:
        metric = 2 * activity
    elif rule == 2:
        metric = 2 * weight[symbols[t - width]]
    elif k == 1:
        metric = weight[symbols[t - width]] + activity
    else:
        metric = weight[symbols[t - width]] + weight[symbols[t - 2 * width]]
        if rule == 4 and k > 2:
            metric = (2 * (metric + weight[symbols[t - 3 * width]]) + 1) // 3
    return min(max(metric - base, 0), 31)


def coding_order(lanes, families, members, width, activity):
    """For each symbol in the order of coding: (its number, its state, its cell of the family, number of activity)."""
    if lanes > 1 and families == 1 and width == 1 and activity is None:
        length = members // lanes
        groups = [(0, 0, lanes, length), (0, lanes * length, members % lanes, 1)]
    else:
        groups = [(f, f * members * width, min(lanes, families - f), members) for f in range(0, families, lanes)]
    for first, start, count, cells in groups:
        for k in range(cells):
            for j in range(width):
                for lane in range(count):
                    yield start + (lane * cells + k) * width + j, lane, k, (first + lane) * width + j


def decode_symbols(cursor, alphabet, families, members, width, activity=None):
    """The symbols of a coded block and the numbers they stand for, in order of visit."""
    count = families * members * width
    if count == 0:
        return [], []
    bits_of, weight, base_of = symbol_table(alphabet)
    head = cursor.byte()
    rule, lanes, scale = head & 7, 8 if head & 8 else 1, head >> 4
    if rule > 4 or not 8 <= scale <= 12:
        raise ValueError("not the head of a coded block")
    base, begins = (cursor.byte(), cursor.varint()) if rule else (0, 0)
    cluster = [bin(begins & ((2 << m) - 1) & ~1).count("1") for m in range(32)]
    bits = Bits(cursor)
    slots, ends = [], (0, 0)
    for _ in range(cluster[31] + 1):
        counts, ends = read_table(bits, alphabet, ends)
        frequency = normalise(counts, scale)
        slots.append([(s, f, i) for s, f in enumerate(frequency) for i in range(f)])
    state = [cursor.unpack("I") for _ in range(lanes)]
    words = Cursor(cursor.take(2 * cursor.varint())) if lanes > 1 else cursor
    symbols = [0] * count
    mask = (1 << scale) - 1
    for t, lane, k, at in coding_order(lanes, families, members, width, activity):
        active = 0 if activity is None else activity[at]
        metric = metric_of(rule, base, k, t, width, active, symbols, weight)
        x = state[lane]
        symbols[t], frequency, offset = slots[cluster[metric]][x & mask]
        x = frequency * (x >> scale) + offset
        if x < 1 << 16:
            x = x << 16 | words.unpack("H")
        state[lane] = x
    if words is not cursor and words.rest():
        raise ValueError("words are left over at the end of a coded block")
    if any(x != 1 << 16 for x in state):
        raise ValueError("the coded symbols do not end where they should")
    low = Bits(Cursor(cursor.take((sum(bits_of[s] for s in symbols) + 7) // 8)))
    return symbols, [base_of[s] | low.get(bits_of[s]) for s in symbols]


# ------------------------------------------------------------------------------------------------ arithmetic

LOG2_TERMS = [
    0.16972882833987804, 0.19235933878519512, 0.22195308321368667, 0.2623081892525388, 0.3205988979753252,
    0.4121985831111324, 0.5770780163555853, 0.9617966939259756, 2.8853900817779268,
]  # fmt: skip
EXP_TERMS = [
    2.08767569878681e-09, 2.505210838544172e-08, 2.755731922398589e-07, 2.7557319223985893e-06, 2.48015873015873e-05,
    0.0001984126984126984, 0.001388888888888889, 0.008333333333333333, 0.041666666666666664, 0.16666666666666666,
    0.5, 1.0, 1.0,
]  # fmt: skip


def bits_of_double(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def double_of_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits & MASK64))[0]


def log2_of(x):
    bits = bits_of_double(x) & 0x7FFFFFFFFFFFFFFF
    exponent = ((bits + 0x00095F619980C433) >> 52) - 1023
    m = double_of_bits(bits - (exponent << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    total = LOG2_TERMS[0]
    for term in LOG2_TERMS[1:]:
        total = total * z + term
    return float(exponent) + s * total


def exp2_of(y):
    clamped = min(max(y, -1023.0), 1024.0)
    whole = round(clamped)  # to nearest, halves to even
    t = (clamped - whole) * 0.6931471805599453
    total = EXP_TERMS[0]
    for term in EXP_TERMS[1:]:
        total = total * t + term
    return total * double_of_bits((whole + 1023) << 52)


def floor_of(y):
    return int(y) - (1 if float(int(y)) > y else 0)


# ------------------------------------------------------------------------------------------------ grids


class ExactGrid:
    signs_apart = has_specials = False

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.int_type = np.dtype(f"<i{self.dtype.itemsize}")
        self.max_value = float(np.finfo(self.dtype).max)
        self.sign_bit = 1 << (8 * self.dtype.itemsize - 1)

    def index_of(self, x):
        bits = int(np.array(x, self.dtype).view(self.int_type))
        return ~(bits & (self.sign_bit - 1)) if bits < 0 else bits

    def read(self, array):
        bits = array.view(self.int_type).astype(np.int64)
        index = np.where(bits < 0, ~(bits & np.int64(self.sign_bit - 1)), bits)
        with np.errstate(invalid="ignore"):
            values = array.astype(np.float64)
        return index.tolist(), values.tolist(), [True] * len(index), [False] * len(index)

    def value(self, index, negative):
        bits = (~index | self.sign_bit) if index < 0 else index
        bits &= 2 * self.sign_bit - 1
        raw = bits.to_bytes(self.dtype.itemsize, "little")
        return np.frombuffer(raw, self.dtype)[0]

    def estimate(self, x, expected):
        if abs(x) <= self.max_value:
            return self.index_of(x), expected[1]
        return expected

    def flip(self, index):
        return ~index

    def is_negative(self, index, negative):
        return index < 0

    def key(self, index):
        return ~index if index < 0 else index

    def wrap(self, index):
        return (index + (1 << 63) & MASK64) - (1 << 63)


def read_bound(cursor):
    exponent = cursor.unpack("b")
    return cursor.unpack("d") if exponent == -128 else float(f"{cursor.varint()}e{exponent}")


class Lattice:
    """Where the grid of a chunk lies: phases of positive and of negative values, how narrow, the common value or None."""

    def __init__(self, cursor, dtype):
        flags = cursor.byte()
        if flags > 63 or flags & 7 > 4:
            raise ValueError("unknown kind of lattice")
        size = (0, 1, 2, 4, 6)[flags & 7]
        first = int.from_bytes(cursor.take(size), "little") / 256**size
        second = int.from_bytes(cursor.take(size), "little") / 256**size if flags & 8 else first
        self.phase = (first, second)
        self.narrow = cursor.unpack("H") if flags & 16 else 0
        self.common = None
        if flags & 32:
            self.common = float(cursor.unpack("d" if np.dtype(dtype).itemsize == 8 else "f"))
            if not 2.0**-960 <= abs(self.common) <= 1.7976931348623157e308:
                raise ValueError("the common value of a lattice is out of range")


class Common:
    """The cell that a common value has for itself among those of its sign: cells from it on are one further."""

    def __init__(self, lattice, bound, cell_of, value_of):
        self.value = lattice.common
        if self.value is None:
            return
        self.negative, self.magnitude = self.value < 0, abs(self.value)
        q = cell_of(self.magnitude, self.negative)
        self.cell = q if value_of(q, self.negative) > self.magnitude else q + 1
        self.reach = min(bound, self.magnitude)

    def is_of(self, negative):
        return self.value is not None and self.negative == negative

    def index(self, q, magnitude, negative):
        if not self.is_of(negative):
            return q
        return self.cell if abs(magnitude - self.magnitude) < self.reach else q + (q >= self.cell)


class PointwiseGrid:
    signs_apart = has_specials = True

    def __init__(self, bound, lattice, dtype):
        e = min(bound, 0.5)
        above = log2_of(1.0 + e)
        width = above - log2_of(1.0 - e)
        self.step = (width * (1.0 - 2.0**-20)) * (1.0 - lattice.narrow * 2.0**-16)
        self.inverse = 1.0 / self.step
        offset = above - width * 2.0**-21
        self.phase = lattice.phase
        self.offset = [offset + phase * self.step for phase in self.phase]
        self.dtype = np.dtype(dtype)
        self.max_value = float(np.finfo(self.dtype).max)
        reach = e * abs(lattice.common or 0.0)
        self.common = Common(lattice, reach, self.bare_cell, self.bare_value)

    def bare_cell(self, magnitude, negative):
        return floor_of(log2_of(magnitude) * self.inverse - self.phase[negative])

    def bare_value(self, q, negative):
        return exp2_of(float(q) * self.step + self.offset[negative])

    def plain(self, magnitude):
        return 2.0**-960 <= magnitude <= 1.7976931348623157e308

    def index_on(self, x):
        negative = bool(np.signbit(x))
        return self.common.index(self.bare_cell(abs(x), negative), abs(x), negative)

    def read(self, array):
        values = array.astype(np.float64).tolist()
        plain = [self.plain(abs(v)) for v in values]
        index = [self.index_on(v) if p else 0 for v, p in zip(values, plain, strict=False)]
        return index, values, plain, np.signbit(array).tolist()

    def value(self, index, negative):
        if self.common.is_of(negative) and index >= self.common.cell:
            at_common, index = index == self.common.cell, index - 1
            magnitude = self.common.magnitude if at_common else self.bare_value(index, negative)
        else:
            magnitude = self.bare_value(index, negative)
        magnitude = min(magnitude, self.max_value)
        return self.dtype.type(-magnitude if negative else magnitude)

    def estimate(self, x, expected):
        return (self.index_on(x), x < 0) if self.plain(abs(x)) else expected

    def flip(self, index):
        return index

    def is_negative(self, index, negative):
        return negative

    def key(self, index):
        return index & MASK64

    def wrap(self, index):
        if abs(index) > 1 << 50:
            raise ValueError("a value is out of range")
        return index


class AbsoluteGrid:
    signs_apart, has_specials = False, True

    def __init__(self, bound, lattice, dtype):
        self.step = (2.0 * bound) * (1.0 - lattice.narrow * 2.0**-16)
        self.inverse = 1.0 / self.step
        self.phase = lattice.phase
        self.common = Common(lattice, bound, self.bare_cell, self.bare_value)
        self.dtype = np.dtype(dtype)
        self.max_value = float(np.finfo(self.dtype).max)

    def read(self, array):
        values = array.astype(np.float64).tolist()
        plain = [self.plain(v) for v in values]
        index = [self.index_on(v) if p else 0 for v, p in zip(values, plain, strict=False)]
        return index, values, plain, [False] * len(values)

    def value(self, index, negative):
        below, q = index < 0, abs(index)
        if self.common.is_of(below) and q >= self.common.cell:
            at_common, q = q == self.common.cell, q - 1
            magnitude = self.common.magnitude if at_common else self.bare_value(q, below)
        else:
            magnitude = self.bare_value(q, below)
        x = -magnitude if below else magnitude
        return self.dtype.type(min(max(x, -self.max_value), self.max_value))

    def plain(self, x):
        return abs(x) * self.inverse < 2.0**50

    def bare_cell(self, magnitude, negative):
        distance, phase = magnitude * self.inverse, self.phase[negative]
        return 0 if distance + distance < 1.0 - phase else floor_of((distance + phase) + 0.5)

    def bare_value(self, q, negative):
        return (float(q) - self.phase[negative]) * self.step if q > 0 else 0.0

    def index_on(self, x):
        negative = bool(np.signbit(x))
        q = self.common.index(self.bare_cell(abs(x), negative), abs(x), negative)
        return -q if negative else q

    def estimate(self, x, expected):
        return (self.index_on(x), expected[1]) if self.plain(x) else expected

    def flip(self, index):
        return -index

    def is_negative(self, index, negative):
        return index < 0

    def key(self, index):
        return abs(index)

    wrap = PointwiseGrid.wrap


# ------------------------------------------------------------------------------------------------ prediction


def axes_of(members):
    return {8: 3, 4: 2, 2: 1}.get(members, 0)


def orientations(members):
    axes = axes_of(members)
    maps = []
    for axis in itertools.permutations(range(axes)):
        for mirror in range(1 << axes):
            maps.append([mirror ^ sum((c >> axis[a] & 1) << a for a in range(axes)) for c in range(members)])
    return maps


class Tree:
    """Decodes one chunk of codec 3, 4 or 5."""

    def __init__(self, grid, coarse, parents, family, width, count, neighbours=None, weights=None, sides=None):
        self.neighbours = neighbours if parents is None else None
        self.known_weights = None if weights is None else [float(w) for w in weights]
        self.known_sides = None if sides is None else np.asarray(sides).tolist()
        self.grid, self.count, self.members, self.width = grid, count, family, width
        self.parents = [] if parents is None or family not in (1, 2, 4, 8) else [int(p) for p in parents]
        if self.parents:
            self.c_index, self.c_value, self.c_plain, self.c_negative = grid.read(np.asarray(coarse, grid.dtype))

    def parent_index(self, parent, j):
        at = parent * self.width + j
        if self.c_plain[at]:
            return self.c_index[at]
        bit = 1
        while bit < self.members:
            near = (parent ^ bit) * self.width + j
            if near < len(self.c_index) and self.c_plain[near]:
                return self.c_index[near]
            bit <<= 1
        return 0

    def find_twins(self, shift):
        families = len(self.parents)
        slot_bits = families.bit_length() + 1
        keys = [(self.grid.key(self.c_index[p]) & MASK64) >> shift for p in self.parents]
        last, twins = {}, [None] * families
        for f, parent in enumerate(self.parents):
            if not self.c_plain[parent]:
                continue
            slot = (keys[f] * 0x9E3779B97F4A7C15 & MASK64) >> (64 - slot_bits)
            if slot in last and keys[last[slot]] == keys[f]:
                twins[f] = last[slot]
            last[slot] = f
        return twins

    def activity(self):
        result = []
        for f, parent in enumerate(self.parents):
            for j in range(self.width):
                at, largest = parent * self.width + j, 0
                cells = [parent ^ (1 << a) for a in range(axes_of(self.members))]
                cells += self.sides[f][: len(cells)] if self.sides else []
                for cell in cells:
                    near = cell * self.width + j
                    if near < len(self.c_index) and self.c_plain[near] and self.c_plain[at]:
                        r = self.c_index[near] - self.c_index[at]
                        r = (r + (1 << 63) & MASK64) - (1 << 63)
                        largest = max(largest, (r << 1 ^ r >> 63) & MASK64)
                quiet = self.orientation is not None and self.orientation[f] != 0
                result.append(0 if quiet else 1 + largest.bit_length())
        return result

    def read_model(self, cursor):
        flags = cursor.byte()
        self.across = flags >> 4 & 3
        if self.across and (flags & 199 or not self.neighbours):
            raise ValueError("prediction from neighbours, of which there are none")
        self.base, self.signs, has_twins = flags & 3, bool(flags & 8), bool(flags & 4)
        if flags & 64 and (self.base != FITTED_VALUE or self.known_weights is None):
            raise ValueError("prediction by weights, of which there are none")
        if flags & 128 and (self.base < FITTED_INDEX or has_twins or not self.known_sides):
            raise ValueError("prediction by sides, of which none is known")
        self.weights = self.known_weights if flags & 64 else None
        self.sides = self.known_sides if flags & 128 else None
        self.orientation = self.twins = None
        self.layout = (1, self.count, 1)
        if self.base == PREVIOUS:
            if has_twins:
                raise ValueError("twins without parents")
            return
        if not self.parents:
            raise ValueError("prediction from parents, of which there are none")
        self.layout = (len(self.parents), self.members, self.width)
        self.axes = axes_of(self.members)
        if self.base != PARENT:
            self.weight = self.read_stencil(cursor)
        if has_twins:
            shift = cursor.byte()
            self.orientation, _ = decode_symbols(cursor, PLAIN, 1, len(self.parents), 1)
            self.twins = self.find_twins(shift)

    def read_stencil(self, cursor):
        bits = Bits(cursor)
        low = bits.get(3)

        def weight():
            high = 0
            while bits.get(1) == 0:
                high += 1
            z = high << low | bits.get(low)
            if z > 255:
                raise ValueError("a weight of a stencil is out of range")
            return unzigzag(z)

        def terms(k):
            return k + (2 * self.axes + SIDES_ORDER[self.members][k].bit_count() if self.sides else self.axes)

        return [[weight() for _ in range(terms(k))] for k in range(self.members)]

    def decode(self, cursor):
        self.read_model(cursor)
        alphabet = SIGNED_NUMBERS if self.grid.signs_apart and self.signs else NUMBERS
        activity = None if self.base == PREVIOUS else self.activity()
        symbols, numbers = decode_symbols(cursor, alphabet, *self.layout, activity)
        num_exact = symbols.count(2)
        # In the order of the block, which with components is not that of decoding.
        exact = read_exact(cursor, num_exact, self.grid.dtype) if self.grid.has_specials else []
        self.exact = dict(zip((t for t, s in enumerate(symbols) if s == 2), exact, strict=False))
        self.symbols, self.numbers, self.signed = symbols, numbers, alphabet == SIGNED_NUMBERS
        n = self.count
        self.index, self.value, self.plain, self.negative = [0] * n, [0.0] * n, [False] * n, [False] * n
        self.out = np.zeros(n, self.grid.dtype)
        if self.across:
            self.decode_across()
        elif self.sides:
            self.decode_by_sides()
        elif self.base == PREVIOUS:
            expected = (0, False)
            for i in range(n):
                self.place(i, i, expected)
                if self.plain[i]:
                    expected = (self.index[i], self.negative[i])
        else:
            for f in range(len(self.parents)):
                for j in range(self.width):
                    if self.orientation is not None and self.orientation[f] != 0:
                        self.decode_by_twin(f)
                    else:
                        self.decode_family(f, j)
        return self.out

    def place(self, t, i, expected):
        """Decodes the t-th visited value, at position i."""
        s = self.symbols[t]
        if s < SPECIALS:
            if not self.grid.has_specials:
                raise ValueError("a value is out of range")
            self.out[i] = (0.0, -0.0)[s] if s < 2 else self.exact[t]
            self.negative[i] = bool(np.signbit(self.out[i]))
        else:
            self.plain[i] = True
            self.index[i] = self.grid.wrap(expected[0] + unzigzag(self.numbers[t]))
            self.negative[i] = self.signed and expected[1] != bool((s - SPECIALS) & 1)
            # through bytes: a signalling NaN stays one
            raw = np.array([self.grid.value(self.index[i], self.negative[i])], self.grid.dtype)
            self.out[i : i + 1] = raw
        self.value[i] = float(self.out[i])

    def decode_across(self):
        order, near = self.neighbours
        points = len(order)
        if self.count % points:
            raise ValueError("not a whole number of layers")
        for layer in range(0, self.count, points):
            for k in range(points):
                i = layer + order[k]
                abc = [layer + n for n in near[k]] if k else [i - points] * 3
                self.place(layer + k, i, self.expect_across(i, abc, points, k) if layer + k else (0, False))

    def expect_across(self, i, abc, points, k):
        like = next((n for n in abc if self.plain[n]), abc[0])
        expected = (self.index[like] if self.plain[like] else 0, self.negative[like])
        if k == 0:
            return expected
        down = points if i >= points else 0
        beside, below = self.across & BESIDE or not down, self.across & BELOW and down

        def fan(at, step):
            a, b, c = (at(n - step) for n in abc)
            return a + (b - c) if beside else a

        def known(at):
            return fan(at, 0) + (at(i - down) - fan(at, down)) if below else fan(at, 0)

        return self.grid.estimate(known(lambda n: self.value[n]), expected)

    def decode_by_twin(self, family):
        m = self.members
        parent, twin = self.parents[family], self.twins[family]
        if twin is None:
            raise ValueError(f"family {family} has a twin that is not there")
        sign = [self.grid.is_negative(self.c_index[p], self.c_negative[p]) for p in (parent, self.parents[twin])]
        other_sign = sign[0] != sign[1]
        turn = orientations(m)[self.orientation[family] - 1]
        for k in range(m):
            c = k ^ (parent & (m - 1))
            like = twin * m + turn[c]
            expected = (self.c_index[parent], self.c_negative[parent])
            if self.plain[like]:
                index = self.grid.flip(self.index[like]) if other_sign else self.index[like]
                expected = (index, self.negative[like] != other_sign)
            self.place(family * m + k, family * m + c, expected)

    def decode_family(self, family, j):
        m, w = self.members, self.width
        parent = self.parents[family]
        p = parent * w + j
        from_parent = (self.parent_index(parent, j), self.c_negative[p])
        near = [(parent ^ (1 << a)) * w + j for a in range(axes_of(m))]
        if self.base == FITTED_INDEX:
            known = [self.c_index[q] - from_parent[0] if q < len(self.c_index) and self.c_plain[q] else 0 for q in near]
        elif self.base == FITTED_VALUE:
            known = [self.c_value[q] - self.c_value[p] if q < len(self.c_index) else 0.0 for q in near]
        for k in range(m):
            i = (family * m + (k ^ (parent & (m - 1)))) * w + j
            expected = from_parent
            if self.base == FITTED_INDEX:
                total = 16 + sum(a * b for a, b in zip(self.weight[k], known, strict=False))
                expected = (from_parent[0] + (total >> 5), from_parent[1])
            elif self.weights and k == m - 1:
                weights = [self.weights[family * m + (n ^ (parent & (m - 1)))] for n in range(m)]
                expected = self.grid.estimate(self.balance(weights, self.c_value[p], known[-k:]), from_parent)
            elif self.base == FITTED_VALUE:
                total = 0.0
                for a, b in zip(self.weight[k], known, strict=False):
                    total = total + float(a) * b
                expected = self.grid.estimate(self.c_value[p] + total * 0.03125, from_parent)
            self.place((family * m + k) * w + j, i, expected)
            if self.base == FITTED_INDEX:
                known.append(self.index[i] - from_parent[0] if self.plain[i] else 0)
            elif self.base == FITTED_VALUE:
                known.append(self.value[i] - self.c_value[p])

    def decode_by_sides(self):
        """Child after child of all families."""
        m, w = self.members, self.width
        for k, child in enumerate(SIDES_ORDER[m]):
            for f, parent in enumerate(self.parents):
                for j in range(w):
                    at = (f * m + child) * w + j
                    self.place((f * m + k) * w + j, at, self.expect_by_sides(f, parent, k, j))

    def expect_by_sides(self, family, parent, k, j):
        m, w = self.members, self.width
        p, by_value, order = parent * w + j, self.base == FITTED_VALUE, SIDES_ORDER[m]
        from_parent = (self.parent_index(parent, j), self.c_negative[p])
        origin = self.c_value[p] if by_value else from_parent[0]

        def coarse(cell):
            q = cell * w + j
            if q >= len(self.c_index):
                return 0
            return (self.c_value[q] if by_value else self.c_index[q] if self.c_plain[q] else origin) - origin

        def child(of, cell):
            i = (of * m + cell) * w + j
            if by_value:
                return self.value[i] - origin
            return (self.index[i] if self.plain[i] else self.parent_index(self.parents[of], j)) - origin

        if self.weights and k == m - 1:
            known = [child(family, cell) for cell in order[:k]]
            weights = [self.weights[family * m + cell] for cell in order]
            return self.grid.estimate(self.balance(weights, origin, known), from_parent)
        terms, upper_faces = [], []
        for a in range(self.axes):
            inner, cell = coarse(parent ^ (1 << a)), self.sides[family][a]
            outer = -inner if cell == parent else coarse(cell)
            terms += [inner, outer] if parent >> a & 1 else [outer, inner]
            upper_faces.append(terms[-1])
        for a in range(self.axes):
            upper = self.sides[family][3 + a]
            if order[k] >> a & 1 and upper != family:
                terms.append(child(upper, order[k] ^ (1 << a)))
            elif order[k] >> a & 1:
                terms.append(0.75 * upper_faces[a] if by_value else upper_faces[a] - (upper_faces[a] >> 2))
        terms += [child(family, cell) for cell in order[:k]]
        if not by_value:
            total = 16 + sum(a * b for a, b in zip(self.weight[k], terms, strict=True))
            return from_parent[0] + (total >> 5), from_parent[1]
        total = 0.0
        for a, b in zip(self.weight[k], terms, strict=True):
            total = total + float(a) * b
        return self.grid.estimate(origin + total * 0.03125, from_parent)

    def balance(self, by_cell, value, differences):
        """The last child's value that makes the parent's the mean of its children's by their weights."""
        *weights, last = by_cell
        total = 0.0
        for weight, difference in zip(weights, differences, strict=True):
            total = total + weight * difference
        return float(value - np.float64(total) / np.float64(last))


# ------------------------------------------------------------------------------------------------ boxes


def read_exact(cursor, count, dtype):
    if count == 0:
        return np.zeros(0, dtype)
    size = count * dtype.itemsize
    packed = cursor.byte()
    plain = unzstd(cursor.take(cursor.varint()), size) if packed else cursor.take(size)
    return np.frombuffer(plain, dtype)


class Boxes:
    """Values on boxes of a grid: `shape` cells a box (x, y, z), `at` the position of each box, in boxes."""

    LOSSLESS, ABSOLUTE, POINTWISE = 0, 1, 2

    def __init__(self, shape, at, count, dtype):
        if at is None or len(at) == 0:
            raise ValueError("values on boxes, whose places are not known")
        self.shape, self.at = tuple(map(int, shape)), [tuple(map(int, place)) for place in at]
        self.dtype = np.dtype(dtype)
        self.cells = int(np.prod(self.shape))
        self.components = count // (self.cells * len(self.at))
        self.box_at = {place: b for b, place in enumerate(self.at)}
        self.count, self.limit = count, float(np.finfo(self.dtype).max)

    def read_head(self, cursor):
        flags = cursor.byte()
        if flags not in (0, 1, 2, 6, 10, 14):
            raise ValueError("unknown kind of boxes")
        self.kind, self.signs, self.logarithms = flags & 3, bool(flags & 4), bool(flags & 8)
        self.exact_grid = ExactGrid(self.dtype)
        if self.kind != self.LOSSLESS:
            bound, lattice = read_bound(cursor), Lattice(cursor, self.dtype)
            if lattice.common is not None:
                raise ValueError("boxes have no common value")
            if self.kind == self.ABSOLUTE:
                self.step = (2.0 * bound) * (1.0 - lattice.narrow * 2.0**-16)
            else:
                e = min(bound, 0.5)
                above, below = log2_of(1.0 + e), log2_of(1.0 - e)
                self.step = ((above - below) * (1.0 - 2.0**-20)) * (1.0 - lattice.narrow * 2.0**-16)
                self.centre = 0.5 * (above + below)
            self.moved = [(p if p < 0.5 else p - 1.0) * self.step for p in lattice.phase]
        self.strides = cursor.byte()
        if self.strides > 31:
            raise ValueError("too many strides")
        self.weight = [[cursor.unpack("b") * 0.015625 for _ in range(3)] for _ in range(self.strides)]

    def stages(self):
        """(stride, axes, weight) of each stage, in order."""
        yield 1 << self.strides, (), 0.0
        for row, weights in enumerate(self.weight):
            for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
                yield 1 << (self.strides - 1 - row), axes, weights[len(axes) - 1]

    def points(self, stride, axes):
        """For each value of a stage, in order, its number and, along each axis, those at -1, +1, -3 and +3 strides."""
        step = 2 * stride if axes else stride
        for b, place in enumerate(self.at):
            begin = [p * n for p, n in zip(place, self.shape, strict=True)]
            first = [((stride if a in axes else 0) - begin[a]) % step for a in range(3)]
            for z in range(first[2], self.shape[2], step):
                for y in range(first[1], self.shape[1], step):
                    for x in range(first[0], self.shape[0], step):
                        near = [[self.number(b, (x, y, z), a, d * stride) for d in (-1, 1, -3, 3)] for a in axes]
                        i = self.number(b, (x, y, z), 0, 0)
                        for j in range(self.components):
                            yield i + j, [[None if n is None else n + j for n in axis] for axis in near]

    def number(self, box, cell, axis, distance):
        """The number of the first value of the cell that is so far away; None where there is none."""
        cell, place = list(cell), list(self.at[box])
        steps, cell[axis] = divmod(cell[axis] + distance, self.shape[axis])
        place[axis] += steps
        other = self.box_at.get(tuple(place))
        if other is None:
            return None
        inside = (cell[2] * self.shape[1] + cell[1]) * self.shape[0] + cell[0]
        return (other * self.cells + inside) * self.components

    def activity(self, near):
        if not any(axis[0] is not None and axis[1] is not None for axis in near):
            return 0
        lengths = [self.length[n] for axis in near for n in axis[:2] if n is not None]
        return 1 + (sum(lengths) if self.kind == self.LOSSLESS else 2 * sum(lengths)) // len(lengths)

    def along(self, axis):
        """How many of the next values are known along an axis, the value and its curve."""
        v = [self.value[n] if n is not None and self.known[n] else None for n in axis]
        sides = (v[0] is not None) + (v[1] is not None)
        if sides == 0:
            return 0, 0.0, 0.0
        if sides == 1:
            n = 0 if v[0] is not None else 1
            return 1, v[n] if v[n + 2] is None else v[n] + 0.5 * (v[n] - v[n + 2]), 0.0
        curve = 0.0
        if v[2] is not None:
            curve = curve + ((2.0 * v[0] - v[1]) - v[2])
        if v[3] is not None:
            curve = curve + ((2.0 * v[1] - v[0]) - v[3])
        if v[2] is not None and v[3] is not None:
            curve = 0.5 * curve
        return 2, 0.5 * (v[0] + v[1]), curve

    def expect(self, near, weight):
        found = [self.along(axis) for axis in near]
        most = max((sides for sides, _, _ in found), default=0)
        if most == 0:
            return self.last
        value = curve = count = 0.0
        for sides, v, c in found:
            if sides == most:
                value, curve, count = value + v, curve + c, count + 1.0
        if count > 1.0:
            value, curve = value / count, curve / count
        return value + weight * curve

    def decode(self, cursor):
        self.read_head(cursor)
        n = self.count
        self.value, self.known, self.length = [0.0] * n, [False] * n, [0] * n
        self.last, self.last_negative = 0.0, False
        self.out, self.exact = np.zeros(n, self.dtype), []
        group, stages = [], list(self.stages())
        for s, (stride, axes, weight) in enumerate(stages):
            group += [(i, near, weight) for i, near in self.points(stride, axes)]
            if len(group) >= 2048 or s + 1 == len(stages):
                self.read_group(cursor, group)
                group = []
        self.out[self.exact] = read_exact(cursor, len(self.exact), self.dtype)
        return self.out

    def read_group(self, cursor, group):
        activity = [self.activity(near) for _, near, _ in group]
        alphabet = SIGNED_NUMBERS if self.signs else NUMBERS
        symbols, numbers = decode_symbols(cursor, alphabet, len(group), 1, 1, activity)
        for (i, near, weight), symbol, u in zip(group, symbols, numbers, strict=True):
            self.settle(i, self.expect(near, weight), symbol, u)
        for (i, _, _), symbol, u in zip(group, symbols, numbers, strict=True):
            self.length[i] = 0 if symbol < SPECIALS else u.bit_length()

    def settle(self, i, expected, symbol, u):
        if symbol < SPECIALS:
            if self.kind == self.LOSSLESS:
                raise ValueError("a value is out of range")
            if symbol == 2:
                self.exact.append(i)
            self.out[i] = -0.0 if symbol == 1 else 0.0
            return
        number = unzigzag(u)
        if self.kind == self.LOSSLESS:
            index = self.exact_grid.index_of(expected) if abs(expected) <= self.limit else 0
            index = self.exact_grid.wrap(index + number)
            self.out[i : i + 1] = np.array([self.exact_grid.value(index, False)], self.dtype)
            y = float(self.out[i])
        elif self.kind == self.ABSOLUTE:
            y = expected + float(number) * self.step
            self.out[i] = min(max(y + self.moved[y < 0], -self.limit), self.limit)
        else:
            place = 2.0**-960 <= abs(expected) <= 1.7976931348623157e308
            level = expected if self.logarithms else log2_of(expected) if place else 0.0
            level = level + float(number) * self.step
            y = exp2_of(level + self.centre)
            negative = self.last_negative if self.logarithms else place and expected < 0
            if self.signs and negative != bool((symbol - SPECIALS) & 1):
                y = -y
            self.out[i] = min(max(y * exp2_of(self.moved[y < 0]), -self.limit), self.limit)
            if self.logarithms:
                self.last_negative, y = y < 0, level
        self.value[i], self.known[i], self.last = y, True, y


# ------------------------------------------------------------------------------------------------ published codecs


def decode_delta(cursor, count, dtype):
    bits, before, out = Bits(cursor), 0, []
    for first in range(0, count, 8):
        length = bits.get(7)
        for _ in range(min(8, count - first)):
            before ^= bits.get(length)
            out.append(before)
    return np.array(out, f"<u{dtype.itemsize}").view(dtype)


def decode_pcp(cursor, count, coarse, parents, family, width, dtype):
    bits = Bits(cursor)
    unsigned = np.dtype(f"<u{dtype.itemsize}")
    out = np.zeros(count, unsigned)
    if parents is None or len(parents) == 0:
        groups = [(0, first, 1, min(8, count - first)) for first in range(0, count, 8)]
    else:
        top = np.asarray(coarse, dtype).view(unsigned)
        groups = [
            (int(top[int(p) * width + j]), f * family * width + j, width, family)
            for f, p in enumerate(parents)
            for j in range(width)
        ]
    for parent, first, stride, members in groups:
        length = 8 * dtype.itemsize - bits.get(4)
        for k in range(members):
            out[first + k * stride] = parent ^ bits.get(length)
    return out.view(dtype)


# ------------------------------------------------------------------------------------------------ bins


def decode_bins(cursor, count, dtype):
    order = cursor.byte()
    if order > 3 or order >= count:
        raise ValueError("no such order of differences")
    first = [cursor.unpack("Q") for _ in range(order)]
    bins, lower = [], 0
    for _ in range(cursor.varint()):
        lower = (lower + cursor.varint()) & MASK64
        bins.append((lower, cursor.byte(), cursor.byte()))
    if not 1 <= len(bins) <= 256 or any(shift > 63 or shift + bits > 64 for _, shift, bits in bins):
        raise ValueError("not bins")
    numbers, _ = decode_symbols(cursor, PLAIN, 1, count - order, 1)
    if max(numbers) >= len(bins):
        raise ValueError("a value is in no bin")
    places, keys = Bits(cursor), []
    for number in numbers:
        lower, shift, bits = bins[number]
        keys.append((lower + (places.get(bits) << shift)) & MASK64)
    for start in reversed(first):
        sums = [start]
        for key in keys:
            sums.append((sums[-1] + key - (1 << 63)) & MASK64)
        keys = sums
    grid = ExactGrid(dtype)
    indices = [key - (1 << 63) for key in keys]
    if not all(-grid.sign_bit <= index < grid.sign_bit for index in indices):
        raise ValueError("a value is out of range")
    return np.array([grid.value(index, False) for index in indices], dtype)


# ------------------------------------------------------------------------------------------------ differences


def decode_differences(cursor, count, dtype):
    form = cursor.byte()
    if form > 1:
        raise ValueError("neither numbers nor planes")
    raw = unzstd(cursor.rest(), count * dtype.itemsize)
    if form == 1:
        raw = join_planes(raw, dtype.itemsize)
    unsigned = np.dtype(f"<u{dtype.itemsize}")
    zigzag = np.frombuffer(raw, unsigned)
    one = unsigned.type(1)
    index = np.cumsum((zigzag >> one) ^ (~(zigzag & one) + one), dtype=unsigned)  # modulo 2^32 or 2^64
    sign = one << unsigned.type(8 * dtype.itemsize - 1)
    return np.where(index & sign, ~(index ^ sign), index).astype(unsigned).view(dtype)


# ------------------------------------------------------------------------------------------------ entry points


def decode_chunk(
    data, offset, coarse, parents, family, width, count, dtype, neighbours=None, boxes=None, weights=None, sides=None
):
    """Decodes the chunk of `count` values of `dtype` ("float64" or "float32") at `offset` of `data`.

    `coarse`: the decoded values of the level above, `parents`: for each family of `family` cells of `width` values its
    parent's cell there; both None for a chunk without parents. `neighbours`: of the points of a mesh the order of visit and near points, if
    known. `boxes`: their shape and positions, if known. `weights`: one value a cell of the field that weighs this one. `sides`: for each
    family its outer cells and upper families, six numbers. Returns (values, bytes taken).
    """
    dtype = np.dtype(dtype).newbyteorder("<")
    codec, payload, size = open_chunk(
        data, offset, {*range(8), BINS, DIFFERENCES, BOXES}, SCALARS[np.dtype(dtype).name], count
    )
    raw_size = count * dtype.itemsize
    if codec == RAW:
        values = np.frombuffer(payload.take(raw_size), dtype)
    elif codec == ZSTD:
        values = np.frombuffer(unzstd(payload.rest(), raw_size), dtype)
    elif codec == PLANES:
        values = np.frombuffer(join_planes(unzstd(payload.rest(), raw_size), dtype.itemsize), dtype)
    elif codec == DELTA:
        values = decode_delta(payload, count, dtype)
    elif codec == PCP:
        values = decode_pcp(payload, count, coarse, parents, family, width, dtype)
    elif codec == BINS:
        values = decode_bins(payload, count, dtype)
    elif codec == DIFFERENCES:
        values = decode_differences(payload, count, dtype)
    elif codec == BOXES:
        with np.errstate(all="ignore"):
            values = Boxes(*(boxes or ((1, 1, 1), None)), count, dtype).decode(payload)
    else:
        if codec == TREE:
            grid = ExactGrid(dtype)
        else:
            bound = read_bound(payload)
            kind = PointwiseGrid if codec == LOG_GRID else AbsoluteGrid
            grid = kind(bound, Lattice(payload, dtype), dtype)
        with np.errstate(all="ignore"):
            values = Tree(grid, coarse, parents, family, width, count, neighbours, weights, sides).decode(payload)
    if payload.rest():
        raise ValueError("bytes are left over at the end of a chunk")
    return values, size


def decode_integers(data, offset, width, count):
    """Decodes `count` integers of `width` bytes: returns (their bytes, little-endian, and the bytes taken)."""
    _, payload, size = open_chunk(data, offset, (INTEGERS,), INTEGER_SCALARS[width], count)
    form = payload.byte()
    if form == 0:
        raw = payload.take(count * width)
    elif form == 1:
        raw = unzstd(payload.rest(), count * width)
    elif form == 2:
        raw = join_planes(unzstd(payload.rest(), count * width), width)
    elif form == 3:
        _, numbers = decode_symbols(payload, NUMBERS, 1, count, 1)
        now, out = 0, bytearray()
        for u in numbers:
            now += unzigzag(u)
            out += (now & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        raw = bytes(out)
    else:
        raise ValueError(f"unknown form {form} of integers")
    if payload.rest():
        raise ValueError("bytes are left over at the end of a chunk")
    return raw, size


def decode_bits(data, offset, count):
    """Decodes `count` bits: returns (a bool array, bytes taken)."""
    _, payload, size = open_chunk(data, offset, (BITS,), 6, count)
    form, packed_size = payload.byte(), (count + 7) // 8
    if form == 0:
        packed = payload.take(packed_size)
    elif form == 1:
        packed = unzstd(payload.rest(), packed_size)
    elif form in (2, 3):
        packed = (b"\0", b"\xff")[form - 2] * packed_size
    elif form == 4:
        packed = bytes(decode_symbols(payload, PLAIN, 1, packed_size, 1)[0])
    else:
        raise ValueError(f"unknown form {form} of bits")
    if payload.rest():
        raise ValueError("bytes are left over at the end of a chunk")
    return np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")[:count].astype(bool), size
