"""Pieces of `octavo partition` beside those that partel (TELEMAC V8P4) wrote: the same bytes.

tests/golden/partel holds a basin with what partel made of it. With partel itself, and a tree of TELEMAC's examples, every
mesh that a steering file there names is cut by both:

    OCTAVO_PARTEL=.../partel OCTAVO_TELEMAC_EXAMPLES=.../examples pytest python/tests/test_partel.py

Several trees are separated by colons; OCTAVO_PARTEL_PARTS="2 3 4" are the numbers of parts.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from octavo.errors import Error

from octavo import pieces

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "partel"
KINDS = ("GEO", "CLI", "PAR")


def contents(folder: Path, code: str = "T2D") -> dict[str, bytes]:
    """The pieces in a folder, by name."""
    found = [path for kind in KINDS for path in folder.glob(f"{code}{kind}?????-?????")]
    return {path.name: path.read_bytes() for path in found}


# ------------------------------------------------------------------ recorded pieces


def ipobo_of(slf: bytes) -> tuple[int, int]:
    """Where the record of the boundary's numbers begins, and how many there are."""
    elements, points = struct.unpack_from(">2i", slf, 88 + 16 + 40 + 48 + 4)
    return 88 + 16 + 40 + 48 + 24 + 8 + 12 * elements + 4, points


def lines_of(cli: str) -> list[int]:
    """Points from 1, in the order of the boundary file."""
    return [int(line.split()[11]) for line in cli.splitlines()]


def numbered(kind: str, before: np.ndarray, lines: list[int]) -> np.ndarray:
    """IPOBO as it is met in files: each kind says something else of one and the same boundary."""
    after = np.zeros_like(before)
    at = np.array(lines) - 1
    if kind == "ranks":
        after[at] = np.arange(1, len(at) + 1)
    elif kind == "own numbers":
        after[at] = at + 1
    elif kind == "other lines first":
        after = before.copy()
    elif kind == "marks":
        after[at] = 1
    elif kind == "every point":
        after = np.arange(1, len(before) + 1, dtype=before.dtype)
    elif kind == "too few":
        after[at[3:]] = np.arange(1, len(at) - 2)
    return after


@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize(
    "kind", ["ranks", "own numbers", "other lines first", "marks", "every point", "too few", "zeros"]
)
def test_recorded_pieces_come_out_whatever_ipobo_says(run, tmp_path, parts, kind):
    slf = bytearray((GOLDEN / "basin.slf").read_bytes())
    lines = lines_of((GOLDEN / "basin.cli").read_text())
    at, points = ipobo_of(slf)
    numbers = numbered(kind, np.frombuffer(slf, ">i4", points, at), lines)
    slf[at : at + 4 * points] = numbers.astype(">i4").tobytes()
    (tmp_path / "basin.slf").write_bytes(slf)
    words = ["--boundary", GOLDEN / "basin.cli", "--cut", GOLDEN / f"cut{parts}.txt", "--layout", "files"]
    done = run("partition", tmp_path / "basin.slf", "-o", tmp_path / "T2D", *words)
    assert contents(tmp_path) == contents(GOLDEN / f"p{parts}")
    assert ("IPOBO" in done.stderr) == (kind != "ranks")


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
def test_ranks_write_the_recorded_pieces(run, tmp_path):
    words = ["--boundary", GOLDEN / "basin.cli", "--cut", GOLDEN / "cut4.txt", "--layout", "files"]
    run("partition", GOLDEN / "basin.slf", "-o", tmp_path / "T2D", *words, ranks=3)
    assert contents(tmp_path) == contents(GOLDEN / "p4")


# ------------------------------------------------------------------ partel itself

GEOMETRY = r"(?:GEOMETRY\s+FILE|FICHIER\s+DE\s+GEOMETRIE|FICHIER\s+DU\s+MAILLAGE)"
BOUNDARY = r"(?:BOUNDARY\s+CONDITIONS?\s+FILE|FICHIER\s+DES\s+CONDITIONS\s+AUX\s+LIMITES)"
VALUE = r"\s*[:=]\s*(?:'([^']*)'|\"([^\"]*)\"|([^\s'\"&/;]+))"


def value_of(steering: str, keyword: str) -> str | None:
    found = re.search(r"(?<![A-Z0-9])" + keyword + VALUE, steering, re.IGNORECASE)
    return next(group for group in found.groups() if group is not None).strip() if found else None


def pairs(trees: list[str]) -> list[tuple[Path, Path]]:
    """Geometry and boundary file of each steering file, once for each pair of contents; SERAFIN only."""
    seen: dict[tuple[str, str], tuple[Path, Path]] = {}
    for steering in sorted(path for tree in trees for path in Path(tree).rglob("*.cas")):
        lines = steering.read_text("latin-1").splitlines()
        text = "\n".join(line for line in lines if not line.lstrip().startswith("/"))
        names = value_of(text, GEOMETRY), value_of(text, BOUNDARY)
        if None in names:
            continue
        geometry, boundary = (steering.parent / name for name in names)
        if geometry.suffix.lower() == ".med" or not (geometry.is_file() and boundary.is_file()):
            continue
        key = tuple(hashlib.sha256(path.read_bytes()).hexdigest() for path in (geometry, boundary))
        seen.setdefault(key, (geometry.resolve(), boundary.resolve()))
    return list(seen.values())


def precision_of(path: Path) -> str:
    """partel's name of the format."""
    head = path.read_bytes()
    order = ">" if struct.unpack_from(">i", head)[0] == 80 else "<"
    variables = sum(struct.unpack_from(order + "2i", head, 92))
    at = 88 + 16 + 40 * variables
    date = struct.unpack_from(order + "10i", head, at + 4)[9] != 0
    at += 48 + (32 if date else 0)
    elements, points, nodes, _ = struct.unpack_from(order + "4i", head, at + 4)
    at += 24 + 8 + 4 * elements * nodes + 8 + 4 * points
    return "SERAFIND" if struct.unpack_from(order + "i", head, at)[0] == 8 * points else "SERAFIN"


def code_of(geometry: Path) -> str:
    """The prefix of names: partel cuts differently for ARTEMIS."""
    return "ART" if "artemis" in geometry.parts else "T2D"


def by_partel(partel: str, geometry: Path, boundary: Path, parts: int, folder: Path) -> dict[str, bytes] | None:
    """partel's pieces; None where it does not end well."""
    code = code_of(geometry)
    folder.mkdir(parents=True)
    shutil.copy(geometry, folder / f"{code}GEO")
    shutil.copy(boundary, folder / f"{code}CLI")
    try:
        form = precision_of(geometry)
    except struct.error:
        return None
    answers = [f"{code}GEO", form, f"{code}CLI", str(parts), "1", "", "", "", f"{code}GEO", form, "NO"]
    try:
        done = subprocess.run(
            [partel],
            input="\n".join(answers) + "\n",
            cwd=folder,
            capture_output=True,
            encoding="latin-1",
            timeout=600,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return contents(folder, code) if done.returncode == 0 and "NORMAL TERMINATION" in done.stdout else None


def by_octavo(geometry: Path, boundary: Path, parts: int, folder: Path) -> dict[str, bytes] | str:
    """Octavo's pieces, or why there are none."""
    folder.mkdir(parents=True)
    try:
        pieces.partition(geometry, folder / code_of(geometry), parts, boundary=boundary, layout="files")
    except Error as error:
        return str(error)
    return contents(folder, code_of(geometry))


def header_of(piece: bytes) -> tuple[list[bytes], int]:
    """Names of the variables, and the number of elements."""
    order = ">" if struct.unpack_from(">i", piece)[0] == 80 else "<"
    count = sum(struct.unpack_from(order + "2i", piece, 92))
    at = 88 + 16 + 40 * count
    dated = struct.unpack_from(order + "10i", piece, at + 4)[9] != 0
    elements = struct.unpack_from(order + "i", piece, at + 48 + (32 if dated else 0) + 4)[0]
    return [piece[108 + 40 * v : 124 + 40 * v] for v in range(count)], elements


def explained(expected: dict[str, bytes], found: dict[str, bytes]) -> str | None:
    """Why partel's pieces are none to follow."""
    differ = [name for name in expected if expected[name] != found.get(name)]
    meshes = {name: piece for name, piece in expected.items() if "GEO" in name}
    if any(header_of(piece)[1] == 0 for piece in meshes.values()):
        return "partel leaves a part without an element"
    twice = all(len(set(header_of(piece)[0])) < len(header_of(piece)[0]) for piece in meshes.values())
    if twice and all(name in meshes and found.get(name, b"").startswith(expected[name]) for name in differ):
        return "of two variables of one name partel writes the first only, and its pieces end early"
    return None


def verdict(expected: dict[str, bytes] | None, found: dict[str, bytes] | str) -> str:
    if expected is None:
        return "refused by both" if isinstance(found, str) else "cut by octavo only"
    if expected == found:
        return "equal"
    why = explained(expected, {} if isinstance(found, str) else found)
    if why:
        return f"explained: {why}"
    if isinstance(found, str):
        return "refused: " + " ".join(found.split())
    return "different: " + " ".join(sorted(name for name in expected if expected[name] != found.get(name)))


@pytest.mark.skipif(
    not {"OCTAVO_PARTEL", "OCTAVO_TELEMAC_EXAMPLES"} <= os.environ.keys(),
    reason="OCTAVO_PARTEL is to name partel, OCTAVO_TELEMAC_EXAMPLES a tree of TELEMAC's examples",
)
def test_all_examples_that_partel_cuts_come_out_as_its_bytes(tmp_path):
    all_pairs = pairs(os.environ["OCTAVO_TELEMAC_EXAMPLES"].split(":"))
    counts: dict[str, int] = {}
    wrong = []
    for geometry, boundary in all_pairs:
        for parts in map(int, os.environ.get("OCTAVO_PARTEL_PARTS", "2 4").split()):
            expected = by_partel(os.environ["OCTAVO_PARTEL"], geometry, boundary, parts, tmp_path / "partel")
            said = verdict(expected, by_octavo(geometry, boundary, parts, tmp_path / "octavo"))
            kind = said if said.startswith("explained") else said.split(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
            if kind in ("refused", "different"):
                wrong.append(f"{geometry}, {parts} parts: {said}")
            shutil.rmtree(tmp_path / "partel")
            shutil.rmtree(tmp_path / "octavo")
    print(f"{len(all_pairs)} pairs of geometry and boundary: {counts}")
    assert all_pairs
    assert not wrong, "\n".join(wrong)
