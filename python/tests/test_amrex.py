"""AMReX: checkpoints that come back as they were, boxes as asked for, plotfiles in HDF5, what is refused."""

from __future__ import annotations

import itertools
import re
import shutil

import numpy as np
import pytest
from conftest import mostly_long

LEVEL = "amrex/adv2d_amrlevel_r4/chk00010"
CORE = "amrex/adv2d_core_r4/chk00020"
PLOT = "amrex/adv2d_core_r4/plt00020"
GHOSTS = ["amrex/multi3d_r4/chk00007", "amrex/parts2d_bigid_r4/chk00007"]
FLASH = "flash/sedov2d_pm4_serial/sedov2d_hdf5_chk_0002"


# ---------------------------------------------------------------------------------------- native files, read by hand


def tuples(text):
    return [tuple(map(int, words.split(","))) for words in re.findall(r"\(([-\d,]+)\)", text)]


def fabs(header):
    """The line of text and the values of each box of a MultiFab in doubles, by the box without ghost cells."""
    lines = header.read_text().splitlines()
    components = int(lines[2])
    start = next(i for i, line in enumerate(lines) if line.startswith("("))
    if re.fullmatch(r"\([-\d,]+\)", lines[start]):  # ghost cells that differ
        start += 1
    count = int(lines[start][1:].split()[0])
    boxes = [tuple(tuples(line)) for line in lines[start + 1 : start + 1 + count]]
    found = {}
    for box, line in zip(boxes, [line for line in lines if line.startswith("FabOnDisk")], strict=True):
        name, offset = line.split()[1:]
        data = (header.parent / name).read_bytes()[int(offset) :]
        text, values = data.split(b"\n", 1)
        lo, hi = tuples(text.decode().rsplit("((", 1)[1].join(["((", ""]))[:2]
        shape = [b - a + 1 for a, b in zip(lo, hi, strict=True)]
        found[box] = text, values[: 8 * components * int(np.prod(shape))]
    return found


def same_output(before, after):
    """Every file but Octavo's signature is the same, bit for bit; MultiFabs have the same boxes with the same bytes, ghost cells included, and
    particles the same folder but for the files they are in."""
    files = [
        {str(p.relative_to(d)) for p in d.rglob("*") if p.is_file()} - {"octavo_files.txt"} for d in (before, after)
    ]
    multifabs = {name for name in files[0] if name.endswith("_H") and not name.endswith("Particle_H")}
    species = {name.rsplit("/", 1)[0] for name in files[0] if name.endswith("/Header")}
    for name in multifabs:
        assert fabs(before / name) == fabs(after / name), name
    plain = {n for n in files[0] - multifabs if "_D_" not in n and not any(n.startswith(s + "/") for s in species)}
    assert "Header" in plain
    for name in plain:
        assert (before / name).read_bytes() == (after / name).read_bytes(), name
    for name in species:
        lines = [(d / name / "Header").read_text().splitlines() for d in (before, after)]
        names = 2 + sum(1 + int(n) for n in (lines[0][2], lines[0][3 + int(lines[0][2])]))
        assert lines[0][: names + 4] == lines[1][: names + 4], name
    return {n for n in files[1] - files[0] if not any(n.startswith(s + "/") for s in species)}


def boxes_of(output):
    """Lower and upper corners (both in the box) of each level's cells, from the MultiFabs' headers."""
    levels = {}
    for header in sorted(output.glob("Level_*/*_H")):
        found = fabs(header)
        if not any(box[2] != (0,) * len(box[2]) for box in found):
            levels.setdefault(header.parent.name, list(found))
    return levels


# --------------------------------------------------------------------------------------------------------- checkpoints


@pytest.mark.parametrize("name", mostly_long(LEVEL, CORE, *GHOSTS, short=[LEVEL, GHOSTS[0]]))
@pytest.mark.parametrize("way", ["direct", "store", "ranks"])
def test_a_checkpoint_comes_back_as_it_was(data, run, tmp_path, name, way):
    given = data / name
    if way == "direct":
        run("convert", given, tmp_path / "again", "--to", "amrex", "-q")
    else:
        ranks = 3 if way == "ranks" else 0
        if ranks and not shutil.which("mpirun"):
            pytest.skip("no mpirun on this machine")
        run("convert", given, tmp_path / "run.octavo", "--flow", "checkpoint", "-q", ranks=ranks)
        words = ("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "amrex", "--flow", "checkpoint", "-q")
        run(*words, ranks=ranks)
    assert same_output(given, tmp_path / "again") == set()


def test_files_beside_a_checkpoint_come_back_too(data, run, tmp_path):
    given = tmp_path / "chk00020"
    shutil.copytree(data / CORE, given)
    (given / "job_info").write_text("inputs of the run\n")
    (given / "extra").mkdir()
    (given / "extra" / "bytes.bin").write_bytes(bytes(range(256)) * 3 + b"\n")
    (given / "extra" / "empty").write_bytes(b"")
    run("convert", given, tmp_path / "run.octavo", "-q")
    run("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "amrex", "-q")
    assert same_output(given, tmp_path / "again") == set()


def test_more_than_a_store_keeps_is_said_and_then_refused(data, run, run_json, tmp_path):
    given = tmp_path / "chk00020"
    shutil.copytree(data / CORE, given)
    with (given / "Header").open("a") as header:
        header.write("something of its own\n")
    (given / "large").write_bytes(bytes(17 << 20))
    report = run_json("convert", given, tmp_path / "run.octavo")
    assert any("not kept" in note for note in report["notes"])
    refused = run("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "amrex", check=False)
    assert refused.returncode == 4 and "not kept" in refused.stderr
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("name", [LEVEL, *GHOSTS])
@pytest.mark.parametrize(
    "words",
    [
        ["--max-box", 32],
        ["--blocking-factor", 4],
        ["--no-particles"],
        ["--dt", "0.1"],
        ["--multifab", "other"],
        ["--refine", 1],
    ],
)
def test_what_its_code_would_not_restart_from_is_exit_4(data, run, tmp_path, name, words):
    if name != LEVEL and words == ["--no-particles"] and "multi3d" in name:
        pytest.skip("its Header is known, and particles are left out as asked")
    if words == ["--refine", 1] and name in GHOSTS:
        pytest.skip("values on nodes cannot be refined")
    refused = run("convert", data / name, tmp_path / "again", "--to", "amrex", *words, check=False)
    assert refused.returncode == 4, refused.stderr
    assert "its code goes on" in refused.stderr and "--kind plotfile" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_plotfile_can_be_made_of_any_checkpoint(data, run, run_json, tmp_path):
    run("convert", data / LEVEL, tmp_path / "plt", "--to", "amrex", "--kind", "plotfile", "--max-box", 32, "-q")
    leaves = [run_json("stats", path, "-q")["leaves"] for path in (data / LEVEL, tmp_path / "plt")]
    assert leaves[0] == leaves[1]


def test_a_checkpoint_of_a_known_form_takes_other_boxes(data, run, tmp_path):
    run("convert", data / CORE, tmp_path / "again", "--to", "amrex", "--max-box", 32, "-q")
    before, after = ((d / "Header").read_text().splitlines() for d in (data / CORE, tmp_path / "again"))
    assert before[:5] == after[:5] and before[5] != after[5]
    assert (tmp_path / "again" / "Level_0" / "phi_H").exists()


def test_more_levels_in_the_header_than_there_are_stay(data, run, tmp_path):
    """A code that allows four levels lists steps, time steps and times of all four."""
    given = tmp_path / "chk00020"
    shutil.copytree(data / CORE, given)
    lines = (given / "Header").read_text().splitlines(keepends=True)
    lines[2:5] = [lines[2].rstrip() + " 0 \n", lines[3].rstrip() + " 1e+100 \n", lines[4].rstrip() + " 0 \n"]
    (given / "Header").write_text("".join(lines))
    run("convert", given, tmp_path / "same", "--to", "amrex", "-q")
    assert (tmp_path / "same" / "Header").read_bytes() == (given / "Header").read_bytes()
    run("convert", given, tmp_path / "other", "--to", "amrex", "--max-box", 32, "-q")
    other = (tmp_path / "other" / "Header").read_text().splitlines()
    assert other[2].split() == lines[2].split() and other[3].split()[3] == "1e+100"


# ---------------------------------------------------------------------------------------------------- cross restart


def test_the_time_step_crosses_or_is_asked_for(data, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    run("convert", data / FLASH, tmp_path / "chk", "--to", "amrex", "--kind", "checkpoint", "--multifab", "phi", "-q")
    with h5py.File(data / FLASH) as file:
        scalars = {row[0].decode().strip(): row[1] for row in file["real scalars"]}
        step = {row[0].decode().strip(): row[1] for row in file["integer scalars"]}["nstep"]
    lines = (tmp_path / "chk" / "Header").read_text().splitlines()
    levels = int(lines[1]) + 1
    assert [int(n) for n in lines[2].split()] == [step] * levels
    assert [float(n) for n in lines[3].split()] == [scalars["dt"]] * levels
    assert [float(n) for n in lines[4].split()] == [scalars["time"]] * levels
    assert (tmp_path / "chk" / "Level_0" / "phi_H").exists()
    asked = run("convert", data / PLOT, tmp_path / "no", "--to", "amrex", "--kind", "checkpoint", check=False)
    assert asked.returncode == 2 and "--dt" in asked.stderr and not (tmp_path / "no").exists()
    words = ("--to", "amrex", "--kind", "checkpoint", "--dt", "0.1,0.05,0.025")
    run("convert", data / PLOT, tmp_path / "given", *words, "-q")
    lines = (tmp_path / "given" / "Header").read_text().splitlines()
    assert [float(n) for n in lines[3].split()] == [0.1, 0.05, 0.025]
    for wrong in ("0", "-1", "x", "nan"):
        done = run("convert", data / PLOT, tmp_path / "no", *words[:4], "--dt", wrong, check=False)
        assert done.returncode == 2, wrong


def test_steps_and_time_steps_of_ramses_are_those_of_its_levels(data, run, tmp_path):
    source = data / "ramses/sedov3d_4ranks/output_00002"
    run("convert", source, tmp_path / "chk", "--to", "amrex", "--kind", "checkpoint", "-q")
    lines = (tmp_path / "chk" / "Header").read_text().splitlines()
    steps = [float(n) for n in lines[3].split()]
    assert len(steps) == int(lines[1]) + 1 and all(step > 0 for step in steps)
    assert lines[2].split() == ["14"] * len(steps)  # nstep_coarse


def test_next_id_stays_also_where_its_particle_is_gone(data, run, tmp_path):
    given = tmp_path / "chk00020"
    shutil.copytree(data / CORE, given)
    header = given / "particles" / "Header"
    lines = header.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line == "1025\n")
    lines[at] = "777777\n"
    header.write_text("".join(lines))
    run("convert", given, tmp_path / "run.octavo", "-q")
    for words in ([], ["--max-box", 32]):
        out = tmp_path / f"again{len(words)}"
        run("convert", tmp_path / "run.octavo", out, "--to", "amrex", *words, "-q")
        assert (out / "particles" / "Header").read_text().splitlines()[at] == "777777"


def scaled_flash(source, path):
    """A FLASH file whose domain is twice as long along x, with data sets and attributes that FLASH does not know."""
    import h5py

    shutil.copy(source, path)
    path.chmod(0o644)
    with h5py.File(path, "r+") as file:
        file["a row a block"] = np.arange(len(file["coordinates"]), dtype="f8")
        file["some integers"] = np.arange(7, dtype="i4")
        file["dens"].attrs["foreign"] = 3.5
        file["bounding box"][:, 0, :] *= 2
        file["coordinates"][:, 0] *= 2
        file["block size"][:, 0] *= 2
        names = [row[0].decode().strip() for row in file["particle names"]]
        file["tracer particles"][:, names.index("posx")] *= 2
        for name, attribute in (("real runtime parameters", "xmax"), ("real runtime parameters", "xmin")):
            rows = file[name][()]
            for row in rows:
                if row[0].decode().strip() == attribute:
                    row[1] *= 2
            file[name][...] = rows
    return path


def rows_of(data_set):
    """Bytes; of lists of names and values these, as h5py pads names in another way where it writes them. Particles by
    block and tag: within their block they may stand in another order."""
    rows = data_set[()]
    if data_set.name == "/tracer particles":
        names = [row[0].decode().strip() for row in data_set.file["particle names"]]
        rows = rows[np.lexsort((rows[:, names.index("tag")], rows[:, names.index("blk")]))]
    if rows.dtype.names and data_set.name == "/real runtime parameters":
        return [(name.strip(), value) for name, value in rows]
    return data_set.dtype, data_set.shape, rows.tobytes(), {n: v.tobytes() for n, v in data_set.attrs.items()}


@pytest.mark.parametrize("name", [FLASH, "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0001", "longer"])
def test_flash_by_way_of_an_amrex_checkpoint_is_the_file_again(data, run, run_json, tmp_path, name):
    h5py = pytest.importorskip("h5py")
    given = data / name if name != "longer" else scaled_flash(data / FLASH, tmp_path / "given_hdf5_chk_0002")
    box = run_json("info", given)["box"]
    assert box["hi"][:2] == ([2, 1] if name == "longer" else [1, 1])
    run("convert", given, tmp_path / "chk00002", "--to", "amrex", "--kind", "checkpoint", "-q")
    assert run_json("info", tmp_path / "chk00002")["box"] == box
    run("convert", tmp_path / "chk00002", tmp_path / "run.octavo", "--flow", "checkpoint", "-q")
    for path, flow in ((tmp_path / "chk00002", []), (tmp_path / "run.octavo", ["--flow", "checkpoint"])):
        again = tmp_path / f"{path.stem}_hdf5_chk_0002"
        run("convert", path, again, "--to", "flash", *flow, "-q")
        with h5py.File(given) as a, h5py.File(again) as b:
            assert set(a) == set(b)
            for data_set in a:
                assert rows_of(a[data_set]) == rows_of(b[data_set]), data_set


# ------------------------------------------------------------------------------------------------------------- boxes


@pytest.mark.parametrize("name", [PLOT, "amrex/adv3d_amrlevel_r2/plt00004", "amrex/multi3d_r4/plt00007"])
def test_boxes_that_are_multiples_of_8_stay_so_when_asked(data, run, tmp_path, name):
    before = boxes_of(data / name)
    multiples = all(n % 8 == 0 for level in before.values() for lo, hi, _ in level for n in (*lo, *(h + 1 for h in hi)))
    if not multiples:
        pytest.skip("its boxes are no multiples of 8")
    run("convert", data / name, tmp_path / "plt", "--to", "amrex", "--blocking-factor", 8, "-q")
    for level, boxes in boxes_of(tmp_path / "plt").items():
        for lo, hi, _ in boxes:
            assert all(n % 8 == 0 for n in lo) and all((n + 1) % 8 == 0 for n in hi), level
    assert run("diff", data / name, tmp_path / "plt", "-q").returncode == 0


def test_a_longest_box_alone_makes_new_boxes(data, run, tmp_path):
    before = boxes_of(data / PLOT)
    for most in (8, 32):
        out = tmp_path / f"plt{most}"
        run("convert", data / PLOT, out, "--to", "amrex", "--max-box", most, "-q")
        after = boxes_of(out)
        assert after.keys() == before.keys()
        for level, boxes in after.items():
            assert boxes != before[level]
            assert max(b - a + 1 for lo, hi, _ in boxes for a, b in zip(lo, hi, strict=True)) <= most
        assert run("diff", data / PLOT, out, "-q").returncode == 0
    run("convert", data / PLOT, tmp_path / "same", "--to", "amrex", "-q")
    assert boxes_of(tmp_path / "same") == before


def test_a_blocking_factor_that_does_not_fit_is_exit_4_and_says_where(data, run, tmp_path):
    refused = run("convert", data / PLOT, tmp_path / "plt", "--to", "amrex", "--blocking-factor", 16, check=False)
    assert refused.returncode == 4 and "cubes of 16 cells" in refused.stderr and "level " in refused.stderr
    run("convert", data / PLOT, tmp_path / "plt", "--to", "amrex", "--blocking-factor", 16, "--fill", "-q")
    for boxes in boxes_of(tmp_path / "plt").values():
        assert all(n % 16 == 0 for lo, hi, _ in boxes for n in (*lo, *(h + 1 for h in hi)))
    wrong = ("convert", data / PLOT, tmp_path / "no", "--to", "amrex", "--blocking-factor", 8, "--max-box", 12)
    assert run(*wrong, check=False).returncode == 2


def plotfile(path, ratio, levels=3):
    """A 2-D plotfile of 16 x 8 cells on level 0; each finer level refines the middle of the one before."""
    rng = np.random.default_rng(1)
    boxes = [((0, 0), (15, 7))]
    domains = list(boxes)
    for _ in range(1, levels):
        (lx, ly), (hx, hy) = boxes[-1]
        nx, ny = (hx - lx + 1) // 4, (hy - ly + 1) // 4
        inner = ((lx + nx, ly + ny), (hx - nx, hy - ny))
        boxes.append(tuple(tuple(ratio * n + (ratio - 1 if side else 0) for n in inner[side]) for side in (0, 1)))
        domains.append(((0, 0), tuple(ratio * (n + 1) - 1 for n in domains[-1][1])))
    text = lambda box: f"(({box[0][0]},{box[0][1]}) ({box[1][0]},{box[1][1]}) (0,0))"  # noqa: E731
    head = ["HyperCLaw-V1.1", "1", "phi", "2", "0.5", str(levels - 1), "0 0", "2 1"]
    head += [" ".join([str(ratio)] * (levels - 1))]
    head += [" ".join(map(text, domains)), " ".join(["7"] * levels)]
    head += [f"{2 / (16 * ratio**n)} {1 / (8 * ratio**n)}" for n in range(levels)] + ["0", "0"]
    for n, box in enumerate(boxes):
        head += [f"{n} 1 0.5", "7", "0 1", "0 1", f"Level_{n}/Cell"]
        folder = path / f"Level_{n}"
        folder.mkdir(parents=True)
        values = rng.random((box[1][1] - box[0][1] + 1) * (box[1][0] - box[0][0] + 1))
        line = f"FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1))){text(box)} 1\n"
        (folder / "Cell_D_00000").write_bytes(line.encode() + values.tobytes())
        table = f"1,1\n{values.min():.17e},\n\n1,1\n{values.max():.17e},\n\n"
        (folder / "Cell_H").write_text(f"1\n1\n1\n0\n(1 0\n{text(box)}\n)\n1\nFabOnDisk: Cell_D_00000 0\n\n{table}")
    (path / "Header").write_text("\n".join(head) + "\n")
    return boxes


@pytest.mark.parametrize("ratio", [2, 4])
def test_levels_are_called_as_amrex_calls_them_whatever_the_ratio(run, run_json, tmp_path, ratio):
    boxes = plotfile(tmp_path / "plt", ratio)
    cells = [(box[1][0] - box[0][0] + 1) * (box[1][1] - box[0][1] + 1) for box in boxes]
    run("convert", tmp_path / "plt", tmp_path / "run.octavo", "-q")
    run("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "amrex", "-q")
    run("convert", tmp_path / "run.octavo", tmp_path / "boxes", "--to", "amrex", "--max-box", 8, "-q")
    before, after = ((tmp_path / name / "Header").read_text().split() for name in ("plt", "again"))
    assert before[8:12] == after[8:12]
    for path in ("plt", "run.octavo", "again", "boxes"):
        facts = run_json("info", tmp_path / path)
        assert [(v["level"], v["cells"]) for v in facts["levels"]] == list(enumerate(cells)), path
        for level in (0, 1, 2):
            rows = run_json("stats", tmp_path / path, "--level", level)["fields"]["phi"]["levels"]
            assert [row["level"] for row in rows] == list(range(level + 1)), (path, level)
            assert rows[-1]["leaves"] == cells[level], (path, level)
    run("convert", tmp_path / "plt", tmp_path / "cut.octavo", "--level", 1, "-q")
    assert [v["level"] for v in run_json("info", tmp_path / "cut.octavo")["levels"]] == [0, 1]


def test_a_difference_is_on_the_level_that_amrex_calls_so(run_json, tmp_path):
    for name in ("a", "b"):
        plotfile(tmp_path / name, 4)
    data = tmp_path / "b" / "Level_1" / "Cell_D_00000"
    data.write_bytes(data.read_bytes()[:-8] + np.float64(99).tobytes())  # its last cell is a leaf
    row = run_json("diff", tmp_path / "a", tmp_path / "b", check=False)["variables"]["phi"]
    assert row["differing"] == 1
    assert {row["largest"]["level_a"], row["largest"]["level_b"]} == {1}


# -------------------------------------------------------------------------------------------------------------- HDF5


def split_sets(single, path, **how):
    """The file as ...MultiDset writes it: a data set for each component."""
    import h5py

    with h5py.File(single) as a, h5py.File(path, "w") as b:
        for name, value in a.attrs.items():
            b.attrs.create(name, value, dtype=a.attrs.get_id(name).dtype)
        a.copy("Chombo_global", b)
        count = int(a.attrs["num_components"][0])
        for level in (name for name in a if name.startswith("level_")):
            group = b.create_group(level)
            for name, value in a[level].attrs.items():
                group.attrs[name] = value
            for name in ("boxes", "boxcenter"):
                a.copy(f"{level}/{name}", group)
            offsets = a[level]["data:offsets=0"][()]
            group["data:offsets=0"] = offsets // count
            values = a[level]["data:datatype=0"][()]
            boxes = [values[i:j].reshape(count, -1) for i, j in itertools.pairwise(offsets)]
            for c in range(count):
                group.create_dataset(f"data:datatype={c}", data=np.concatenate([box[c] for box in boxes]), **how)
    return path


@pytest.fixture
def hdf5(data):
    pytest.importorskip("h5py")
    return data / "amrex/hdf5plt3d_r2/plt", data / "amrex/hdf5plt3d_r2/plt_singledset.h5"


@pytest.mark.parametrize("kind", ["single", "multi", "deflated"])
def test_plotfiles_in_hdf5_have_the_values_of_the_native_one(hdf5, run, run_json, tmp_path, kind):
    native, path = hdf5
    if kind != "single":
        how = {"chunks": (1024,), "compression": "gzip", "shuffle": True} if kind == "deflated" else {}
        path = split_sets(path, tmp_path / "plt.h5", **how)
    facts, expected = (run_json("info", p) for p in (path, native))
    for key in ("code", "time", "ndim", "leaves", "levels", "box"):
        assert facts[key] == expected[key], key
    assert [f["name"] for f in facts["fields"]] == [f["name"] for f in expected["fields"]]
    assert run_json("diff", path, native)["equal"]
    run("convert", path, tmp_path / "run.octavo", "-q")
    assert run_json("diff", tmp_path / "run.octavo", native)["equal"]
    assert run("verify", path, check=False).returncode == 0


def test_one_part_of_an_hdf5_plotfile_is_read_alone(hdf5, run_json):
    native, path = hdf5
    words = ("--roi", "box:0.3,0.3,0.3:0.6,0.5,0.45", "--field", "xy_plus_z")
    a, b = (run_json("stats", p, *words)["fields"] for p in (path, native))
    assert a == b


def test_damaged_hdf5_plotfiles_are_exit_3_and_unknown_filters_exit_4(hdf5, run, tmp_path):
    import h5py

    def changed(name, change):
        path = split_sets(hdf5[1], tmp_path / f"{name}.h5")
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    def other_components(file):
        file.attrs["num_components"] = np.array([3], "i4")
        file.attrs["component_2"] = np.bytes_("more")

    def shift(file):
        file["level_1/data:offsets=0"][2] += 1

    def shorten(file):
        values = file["level_0/data:datatype=1"][:-1]
        del file["level_0/data:datatype=1"]
        file["level_0/data:datatype=1"] = values

    def squeeze(file):
        values = file["level_0/data:datatype=1"]
        shape = values.shape
        del file["level_0/data:datatype=1"]
        made = file["level_0"].create_dataset(
            "data:datatype=1", shape, "f8", chunks=shape, compression=32013, allow_unknown_filter=True
        )
        made.id.write_direct_chunk((0,), b"squeezed" * 100)

    for change in (other_components, shift, shorten):
        done = run("stats", changed(change.__name__, change), check=False)
        assert done.returncode == 3 and "level_" in done.stderr, (change.__name__, done.stderr)
    done = run("stats", changed("squeeze", squeeze), check=False)
    assert done.returncode == 4 and "32013" in done.stderr
    particles = tmp_path / "particles.h5"
    with h5py.File(particles, "w") as file:
        file.attrs["version_name"] = np.bytes_("Version_Two_Dot_Zero_double")
        file.attrs["nparticles"] = np.array([3], "i8")
        file.create_group("Chombo_global").attrs["SpaceDim"] = np.array([3], "i4")
    done = run("info", particles, check=False)
    assert done.returncode == 4 and "particles" in done.stderr


# ------------------------------------------------------------------------------------------------------------ damage


def replace(path, before, after, count=1):
    data = path.read_bytes()
    assert before in data, path
    path.chmod(0o644)
    path.write_bytes(data.replace(before, after, count))


@pytest.mark.parametrize("verb", ["info", "stats"])
@pytest.mark.parametrize("where", ["table", "line", "both", "plotfile", "names"])
def test_a_component_count_that_contradicts_the_data_is_exit_3(data, run, tmp_path, where, verb):
    chk = tmp_path / "chk"
    shutil.copytree(data / "amrex/multi3d_r4" / ("plt00007" if where == "plotfile" else "chk00007"), chk)
    for path in (chk, *chk.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    header = chk / "Level_1" / "State_H"
    if where in ("table", "both"):
        text = header.read_text().splitlines(keepends=True)
        assert text[2] == "4\n"
        text[2] = "3\n"
        rows = [re.sub(r"^((?:[^,\n]+,){3})[^,\n]+,$", r"\1", line) for line in text]
        header.write_text("".join(rows).replace(",4\n", ",3\n"))
    if where in ("line", "both"):
        for file in header.parent.glob("State_D_*"):
            replace(file, b" 4\n", b" 3\n", -1)
    if where == "plotfile":
        lines = (chk / "Header").read_text().splitlines(keepends=True)
        lines[1:3] = ["3\n"]
        (chk / "Header").write_text("".join(lines))
    if where == "names":
        (chk / "component_names").write_text("".join(f"State {name}\n" for name in "abc"))
    done = run(verb, chk, check=False)
    assert done.returncode == 3, done.stderr
    assert "component" in done.stderr or "belong to none" in done.stderr
