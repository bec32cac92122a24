"""The parallel engine from Python: what engine_cases.py promises, on several ranks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import octavo

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "PYTHONFAULTHANDLER": "1",
}
pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def case(name: str, store: Path, ranks: int) -> None:
    """Runs a case; a rank that fails ends all of them."""
    module = ["-m", "mpi4py"] if name != "without_mpi4py" else []
    words = [sys.executable, *module, str(Path(__file__).with_name("engine_cases.py")), name, str(store)]
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), *words], capture_output=True, text=True, timeout=600, env=ENVIRONMENT
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(autouse=True)
def needs_mpi4py(request):
    if "without_mpi4py" not in request.node.name:
        pytest.importorskip("mpi4py")


def test_written_on_three_ranks_read_on_any(tmp_path, run):
    store = tmp_path / "run.octavo"
    case("write", store, 3)
    for ranks in (1, 2, 3, 4):
        case("read", store, ranks)
    assert run("verify", store).returncode == 0
    assert octavo.open(store).fields == ["density"]


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("strides", 2),
        ("lend", 2),
        ("errors", 1),
        ("errors", 3),
        ("options", 2),
        ("gil", 2),
        ("leaving", 2),
        ("blocks", 1),
        ("blocks", 3),
        ("failed", 2),
        ("triangles", 3),
        ("neighbours", 1),
        ("neighbours", 3),
        ("series", 1),
        ("series", 3),
        ("series_errors", 2),
    ],
)
def test_case(tmp_path, name, ranks):
    case(name, tmp_path / "run.octavo", ranks)


@pytest.mark.parametrize("ranks", [1, 2])
def test_without_mpi4py(tmp_path, ranks):
    case("without_mpi4py", tmp_path / "run.octavo", ranks)


def test_without_mpi4py_and_without_mpirun(tmp_path):
    words = [sys.executable, str(Path(__file__).with_name("engine_cases.py")), "without_mpi4py", str(tmp_path / "o")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("script", "programs"),
    [("run", ("write.py", "read.py")), ("run_triangles", ("triangles.py",)), ("run_series", ("series.py",))],
)
def test_the_example_does_the_same_on_another_number_of_ranks(script, programs):
    done = subprocess.run(
        [ROOT / "examples" / script, shutil.which("mpirun"), Path(sys.executable).parent, "py"],
        capture_output=True, text=True, timeout=600, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for name in programs:
        assert len((ROOT / "examples" / name).read_text().splitlines()) <= 60


def test_trees_that_cannot_be_are_refused():
    with pytest.raises(octavo.UsageError, match="cells"):
        octavo.Octree([np.zeros(5, bool)], roots=(2, 2, 2))
    with pytest.raises(octavo.UsageError, match="roots"):
        octavo.Octree([np.zeros(8, bool)], roots=(2, 2))
    with pytest.raises(octavo.UsageError, match="level"):
        octavo.Octree([np.ones(8, bool)], roots=(2, 2, 2))
    with pytest.raises(octavo.UsageError, match="roots: expected 1 or more along each axis, found 0"):
        octavo.Header(roots=(4, 4, 0))
    with pytest.raises(octavo.UsageError, match="block: expected 1 or more along each axis, found -2"):
        octavo.Header(dim=2, roots=(4, 4), block=(-2, 4))
    tree = octavo.Octree([np.zeros(6, bool)], dim=2, roots=(2, 3), block=(4, 5))
    assert (tree.cells, tree.roots, tree.block, tree.owned[0].all()) == (6, (2, 3), (4, 5), True)
