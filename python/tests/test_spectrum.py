"""Power spectra: single waves are where they belong, and Parseval's sum is kept."""

from __future__ import annotations

import numpy as np
import pytest

import octavo


@pytest.fixture(scope="module")
def even(run, tmp_path_factory):
    """A cube of 32^3 cells in 3 domains."""
    path = tmp_path_factory.mktemp("spectrum") / "run.octavo"
    run("sample", path, "--to", "octavo", "--levels", "5-5", "--domains", 3, "-q")
    return octavo.open(path)


def wave(*numbers):
    phase = " + ".join(f"{n}*{axis}" for n, axis in zip(numbers, "xyz", strict=True))
    return f"2 + 3*cos(2*{np.pi!r}*({phase}))"


@pytest.mark.parametrize("numbers", [(1, 0, 0), (0, 5, 0), (3, 4, 0), (2, -3, 6), (0, 0, 15)])
def test_a_wave_is_in_its_shell(even, numbers):
    found = even.spectrum(wave(*numbers))
    length = np.linalg.norm(numbers)
    shell = int(np.floor(length + 0.5))
    assert np.allclose(found.k, 2 * np.pi * np.arange(1, len(found.k) + 1), rtol=1e-13)
    (where,) = np.nonzero(found.power > 1e-9)
    assert where.tolist() == [shell - 1] and found.mean_square == pytest.approx(4, rel=1e-12)
    assert found.power[shell - 1] == pytest.approx(9 / 2, rel=1e-12)
    assert found.parseval < 1e-13 and found.waves.sum() + 1 == 32**3


def test_parseval_holds_for_every_selection(even):
    fields = ["velocity_x", "velocity_y", "velocity_z"]
    cells = even.arrays(fields)
    found = even.spectrum(fields)
    assert found.square_mean == pytest.approx(sum((cells[name] ** 2).mean() for name in fields), rel=1e-12)
    assert found.power.sum() == pytest.approx(sum(cells[name].var() for name in fields), rel=1e-11)
    assert (found.density * found.k[0]).sum() == pytest.approx(found.power.sum(), rel=1e-13)
    part = even.box((0, 0, 0), (0.5, 0.25, 0.75)).spectrum("density")
    assert part.facts["cells"] == [16, 8, 24] and part.parseval < 1e-13
    assert part.k[0] == pytest.approx(2 * np.pi / 0.75)


def test_shells_are_those_of_numpys_full_transform(even):
    """By fftn, in which no wave is left out."""
    values = even.cube(["density"])["density"]
    waves = np.abs(np.fft.fftn(values) / values.size) ** 2
    number = np.fft.fftfreq(32, 1 / 32)
    shell = np.rint(np.sqrt(number[:, None, None] ** 2 + number[:, None] ** 2 + number**2)).astype(int)
    found = even.spectrum("density")
    assert np.allclose(found.power, np.bincount(shell.ravel(), waves.ravel())[1:], rtol=1e-10, atol=1e-20)
    assert (found.waves == np.bincount(shell.ravel())[1:]).all()


def test_cells_and_level_choose_the_cube(run, tmp_path):
    path = tmp_path / "run.octavo"
    run("sample", path, "--to", "octavo", "--levels", "3-6", "--domains", 2, "-q")
    ds = octavo.open(path)
    for cells, expected in ((256, 64), (63, 32), (32, 32), (8, 8)):
        assert ds.spectrum("density", cells=cells).facts["cells"] == [expected] * 3
    assert ds.level(4).spectrum("density").facts["cells"] == [16] * 3
    means = [ds.spectrum("density", cells=cells).mean_square for cells in (16, 64)]
    assert means[0] == pytest.approx(means[1], rel=1e-12)
    for words, message in (
        (["--cells", 1], "no level has at most 1"),
        (["--roi", "sphere:0.5,0.5,0.5:0.3"], "full box"),
    ):
        done = run("spectrum", path, "--field", "density", *words, check=False)
        assert done.returncode == 2 and message in done.stderr


def test_outputs_read_back(run, run_json, even, tmp_path):
    found = even.spectrum("density")
    assert run_json("spectrum", even.path, "--field", "density")["power"] == found.power.tolist()
    for ending in ("csv", "npy", "png"):
        run("spectrum", even.path, "--field", "density", "-o", tmp_path / f"s.{ending}")
    assert np.array_equal(np.load(tmp_path / "s.npy")["power"], found.power)
    assert np.array_equal(np.genfromtxt(tmp_path / "s.csv", delimiter=",", names=True)["power"], found.power)
    assert (tmp_path / "s.png").stat().st_size > 10000
