"""The pages for users of the command: every command and every block of Python on them is run, on samples with the names
that the pages use."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import forked_command
import numpy as np
import pytest
from conftest import OCTAVO
from test_particles import sink_table

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "analysis",
            "coming-from",
            "command",
            "export",
            "fields",
            "histograms",
            "installing",
            "particles",
            "readers",
            "regions",
            "series",
            "slices",
            "structures",
            "triangles",
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
    _set_units(folder / "output_00080" / "info_00080.txt")
    run("convert", folder / "output_00080", folder / "run.octavo", "-q")
    shutil.copytree(folder / "run.octavo", folder / "other.octavo")
    shutil.copy(data / "flash" / "sedov2d_hll_par2" / "sedovroe_hdf5_chk_0002", folder / "sedov_hdf5_chk_0002")
    shutil.copytree(data / "amrex" / "adv2d_core_r4" / "plt00020", folder / "plt00020")
    shutil.copytree(data / "amrex" / "adv2d_core_r4" / "plt00020", folder / "plt00020.old")
    shutil.copy(data / "serafin" / "r2d_malpasset-small_5steps.slf", folder / "r2d.slf")
    shutil.copy(data / "serafin" / "r3d_stratification.slf", folder / "r3d.slf")
    for kind in ("slf", "cli"):
        shutil.copy(data / "serafin" / f"geo_malpasset-small.{kind}", folder / f"geo.{kind}")
    _more_triangles(run, folder)
    (folder / "datacite.json").write_text('{"creators": [{"name": "Doe, Jane"}], "publisher": {"name": "An archive"}}')
    (folder / "recipe.toml").write_text(
        'inputs = ["output_*"]\nfolder = "pictures"\n[[job]]\nverb = "stats"\noutput = "{name}.json"\n'
        "options = { json = true }\n"
    )
    return folder


def _more_triangles(run, folder: Path) -> None:
    """Meshes in the other formats, and a polygon, that the page of triangles names."""
    corners = [[4500, 4000], [5500, 4000], [5000, 5000], [4500, 4000]]
    (folder / "valley.geojson").write_text(f'{{"type": "Polygon", "coordinates": [{corners}]}}')
    shutil.copy(folder / "r2d.slf", folder / "a.slf")
    for source, out in (
        ("a.slf", "b.octavo"),
        ("r2d.slf", "r2d.octavo"),
        ("geo.slf", "mesh.msh"),
        ("r2d.slf", "FlowFM_map.nc"),
    ):
        run("convert", folder / source, folder / out, "-q")
    run("convert", folder / "geo.slf", folder / "geo.med", "--boundary", folder / "geo.cli", "-q")


@pytest.fixture(scope="session")
def stars(data, tmp_path_factory) -> Path:
    """An output of RAMSES with dark matter, stars and a sink, for the page of particles."""
    folder = tmp_path_factory.mktemp("stars") / "output_00002"
    shutil.copytree(data / "ramses" / "dm_gas_gravity3d_3ranks" / "output_00002", folder)
    descriptor = folder / "part_file_descriptor.txt"
    names = [row.split(",")[1].strip() for row in descriptor.read_text().splitlines()[2:]]
    descriptor.write_text(descriptor.read_text() + f"{len(names) + 1:2d}, birth_time, d\n")
    for path in folder.glob("part_0*.out*"):
        raw, at, record, count = bytearray(path.read_bytes()), 0, 0, 0
        while at < len(raw):  # records of Fortran, eight of them before the attributes
            size = int.from_bytes(raw[at : at + 4], "little")
            if record == 8 + names.index("family"):
                raw[at + 4 : at + 4 + size : 3], count = b"\x02" * -(-size // 3), size
            at, record = at + size + 8, record + 1
        length = (8 * count).to_bytes(4, "little")
        path.write_bytes(bytes(raw) + length + np.full(count, -0.1).tobytes() + length)
    (folder / "sink_00002.csv").write_text(sink_table([[1, *np.linspace(0.01, 0.7, 21).tolist(), 7]]))
    _set_units(folder / "info_00002.txt")
    return folder


def _set_units(info: Path) -> None:
    """A box of 100 kpc."""
    for name, value in (("unit_l", 3.08567758128e23), ("unit_d", 1.67e-24), ("unit_t", 3.15576e15)):
        text, count = re.subn(rf"^{name} *=.*$", f"{name:<12}={value:23.15E}", info.read_text(), flags=re.MULTILINE)
        assert count == 1
        info.write_text(text)


def copied(files: Path, page: str, request, folder: Path) -> None:
    """The files that a page names."""
    shutil.copytree(files, folder)
    if page == "docs/particles.md":
        shutil.copytree(request.getfixturevalue("stars"), folder / "output_00002")


def commands(page: str) -> list[str]:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    found = re.findall(r"^    ((?:mpirun -n \d+ )?(?:\.venv/bin/)?octavo [^\n]*)", text, re.MULTILINE)
    found += re.findall(r"`((?:mpirun -n \d+ )?octavo [a-z]+ [^`]*[^`.])`(?= \|)", text)  # the last cell of a row
    return [re.sub(r" +#.*", "", line) for line in found]


def cases() -> list:
    """A command whose verb has run with each of its options before, on any page, is a long test."""
    found, seen = [], set()
    for page in PAGES:
        for line in commands(page) if (ROOT / page).exists() else []:
            words = line.split("octavo ", 1)[1].split()
            kinds = {(words[0], word) for word in words if word.startswith("-")} | {(words[0], "")}
            found.append(pytest.param(page, line, marks=[pytest.mark.long] if kinds <= seen else []))
            seen |= kinds
    return found


@pytest.mark.parametrize(("page", "line"), cases())
def test_commands_of_pages_run(page, line, files, tmp_path, request):
    folder = tmp_path / "here"
    copied(files, page, request, folder)
    words = shlex.split(line.replace("--pixels 10000", "--pixels 1000"))
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
    if words[at + 1] == "convert" and len(words) > at + 3:
        _remove(folder / words[at + 3])
    for name in ("on_8", "run"):
        (folder / name).mkdir()
    if at:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    else:
        done = forked_command.run(words, cwd=folder)
    assert done.returncode == 0, done.stderr


def _remove(path: Path) -> None:
    """The output of a command that is there already; patterns name none."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        if (ROOT / page).exists():
            text = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
            found += [(page, block) for block in text]
    return found


@pytest.mark.parametrize(("page", "block"), blocks(), ids=lambda value: value if value.endswith(".md") else "")
def test_python_of_pages_runs(page, block, files, tmp_path, request):
    folder = tmp_path / "here"
    copied(files, page, request, folder)
    (folder / "block.py").write_text("import numpy as np\nimport octavo\n" + block)
    done = forked_command.run([sys.executable, "block.py"], cwd=folder)
    if missing := re.search(r"this needs the Python package (\w+), which is not installed", done.stderr):
        pytest.skip(f"there is no {missing[1]}")
    assert done.returncode == 0, done.stderr
