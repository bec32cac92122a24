"""MED and VTKHDF files of triangles: written by the command, and looked at with h5py alone, in a process of its own."""

import subprocess
import sys

import numpy as np
import pytest

import octavo

# In a child: libmedC brings an HDF5 of its own.
LOOK = """
import sys, json, h5py, numpy as np
file = h5py.File(sys.argv[1])
no_step = "-0000000000000000001-0000000000000000001"
mesh = file["ENS_MAA/MESH/" + no_step]
step = file["CHA/WATER DEPTH/%020d-0000000000000000001" % 4]
families = {}
for name, family in file["FAS/MESH/ELEME"].items() if "ELEME" in file["FAS/MESH"] else []:
    groups = [bytes(row.tolist()[0] if isinstance(row, np.void) else row.view("u1").tolist()).decode().strip(" \\0")
              for row in np.asarray(family["GRO/NOM"][()])]
    families[int(family.attrs["NUM"])] = groups
np.savez(sys.argv[2],
         version=[file["INFOS_GENERALES"].attrs[k] for k in ("MAJ", "MIN")],
         places=mesh["NOE/COO"][()], numbers=mesh["NOE/GLB"][()], nodes=mesh["MAI/TR3/NOD"][()],
         depth=step["NOE/MED_NO_PROFILE_INTERNAL/CO"][()], time=step.attrs["PDT"],
         unit=file["CHA/WATER DEPTH"].attrs["UNI"].decode(), edges=mesh["MAI/SE2/NOD"][()] if "SE2" in mesh["MAI"] else [],
         edge_families=mesh["MAI/SE2/FAM"][()] if "SE2" in mesh["MAI"] else [])
print(json.dumps(families))
"""


@pytest.fixture(scope="module")
def files(data):
    return data / "serafin"


@pytest.fixture(scope="module")
def med(files, run, tmp_path_factory):
    path = tmp_path_factory.mktemp("med") / "r2d.med"
    words = ["convert", files / "r2d_malpasset-small_5steps.slf", path]
    done = run(*words, "--boundary", files / "geo_malpasset-small.cli", check=False)
    if done.returncode == 4:
        pytest.skip("no MED in this build, or no libmedC here")
    assert done.returncode == 0, done.stderr
    return path


def test_another_reader_finds_what_med_says(med, files, tmp_path):
    words = [sys.executable, "-c", LOOK, str(med), str(tmp_path / "found.npz")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "found.npz")
    part = octavo.open(files / "r2d_malpasset-small_5steps.slf", step=4).part(0)
    assert found["version"].tolist() == [3, 3]
    assert np.array_equal(found["places"], np.concatenate([part.x, part.y]))
    assert np.array_equal(found["nodes"].reshape(3, -1).T, part.triangles + 1)
    assert np.array_equal(found["numbers"], part.fields["IPOBO"])
    assert np.array_equal(found["depth"], part.fields["WATER DEPTH"])
    assert (float(found["time"]), str(found["unit"]).strip()) == (800, "M")
    boundary = int((part.fields["IPOBO"] > 0).sum())
    assert len(found["edges"]) == 2 * boundary and set(found["edges"]) == set(np.flatnonzero(part.fields["IPOBO"]) + 1)
    assert len(found["edge_families"]) == boundary and "CONLIM_2222" in done.stdout


def test_the_verbs_know_it_and_it_comes_back_byte_for_byte(med, files, run, run_json, tmp_path):
    path = files / "r2d_malpasset-small_5steps.slf"
    run("convert", med, tmp_path / "again.slf")
    assert (tmp_path / "again.slf").read_bytes() == path.read_bytes()
    assert run_json("diff", path, med)["equal"]
    assert run_json("info", med)["cells"] == 26000
    assert "5 steps" in run("verify", med).stdout
    run("map", med, "--field", "WATER DEPTH", "--pixels", 40, "--over-time", "max", "-o", tmp_path / "map.npy")
    assert np.nanmax(np.load(tmp_path / "map.npy")) > 10
    assert "exists already" in run("convert", path, med, check=False).stderr


@pytest.mark.parametrize("name", ["r3d_stratification.slf", "r2d_bowl_vf_gb_DoublePrecision_LittleEndian.slf"])
@pytest.mark.parametrize("end", ["med", "vtkhdf"])
def test_real_results_come_back_byte_for_byte(med, files, run, tmp_path, name, end):
    run("convert", files / name, tmp_path / f"a.{end}", "-q")
    run("convert", tmp_path / f"a.{end}", tmp_path / "b.slf", "-q")
    # The real file may end in a newline, or in a step cut short.
    assert (files / name).read_bytes().startswith((tmp_path / "b.slf").read_bytes())
    assert octavo.diff(octavo.open(files / name), octavo.open(tmp_path / f"a.{end}"))["equal"]


def test_telemacs_own_file_is_read_written_and_read(med, files, run, tmp_path):
    run("convert", files / "geo_gouttedo.med", tmp_path / "geo.med")
    assert octavo.diff(octavo.open(files / "geo_gouttedo.med"), octavo.open(tmp_path / "geo.med"))["equal"]
    run("convert", tmp_path / "geo.med", tmp_path / "geo.slf")
    twin = octavo.open(files / "geo_gouttedo.slf").part(0)
    assert np.array_equal(octavo.open(tmp_path / "geo.slf").part(0).fields["IPOBO"], twin.fields["IPOBO"])


@pytest.mark.parametrize("name", ["gouttedo", "malpasset-small", "malpasset-large"])
def test_a_boundary_file_comes_back_from_groups(med, files, run, tmp_path, name):
    cli, geometry = files / f"geo_{name}.cli", files / f"geo_{name}.slf"
    run("convert", geometry, tmp_path / "geo.med", "--boundary", cli)
    run("convert", tmp_path / "geo.med", tmp_path / "geo.slf", "--boundary-out", tmp_path / "geo.cli")
    assert np.array_equal(np.loadtxt(tmp_path / "geo.cli"), np.loadtxt(cli))


def test_telemacs_own_groups_become_a_boundary_file(med, files, run, tmp_path):
    words = ["convert", files / "geo_gouttedo.med", tmp_path / "geo.slf", "--boundary-out", tmp_path / "geo.cli"]
    run(*words, "--boundary", files / "geo_gouttedo_med.cli")
    assert np.array_equal(np.loadtxt(tmp_path / "geo.cli"), np.loadtxt(files / "geo_gouttedo.cli"))
    (tmp_path / "geo.slf").unlink()
    (tmp_path / "geo.cli").unlink()
    done = run(*words, check=False)
    assert done.returncode == 3 and "no group with boundary codes" in done.stderr and "--boundary" in done.stderr


def test_a_boundary_that_cannot_be_made_leaves_no_output(med, files, run, run_json, tmp_path):
    run("convert", files / "geo_gouttedo.slf", tmp_path / "bare.med")
    words = ["convert", tmp_path / "bare.med", tmp_path / "geo.slf", "--boundary-out"]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for place, text, code in [
        (tmp_path / "geo.cli", "no group with boundary codes", 3),
        (tmp_path / "sub" / ".." / "geo.slf", "a file of its own", 2),
        (tmp_path / "bare.med", "a file of its own", 2),
    ]:
        (tmp_path / "sub").mkdir(exist_ok=True)
        done = run(*words, place, "-f", check=False)
        (tmp_path / "sub").rmdir()
        assert done.returncode == code and text in done.stderr, done.stderr
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    run("convert", files / "geo_gouttedo.slf", tmp_path / "geo.med", "--boundary", files / "geo_gouttedo.cli")
    (tmp_path / "codes.txt").write_text("1\n2 2 2 2 NOBODY\n")
    words = ["convert", tmp_path / "geo.med", tmp_path / "geo.slf", "--boundary-out", tmp_path / "geo.cli"]
    report = run_json(*words, "--boundary", tmp_path / "codes.txt")
    assert report["boundary_points"] == 268 and any("NOBODY" in note for note in report["notes"])


def test_a_result_is_split_into_med_pieces_and_merged(med, files, run, tmp_path):
    result, geometry = files / "f2d_malpasset-small_pos.slf", files / "geo_malpasset-small.slf"
    run("partition", geometry, "-o", tmp_path / "T2D", "--parts", 5)
    run("split", result, "--like", tmp_path / "T2DGEO", "-o", tmp_path / "RES", "--layout", "med")
    run("merge", tmp_path / "RES", "-o", tmp_path / "merged.slf", "--mesh", geometry)
    assert (tmp_path / "merged.slf").read_bytes() == result.read_bytes()


def test_pieces_in_one_med_file_are_merged_to_the_same_bytes(med, files, run, run_json, tmp_path):
    result, geometry = files / "f2d_malpasset-small_pos.slf", files / "geo_malpasset-small.slf"
    words = ["partition", geometry, "-o", tmp_path / "T2D", "--parts", 4, "--layout", "med", "--also", f"RES={result}"]
    report = run_json(*words, "--boundary", files / "geo_malpasset-small.cli")
    names = ["CLI-CONCAT", "CLI-INDEX", "GEO.med", "PAR-CONCAT", "PAR-INDEX", "RES.med"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["T2D" + name for name in names]
    assert len(report["files"]) == 6
    second = octavo.open(f"{tmp_path}/T2DRES.med#MESH2")
    assert second.attributes["meshes"] == 4 and "NPTIR2" in second.attributes
    one = f"{tmp_path}/T2DRES.med#MESH2"
    assert run_json("info", one)["file_bytes"] == (tmp_path / "T2DRES.med").stat().st_size
    assert "good" in run("verify", one).stdout
    assert run("diff", one, one).returncode == 0
    run("merge", tmp_path / "T2DRES", "-o", tmp_path / "merged.slf", "--mesh", geometry)
    assert (tmp_path / "merged.slf").read_bytes() == result.read_bytes()


def test_a_med_mesh_is_cut_as_its_serafin_twin(med, files, run, tmp_path):
    words = ["--parts", 3, "--method", "hilbert", "--boundary", files / "geo_gouttedo.cli"]
    run("convert", files / "geo_gouttedo.slf", tmp_path / "twin.med")
    run("partition", files / "geo_gouttedo.slf", "-o", tmp_path / "A", *words)
    run("partition", tmp_path / "twin.med", "-o", tmp_path / "B", *words)
    for name in ["GEO-CONCAT", "GEO-INDEX", "CLI-CONCAT", "PAR-CONCAT"]:
        assert (tmp_path / f"A{name}").read_bytes() == (tmp_path / f"B{name}").read_bytes()
    assert not (tmp_path / "BGEO.whole.slf").exists()


def test_wrong_wishes_are_told(med, files, run, tmp_path):
    path = files / "r2d_malpasset-small_5steps.slf"
    for words, text, code in [
        (["info", f"{med}#MESH7"], "no mesh MESH7", 2),
        (
            ["convert", path, tmp_path / "a.vtkhdf", "--boundary", "x.cli"],
            "boundary: an option of MED, Gmsh outputs only",
            2,
        ),
        (["convert", path, tmp_path / "a.med", "--codec", "abs:1"], "losslessly", 4),
        (["info", med, "--step", 5], "step 5 is not there", 2),
    ]:
        done = run(*words, check=False)
        assert done.returncode == code and text in done.stderr, done.stderr


@pytest.mark.parametrize("how", ["link", "external", "virtual"])
def test_values_in_another_file_are_not_read(med, run, tmp_path, how):
    """libmedC opens what a file names; in a child, as above."""
    path, other = tmp_path / "r2d.med", tmp_path / "other.h5"
    path.write_bytes(med.read_bytes())
    script = """if True:
        import sys, h5py
        path, other, how = sys.argv[1:]
        with h5py.File(path, "r+") as file, h5py.File(other, "w") as out:
            mesh = file["ENS_MAA/MESH/-0000000000000000001-0000000000000000001/NOE"]
            values = mesh["COO"][()]
            out["COO"] = values
            del mesh["COO"]
            if how == "link":
                mesh["COO"] = h5py.ExternalLink(other, "/COO")
            elif how == "virtual":
                layout = h5py.VirtualLayout(values.shape, values.dtype)
                layout[...] = h5py.VirtualSource(other, "COO", values.shape)
                mesh.create_virtual_dataset("COO", layout)
            else:
                mesh.create_dataset("COO", values.shape, values.dtype, external=[(other, 0, values.nbytes)])
    """
    subprocess.run([sys.executable, "-c", script, str(path), str(other), how], check=True, timeout=600)
    done = run("info", path, check=False)
    assert done.returncode == 4 and "COO" in done.stderr
