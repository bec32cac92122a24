"""A region of domains is the filter of all leaves by their domain, whatever it is joined with, and wherever it is read."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


@pytest.fixture(scope="module")
def outputs(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("domains")
    output, store = folder / "output_00001", folder / "run.octavo"
    run("sample", output, "--levels", "3-6", "--domains", 7, "--particles", 900, "-q")
    run("convert", output, store, "-q")
    return {"ramses": output, "store": store}


@pytest.fixture(params=["ramses", "store"])
def path(outputs, request):
    return outputs[request.param]


def leaves(ds):
    """All leaves with the domain that each is of, counted from 1."""
    pieces = [octavo._core.cells(ds._data, part, fields=["density"], **ds._chosen()) for part in range(7)]
    pieces = [piece | {"domain": np.full(len(piece["x"]), part + 1)} for part, piece in enumerate(pieces)]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def in_sphere(cells):
    return (cells["x"] - 0.4) ** 2 + (cells["y"] - 0.5) ** 2 + (cells["z"] - 0.6) ** 2 < 0.3**2


SPHERE = "sphere:0.4,0.5,0.6:0.3"
REGIONS = {
    "domains:2": lambda c: c["domain"] == 2,
    "domains:1,3-5": lambda c: np.isin(c["domain"], [1, 3, 4, 5]),
    f"{SPHERE} & domains:2-4": lambda c: in_sphere(c) & np.isin(c["domain"], [2, 3, 4]),
    f"domains:2 | {SPHERE}": lambda c: (c["domain"] == 2) | in_sphere(c),
    f"{SPHERE} - domains:2,5": lambda c: in_sphere(c) & ~np.isin(c["domain"], [2, 5]),
    f"domains:3-7 - {SPHERE}": lambda c: (c["domain"] >= 3) & ~in_sphere(c),
    "all - domains:1-6": lambda c: c["domain"] == 7,
    f"{SPHERE} - (all - domains:2)": lambda c: in_sphere(c) & (c["domain"] == 2),
}


@pytest.mark.parametrize("region", REGIONS)
def test_cells_are_the_filter_of_all_leaves(path, region):
    ds = octavo.open(path)
    cells = leaves(ds)
    chosen = REGIONS[region](cells)
    assert 0 < chosen.sum() < len(chosen)
    found = ds.inside(region).arrays("density")
    order, right = (
        np.lexsort((some["z"], some["y"], some["x"])) for some in (found, {k: v[chosen] for k, v in cells.items()})
    )
    for name in ("x", "y", "z", "density"):
        np.testing.assert_array_equal(found[name][order], cells[name][chosen][right])


@pytest.mark.parametrize("region", REGIONS)
def test_sums_maps_and_histograms_are_of_these_cells(path, region):
    ds = octavo.open(path)
    cells = leaves(ds)
    cells = {name: values[REGIONS[region](cells)] for name, values in cells.items()}
    mass = float((cells["density"] * cells["dx"] ** 3).sum())
    selection = ds.inside(region)
    assert selection.stats(["density"], particles=False)["leaves"] == len(cells["x"])
    assert selection.sum("density", weight="volume") == pytest.approx(mass, rel=1e-13)
    assert selection.hist("density", weight="mass").weights.sum() == pytest.approx(mass, rel=1e-13)
    if not region.startswith(SPHERE):  # whose frame cuts cells
        assert selection.map("density", pixels=128).sum() == pytest.approx(mass, rel=1e-12)
    cube = selection.level(5).cube("density")
    assert np.isfinite(cube["density"]).any()


@needs_mpi
@pytest.mark.parametrize("region", [f"domains:2 | {SPHERE}", "domains:2,4-5"])
def test_ranks_see_the_same(run_json, path, region):
    alone, shared = (run_json("stats", path, "--roi", region, ranks=ranks) for ranks in (0, 3))
    assert alone == shared and alone["selection"] == region


def test_python_spells_them(path):
    ds = octavo.open(path)
    assert ds.in_domains(1, range(3, 6)).region == "domains:1,3-5"
    assert ds.in_domains(2).parts == [1] and ds.in_domains(2).domains == 1
    both = ds.sphere("center", 0.3) & ds.in_domains(2, 3)
    assert set(both.parts) <= {1, 2}
    assert (ds.in_domains(2) | ds.in_domains(3)).stats(["density"])["leaves"] == ds.in_domains(2, 3).stats(["density"])[
        "leaves"
    ]
    with pytest.raises(octavo.UsageError, match="no domain"):
        ds.in_domains()
    with pytest.raises(octavo.UsageError, match="count from 1"):
        ds.in_domains(0)


def test_particles_are_those_of_the_domains(path):
    ds = octavo.open(path)
    counts = [len(octavo._core.particles(ds._data, part, None).particles["particles"]["identity"]) for part in range(7)]
    assert len(ds.in_domains(1, 2).particles()["identity"]) == counts[0] + counts[1]


@pytest.mark.parametrize(
    "region", ["domains:0", "domains:x", "domains:3-2", "domains:", "domains:1:2", "domains:1-2-3"]
)
def test_words_that_are_no_domains_are_refused(run, path, region):
    done = run("stats", path, "--roi", region, check=False)
    assert done.returncode == 2 and region in done.stderr


def test_a_domain_that_is_not_there_holds_no_cell(run, path):
    assert (
        run("map", path, "--field", "density", "--roi", "domains:8", "-o", "/dev/null/x.png", check=False).returncode
        == 2
    )


def test_a_store_of_some_domains(run, run_json, outputs, tmp_path):
    run("convert", outputs["ramses"], tmp_path / "some.octavo", "--roi", "domains:2,4", "-q")
    some, right = (run_json("stats", one, *more)["leaves"] for one, more in
                   ((tmp_path / "some.octavo", []), (outputs["ramses"], ["--roi", "domains:2,4"])))  # fmt: skip
    assert some == right
