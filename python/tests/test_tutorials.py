"""The notebooks of docs/tutorials: each runs from its first cell to its last on real outputs, and draws its pictures."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
#: The file that a notebook reads, the real one that takes its place, and how many pictures it draws.
FILES = {
    "ramses": ("output_00002", "ramses/dm_gas_gravity3d_3ranks/output_00002", 6),
    "amrex": ("plt00007", "amrex/multi3d_r4/plt00007", 2),
    "flash": ("sedov_hdf5_chk_0002", "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002", 3),
    "telemac": ("r2d.slf", "serafin/r2d_malpasset-small_5steps.slf", 5),
}


def test_all_notebooks_are_known_and_hold_no_output():
    assert {path.stem for path in TUTORIALS.glob("*.ipynb")} == set(FILES)
    for path in TUTORIALS.glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if "outputs" in cell)
        assert cells[0]["source"][0].startswith("# ") and cells[0]["source"][2].startswith("For "), path.name
        assert FILES[path.stem][0] in path.read_text()


@pytest.mark.parametrize("name", FILES)
def test_a_notebook_runs_on_real_data(name, data, tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    here, there, pictures = FILES[name]
    if not (data / there).exists():
        pytest.skip(f"no {data / there}")
    (tmp_path / here).symlink_to(data / there)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    book = nbformat.read(TUTORIALS / f"{name}.ipynb", 4)
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    nbformat.write(book, tmp_path / f"{name}.ipynb")
    drawn = [output["data"]["image/png"] for cell in book.cells if cell.cell_type == "code"
             for output in cell.outputs if "image/png" in output.get("data", {})]  # fmt: skip
    assert len(drawn) == pictures
    for number, text in enumerate(drawn):
        raw = base64.b64decode(text)
        (tmp_path / f"{name}-{number}.png").write_bytes(raw)
        assert raw[1:4] == b"PNG" and len(raw) > 5000
    # The last cell compares, and is true: the same map of a store, the same sum ...
    last = book.cells[-1].outputs[-1]["data"]["text/plain"]
    assert last == "True", last
