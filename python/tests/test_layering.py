"""The arrows between rooms run one way: what each may include or import, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Room -> rooms it may include. The same arrows as in CMakeLists.txt and docs/architecture.md.
ARROWS = {
    "base": set(),
    "mesh": {"base"},
    "codec": {"base"},
    "file": {"base"},
    "partition": {"mesh", "base"},
    "analysis": {"mesh", "base"},
    "store": {"mesh", "codec", "file", "base"},
    "formats": {"mesh", "file", "base"},
    "jobs": {"formats", "store", "analysis", "partition", "mesh", "codec", "file", "base"},
}
ARROWS["parallel"] = set(ARROWS) | {"parallel"}
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "core"}


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE)


def sources() -> list[Path]:
    return sorted(p for p in (ROOT / "octavo").rglob("*") if p.suffix in {".hpp", ".cpp"})


def broken_arrows(room: str, included: list[str]) -> list[str]:
    """The includes that a file of this room may not have."""
    rooms = [(name, name.split("/")[1]) for name in included if name.startswith("octavo/") and name.count("/") >= 2]
    return [name for name, other in rooms if other != room and other not in ARROWS[room]]


def test_includes_follow_the_arrows():
    wrong = {}
    for path in sources():
        room = path.relative_to(ROOT / "octavo").parts[0]
        bad = broken_arrows(room, includes(path))
        if bad:
            wrong[str(path.relative_to(ROOT))] = bad
    assert not wrong


def test_the_arrows_have_no_cycle():
    for room, others in ARROWS.items():
        for other in others - {room}:
            assert room not in ARROWS[other], f"{room} <-> {other}"


def test_an_arrow_that_runs_up_is_found():
    assert broken_arrows("mesh", ["octavo/store/store.hpp", "octavo/base/error.hpp"]) == ["octavo/store/store.hpp"]


def test_mpi_is_known_to_parallel_alone():
    for path in sources():
        if path.relative_to(ROOT / "octavo").parts[0] != "parallel":
            assert "mpi.h" not in includes(path), path


def test_json_stays_in_source_files():
    for path in sources():
        if path.suffix == ".hpp":
            assert not any(name.startswith("nlohmann/") for name in includes(path)), path


def test_rooms_are_named_for_what_they_hold():
    folders = [p for top in ("octavo", "python/octavo", "tests", "bench") for p in (ROOT / top).rglob("*")]
    for path in folders:
        assert path.stem not in FORBIDDEN_NAMES or "__pycache__" in path.parts, path


def test_cmake_has_the_same_arrows():
    text = (ROOT / "CMakeLists.txt").read_text()
    rooms = dict(re.findall(r"octavo_room\((\w+)([^)]*)\)", text))
    for room, rest in rooms.items():
        enters = re.search(r"ENTERS ([a-z ]+)", rest)
        entered = set(enters.group(1).split()) if enters else set()
        assert entered <= ARROWS[room], room


# A verb's heavy imports are inside its functions: `octavo info` must cost no more than the interpreter.
@pytest.mark.parametrize("path", sorted((ROOT / "python" / "octavo" / "cli").glob("*.py")), ids=lambda p: p.stem)
def test_the_command_line_imports_lazily(path):
    heavy = ("numpy", "matplotlib", "rich", "h5py", "mpi4py")
    for line in path.read_text().splitlines():
        found = re.match(r"(?:import|from) (\w+)", line)
        assert not found or found.group(1) not in heavy, line
