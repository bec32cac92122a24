"""What -f may replace: what such a job left there, and nothing that somebody else made."""

import h5py
import numpy as np
import pytest
from solid_meshes import box, write_vtkhdf

SMALL = ["--levels", "4-4", "--domains", 2, "-q"]


def bytes_of(path):
    """Of a file, or of all files of a folder."""
    return {
        str(one.relative_to(path)): one.read_bytes()
        for one in ([path] if path.is_file() else sorted(path.rglob("*")))
        if one.is_file()
    }


def make_folder(path):
    path.mkdir()
    (path / "chapter1").write_text("years of work")


def make_text(path):
    path.write_text("years of work")


def make_hdf5(path):
    with h5py.File(path, "w") as file:
        file["years"] = np.arange(10.0)


def make_output(path, run, to):
    """As a code leaves it: no word of Octavo."""
    made = path.with_name("made_by_a_code")
    run("sample", made, "--to", to, *SMALL)
    if made.is_dir():
        (made / "octavo_files.txt").unlink(missing_ok=True)
    else:
        with h5py.File(made, "r+") as file:
            file.attrs.pop("octavo", None)
    made.rename(path)


STRANGERS = {
    "a folder": lambda path, run: make_folder(path),
    "a text": lambda path, run: make_text(path),
    "an HDF5 file": lambda path, run: make_hdf5(path),
    "a RAMSES output": lambda path, run: make_output(path, run, "ramses"),
    "an AMReX output": lambda path, run: make_output(path, run, "amrex"),
    "a FLASH file": lambda path, run: make_output(path, run, "flash"),
}


@pytest.fixture(params=STRANGERS)
def stranger(request, run, tmp_path):
    path = tmp_path / "there"
    STRANGERS[request.param](path, run)
    return path


def refused(run, there, *words):
    before = bytes_of(there)
    done = run(*words, "-f", "-q", check=False)
    assert done.returncode == 2 and "-f replaces" in done.stderr and "remove it yourself" in done.stderr, done.stderr
    assert bytes_of(there) == before


@pytest.mark.parametrize("to", ["octavo", "ramses", "amrex", "flash"])
def test_outputs_that_octavo_did_not_write_stay(run, sample, stranger, to):
    refused(run, stranger, "sample", stranger, "--to", to, *SMALL[:-1])
    refused(run, stranger, "convert", sample, stranger, "--to", to, *(["--fill"] if to == "flash" else []))


@pytest.mark.parametrize("to", ["octavo", "ramses", "amrex", "flash"])
def test_what_the_verb_left_is_replaced(run, sample, tmp_path, to):
    made = tmp_path / "made"
    for words in ([], ["-f"], ["-f", "--seed", 5]):
        run("sample", made, "--to", to, *SMALL, *words)
    run("convert", sample, made, "--to", to, "-q", "-f", *(["--fill"] if to == "flash" else []))
    run("convert", made, tmp_path / "again", "--to", to, "-q")
    run("convert", made, tmp_path / "again", "--to", to, "-q", "-f")
    run("verify", tmp_path / "again", "-q")


@pytest.mark.parametrize("change", ["a file more", "a file changed", "a file gone"])
@pytest.mark.parametrize("to", ["ramses", "amrex"])
def test_an_output_that_was_changed_stays(run, tmp_path, to, change):
    made = tmp_path / "made"
    run("sample", made, "--to", to, *SMALL)
    some = next(path for path in sorted(made.rglob("*")) if path.is_file() and path.name != "octavo_files.txt")
    if change == "a file more":
        (made / "halos.txt").write_text("a catalogue")
    elif change == "a file changed":
        some.write_bytes(some.read_bytes() + b"more")
    else:
        (made / "namelist.txt" if to == "ramses" else some).unlink()
    refused(run, made, "sample", made, "--to", to, *SMALL[:-1])


def test_a_file_in_an_output_stays(run, sample, tmp_path):
    """The readers take a file of an output for the output."""
    make_output(tmp_path / "output_00003", run, "ramses")
    inside = next((tmp_path / "output_00003").glob("amr_*"))
    for to in ("ramses", "octavo", "amrex"):
        refused(run, inside, "convert", sample, inside, "--to", to)


@pytest.mark.parametrize("name", ["flash.npy", "store.npy"])
def test_pictures_replace_no_outputs(run, sample, tmp_path, name):
    there = tmp_path / name
    STRANGERS["a FLASH file"](there, run) if name == "flash.npy" else run(
        "convert", sample, tmp_path / "s.octavo", "-q"
    )
    if name == "store.npy":
        (tmp_path / "s.octavo").rename(there)
    refused(run, there, "map", sample, "--field", "density", "-o", there)
    refused(run, there, "map", sample, "--field", "density", "--pixels", 8, "-o", there)


@pytest.mark.parametrize("ending", ["vtkhdf", "med", "msh", "xdmf", "nc"])
def test_meshes_replace_files_of_their_format_alone(run, tmp_path, ending):
    mesh = write_vtkhdf(tmp_path / "solid.vtkhdf", box((2, 2, 2), "tetrahedra"))
    there = tmp_path / f"there.{ending}"
    done = run("convert", mesh, there, "-q", check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr)
    run("convert", mesh, there, "-q", "-f")
    there.write_bytes(b"")
    if ending == "xdmf":  # an empty text names no arrays
        there.with_suffix(".h5").unlink()
    run("convert", mesh, there, "-q", "-f")
    make_text(there)
    refused(run, there, "convert", mesh, there)
    there.unlink()
    make_output(there, run, "flash")
    refused(run, there, "convert", mesh, there)


def test_arrays_that_the_output_does_not_name_stay(run, tmp_path):
    """The arrays of an XDMF file go beside it: a simulation may have a file of that name."""
    mesh = write_vtkhdf(tmp_path / "solid.vtkhdf", box((2, 2, 2), "tetrahedra"))
    make_hdf5(tmp_path / "run.h5")
    before = (tmp_path / "run.h5").read_bytes()
    done = run("convert", mesh, tmp_path / "run.xdmf", "-q", "-f", check=False)
    assert done.returncode == 2 and "-f replaces the arrays that the output names" in done.stderr, done.stderr
    assert (tmp_path / "run.h5").read_bytes() == before and not (tmp_path / "run.xdmf").exists()


def test_a_store_made_of_a_signed_output_gives_back_no_signature(run, tmp_path):
    """What a run writes when it goes on from the store is its own."""
    for to in ("amrex", "flash"):
        run("sample", tmp_path / to, "--to", to, *SMALL)
        run("convert", tmp_path / to, tmp_path / f"{to}.octavo", "-q")
        facts = run("info", tmp_path / f"{to}.octavo", "--json").stdout
        assert "octavo_files" not in facts and "@octavo" not in facts
