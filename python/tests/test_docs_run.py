"""The pages for users of the command: every command and every block of Python on them is run, on samples with the names
that the pages use."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import OCTAVO

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "coming-from",
            "export",
            "fields",
            "histograms",
            "installing",
            "readers",
            "regions",
            "series",
            "slices",
            "units",
            "publish",
        )
    ),
]
#: These are run by other tests, or measure for minutes.
LEFT_OUT = ("bench", "view")


@pytest.fixture(scope="session")
def files(run, data, tmp_path_factory) -> Path:
    """Small files of the kinds that the pages name: outputs of RAMSES, a store, FLASH, AMReX and TELEMAC."""
    folder = tmp_path_factory.mktemp("pages")
    run("sample", folder / "output_00079", "--domains", 4, "--levels", "4-5", "--seed", 3, "-q")
    run("sample", folder / "output_00080", "--domains", 4, "--levels", "4-6", "--particles", 500, "-q")
    info = folder / "output_00080" / "info_00080.txt"
    for name, value in (("unit_l", 3.08567758128e23), ("unit_d", 1.67e-24), ("unit_t", 3.15576e15)):  # a box of 100 kpc
        text, count = re.subn(rf"^{name} *=.*$", f"{name:<12}={value:23.15E}", info.read_text(), flags=re.MULTILINE)
        assert count == 1
        info.write_text(text)
    run("convert", folder / "output_00080", folder / "run.octavo", "-q")
    shutil.copytree(folder / "run.octavo", folder / "other.octavo")
    shutil.copy(data / "flash" / "sedov2d_hll_par2" / "sedovroe_hdf5_chk_0002", folder / "sedov_hdf5_chk_0002")
    shutil.copytree(data / "amrex" / "adv2d_core_r4" / "plt00020", folder / "plt00020")
    shutil.copytree(data / "amrex" / "adv2d_core_r4" / "plt00020", folder / "plt00020.old")
    shutil.copy(data / "serafin" / "r2d_malpasset-small_5steps.slf", folder / "r2d.slf")
    shutil.copy(data / "serafin" / "r3d_stratification.slf", folder / "r3d.slf")
    for kind in ("slf", "cli"):
        shutil.copy(data / "serafin" / f"geo_malpasset-small.{kind}", folder / f"geo.{kind}")
    (folder / "datacite.json").write_text('{"creators": [{"name": "Doe, Jane"}], "publisher": {"name": "An archive"}}')
    (folder / "recipe.toml").write_text(
        'inputs = ["output_*"]\nfolder = "pictures"\n[[job]]\nverb = "stats"\noutput = "{name}.json"\n'
        "options = { json = true }\n"
    )
    return folder


def commands(page: str) -> list[str]:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    found = re.findall(r"^    ((?:mpirun -n \d+ )?(?:\.venv/bin/)?octavo [^\n]*)", text, re.MULTILINE)
    found += re.findall(r"`((?:mpirun -n \d+ )?octavo [a-z]+ [^`]*[^`.])`(?= \|)", text)  # the last cell of a row
    return [re.sub(r" +#.*", "", line) for line in found]


CASES = [(page, line) for page in PAGES if (ROOT / page).exists() for line in commands(page)]


@pytest.mark.parametrize(("page", "line"), CASES)
def test_commands_of_pages_run(page, line, files, tmp_path):
    folder = tmp_path / "here"
    shutil.copytree(files, folder)
    words = shlex.split(line)
    if ">" in words:  # of a shell
        del words[words.index(">") :]
    at = words.index(next(word for word in words if word.endswith("octavo")))
    if words[at + 1] in LEFT_OUT or (".mp4" in line and shutil.which("ffmpeg") is None):
        pytest.skip("left out here")
    for ending, package in ((".tif", "rasterio"), (".gpkg", "pyogrio"), (".geojson", "pyogrio"), (".shp", "pyogrio")):
        if ending in line and "--crs" in line:
            pytest.importorskip(package)
    words[at] = str(OCTAVO)
    if at:
        words[2] = "2"  # ranks
    if words[at + 1] == "convert" and "run.octavo" in words:
        shutil.rmtree(folder / "run.octavo")
    for name in ("on_8", "run"):
        (folder / name).mkdir()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        if (ROOT / page).exists():
            text = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
            found += [(page, block) for block in text]
    return found


@pytest.mark.parametrize(("page", "block"), blocks(), ids=lambda value: value if value.endswith(".md") else "")
def test_python_of_pages_runs(page, block, files, tmp_path):
    folder = tmp_path / "here"
    shutil.copytree(files, folder)
    (folder / "block.py").write_text("import numpy as np\nimport octavo\n" + block)
    done = subprocess.run([sys.executable, "block.py"], cwd=folder, capture_output=True, text=True, timeout=300)
    if missing := re.search(r"this needs the Python package (\w+), which is not installed", done.stderr):
        pytest.skip(f"there is no {missing[1]}")
    assert done.returncode == 0, done.stderr
