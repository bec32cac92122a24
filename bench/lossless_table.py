"""The table of bench/results/lossless.md, for run.py: no field of any set may take more bytes than a general compressor needs.

Ours are the bytes of the store's streams. A peer gets the same chunks, one level of one domain each, or all values of a step as one array:
that finds what occurs again in other domains and on other levels, and cannot be read in parts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data"))
REAL = [
    "ramses/*/output_*",
    "flash/*/*_chk_????",
    "flash/*/*_plt_cnt_????",
    "amrex/*/plt*",
    "amrex/*/chk*",
    "serafin/*.slf",
]
SAMPLES = {
    "turbulence, 3-D, 5-7, 4 domains": "--kind turbulence --levels 5-7 --domains 4",
    "turbulence, 3-D, 6-8, 8 domains": "--kind turbulence --levels 6-8 --domains 8",
    "turbulence, 2-D, 6-9, 3 domains": "--kind turbulence --dim 2 --levels 6-9 --domains 3",
    "blast, 3-D, 4-7, 4 domains": "--kind sedov --levels 4-7 --domains 4",
    "blast, 2-D, 5-9, 4 domains": "--kind sedov --dim 2 --levels 5-9 --domains 4",
    "blast, 1-D, 5-12, 1 domain": "--kind sedov --dim 1 --levels 5-12 --domains 1",
}
PEERS = ("zstd-19", "blosc2 bitshuffle", "pcodec")
EFFORTS = ("default", "max")
LEAST = 1000  # bytes: heads of chunks rule smaller fields


def sources(folder):
    """Real sets and samples, by name."""
    found = {str(path.relative_to(DATA)): path for pattern in REAL for path in sorted(DATA.glob(pattern))}
    for number, (name, words) in enumerate(SAMPLES.items(), 1):
        path = folder / f"output_{number:05d}"
        if not path.exists():
            subprocess.run([OCTAVO, "sample", path, *words.split(), "-q"], check=True)
        found[name] = path
    return found


def chunks_of(part, values, triangles):
    """The values of one domain as a store cuts them: by level, or whole on a mesh of triangles."""
    sizes = [1] if triangles else [len(level) for level in part.refined]
    width = values.size // sum(sizes)
    return [chunk for chunk in np.split(values, width * np.cumsum(sizes)[:-1]) if chunk.size]


def fields_of(store):
    """(field, the values of its chunks) of each step of a store."""
    import octavo

    for step in octavo.steps(store):
        dataset = octavo.open(store, step=step["step"], flow=step["flow"])
        for field in dataset.fields:
            parts = [dataset.part(number, field) for number in range(dataset.domains)]
            values = [np.asarray(part.fields[field]).reshape(-1) for part in parts]
            cut = [chunks_of(*each, dataset._data.unstructured) for each in zip(parts, values, strict=True)]
            yield field, [chunk for chunks in cut for chunk in chunks]


@dataclass
class Found:
    """Bytes of one field: of its values, of ours by effort, and of each peer by what it was given."""

    raw: int
    ours: list[int]
    whole: dict[str, int]
    chunks: dict[str, int]

    def ratio(self, effort, form):
        return self.ours[effort] / min(getattr(self, form).values())


def measured(folder, source, convert, peers):
    from octavo.codecs import peers as others

    def size(peer, values):
        return others.size_of(peer.compress(np.ascontiguousarray(values), 0.0))

    reports = [convert(source, folder / "o", "--effort", effort)["fields"] for effort in EFFORTS]
    fields = {}
    for field, chunks in fields_of(folder / "o"):
        if not chunks or chunks[0].dtype.kind != "f":
            continue
        none = dict.fromkeys((peer.name for peer in peers), 0)
        found = fields.setdefault(field, Found(0, [r[field]["stored"] for r in reports], dict(none), dict(none)))
        found.raw += sum(chunk.nbytes for chunk in chunks)
        for peer in peers:
            found.whole[peer.name] += size(peer, np.concatenate(chunks))
            found.chunks[peer.name] += sum(size(peer, chunk) for chunk in chunks)
    return fields


def cell(fields, effort, form):
    """The largest ratio to the best peer: "1.234 density, zstd-19". Fields that a peer puts into 1000 bytes are left out."""
    large = {name: found for name, found in fields.items() if min(getattr(found, form).values()) >= LEAST}
    if not large:
        return ""
    field = max(large, key=lambda name: large[name].ratio(effort, form))
    peers = getattr(large[field], form)
    return f"{large[field].ratio(effort, form):.3f} {field}, {min(peers, key=peers.get)}"


def total(fields, effort, form):
    best = sum(min(getattr(found, form).values()) for found in fields.values())
    return f"{sum(found.ours[effort] for found in fields.values()) / best:.3f}"


def table(folder, convert, head, row):
    from octavo.codecs import peers as others

    peers = [peer for peer in others.available()[0] if peer.name in PEERS]
    if len(peers) < len(PEERS):
        raise SystemExit(f"not installed: {sorted(set(PEERS) - {peer.name for peer in peers})}")
    columns = [(form, effort) for form in ("chunks", "whole") for effort in (0, 1)]
    titles = [f"{form}, {EFFORTS[effort]}" for form, effort in columns]
    head("set", "fields", "MB", *titles, *(f"largest: {title}" for title in titles))
    for name, path in sources(folder).items():
        try:
            fields = measured(folder, path, convert, peers)
        except subprocess.CalledProcessError as error:  # a damaged header, or a mesh without values
            print(f"{name}: {error.stderr.splitlines()[0]}", file=sys.stderr)
            continue
        if fields:
            row(name, len(fields), f"{1e-6 * sum(found.raw for found in fields.values()):.2f}",
                *(total(fields, effort, form) for form, effort in columns),
                *(cell(fields, effort, form) for form, effort in columns))  # fmt: skip
