"""kill -9 at named calls of runs on triangles: what was told to be on disk is there and right, nothing else is listed, and
the run goes on from it on another number of ranks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import mostly_long

import octavo

pytest.importorskip("mpi4py")
from test_engine import ENVIRONMENT
from test_engine_preload import fault, library  # noqa: F401
from triangle_faults import values

pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not shutil.which("c++"), reason="no compiler for the preloaded library"),
]
POINTS = [  # name, ranks, victim, call, the how manieth
    ("run.octavo", 1, 0, "record", 3),
    ("run.octavo", 3, 2, "write", 7),
    ("run.med", 2, 1, "write", 3),
    ("run.med", 3, 0, "record", 3),
]


def write(path: Path, ranks: int, last: int, environment: dict[str, str]) -> tuple[int, str]:
    words = [sys.executable, "-m", "mpi4py", Path(__file__).with_name("triangle_faults.py"), path, last]
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), *map(str, words)],
        capture_output=True, text=True, timeout=600, env=ENVIRONMENT | environment,
    )  # fmt: skip
    return done.returncode, done.stderr


def listed(path: Path) -> int:
    """Steps 1, 2 ... so many are there, each with the right values."""
    if not path.exists():
        return 0
    if path.suffix == ".octavo":
        assert octavo.verify(path, threads=1)["findings"] == []
    rows = octavo.steps(path)
    assert [row["time"] for row in rows] == [0.5 * step for step in range(1, len(rows) + 1)]
    for number, row in enumerate(rows, 1):
        part = octavo.open(path, step=row["step"]).part(0)
        assert np.array_equal(np.ravel(part.fields["depth"]), values(number))
    return len(rows)


@pytest.mark.parametrize(("name", "ranks", "victim", "call", "nth"), mostly_long(*POINTS, short=POINTS[1:3]))
def test_kill_9_at_a_named_call(tmp_path, library, name, ranks, victim, call, nth):  # noqa: F811
    path = tmp_path / name
    code, text = write(path, ranks, 8, fault(library, victim, call, nth, "kill"))
    if "no MED" in text or "libmedC" in text:
        pytest.skip("no MED in this build, or no libmedC here")
    assert code != 0
    log = Path(f"{path}.log")
    told = len(log.read_text().split()) if log.exists() else 0
    there = listed(path)
    assert told <= there < 8, text
    code, text = write(path, ranks % 3 + 1, there + 2, {})
    assert code == 0, text
    assert listed(path) == there + 2
