"""Gradients, divergence and vorticity: what lies beside a cell counts, whichever domain has it."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from conftest import peak_of

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
FIELDS = [
    "gradient_x(density)",
    "gradient_z(density)",
    "norm(gradient(pressure))",
    "divergence(velocity)",
    "vorticity_y",
]


@pytest.fixture(scope="module")
def steps(run, tmp_path_factory):
    """A refined sample of 5 domains, and the same in stores of 1, 3 and 8."""
    folder = tmp_path_factory.mktemp("slopes")
    run("sample", folder / "output_00001", "--levels", "3-5", "--domains", 5, "-q")
    run("convert", folder / "output_00001", folder / "five.octavo", "-q")
    for domains in (1, 3, 8):
        run("repack", folder / "five.octavo", folder / f"{domains}.octavo", "--domains", domains, "-q")
    return {domains: folder / f"{domains}.octavo" for domains in (1, 3, 8)} | {"ramses": folder / "output_00001"}


@pytest.fixture(scope="module")
def uniform(run, tmp_path_factory):
    """Samples of one level, of 4 domains each."""
    folder = tmp_path_factory.mktemp("uniform")
    for level in (3, 4, 5):
        run(
            "sample", folder / f"{level}.octavo", "--to", "octavo", "--levels", f"{level}-{level}", "--domains", 4, "-q"
        )
    return lambda level: octavo.open(folder / f"{level}.octavo")


def cells_of(ds, *fields):
    """The leaves in an order that does not depend on the domains."""
    cells = ds.arrays(list(fields))
    order = np.lexsort([cells["x"], cells["y"], cells["z"]])
    return {name: values[order] for name, values in cells.items()}


class Leaves:
    """The rule of docs/fields.md, leaf by leaf: slow and readable."""

    def __init__(self, cells, values):
        self.coarsest, self.deepest = int(cells["level"].min()), int(cells["level"].max())
        at = [np.floor(cells[axis] / cells["dx"]).astype(int) for axis in "xyz"]
        self.cells = list(zip(cells["level"].astype(int), *at, strict=True))
        self.leaf = dict(zip(self.cells, values, strict=True))

    def value(self, cell):
        """Of a leaf, or the mean of the leaves in a cell; None within a larger leaf."""
        if cell in self.leaf:
            return self.leaf[cell]
        level, *at = cell
        if level >= self.deepest:
            return None
        children = [
            self.value((level + 1, *(2 * x + (child >> axis & 1) for axis, x in enumerate(at)))) for child in range(8)
        ]
        return None if None in children else sum(children) / 8

    def step(self, cell, axis, way):
        level, *at = cell
        while True:
            beside = list(at)
            beside[axis] = (beside[axis] + way) % (1 << level)
            here, there = self.value((level, *at)), self.value((level, *beside))
            if here is not None and there is not None:
                return way * (there - here) * (1 << level)
            level, at = level - 1, [x // 2 for x in at]

    def slopes(self, axis):
        return np.array([(self.step(cell, axis, -1) + self.step(cell, axis, 1)) / 2 for cell in self.cells])


@pytest.mark.parametrize("axis", range(3))
def test_slopes_are_those_of_the_written_rule(steps, axis):
    name = f"gradient_{'xyz'[axis]}(density)"
    cells = cells_of(octavo.open(steps[3]), "density", name)
    assert len(set(cells["level"])) == 3
    np.testing.assert_allclose(cells[name], Leaves(cells, cells["density"]).slopes(axis), rtol=1e-9, atol=1e-9)


def test_domains_do_not_change_a_bit(steps):
    right = cells_of(octavo.open(steps[1]), *FIELDS)
    assert all(np.isfinite(right[name]).all() and np.ptp(right[name]) > 0 for name in FIELDS)
    for step in steps.values():
        found = cells_of(octavo.open(step), *FIELDS)
        for name in FIELDS:
            np.testing.assert_array_equal(found[name], right[name], err_msg=f"{step} {name}")


def test_levels_and_regions_look_beyond_themselves(steps):
    whole = octavo.open(steps[8])
    of_all = cells_of(whole, FIELDS[0])
    near = whole.box((0.2, 0.2, 0.2), (0.6, 0.7, 0.5))
    inside = np.all(
        [(of_all[a] > lo) & (of_all[a] < hi) for a, lo, hi in zip("xyz", (0.2,) * 3, (0.6, 0.7, 0.5), strict=True)],
        axis=0,
    )
    np.testing.assert_array_equal(cells_of(near, FIELDS[0])[FIELDS[0]], of_all[FIELDS[0]][inside])
    # Down to a level the cells on it count with the values that are stored there.
    coarse = [cells_of(octavo.open(step).level(4), FIELDS[0]) for step in (steps[1], steps[8])]
    np.testing.assert_array_equal(coarse[0][FIELDS[0]], coarse[1][FIELDS[0]])


@pytest.mark.parametrize(
    "region", ["domains:2", "domains:2-3 | box:0.1,0.1,0.1:0.4,0.4,0.4", "box:0,0,0:1,1,1 & domains:5"]
)
def test_domains_that_are_chosen_look_at_the_others(run_json, steps, region):
    found = run_json("stats", steps[8], "--field", "gradient_y(density)", "--roi", region, "--no-particles")
    everywhere = cells_of(octavo.open(steps[8]), "gradient_y(density)")["gradient_y(density)"]
    assert 0 < found["leaves"] < len(everywhere)
    numbers = found["fields"]["gradient_y(density)"]
    assert numbers["max"] in everywhere and numbers["min"] in everywhere and numbers["nan"] == 0


def test_a_linear_function_has_its_slope_across_levels(steps):
    ds = octavo.open(steps[8]).derive("f", "3*x - 2*y + 0.5*z + 7")
    cells = cells_of(ds, "gradient_x(f)", "gradient_y(f)", "gradient_z(f)")
    # The box is periodic, the function is not: cells at a side, or beside one that is there, see the jump.
    inner = np.all([(cells[a] > 0.26) & (cells[a] < 0.74) for a in "xyz"], axis=0)
    assert len(set(cells["level"][inner])) == 3
    for axis, slope in zip("xyz", (3, -2, 0.5), strict=True):
        np.testing.assert_allclose(cells[f"gradient_{axis}(f)"][inner], slope, rtol=1e-12)


def test_slopes_of_a_sine_are_of_second_order(uniform):
    errors = []
    for level in (3, 4, 5):
        cells = uniform(level).arrays(["gradient_y(sin(2*pi*y)*cos(2*pi*x))"])
        right = 2 * np.pi * np.cos(2 * np.pi * cells["y"]) * np.cos(2 * np.pi * cells["x"])
        errors.append(np.abs(cells["gradient_y(sin(2*pi*y)*cos(2*pi*x))"] - right).max())
    # On few cells no middle is where the cosine is 1.
    assert errors[0] / errors[1] > 3.4 and errors[1] / errors[2] > 3.8


def test_a_periodic_box_has_no_net_divergence(uniform):
    ds = uniform(4)
    net, size = ds.sum("divergence", weight="volume"), ds.sum("abs(divergence)", weight="volume")
    assert size > 0 and abs(net) < 1e-12 * size


def test_vorticity_is_the_curl(uniform):
    """Of a turning body it is twice the rate; a shear has the same size."""
    ds = uniform(4).derive("v_x", "-3*y").derive("v_y", "3*x").derive("v_z", "0*x")
    cells = ds.arrays(["vorticity_z(v)", "norm(vorticity(v))", "divergence(v)"])
    inner = np.all([(cells[a] > 0.1) & (cells[a] < 0.9) for a in "xyz"], axis=0)
    np.testing.assert_allclose(cells["vorticity_z(v)"][inner], 6, rtol=1e-12)
    np.testing.assert_allclose(cells["norm(vorticity(v))"][inner], 6, rtol=1e-12)
    np.testing.assert_allclose(cells["divergence(v)"][inner], 0, atol=1e-12)


VERBS = {
    "stats": ["--field", "divergence", "--no-particles"],
    "hist": ["--field", "vorticity", "--bins", 9],
    "phase": ["--x", "density", "--y", "norm(gradient(density))", "--bins", 7],
    "profile": ["--field", "divergence", "--bins", 9],
    "line": ["--field", "divergence", "--from", "0,0.3,0.3", "--to", "1,0.6,0.5"],
    "clumps": ["--field", "norm(gradient(density))", "--above", 3],
}


@pytest.mark.parametrize("verb", VERBS)
def test_tables_have_the_same_bits_on_threads_and_ranks(run, steps, verb):
    def table(step, *more, ranks=0):
        found = json.loads(run(verb, step, *VERBS[verb], "--json", *more, ranks=ranks).stdout)
        return {name: found[name] for name in found if name not in ("parts_read", "bytes_read", "peak_bytes")}

    right = table(steps[8], "-j", 1)
    assert table(steps[8], "-j", 3) == right
    if shutil.which("mpirun"):
        assert table(steps[8], ranks=3) == right


@pytest.mark.parametrize("words", [["map"], ["map", "--camera", "1,1,1"], ["slice"], ["slice", "--normal", "1,2,1"]])
def test_pictures_have_the_same_bits_on_threads_and_ranks(run, steps, tmp_path, words):
    def picture(*more, ranks=0):
        out = tmp_path / "out.npy"
        run(
            words[0], steps[8], *words[1:], "--field", "divergence", "--pixels", 32, "-o", out, "-f", *more, ranks=ranks
        )
        return np.load(out)

    right = picture("-j", 1)
    assert np.isfinite(right).any()
    np.testing.assert_array_equal(picture("-j", 3), right)
    if shutil.which("mpirun"):
        np.testing.assert_array_equal(picture(ranks=3), right)


def test_exports_conditions_and_definitions_take_them(run, run_json, steps, tmp_path):
    definitions = tmp_path / "flow.toml"
    definitions.write_text('shear = "abs(gradient_x(velocity_y))"\n')
    words = ["--definitions", definitions, "--where", "divergence(velocity) < 0"]
    found = run_json("stats", steps[3], "--field", "shear", *words)
    cells = cells_of(octavo.open(steps[3]), "gradient_x(velocity_y)", "divergence")
    there = cells["divergence"] < 0
    assert 0 < found["leaves"] == there.sum()
    assert found["fields"]["shear"]["max"] == np.abs(cells["gradient_x(velocity_y)"][there]).max()
    run("export", steps[3], tmp_path / "a.vtkhdf", "--field", "shear,density", *words, "-q")
    cube = octavo.open(steps[3]).level(3).cube("divergence")
    assert np.isfinite(cube["divergence"]).all()


def test_the_library_and_units(run_json, steps):
    derived = {field["name"]: field for field in run_json("info", steps["ramses"])["derived"]}
    assert {"divergence", "vorticity", "vorticity_x", "vorticity_y", "vorticity_z"} <= set(derived)
    assert derived["divergence"]["unit"] == derived["vorticity"]["unit"] == "1/code_time"


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("gradient(density)", "is a vector"),
        ("vorticity(velocity)", "is a vector"),
        ("gradient_x(gradient_y(density))", "slope"),
        ("gradient_x(divergence)", "slope"),
        ("divergence(density + 1)", "is of a vector"),
        ("divergence(speeed)", "speeed_x"),
        ("gradient_x(densty)", "density"),
    ],
)
def test_what_is_no_slope_is_refused(run, steps, field, said):
    done = run("stats", steps[1], "--field", field, check=False)
    assert done.returncode in (2, 4) and said in done.stderr, done.stderr


def test_a_domain_alone_does_not_know_the_others(steps):
    pytest.importorskip("dask")
    with pytest.raises(octavo.Unsupported, match="left out"):
        octavo.dask(octavo.open(steps[8]))[3].sum("divergence").compute()
    with pytest.raises(octavo.Unsupported, match="left out"):
        octavo.dask(octavo.open(steps["ramses"]))[3].sum("divergence").compute()


@pytest.mark.long
def test_memory_is_some_parts_and_what_lies_between(run, tmp_path):
    """The leaves of all parts with one value would take 48 bytes each. A limit leaves an eighth of it for leaves that
    wait for the next part."""
    run("sample", tmp_path / "run.octavo", "--to", "octavo", "--levels", "7-8", "--domains", 64, "-q")
    words = ["stats", tmp_path / "run.octavo", "--no-particles", "-j", 1, "--json", "--field"]
    code, text, plain = peak_of([*words, "density"])
    leaves = json.loads(text)["leaves"]
    assert code == 0 and leaves * 48 > 100e6
    code, _, most = peak_of([*words, "gradient_x(density)", "--memory", "128 MiB"])
    largest = 4 * leaves / 64 * 48  # a part, those beside it, and a part that is read for them
    assert code == 0 and most < plain + (128 << 20) / 8 + largest + 24e6, (most, plain)


def test_triangles_have_linear_slopes(data):
    path = next(data.rglob("*.slf"))
    ds = octavo.open(path)
    read = ds.derive("f", "3*x - 2*y").map("gradient_x(f)", kind="max", pixels=32)
    shown = read.values[np.isfinite(read.values)]
    np.testing.assert_allclose(shown, 3, rtol=1e-6)


@pytest.mark.long
def test_yt_has_the_same_gradients_of_a_uniform_box(uniform):
    yt = pytest.importorskip("yt", reason="yt is not installed: make test-long installs it")
    ds = uniform(4)
    cube = ds.cube("density")["density"]
    there = yt.load_uniform_grid(
        {"density": cube.transpose()}, cube.shape, bbox=np.array([[0, 1]] * 3), periodicity=(True,) * 3
    )
    name = there.add_gradient_fields(("stream", "density"))[0]
    theirs = np.asarray(there.all_data()[name])
    ours = ds.arrays(["gradient_x(density)"])["gradient_x(density)"]
    np.testing.assert_allclose(np.sort(theirs.ravel()), np.sort(ours), rtol=1e-6)
