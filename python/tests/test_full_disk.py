"""Writing through HDF5 and MED on a disk that fills up: exit code 5, one message, nothing left, and no crash when the
program ends."""

import subprocess

import pytest


@pytest.fixture
def disk(tmp_path):
    """Mounts a file system of so many kilobytes; the test skips where that is not allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(kilobytes):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", folder], capture_output=True)
        if done.returncode != 0:
            pytest.skip("only root can mount a small tmpfs")
        return folder

    yield mount
    subprocess.run(["umount", "-l", folder], check=False, capture_output=True)


def expect_full(run, folder, *words):
    done = run(*words, check=False)
    if done.returncode == 4:
        pytest.skip("no MED in this build, or no libmedC here")
    assert done.returncode == 5, (words, done.returncode, done.stderr)
    assert done.stderr.startswith("error: ") and "space" in done.stderr.lower(), done.stderr
    assert "HDF5-DIAG" not in done.stderr and "src/" not in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", ["med", "vtkhdf"])
@pytest.mark.parametrize("kilobytes", [100, 1000])
def test_a_result_becomes_no_file_on_a_full_disk(data, disk, run, ending, kilobytes):
    folder = disk(kilobytes)
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    expect_full(run, folder, "convert", path, folder / f"out.{ending}", "-q")


def test_pieces_in_med_are_none_on_a_full_disk(data, disk, run):
    folder = disk(700)
    words = ["--parts", 4, "--layout", "med", "-q"]
    expect_full(run, folder, "partition", data / "serafin" / "geo_malpasset-small.slf", "-o", folder / "T", *words)


def test_a_flash_file_is_none_on_a_full_disk(disk, run, tmp_path):
    folder = disk(100)
    run("sample", tmp_path / "output_00001", "--levels", "4-4", "-q")
    expect_full(run, folder, "convert", tmp_path / "output_00001", folder / "f_hdf5_chk_0001", "--to", "flash", "-q")
