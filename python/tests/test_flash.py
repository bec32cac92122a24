"""Real FLASH files, altered with h5py: what else stands in them, forms that cannot be read, and going on from them."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")

REAL = "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002"
OWN = {"minimum", "maximum"}
SIGNED = {"@octavo": b"Octavo wrote this file"}


@pytest.fixture
def copy(data, tmp_path):
    """A copy of a real checkpoint that can be written to."""
    path = tmp_path / "run_hdf5_chk_0002"
    shutil.copy(data / REAL, path)
    path.chmod(0o644)
    return path


def add_foreign(path):
    """Everything that somebody may put into a file beside FLASH's own; the names of those that cannot be kept."""
    with h5py.File(path, "r+") as file:
        blocks = len(file["refine level"])
        deep = file.create_group("user").create_group("deep")
        deep["table"] = np.arange(-6, 6, dtype=np.int16).reshape(3, 4)
        deep["unsigned"] = np.array([0, 2**64 - 1], dtype=np.uint64)
        deep["words"] = np.array(["one", "", "longer than that"], dtype=object)
        deep["one number"] = 7.5
        deep.attrs["version"] = 3
        file.create_dataset("user/packed", data=np.arange(1000.0), chunks=(100,), compression="gzip")
        file["work of blocks"] = np.arange(blocks, dtype=np.float32)
        file["owner"] = np.arange(3 * blocks, dtype=np.int64).reshape(blocks, 3)
        cells = np.arange(blocks * 64).reshape(blocks, 1, 8, 8)
        file["mask"] = (cells % 5).astype(np.int32)
        file["flag"] = (cells % 3).astype(np.uint8)
        file["a long name"] = cells * 0.5
        file.attrs["author"] = "somebody with an ä"
        file.attrs["numbers"] = np.array([1.5, -0.0])
        file["dens"].attrs["unit"] = np.bytes_("g/cm^3")
        file["refine level"].attrs["counted from"] = np.int64(1)
        file["record"] = np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])
        file["nobody"] = h5py.Empty("f8")
        file["soft"] = h5py.SoftLink("/dens")
        file["beyond"] = h5py.ExternalLink("other.h5", "/x")
    return ["record", "nobody", "soft", "beyond"]


def contents(path):
    """All groups, values and attributes, but FLASH's minimum and maximum."""
    found = {}
    with h5py.File(path) as file:

        def take(name, thing):
            found[name] = None
            if isinstance(thing, h5py.Dataset) and thing.shape is not None:
                values = thing[()]
                found[name] = (thing.shape, thing.dtype.kind, thing.dtype.itemsize, np.asarray(values).tolist())
            for key, value in thing.attrs.items():
                if key not in OWN:
                    found[f"{name}@{key}"] = np.asarray(value).tolist()

        file.visititems(take)
        take("", file)
    return found


@pytest.mark.parametrize("way", ["store", "direct"])
def test_what_flash_does_not_know_of_its_file_goes_along(copy, run, tmp_path, way):
    left = add_foreign(copy)
    out = tmp_path / "again_hdf5_chk_0002"
    if way == "store":
        told = run("convert", copy, tmp_path / "run.octavo", "--flow", "checkpoint").stderr
        run("convert", tmp_path / "run.octavo", out, "--to", "flash", "--flow", "checkpoint")
    else:
        told = run("convert", copy, out, "--to", "flash").stderr
    before, after = contents(copy), contents(out)
    assert {name: value for name, value in before.items() if name.split("@")[0] not in left} | SIGNED == after
    for name in left:
        assert f'"{name}"' in told
    with h5py.File(out) as file:
        assert {"unit", *OWN} <= set(file["dens"].attrs)


def test_more_than_attributes_should_hold_is_named(copy, run, tmp_path):
    with h5py.File(copy, "r+") as file:
        file.create_dataset("big", (3_000_000,), "f8", compression="gzip")
        file["big"][::100_000] = 1  # values that were never written are named, too, below
        file.create_dataset("never written", (1000,), "f8", chunks=(10,))
        file["small"] = np.arange(3)
    told = run("convert", copy, tmp_path / "again", "--to", "flash").stderr
    with h5py.File(tmp_path / "again") as file:
        assert '"big"' in told and '"never written"' in told and not {"big", "never written"} & set(file)
        assert list(file["small"]) == [0, 1, 2]


def test_rows_of_blocks_go_with_their_blocks(copy, run, tmp_path):
    """Blocks in another order: a copy has them in Morton order, and what is written of each with them."""
    with h5py.File(copy, "r+") as file:
        blocks = len(file["refine level"])
        order = np.argsort(file["refine level"][()], kind="stable")
        del file["tracer particles"], file["particle names"], file["localnp"]
        for name in file:
            if file[name].shape[0] == blocks:
                file[name][...] = file[name][()][order]
        file["place"] = file["bounding box"][:, :2, 0]
    run("convert", copy, tmp_path / "again", "--to", "flash", "-q")
    with h5py.File(tmp_path / "again") as file:
        assert np.array_equal(file["place"][()], file["bounding box"][:, :2, 0])
        assert not np.array_equal(file["refine level"][()], np.sort(file["refine level"][()]))


def test_another_mesh_or_code_names_what_it_leaves_out(copy, run, tmp_path):
    add_foreign(copy)
    told = run("convert", copy, tmp_path / "finer_hdf5_chk_0001", "--to", "flash", "--refine", 1).stderr
    assert "row a block" in told and "owner" in told and "work of blocks" in told
    with h5py.File(tmp_path / "finer_hdf5_chk_0001") as file:
        assert "owner" not in file and file["user/deep/table"][0, 0] == -6
        mask = file["mask"]
        assert mask.dtype == np.int32 and len(mask) == len(file["dens"])
    told = run("convert", copy, tmp_path / "plt00001", "--to", "amrex").stderr
    assert "user/deep/table" in told and "mask" in told


@pytest.mark.parametrize("names", [True, False])
def test_a_list_of_particles_with_nobody_on_it_stays(copy, run, tmp_path, names):
    with h5py.File(copy, "r+") as file:
        width, dtype = file["tracer particles"].shape[1], file["tracer particles"].dtype
        del file["tracer particles"]
        file.create_dataset("tracer particles", (0, width), dtype)
        file["localnp"][...] = 0
        if not names:
            del file["particle names"]
        lists = file["integer scalars"][()]
        lists["value"][lists["name"] == b"globalnumparticles".ljust(80)] = 0
        file["integer scalars"][...] = lists
    run("convert", copy, tmp_path / "run.octavo", "--flow", "checkpoint", "-q")
    run("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "flash", "--flow", "checkpoint", "-q")
    before, after = contents(copy), contents(tmp_path / "again")
    for found in (before, after):
        del found["integer scalars"]  # h5py cuts the last byte of texts that it writes
    assert before | SIGNED == after and after["tracer particles"][0] == (0, width)


def test_particles_that_no_block_counts_can_be_left_out(copy, run, tmp_path):
    with h5py.File(copy, "r+") as file:
        file["localnp"][np.argmax(file["localnp"][()])] -= 1
    done = run("convert", copy, tmp_path / "run.octavo", check=False)
    assert done.returncode == 3 and "--no-particles" in done.stderr
    run("convert", copy, tmp_path / "run.octavo", "--no-particles", "-q")


def test_flash2_and_values_on_corners_are_not_supported(copy, run, tmp_path):
    shutil.copy(copy, tmp_path / "corners_hdf5_plt_cnt_0000")
    with h5py.File(tmp_path / "corners_hdf5_plt_cnt_0000", "r+") as file:
        lists = file["logical scalars"][()]
        lists["value"][lists["name"] == b"corners".ljust(80)] = 1
        file["logical scalars"][...] = lists
    done = run("info", tmp_path / "corners_hdf5_plt_cnt_0000", check=False)
    assert done.returncode == 4 and "corners" in done.stderr
    # FLASH2: one compound of parameters, the version as a data set of its own, no lists.
    with h5py.File(copy, "r+") as file:
        for name in list(file):
            if name.endswith((" scalars", " runtime parameters")) or name == "sim info":
                del file[name]
        file["simulation parameters"] = np.array([(181, 0.04, 149, 8, 8, 1)], dtype=[
            ("total blocks", "i4"), ("time", "f8"), ("number of steps", "i4"), ("nxb", "i4"), ("nyb", "i4"), ("nzb", "i4")
        ])  # fmt: skip
    for version in (None, 7):
        if version:
            with h5py.File(copy, "r+") as file:
                file["file format version"] = np.int32(version)
        done = run("info", copy, check=False)
        assert done.returncode == 4 and "FLASH2" in done.stderr


@pytest.mark.parametrize("how", ["external", "virtual", "link"])
def test_a_variable_in_another_file_is_not_read(copy, run, tmp_path, how):
    with h5py.File(copy, "r+") as file:
        values = file["dens"][()]
        (tmp_path / "values").write_bytes(values.tobytes())
        with h5py.File(tmp_path / "other.h5", "w") as other:
            other["dens"] = values
        del file["dens"]
        if how == "external":
            file.create_dataset(
                "dens", values.shape, values.dtype, external=[(str(tmp_path / "values"), 0, values.nbytes)]
            )
        elif how == "virtual":
            layout = h5py.VirtualLayout(values.shape, values.dtype)
            layout[...] = h5py.VirtualSource(str(tmp_path / "other.h5"), "dens", values.shape)
            file.create_virtual_dataset("dens", layout)
        else:
            file["dens"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/dens")
    done = run("stats", copy, check=False)
    assert done.returncode == 4 and 'data set "dens"' in done.stderr, done.stderr


def test_a_finer_mesh_has_the_mass_momentum_and_energy(copy, run, tmp_path):
    out = tmp_path / "finer_hdf5_chk_0002"
    told = run("convert", copy, out, "--to", "flash", "--refine", 1).stderr
    assert "weighted by density" in told and "velx" in told and "ener" in told
    before, after = totals(copy), totals(out)
    for name, (value, size) in before.items():
        assert abs(after[name][0] - value) < 2e-14 * size, name
    with h5py.File(out) as file:
        leaf = file["node type"][()] == 1
        gas = {name: file[name][()][leaf] for name in ("dens", "eint", "ener", "pres", "velx", "vely", "velz", "game")}
        dt = {row["name"].strip(): row["value"] for row in file["real scalars"][()]}[b"dt"]
    kinetic = 0.5 * (gas["velx"] ** 2 + gas["vely"] ** 2 + gas["velz"] ** 2)
    assert np.allclose(gas["ener"], gas["eint"] + kinetic, rtol=1e-13, atol=0)
    assert np.allclose(gas["pres"], (gas["game"] - 1) * gas["dens"] * gas["eint"], rtol=1e-12, atol=0)
    # A run of FLASH takes that step before it looks at its cells.
    with h5py.File(copy) as file:
        assert dt == {row["name"].strip(): row["value"] for row in file["real scalars"][()]}[b"dt"] / 2


def totals(path):
    """Sums over the leaves of volume times density and its products, and those of their magnitudes."""
    with h5py.File(path) as file:
        leaf = file["node type"][()] == 1
        size = file["block size"][()][leaf][:, :2]
        volume = (size[:, 0] * size[:, 1] / 64)[:, None, None, None]
        dens = file["dens"][()][leaf].astype(np.longdouble)
        found = {"mass": (volume * dens).ravel()}
        for name in ("velx", "vely", "ener"):
            found[name] = (volume * dens * file[name][()][leaf]).ravel()
    return {name: (values.sum(), np.abs(values).sum()) for name, values in found.items()}


def test_mass_fractions_are_weighted_when_they_are_named(copy, run, tmp_path):
    with h5py.File(copy, "r+") as file:
        values = np.clip(np.abs(file["velx"][()]), 0, 1)
        file["h1  "] = values
        names = file["unknown names"][()]
        del file["unknown names"]
        file["unknown names"] = np.concatenate([names, np.array([[b"h1  "]], dtype=names.dtype)])

    def species(path):
        with h5py.File(path) as file:
            leaf = file["node type"][()] == 1
            volume = np.prod(file["block size"][()][leaf][:, :2], axis=1)[:, None, None, None]
            return (volume * file["dens"][()][leaf] * file["h1  "][()][leaf]).sum()

    run("convert", copy, tmp_path / "plain", "--to", "flash", "--refine", 1, "-q")
    run("convert", copy, tmp_path / "weighted", "--to", "flash", "--refine", 1, "--per-mass", "h1", "-q")
    assert abs(species(tmp_path / "weighted") / species(copy) - 1) < 1e-13
    assert abs(species(tmp_path / "plain") / species(copy) - 1) > 1e-4
    done = run("convert", copy, tmp_path / "x", "--to", "flash", "--refine", 1, "--per-mass", "h2", check=False)
    assert done.returncode == 2 and "h2" in done.stderr
