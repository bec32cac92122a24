"""map --blur: compared with NumPy's Fourier transform on the leaves, level by level, on a grid finer than the pixels."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
FINE = 8  # points of the second way along the side of a pixel


def columns(ds, field, pixels, lo=(0.0, 0.0), hi=(1.0, 1.0)):
    """By level, the edge of a cell and the leaves' sums along z, on points: an array (points of y, points of x) of a window
    whose sides and pixels' fractions are sides of cells."""
    cells = ds.arrays(field)
    n = pixels * FINE
    step = (hi[0] - lo[0]) / n
    for level in np.unique(cells["level"]):
        chosen = cells["level"] == level
        dx = cells["dx"][chosen][0]
        image = np.zeros((n, n))
        width = round(dx / step)
        x, y = (
            np.rint((cells[axis][chosen] - dx / 2 - low) / step).astype(int) for axis, low in zip("xy", lo, strict=True)
        )
        inside = (x >= 0) & (y >= 0) & (x < n) & (y < n)
        for i, j, value in zip(x[inside], y[inside], cells[field][chosen][inside], strict=True):
            image[j : j + width, i : i + width] += value * dx
        yield dx / step, image


def smoothed(image, deviation):
    """Goes round the sides. The points are means of what is smoothed, so that their own sides count twice."""
    wave = np.fft.fftfreq(len(image))
    one = np.exp(-2 * (np.pi * wave * deviation) ** 2) * np.sinc(wave) ** 2
    return np.fft.ifft2(np.fft.fft2(image) * one[:, None] * one[None, :]).real


def mirrored(image, deviation):
    n = len(image)
    both = np.concatenate([image, image[::-1]])
    return smoothed(np.concatenate([both, both[:, ::-1]], axis=1), deviation)[:n, :n]


def second_way(ds, field, pixels, blur, smooth=smoothed, **window):
    fine = sum(smooth(image, blur * edge) for edge, image in columns(ds, field, pixels, **window))
    return fine.reshape(pixels, FINE, pixels, FINE).mean(axis=(1, 3))


@pytest.mark.parametrize("blur", [0.5, 1.0, 5.0])
def test_each_cell_is_smoothed_by_its_own_edge(sample, blur):
    ds = octavo.open(sample)
    expected = second_way(ds, "density", 32, blur)
    found = ds.map("density", pixels=32, blur=blur)
    np.testing.assert_allclose(found.values, expected, rtol=2e-6)
    assert not np.allclose(ds.map("density", pixels=32).values, expected, rtol=1e-2)
    assert f"{blur:g} edges" in found.label and found.facts["blur"] == blur


@pytest.mark.parametrize("blur", [0.5, 2.0])
def test_the_sides_of_a_window_mirror(sample, blur):
    ds = octavo.open(sample)
    found = ds.box((0.25, 0.5, 0), (0.75, 1, 1)).map("density", pixels=16, blur=blur)
    window = {"lo": (0.25, 0.5), "hi": (0.75, 1.0)}
    np.testing.assert_allclose(found.values, second_way(ds, "density", 16, blur, mirrored, **window), rtol=2e-6)


@pytest.mark.parametrize("blur", [1e-9, 0.25, 0.5, 3.0, 16.0])
def test_the_sum_of_all_pixels_stays(sample, blur):
    ds = octavo.open(sample)
    for chosen in (ds, ds.box((0.13, 0.2, 0.31), (0.87, 0.91, 0.8)), ds.sphere("center", 0.3), ds.level(3)):
        for axis in "xyz":
            plain, soft = (chosen.map("density", axis=axis, pixels=45, blur=b).sum() for b in (0.0, blur))
            assert soft == pytest.approx(plain, rel=1e-13)


def test_next_to_no_blur_is_the_map(sample):
    ds = octavo.open(sample)
    plain, soft = (ds.map("density", pixels=50, blur=b).values for b in (0.0, 1e-9))
    np.testing.assert_allclose(soft, plain, rtol=1e-7)


def test_a_blur_as_wide_as_the_window_is_even(sample):
    far = octavo.open(sample).level(1).map("density", pixels=16, blur=16.0).values
    np.testing.assert_allclose(far, far.mean(), rtol=1e-5)  # of a cut Gaussian


def test_a_mean_divides_what_is_smoothed(sample):
    ds = octavo.open(sample)
    options = {"pixels": 40, "blur": 0.7}
    mean = ds.map("pressure", weight="density", **options).values
    both, weight = (ds.map(f, **options).values for f in ("pressure*density", "density"))
    np.testing.assert_allclose(mean, both / weight, rtol=1e-12)


def test_flat_data_and_blocks_are_smoothed(data):
    ds = octavo.open(data / "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002")
    plain, soft = (ds.map("dens", pixels=200, blur=b).sum() for b in (0.0, 0.5))
    assert soft == pytest.approx(plain, rel=1e-13)


def test_threads_and_stores_have_the_same_bits(sample, tmp_path):
    octavo.convert(sample, tmp_path / "run.octavo")
    first = octavo.open(sample).map("density", pixels=64, blur=0.5, threads=1).values
    for path, threads in ((sample, 3), (tmp_path / "run.octavo", 1)):
        assert np.array_equal(first, octavo.open(path).map("density", pixels=64, blur=0.5, threads=threads).values)


@needs_mpi
def test_ranks_have_the_same_bits(sample, run, tmp_path):
    words = ["map", sample, "--field", "density", "--pixels", 1200, "--blur", 0.5, "-o"]
    run(*words, tmp_path / "1.npy")
    run(*words, tmp_path / "3.npy", ranks=3)
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "3.npy").read_bytes()


def test_the_verb_says_the_blur(sample, run, tmp_path):
    done = run(
        "map", sample, "--field", "density", "--blur", 0.5, "--grid", "--pixels", 64, "--json", "-o", tmp_path / "a.png"
    )
    assert json.loads(done.stdout)["blur"] == 0.5


def test_a_blur_that_cannot_be_is_refused(sample, files):
    ds = octavo.open(sample)
    for blur in (-1, 17, float("nan")):
        with pytest.raises(octavo.UsageError, match="expected 0 to 16"):
            ds.map("density", blur=blur)
    with pytest.raises(octavo.UsageError, match="integral and mean"):
        ds.map("density", kind="max", blur=0.5)
    with pytest.raises(octavo.Unsupported, match="along an axis"):
        ds.map("density", camera=(1, 1, 1), blur=0.5)
    assert np.array_equal(
        ds.map("density", camera=(0, 0, 1), blur=0.5, pixels=32).values, ds.map("density", blur=0.5, pixels=32).values
    )
