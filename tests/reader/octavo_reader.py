"""A second, slow reader of Octavo stores, written from docs/format.md: NumPy, cbor2, xxhash and zstandard.

It shares no code with the library and exists to prove that the document is enough.

    steps = octavo_reader.read_store("run.octavo")   # complete, not superseded; by flow, then number
    part = octavo_reader.read_part(steps[-1], 0)     # part.fields["density"]: one array a level
    # steps whose `triangles` is not None: octavo_triangles.py; whose `solids` is not None: octavo_solids.py
    octavo-reader run.octavo                         # or python octavo_reader.py: reads and checks everything

Whatever is not as the document says raises Damage, another version of the format Unsupported.
"""

import json
import re
import sys
from collections import namedtuple
from pathlib import Path
from struct import unpack_from

import cbor2
import numpy as np
import octavo_codecs as chunk
import xxhash

HEAD_MAGIC, RECORD_MAGIC = b"\x89OCTVO\r\n", b"\x89COMI2\r\n"
BLOCK, SECTOR = 4096, 512
HEAD_SIZE = 3 * BLOCK
REFINEMENT, OWNERSHIP, FIELD, PARTICLES, OPAQUE, MESH = range(6)
MESHES = {"octree", "triangles", "solids"}
TYPES = {
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint64",
    "uint32",
    "uint8",
    "bool",
}
CENTRINGS = {"cell", "face_x", "face_y", "face_z", "node", "particle"}
COLUMN_TYPES = {64: "<u1", 69: "<u2", 70: "<u4", 71: "<u8", 79: "<i8", 86: "<f8"}

Commit = namedtuple("Commit", "path footer offset length")
Step = namedtuple("Step", "flow step attempt time header species triangles solids segments parts")
Part = namedtuple("Part", "index held refined owned fields particles opaque")


class Damage(Exception):
    pass


class Unsupported(Exception):
    """The store has another version or an unknown name. It is not damaged."""


def expect(holds, what):
    if not holds:
        raise Damage(what)


def xxh3(data):
    return xxhash.xxh3_64_intdigest(data)


def plain(value):
    """CBOR as Python has it: columns become arrays, text that was not UTF-8 becomes text by its bytes."""
    if isinstance(value, cbor2.CBORTag):
        return np.frombuffer(value.value, COLUMN_TYPES[value.tag])
    if isinstance(value, dict):
        return {text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


def columns(table):
    """Columns of one length as a list of rows."""
    row = namedtuple("Row", table)
    return [row(*values) for values in zip(*(column.tolist() for column in table.values()), strict=True)]


# ------------------------------------------------------------------------------------------------ subfiles


def checked_sector(sector, magic):
    """The bytes after the magic of a sector, or None if its magic or checksum is wrong."""
    if sector[:8] != magic or xxh3(sector[:504]) != unpack_from("<Q", sector, 504)[0]:
        return None
    return sector[8:504]


def read_records(data):
    """The file's identity, and what its valid commit records name as (sequence, footer offset, length, checksum)."""
    head = checked_sector(data[:SECTOR], HEAD_MAGIC)
    expect(head is not None, "the head is damaged")
    major, minor, size, identity, flow = unpack_from("<HHI16sB", head)
    if major != 2:
        raise Unsupported(f"version {major}.{minor}")
    if flow > 1 or any(head[25:]):
        raise Unsupported("the head says something unknown")
    expect(size == HEAD_SIZE, "a head of another size")
    records = []
    for place in (0, 1):
        begin = BLOCK * (place + 1)
        sector = checked_sector(data[begin : begin + SECTOR], RECORD_MAGIC)
        if sector is None:
            continue
        sequence, _step, _attempt, offset, length, checksum, file, *before = unpack_from("<Qq16sQQQ16sQQQ", sector)
        if file == identity:
            records.append((sequence, offset, length, checksum))
            if sequence > 1:
                records.append((sequence - 1, *before))
    return identity, records


def read_footer(data, identity, sequence, offset, length, checksum):
    raw = data[offset : offset + length]
    expect(len(raw) == length and xxh3(raw) == checksum, f"footer at byte {offset} is damaged")
    footer = plain(cbor2.loads(raw))
    expect(footer["file"] == identity and footer["sequence"] == sequence, "a footer of another commit")
    return footer


def read_commits(path):
    """All footers of a subfile that can be reached, newest first."""
    data = path.read_bytes()
    identity, records = read_records(data)
    known = {sequence: place for sequence, *place in records}
    commits = []
    while known:
        sequence = max(known)
        offset, length, checksum = known.pop(sequence)
        try:
            footer = read_footer(data, identity, sequence, offset, length, checksum)
        except Damage:
            continue
        commits.append(Commit(path, footer, offset, length))
        for link in columns(footer["previous"]):
            known.setdefault(link.sequence, (link.offset, link.length, link.checksum))
    return commits


# ------------------------------------------------------------------------------------------------ marks


def read_mark(path, flow):
    """The orders of the flow's steps that were durable, and the number of the newest; (None, None) where no mark lists any."""
    return read_whole_mark(path, flow)[:2]


def read_whole_mark(path, flow):
    """The same, and how many steps the writer keeps; 0: all."""
    file = Path(path) / f"{flow}.durable"
    data = file.read_bytes() if file.exists() else b""
    if not any(data):
        return None, None, 0
    expect(len(data) == SECTOR and data[486:] == b"checksum %016x\n" % xxh3(data[:486]), f"{file} is damaged")
    first, orders, *rest = data.decode().splitlines()
    expect(first.startswith(f"This store has had durable {flow} steps: "), f"{file} is of another flow")
    ranges = [tuple(map(int, item.split("-"))) for item in orders.removeprefix("orders ").split(",") if item]
    newest = next((int(line.removeprefix("newest step ")) for line in rest if line.startswith("newest step ")), None)
    kept = next((int(line.removeprefix("kept ")) for line in rest if line.startswith("kept ")), 0)
    return {order for item in ranges for order in range(item[0], item[-1] + 1)}, newest, kept


def lost_orders(path, flow):
    """The orders of marked steps that are not complete, without those of an abandoned branch and those that were given up."""
    complete = [commits[0].footer for commits in complete_steps(path) if commits[0].footer["flow"] == flow]
    order_of = {footer["attempt"]: footer["order"] for footer in complete}
    marked, _, kept = read_whole_mark(path, flow)

    def is_abandoned(order):
        later = [f for f in complete if f["order"] > order and f["continues"] is not None]
        return any(order_of.get(footer["continues"]["attempt"], 0) < order for footer in later)

    def is_given_up(order):
        return 0 < kept <= sum(other > order for other in order_of.values())

    gone = (marked or set()) - set(order_of.values())
    return {order for order in gone if not is_abandoned(order) and not is_given_up(order)}


# ------------------------------------------------------------------------------------------------ steps


def read_store(path):
    complete = complete_steps(path)
    listed = [a for a in complete if not any(supersedes(b[0].footer, a[0].footer) for b in complete)]
    listed.sort(key=lambda a: (a[0].footer["flow"] == "analysis", a[0].footer["step"]))
    return [open_step(commits) for commits in listed]


def complete_steps(path):
    """The commits of each complete step, by segment."""
    path = Path(path)
    files = [file for flow in ("analysis", "checkpoint") for file in path.glob(f"{flow}/**/data.*")]
    attempts = {}
    for file in sorted(files):
        if not re.fullmatch(r"data\.\d{3,}", file.name):
            continue
        try:
            commits = read_commits(file)
        except Damage:
            continue
        for commit in commits:
            footer = commit.footer
            attempts.setdefault((footer["flow"], footer["step"], footer["attempt"]), []).append(commit)
    return [sorted(a, key=lambda c: c.footer["segment"]) for a in attempts.values() if is_complete(a)]


def is_complete(commits):
    found = sorted((commit.footer["segment"], commit.footer["segments"]) for commit in commits)
    return found == [(segment, len(commits)) for segment in range(len(commits))]


def supersedes(later, earlier):
    if later["flow"] != earlier["flow"] or later["order"] <= earlier["order"]:
        return False
    continues = later["continues"]
    return later["step"] == earlier["step"] or (continues is not None and earlier["step"] > continues["step"])


def open_step(commits):
    tables = [read_table(commit) for commit in commits]
    full = next((table for table in tables if table["rows"]), tables[0])
    species = {}
    for table in tables:
        for info in table.get("species", []):
            species.setdefault(text(info["name"]), info["attributes"])
    parts = sorted(
        ((row.index, segment, row) for segment, table in enumerate(tables) for row in table["rows"]),
        key=lambda part: part[0],
    )
    footer = commits[0].footer
    identity = (footer["flow"], footer["step"], footer["attempt"], footer["time"])
    segments = list(zip(commits, tables, strict=True))
    attributes = full["header"]["attributes"] | tables[0]["header"]["attributes"]  # long lists stand in segment 0 alone
    header = full["header"] | {"attributes": attributes}
    return Step(*identity, header, species, full.get("triangles"), full.get("solids"), segments, parts)


def type_of(field):
    """The values' type in NumPy, little-endian; bfloat16 as its bits."""
    name = text(field["type"])
    if name not in TYPES or text(field["centring"]) not in CENTRINGS:
        raise Unsupported(f"values of type {name} on {field['centring']}")
    return np.dtype("uint16" if name == "bfloat16" else name).newbyteorder("<")


def check_places(commit, rows):
    """Checks that streams ascend and do not overlap. Bytes between them have no meaning."""
    at, table = commit.footer["begin"], commit.footer["table"]
    expect(at >= HEAD_SIZE, "a segment in the head")
    for stream in (stream for row in rows for stream in row.streams):
        expect(stream.offset >= at, f"the stream at {stream.offset} begins before the one before ends")
        at = stream.offset + stream.stored
    expect(at <= table["offset"], "streams run into the table")
    expect(table["offset"] + table["length"] <= commit.offset, "the table runs into the footer")


def read_table(commit):
    needed, mesh = commit.footer["must_understand"], text(commit.footer["mesh"])
    if needed or mesh not in MESHES:
        raise Unsupported(f"a step of a mesh of {mesh} that needs {needed}")
    place = commit.footer["table"]
    offset, length, checksum = place["offset"], place["length"], int(place["checksum"][0])
    with open(commit.path, "rb") as file:
        file.seek(offset)
        raw = file.read(length)
    expect(xxh3(raw) == checksum, f"{commit.path}: the table is damaged")
    table = plain(cbor2.loads(raw))
    fields = list(table["header"]["fields"])
    if mesh != "octree":
        table["rows"] = share_rows(table)
        fields += table[mesh]["arrays"]
    else:
        table["rows"] = part_rows(table)
        fields += [attribute for info in table["species"] for attribute in info["attributes"]]
    check_places(commit, table["rows"])
    for field in fields:
        type_of(field)
    expect(len(table["rows"]) == commit.footer["parts"], "the table has not the footer's number of parts")
    return table


def part_rows(table):
    """One row a part: its counts by level, its bounds, and its streams."""
    row = namedtuple("PartRow", "index intervals cells owned leaves box keys particles streams")
    parts, streams, species = table["parts"], columns(table["streams"]), len(table["species"])
    rows, level, stream = [], 0, 0
    for p, index in enumerate(parts["index"].tolist()):
        levels, count = int(parts["levels"][p]), int(parts["streams"][p])
        counts = [parts[name][level : level + levels].tolist() for name in ("cells", "owned", "leaves")]
        rows.append(
            row(
                index,
                int(parts["intervals"][p]),
                *counts,
                parts["box"][6 * p : 6 * p + 6].tolist(),
                parts["keys"][4 * p : 4 * p + 4].tolist(),
                parts["particles"][species * p : species * (p + 1)].tolist(),
                streams[stream : stream + count],
            )
        )
        level += levels
        stream += count
    expect(stream == len(streams), "streams that belong to no part")
    return rows


def share_rows(table):
    """The same for parts of triangles or solids."""
    streams, at, rows = columns(table["streams"]), 0, []
    for share in columns(table["parts"]):
        rows.append(share._replace(streams=streams[at : at + share.streams]))
        at += share.streams
    expect(at == len(streams), "streams that belong to no part")
    return rows


# ------------------------------------------------------------------------------------------------ parts


def read_stream(path, stream):
    with open(path, "rb") as file:
        file.seek(stream.offset)
        data = file.read(stream.stored)
    sound = len(data) == stream.stored and stream.stored_checksum in (0, xxh3(data))
    expect(sound, f"stream at {stream.offset} is damaged")
    return data


def check_raw(stream, raw, taken):
    place = f"stream at {stream.offset}"
    expect(taken == stream.stored, f"{place}: decoding took {taken} bytes of {stream.stored}")
    expect(len(raw) == stream.raw and stream.raw_checksum in (0, xxh3(raw)), f"{place} decodes otherwise")


def read_roots(data, intervals, count, roots):
    """The held roots [begin, end), ascending, what they take of a stream, and their raw form."""
    if intervals == 0:
        expect(count == 0, "cells of level 0 without held roots")
        return [], 0, b""
    raw, size = chunk.decode_integers(data, 0, 8, 2 * intervals)
    held, end = [], 0
    for gap, length in np.frombuffer(raw, "<u8").reshape(-1, 2).tolist():
        expect(length > 0 and (gap > 0 or not held), "held roots: an interval is empty or touches the one before")
        held.append((end + gap, end + gap + length))
        end = held[-1][1]
    expect(end <= roots, "held roots beyond the domain")
    expect(sum(end - begin for begin, end in held) == count, "level 0 has not the held roots' cells")
    return held, size, bytes(raw)


def read_bits(data, stream, counts, taken=0, raw=b""):
    levels = []
    for count in counts:
        bits, size = chunk.decode_bits(data, taken, count)
        levels.append(bits)
        taken += size
        raw += np.packbits(bits, bitorder="little").tobytes()
    check_raw(stream, raw, taken)
    return levels


def read_part(step, number):
    """Part `number` (from 0, by contributor) of a step of cells in full."""
    _index, segment, row = step.parts[number]
    commit, table = step.segments[segment]
    header, family = table["header"], 2 ** table["header"]["dim"]
    data = read_stream(commit.path, row.streams[0])
    held, taken, raw = read_roots(data, row.intervals, row.cells[0], int(np.prod(header["roots"])))
    refined = read_bits(data, row.streams[0], row.cells[:-1], taken, raw)
    refined.append(np.zeros(row.cells[-1], bool))
    for above, cells in zip(refined[:-1], row.cells[1:], strict=True):
        expect(above.sum() * family == cells, "a level has not the children of the one above")
    owned = read_bits(read_stream(commit.path, row.streams[1]), row.streams[1], row.cells)
    expect([int(bits.sum()) for bits in owned] == row.owned, "owned cells are not as many as the table says")
    leaves = [int((bits & ~above).sum()) for bits, above in zip(owned, refined, strict=True)]
    expect(leaves == row.leaves, "owned leaves are not as many as the table says")
    fields = {text(field["name"]): [] for field in header["fields"]}
    parents = parents_of(refined, header["block"])
    boxes = boxes_of(held, refined, header)
    sides = sides_of(boxes, parents, header)
    of_fields = [stream for stream in row.streams[2:] if stream.kind == FIELD]
    weighing = {by for by in map(weights_of, of_fields) if by is not None}
    for stream in sorted(of_fields, key=lambda stream: stream.index not in weighing):
        field, by = header["fields"][stream.index], weights_of(stream)
        expect(by is None or stream.index not in weighing, "weights of a field that weighs others")
        weights = None if by is None else fields[text(header["fields"][by]["name"])]
        levels = fields[text(field["name"])]
        read_levels(commit.path, stream, field, row.cells, parents, family, boxes, weights, sides, levels)
    particles, opaque = read_particles(commit.path, table, row), read_opaque(commit.path, table, row)
    return Part(row.index, held, refined, owned, fields, particles, opaque)


def weights_of(stream):
    """The field whose values the stream's predictions need; None: no field's."""
    number = getattr(stream, "weights", 0)
    return number - 1 if number else None


def parents_of(refined, block):
    """For each level the parents of its families; None for level 0, and for blocks: they have no parents."""
    if list(block) != [1, 1, 1]:
        return [None] * len(refined)
    return [None] + [np.flatnonzero(level) for level in refined[:-1]]


def boxes_of(held, refined, header):
    """For each level the cells of a box and the positions of boxes: blocks, else roots, else families."""
    dim, (nx, ny, _), block = header["dim"], header["roots"], list(header["block"])
    roots = np.concatenate([np.arange(*interval) for interval in held] or [np.zeros(0, np.int64)])
    at = np.stack([roots % nx, roots // nx % ny, roots // nx // ny], axis=1)
    boxes, cells = [(block, at)], at
    for level in refined[:-1]:
        families = cells[np.flatnonzero(level)]
        child = np.arange(2**dim)[:, None] >> np.arange(3) & 1
        cells = (2 * families[:, None, :] + child).reshape(-1, 3)
        boxes.append((block, cells) if block != [1, 1, 1] else ([2] * dim + [1] * (3 - dim), families))
    return boxes


def sides_of(boxes, parents, header):
    """For each level what stands at the sides of its families: outer cells, upper families; None: unknown."""
    dim, sides = header["dim"], [None] * len(parents)
    child = np.arange(2**dim)[:, None] >> np.arange(3) & 1
    for level in range(2, len(parents)):
        if parents[level] is None:
            continue
        above = (2 * boxes[level - 1][1][:, None, :] + child).reshape(-1, 3).tolist()
        cell_at = {tuple(at): cell for cell, at in enumerate(above)}
        family_at = {tuple(above[parent]): family for family, parent in enumerate(parents[level])}
        sides[level] = []
        for family, parent in enumerate(parents[level].tolist()):
            found = [parent] * 3 + [family] * 3
            for axis in range(dim):
                at, outward = list(above[parent]), 1 if parent >> axis & 1 else -1
                at[axis] += outward
                found[axis] = cell_at.get(tuple(at), parent)
                at[axis] += 1 - outward
                found[3 + axis] = family_at.get(tuple(at), family)
            sides[level].append(found)
    return sides


def read_levels(path, stream, field, cells, parents, family, boxes, weights, sides, levels):
    """Appends the levels of one stream to those before: arrays of shape (cells, width)."""
    expect(len(levels) == stream.first_level, "level groups do not follow one another")
    data, taken, raw, width = read_stream(path, stream), 0, b"", field["width"]
    for level in range(stream.first_level, stream.last_level + 1):
        coarse = levels[-1].ravel() if parents[level] is not None else None
        count, context = cells[level] * width, (coarse, parents[level], family, width)
        by = None if weights is None else weights[level].ravel()
        values, size = decode(
            data, taken, type_of(field), count, *context, boxes=boxes[level], weights=by, sides=sides[level]
        )
        levels.append(values.reshape(cells[level], width))
        taken += size
        raw += values.tobytes()
    check_raw(stream, raw, taken)


def decode(data, offset, dtype, count, coarse=None, parents=None, family=1, width=1, **known):
    """`count` values of a chunk, little-endian, and the bytes that it takes."""
    if dtype.name in ("float64", "float32"):
        return chunk.decode_chunk(data, offset, coarse, parents, family, width, count, dtype.name, **known)
    raw, size = chunk.decode_integers(data, offset, dtype.itemsize, count)
    return np.frombuffer(raw, dtype), size


def read_particles(path, table, row):
    """{species: {attribute: array of shape (count, components)}}"""
    places, particles = [], {}
    for info, count in zip(table["species"], row.particles, strict=True):
        particles[text(info["name"])] = {}
        places += [(text(info["name"]), attribute, count) for attribute in info["attributes"]]
    for species, attribute, _ in places:
        empty = np.zeros((0, attribute["components"]), type_of(attribute))
        particles[species][text(attribute["name"])] = empty
    for stream in row.streams:
        if stream.kind == PARTICLES:
            species, attribute, count = places[stream.index]
            width = attribute["components"]
            data = read_stream(path, stream)
            values, taken = decode(data, 0, type_of(attribute), count * width, width=width)
            check_raw(stream, values.tobytes(), taken)
            particles[species][text(attribute["name"])] = values.reshape(count, width)
    return particles


def read_opaque(path, table, row):
    """{name: bytes}"""
    opaque = {}
    for stream in row.streams:
        if stream.kind == OPAQUE:
            data = read_stream(path, stream)
            values, taken = decode(data, 0, np.dtype("uint8"), stream.raw)
            check_raw(stream, values.tobytes(), taken)
            opaque[text(table["opaque"][stream.index])] = values.tobytes()
    return opaque


# ------------------------------------------------------------------------------------------------ command


def summary(step):
    """Counts and, for each field, minimum and maximum over all cells: reading all of it checks all of it."""
    leaves, fields = 0, {}
    for number in range(len(step.parts)):
        part = read_part(step, number)
        leaves += sum(int((o & ~r).sum()) for o, r in zip(part.owned, part.refined, strict=True))
        for name, levels in part.fields.items():
            values = np.concatenate([level.ravel() for level in levels])
            if values.size == 0:
                continue  # a part without cells
            low, high = fields.get(name, (np.inf, -np.inf))
            with np.errstate(invalid="ignore"):
                fields[name] = min(low, float(np.nanmin(values))), max(high, float(np.nanmax(values)))
    counts = {"time": step.time, "parts": len(step.parts), "leaves": leaves}
    return {"flow": step.flow, "step": step.step, **counts, "fields": fields}


def summary_of_triangles(steps, step):
    import octavo_triangles  # which imports this module

    mesh, fields = octavo_triangles.read(steps, step)
    counts = {"time": step.time, "parts": len(step.parts), "triangles": len(mesh.triangles)}
    extremes = {name: (float(np.nanmin(values)), float(np.nanmax(values))) for name, values in fields.items()}
    return {"flow": step.flow, "step": step.step, **counts, "fields": extremes}


def summary_of_solids(steps, step):
    import octavo_solids  # which imports this module

    mesh, fields = octavo_solids.read(steps, step)
    counts = {"time": step.time, "parts": len(step.parts), "cells": len(mesh.corners)}
    extremes = {name: (float(np.nanmin(values)), float(np.nanmax(values))) for name, values in fields.items()}
    return {"flow": step.flow, "step": step.step, **counts, "fields": extremes}


def summary_of(steps, step):
    if step.solids is not None:
        return summary_of_solids(steps, step)
    return summary(step) if step.triangles is None else summary_of_triangles(steps, step)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: octavo-reader STORE   reads and checks everything, prints a line of JSON for each step")
    try:
        steps = read_store(sys.argv[1])
        expect(steps, f"{sys.argv[1]}: no complete step of a store")
        for step in steps:
            print(json.dumps(summary_of(steps, step)))
    except (Damage, Unsupported, OSError) as error:
        sys.exit(f"error: {type(error).__name__}: {error}")


if __name__ == "__main__":
    import octavo_reader  # the module that octavo_triangles imports: its Damage is the one to catch

    octavo_reader.main()
