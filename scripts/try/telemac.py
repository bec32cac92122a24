"""Octavo's pieces and merged results beside those of TELEMAC's own tools: `make try-telemac TELEMAC=TREE[:TREE...]`.

A TREE holds partel and gretel, built by its user, and the folder `examples`. SELECT=telemac2d/gouttedo takes only the examples
in that folder, PARTS="2 4" are the numbers of parts.

partel: every pair of geometry and boundary file that a steering file of the examples names is cut by both; GEO, CLI and PAR
must be the same bytes. Versions before V8P4 write two things differently, which count as equal: no tag at the end of the
title, and as last number of a boundary line its local rank in place of the colour.

gretel: results in the examples are cut by Octavo, and merged by both.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import judge

sys.path.insert(0, str(judge.ROOT / "python/tests"))
TAG = slice(76, 84)  # of the title, in its record


def without_tag(piece: bytes) -> bytes:
    return piece[: TAG.start] + piece[TAG.stop :]


def without_colour(lines: bytes) -> list[bytes]:
    return [line.rpartition(b" ")[0].rstrip() for line in lines.rstrip().split(b"\n")]


def same_but_for_version(expected: dict[str, bytes], found: dict[str, bytes]) -> bool:
    """True if pieces of an older partel differ from `found` in tags and colours alone."""

    def same(name: str) -> bool:
        if name not in found or name not in expected:
            return False
        a, b = expected[name], found[name]
        if "GEO" in name:
            return without_tag(a) == without_tag(b)
        return without_colour(a) == without_colour(b) if "CLI" in name else a == b

    return all(map(same, expected.keys() | found.keys()))


def selected(trees: list[str]) -> list[tuple[Path, Path]]:
    import test_partel

    return test_partel.pairs([f"{tree}/examples/{os.environ.get('SELECT', '')}" for tree in trees])


def built(tree_variable: str, name: str) -> list[Path]:
    """Returns the programs of this name, as TELEMAC's builds call them."""
    found = judge.programs(tree_variable, f"**/*{name}*") + judge.programs(tree_variable, f"**/*{name.upper()}*")
    return [path for path in found if re.fullmatch(rf"(homere_)?{name}(\.exe)?", path.name.lower())]


def verdict(partel: Path, geometry: Path, boundary: Path, parts: int, folder: Path) -> str:
    import test_partel

    shutil.rmtree(folder, ignore_errors=True)
    expected = test_partel.by_partel(str(partel), geometry, boundary, parts, folder / "partel")
    found = test_partel.by_octavo(geometry, boundary, parts, folder / "octavo")
    said = test_partel.verdict(expected, found)
    if (
        said.startswith("different")
        and expected
        and not isinstance(found, str)
        and same_but_for_version(expected, found)
    ):
        return "equal, but for the tag and the colour"
    return said


def try_partel(trial: judge.Trial, partel: Path, pairs: list[tuple[Path, Path]]) -> None:
    for parts in map(int, os.environ.get("PARTS", "2 4").split()):
        counts: Counter[str] = Counter()
        wrong = []
        for geometry, boundary in pairs:
            said = verdict(partel, geometry, boundary, parts, trial.folder / "cut")
            kind = said if said.startswith(("equal", "explained")) else said.partition(":")[0]
            counts[kind] += 1
            if kind in ("refused", "different"):
                wrong.append(f"{geometry.parent.name}/{geometry.name}: {said[:100]}")
        figure = "; ".join([f"{count} {kind}" for kind, count in counts.most_common()] + wrong[:5])
        any_equal = any(kind.startswith("equal") for kind in counts)
        trial.check(f"telemac partel, {len(pairs)} pairs in {parts} parts", any_equal and not wrong, figure)


def results(pairs: list[tuple[Path, Path]]) -> Iterator[tuple[Path, Path, Path]]:
    """Yields geometry, boundary and a result beside them, for those of the examples that have one."""
    for geometry, boundary in pairs:
        for result in sorted(geometry.parent.glob("[fr]2d_*.slf")):
            yield geometry, boundary, result


def gretel_merges(gretel: Path, folder: Path, form: str, parts: int) -> bytes | None:
    """Returns what gretel makes of the pieces in `folder`. V8 asks for the boundary file and a method, too."""
    new = ["T2DGEO", form, "T2DCLI", "T2DRES", form, str(parts), "0", "1"]
    old = ["T2DGEO", form, "T2DRES", form, str(parts), "0"]
    for answers in (old, new):
        (folder / "T2DRES").unlink(missing_ok=True)
        done = subprocess.run(
            [gretel], input="\n".join(answers) + "\n", cwd=folder, capture_output=True, encoding="latin-1"
        )
        if done.returncode == 0 and (folder / "T2DRES").exists():
            return (folder / "T2DRES").read_bytes()
    return None


def try_result(trial: judge.Trial, gretel: Path, geometry: Path, boundary: Path, result: Path, parts: int) -> str:
    """Cuts a result and merges it again by both. Returns how the merged files compare."""
    import test_partel

    folder = trial.folder / "merge"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(geometry, folder / "T2DGEO")
    shutil.copy(boundary, folder / "T2DCLI")
    cut = ["partition", "T2DGEO", "-o", "T2D", "--boundary", "T2DCLI", "--parts", parts, "--layout", "files"]
    try:
        judge.octavo(folder, *cut, "--also", f"RES={result}")
    except judge.Stopped:
        return "on another mesh"
    if test_partel.precision_of(geometry) != test_partel.precision_of(result):
        return "in another precision"
    theirs = gretel_merges(gretel, folder, test_partel.precision_of(result), parts)
    if theirs is None:
        return "refused by gretel"
    judge.octavo(folder, "merge", *sorted(folder.glob("T2DRES0*")), "-o", "octavo.slf", "--mesh", "T2DGEO")
    ours = (folder / "octavo.slf").read_bytes()
    if ours == theirs:
        return "equal"
    if without_tag(ours) == without_tag(theirs):
        return "equal, but for the tag"
    found = judge.difference(folder / "T2DRES", folder / "octavo.slf")
    return "equal in all values" if found.equal else f"different: {result.name}: {found.text()[:100]}"


def try_gretel(trial: judge.Trial, gretel: Path, pairs: list[tuple[Path, Path]], parts: int) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for geometry, boundary, result in results(pairs):
        try:
            said = try_result(trial, gretel, geometry, boundary, result, parts)
        except judge.Stopped as stopped:
            said = f"different: {result.name}: {stopped}"
        counts[said.partition(":")[0]] += 1
        if said.startswith("different"):
            wrong.append(said)
    if not counts:
        return trial.skip("telemac gretel", "these examples have no result beside a geometry")
    figure = "; ".join([f"{count} {kind}" for kind, count in counts.most_common()] + wrong[:5])
    any_equal = any(kind.startswith("equal") for kind in counts)
    trial.check(f"telemac gretel, results in {parts} parts", any_equal and not wrong, figure)


def main() -> int:
    trial = judge.Trial(judge.folder_of("telemac"))
    trees = [tree for tree in os.environ.get("TELEMAC", "").split(":") if tree]
    found = {name: built("TELEMAC", name) for name in ("partel", "gretel")}
    if not any(found.values()):
        trial.skip("telemac", "TELEMAC=TREE names no tree with the built programs partel or gretel")
        return judge.close(trial)
    pairs = selected(trees)
    for name, programs in found.items():
        if not programs:
            trial.skip(f"telemac {name}", "TELEMAC=TREE has no such program, built")
    if found["partel"]:
        trial.attempt("telemac partel", lambda: try_partel(trial, found["partel"][0], pairs))
    if found["gretel"]:
        trial.attempt("telemac gretel", lambda: try_gretel(trial, found["gretel"][0], pairs, 4))
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
