"""octavo diff against the figures that FLASH's own tool printed for real pairs, altered copies, stores against native
outputs, and as a user meets it."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import octavo

ATTRIBUTES = {"posx": "position_x", "posy": "position_y", "posz": "position_z", "velx": "velx", "velz": "velz"}


@pytest.fixture(scope="module")
def flash(data):
    if not (data / "flash").is_dir():
        pytest.skip(f"no FLASH files at {data}: set OCTAVO_DATA")
    pytest.importorskip("h5py")
    return data / "flash"


@pytest.fixture(scope="module")
def par4(flash):
    return flash / "sedov2d_pm4_par4" / "sedov2dp_hdf5_chk_0002"


def tables(path) -> list[dict[str, list[float]]]:
    """The four tables of one printed comparison: name -> numbers."""
    found: list[dict[str, list[float]]] = []
    for line in path.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 7 or cells[0] in ("", "Var", "Real Property") or set(cells[0]) <= set("-+"):
            if cells[0] in ("Var", "Real Property"):
                found.append({})
            continue
        if not found:  # the formulas above the tables
            continue
        found[-1][cells[0]] = [float(cell) for cell in cells[1:] if cell]
    return found


def close(found: float, printed: float, digits: int, scale: float = 0.0) -> bool:
    """Printed with so many digits; `scale` is what rounding alone may leave of a sum that cancels."""
    return abs(found - printed) <= 0.51 * 10 ** (1 - digits) * abs(printed) + 1e-10 * scale


def check_row(row, first, second, norm, reference):
    """One variable against its rows in the first and second table."""
    _, least, relative, _, _, largest, a, b = first[:8]
    assert close(row["relative"], relative, 4) and close(row["absolute"], largest, 4)
    if row["largest"]:
        assert close(row["largest"]["a"], a, 3, 1e-50) and close(row["largest"]["b"], b, 3, 1e-50)
    error, magnitude = second[:2]
    if norm:
        assert close(row[norm]["difference"] / max(row[norm][reference], 1e-99), error, 4)
    assert close(row["magnitude"], magnitude, 4)
    for side, (total, most, least) in (("a", second[2:5]), ("b", second[5:8])):
        assert close(row[side]["sum"], total, 3, row["l1"][side]), (row[side], total)
        assert close(row[side]["max"], most, 3) and close(row[side]["min"], least, 3)


PAIRS = [
    ("same_serial_vs_par4", "sedov2d_pm4_serial/sedov2d_hdf5_chk_0002", "l1", "b", 18),
    ("hll_vs_hllc", "sedov2d_hll_par2/sedovroe_hdf5_chk_0002", "l1", "b", 18),
    ("hll_vs_hllc_L2_benchA", "sedov2d_hll_par2/sedovroe_hdf5_chk_0002", "l2", "a", 18),
]


@pytest.mark.parametrize(("oracle", "path", "norm", "reference", "count"), PAIRS)
def test_real_pairs_give_the_figures_of_flash_itself(flash, par4, oracle, path, norm, reference, count):
    report = octavo.diff(flash / path, par4)
    check_report(report, tables(flash / "sfocu_oracle" / f"{oracle}.txt"), norm, reference, count)
    assert report["equal"] == (oracle == "same_serial_vs_par4")


def check_report(report, printed, norm, reference, count):
    assert len(report["variables"]) == count
    for name, row in report["variables"].items():
        check_row(row, printed[0][name], printed[1][name], norm, reference)
    attributes = report["particles"]["particles"]["attributes"] if len(printed) == 4 else {}
    for printed_name, name in ATTRIBUTES.items() if attributes else []:
        row = attributes[name]
        assert row["differing"] == printed[2][printed_name][0]
        check_row(row, printed[2][printed_name], [0.0, *printed[3][printed_name][1:]], "", "b")


def test_a_finer_mesh_is_compared_by_its_means_as_flash_does_by_its_parents(flash):
    serial = flash / "sedov2d_pm4_serial"
    report = octavo.diff(serial / "sedov2d_hdf5_chk_0001", serial / "sedov2d_hdf5_chk_0002")
    check_report(report, tables(flash / "sfocu_oracle" / "different_time_chk1_vs_chk2.txt"), "l1", "b", 18)
    assert report["mesh"]["refined"] == {"a": 0, "b": 8 * 64}
    assert report["mesh"]["leaves"] == {"a": 112 * 64, "b": 136 * 64}
    assert not report["equal"] and any("time" in reason for reason in report["reasons"])


def test_a_plotfile_lacks_variables_and_precision(flash):
    serial = flash / "sedov2d_pm4_serial"
    report = octavo.diff(serial / "sedov2d_hdf5_plt_cnt_0002", serial / "sedov2d_hdf5_chk_0002", relative=1e-6)
    check_report(report, tables(flash / "sfocu_oracle" / "plt_vs_chk_e1e-6.txt"), "l1", "b", 4)
    assert len(report["only"]["b"]) == 14 and "velz" in report["only"]["b"]
    assert all(row["within"] for row in report["variables"].values())
    assert report["particles"]["particles"]["missing"] == {"a": 144, "b": 0}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 1),
        (["--rel", "0.6", "--rel", "particles=2"], 0),
        (["--ignore", "dens,pres,eint,ener,temp,velx,vely,time", "--rel", "particles=2"], 0),
        (["--ignore", "dens,pres,eint,ener,temp,vely,time", "--rel", "particles=2"], 1),
        (["--rel", "0.3", "--rel", "particles=2"], 1),
    ],
)
def test_tolerances_and_exit_codes(run, flash, par4, words, code):
    done = run("diff", flash / "sedov2d_hll_par2" / "sedovroe_hdf5_chk_0002", par4, *words, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout.strip().splitlines()[-1] == ("equal" if code == 0 else "different")


@pytest.fixture
def altered(par4, tmp_path):
    """altered(change) -> a copy of the checkpoint with change(h5py file) made to it."""
    import h5py

    def make(change):
        copy = tmp_path / "altered_hdf5_chk_0002"
        shutil.copyfile(par4, copy)
        copy.chmod(0o600)
        with h5py.File(copy, "r+") as file:
            change(file)
        return copy

    return make


def put(name, place, change):
    def alter(file):
        file[name][place] = change(file[name][place])

    return alter


def test_small_changes_have_their_figures_and_places(flash, par4, altered):
    def change(file):
        put("dens", (15, 0, 3, 4), lambda x: x * (1 + 1e-10))(file)
        put("pres", (29, 0, 0, 0), lambda x: x + 1e-3)(file)

    copy = altered(change)
    report = octavo.diff(copy, par4)
    check_report(report, tables(flash / "sfocu_oracle" / "mut_eps.txt"), "l1", "b", 18)
    import h5py

    with h5py.File(par4) as file:
        box = file["bounding box"][15]
    worst = report["variables"]["dens"]["largest"]
    for axis, cell in ((0, 4), (1, 3)):
        width = (box[axis, 1] - box[axis, 0]) / 8
        assert np.isclose(worst["at"][axis], box[axis, 0] + (cell + 0.5) * width, rtol=0, atol=1e-12)
    assert report["variables"]["dens"]["differing"] == 1
    assert not report["equal"]
    assert octavo.diff(copy, par4, relative=1e-3)["equal"]
    assert octavo.diff(copy, par4, absolute={"dens": 1.1e-10, "pres": 1.1e-3})["equal"]


def test_nan_on_one_side_is_a_difference(run, par4, altered):
    copy = altered(put("dens", (15, 0, 3, 4), lambda x: np.nan))
    report = octavo.diff(copy, par4, relative=1e300)
    assert not report["equal"]
    assert report["variables"]["dens"]["mismatches"] == 1 and report["variables"]["dens"]["a"]["nan"] == 1
    assert octavo.diff(copy, copy)["equal"]
    assert run("diff", copy, par4, "--ignore", "dens", check=False).returncode == 0


def test_parents_make_no_difference(par4, altered):
    def change(file):
        values, kinds = file["dens"][()], file["node type"][()]
        values[kinds != 1] = -1
        file["dens"][()] = values

    assert octavo.diff(altered(change), par4)["equal"]


def test_particles_of_altered_copies(run, par4, altered):
    import h5py

    with h5py.File(par4) as file:
        names = [name.decode().strip() for name in file["particle names"][:, 0]]
    x, tag = names.index("posx"), names.index("tag")
    moved = altered(put("tracer particles", (5, x), lambda value: value + 1e-6))
    assert not octavo.diff(moved, par4)["equal"]
    assert octavo.diff(moved, par4, relative={"particles": 1e-5})["equal"]
    assert octavo.diff(moved, par4, ignore=["particles/position_x"])["equal"]
    renamed = octavo.diff(altered(put("tracer particles", (5, tag), lambda value: 9999)), par4)
    assert not renamed["equal"]
    species = renamed["particles"]["particles"]
    assert species["missing"] == {"a": 1, "b": 1} and species["first_missing"]["b"] == [(9999, 0)]
    double = altered(put("tracer particles", (5, tag), lambda value: 1 if value != 1 else 2))
    done = run("diff", double, par4, check=False)
    assert done.returncode == 1 and "compared as multisets" in done.stdout + done.stderr
    assert run("diff", double, par4, "--ignore", "particles", check=False).returncode == 0


def test_a_shifted_domain_has_a_tolerance(par4, altered):
    def change(file):
        for name in ("coordinates", "bounding box"):
            values = file[name][()]
            values[:, 0] += 1e-9
            file[name][()] = values

    copy = altered(change)
    assert not octavo.diff(copy, par4)["equal"]
    assert octavo.diff(copy, par4, absolute={"domain": 1e-3})["equal"]


# ---------------------------------------------------------------------------------------------- formats and stores


def native_outputs(data):
    return [
        data / "flash" / "sedov3d_octant_par3" / "sedov3do_hdf5_chk_0001",
        *sorted((data / "amrex" / "adv3d_amrlevel_r2").glob("plt*"))[-1:],
        *sorted((data / "amrex" / "multi3d_r4").glob("plt*"))[-1:],
        *sorted((data / "amrex" / "parts2d_bigid_r4").glob("plt*"))[-1:],
        *sorted((data / "ramses").glob("*/output_*"))[:2],
    ]


def test_a_lossless_store_equals_its_source(run, data, tmp_path):
    for number, path in enumerate(path for path in native_outputs(data) if path.exists()):
        out = tmp_path / f"{number}.octavo"
        done = run("convert", path, out, check=False)
        if done.returncode == 4:
            continue
        done = run("diff", path, out, check=False)
        assert done.returncode == 0, (path, done.stdout, done.stderr)


def test_a_lossy_store_is_within_its_bound(run, run_json, sample, tmp_path):
    out = tmp_path / "lossy.octavo"
    run("convert", sample, out, "--codec", "abs:1e-4")
    report = json.loads(run("diff", sample, out, "--json", check=False).stdout)
    assert not report["equal"]
    assert 0 < report["variables"]["density"]["absolute"] <= 1e-4
    assert run("diff", sample, out, "--abs", 1.01e-4).returncode == 0


def test_other_domains_threads_and_levels(run, sample, tmp_path):
    other = tmp_path / "output_00007"
    run("sample", other, "--domains", 3, "--levels", "4-6", "--particles", 2000, "-q")
    one = json.loads(run("diff", sample, other, "--json", "-j", 1, "--ignore", "particles").stdout)
    assert one["equal"] and one["mesh"]["refined"] == {"a": 0, "b": 0}
    coarse = tmp_path / "coarse.octavo"
    run("convert", sample, coarse, "--level", 5)
    reports = [run("diff", sample, coarse, "--json", "-j", j, check=False).stdout for j in (1, 2, 3)]
    parsed = [json.loads(report) for report in reports]
    for report in parsed:
        report.pop("parts_held"), report.pop("reads")
    assert parsed[0] == parsed[1] == parsed[2]
    assert parsed[0]["mesh"]["refined"]["a"] > 0
    assert parsed[0]["variables"]["density"]["magnitude"] < 1e-14  # the store has the means
    assert run("diff", sample, coarse, "--same-mesh", "--rel", 1, check=False).returncode == 1


def test_wrong_use_and_what_can_not_be_opened(run, sample, tmp_path):
    assert run("diff", sample, check=False).returncode == 2
    assert run("diff", sample, sample, "--rel", "density=x", check=False).returncode == 2
    done = run("diff", sample, sample, "--ignore", "presure", check=False)
    assert done.returncode == 2 and "pressure" in done.stderr
    for words in ((sample, tmp_path / "missing"), (tmp_path / "missing", sample)):
        assert run("diff", *words, check=False).returncode == 3
    assert "examples:" in run("help", "diff").stdout
