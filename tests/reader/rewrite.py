"""Stores as another writer might have written them: the newest segment of a subfile, changed and committed again."""

import struct

import cbor2
import numpy as np
import octavo_reader
import xxhash
from octavo_reader import BLOCK, SECTOR, xxh3


class Segment:
    """Footer and table as CBOR has them; `stream`: bytes to be written at `end`, before the table."""

    def __init__(self, footer, table, end):
        self.footer, self.table, self.end, self.stream = footer, table, end, b""

    def column(self, name):
        tag = self.table["streams"][name]
        return np.frombuffer(tag.value, octavo_reader.COLUMN_TYPES[tag.tag]).astype("<u8")

    def set_column(self, name, values):
        self.table["streams"][name] = cbor2.CBORTag(71, np.asarray(values, "<u8").tobytes())


def rewrite_segment(path, edit):
    data = bytearray(path.read_bytes())
    commit = max(octavo_reader.read_commits(path), key=lambda commit: commit.footer["sequence"])
    footer = cbor2.loads(bytes(data[commit.offset : commit.offset + commit.length]))
    place = commit.footer["table"]
    table = cbor2.loads(bytes(data[place["offset"] : place["offset"] + place["length"]]))
    segment = Segment(footer, table, -(-len(data) // BLOCK) * BLOCK)
    edit(segment)
    table = segment.table if isinstance(segment.table, bytes) else cbor2.dumps(segment.table)
    at = segment.end + len(segment.stream)
    segment.footer["table"] = {"offset": at, "length": len(table), "checksum": cbor2.CBORTag(71, checksum(table))}
    footer = cbor2.dumps(segment.footer)
    data += bytes(segment.end - len(data)) + segment.stream + table + footer
    for begin in (BLOCK, 2 * BLOCK):
        struct.pack_into("<QQ", data, begin + 40, at + len(table), len(footer))
        data[begin + 56 : begin + 64] = checksum(footer)
        data[begin + 504 : begin + SECTOR] = checksum(data[begin : begin + 504])
    path.write_bytes(data)


def checksum(data):
    return xxhash.xxh3_64_intdigest(bytes(data)).to_bytes(8, "little")


def replace_text(old, new):
    """An edit: a text in the table becomes another of the same length."""

    def edit(segment):
        table = cbor2.dumps(segment.table)
        assert old in table
        segment.table = table.replace(old, new, 1)

    return edit


def add_unknown_stream(segment):
    """An edit: the last part gets a stream of an unknown kind."""
    segment.stream = bytes(range(100))
    row = {
        "kind": 9,
        "index": 77,
        "offset": segment.end,
        "stored": 100,
        "raw": 1000,
        "stored_checksum": xxh3(segment.stream),
    }
    for name in segment.table["streams"]:
        segment.set_column(name, [*segment.column(name), row.get(name, 0)])
    tag = segment.table["parts"]["streams"]
    counts = np.frombuffer(tag.value, octavo_reader.COLUMN_TYPES[tag.tag]).copy()
    counts[-1] += 1
    segment.table["parts"]["streams"] = cbor2.CBORTag(tag.tag, counts.tobytes())


def set_version(path, major, minor):
    data = bytearray(path.read_bytes())
    struct.pack_into("<HH", data, 8, major, minor)
    data[504:SECTOR] = checksum(data[:504])
    path.write_bytes(data)
