"""A step becomes a RAMSES output of any number of domains, from an output or from a store."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import pytest

import octavo


def statistics(run_json, path):
    """The statistics that do not depend on owners, bit for bit if the order of the sum does not matter."""
    stats = run_json("stats", path)
    assert stats["fields"]
    return stats["leaves"], {n: (f["min"], f["max"]) for n, f in stats["fields"].items()}


@pytest.fixture(scope="module")
def output(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("ramses") / "output_00003"
    run("sample", path, "--to", "ramses", "--levels", "3-5", "--domains", 4, "--particles", 500)
    return path


@pytest.mark.parametrize("domains", [1, 2, 7])
def test_domains_do_not_change_the_step(run, run_json, output, tmp_path, domains):
    out = tmp_path / "output_00003"
    done = run("convert", output, out, "--to", "ramses", "--domains", domains, "--json")
    assert json.loads(done.stdout)["domains"] == domains
    assert len(list(out.glob("amr_00003.out*"))) == domains
    assert statistics(run_json, out) == statistics(run_json, output)


def test_a_store_becomes_an_output_of_other_domains(run, run_json, output, tmp_path):
    run("convert", output, tmp_path / "o.octavo")
    run("convert", tmp_path / "o.octavo", tmp_path / "output_00003", "--to", "ramses", "--domains", 3)
    assert len(list((tmp_path / "output_00003").glob("part_00003.out*"))) == 3
    assert statistics(run_json, tmp_path / "output_00003") == statistics(run_json, output)


@pytest.mark.parametrize("words", [["--to", "ramses", "--domains", "0"], ["--to", "ramses", "--domains", "99000"],
                                   ["--domains", "4"]])  # fmt: skip
def test_wrong_numbers_of_domains_are_2(run, output, tmp_path, words):
    done = run("convert", output, tmp_path / "output_00003", *words, check=False)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "output_00003").exists()


def files_of(path):
    """All but Octavo's signature."""
    files = [file for file in sorted(path.iterdir()) if file.is_file() and file.name != "octavo_files.txt"]
    return {file.name: file.read_bytes() for file in files}


def test_bounds_of_many_domains_stand_in_one_file_of_a_store_and_come_back(run, tmp_path):
    many = tmp_path / "output_00003"
    run("sample", many, "--to", "ramses", "--levels", "4-4", "--domains", 100)
    run("convert", many, tmp_path / "o.octavo", "--per-file", 10)
    files = sorted((tmp_path / "o.octavo" / "analysis").glob("data.*"))
    assert [b"bound_key" in file.read_bytes() for file in files] == [True] + 9 * [False]
    run("convert", tmp_path / "o.octavo", tmp_path / "back/output_00003", "--to", "ramses")
    run("convert", many, tmp_path / "straight/output_00003", "--to", "ramses")
    assert files_of(tmp_path / "back/output_00003") == files_of(tmp_path / "straight/output_00003")
    bounds = [octavo.open(path).attributes["bound_key"] for path in (many, tmp_path / "o.octavo")]
    assert len(bounds[0]) == 101 and list(bounds[0]) == list(bounds[1])


@pytest.mark.parametrize("domains", [2, 3])
def test_walls_come_through_a_store(data, run, tmp_path, domains):
    """For both flows, and for a store that was cut into other domains on the way."""
    source = data / "ramses/implosion2d_2ranks/output_00002"
    words = ["--to", "ramses", "--domains", domains, "-q"]
    (tmp_path / "direct").mkdir()
    run("convert", source, tmp_path / "direct/output_00002", *words)
    expected = files_of(tmp_path / "direct/output_00002")
    for flow in ("analysis", "checkpoint"):
        run("convert", source, tmp_path / f"{flow}.octavo", "--flow", flow, "-q")
        (tmp_path / flow).mkdir()
        run("convert", tmp_path / f"{flow}.octavo", tmp_path / flow / "output_00002", *words)
        assert files_of(tmp_path / flow / "output_00002") == expected
    run("repack", tmp_path / "analysis.octavo", tmp_path / "five.octavo", "--domains", 5, "-q")
    (tmp_path / "five").mkdir()
    run("convert", tmp_path / "five.octavo", tmp_path / "five/output_00002", *words)
    after = files_of(tmp_path / "five/output_00002")
    # The bounds are those of other parts, so that files are compared where there are bounds anew.
    if domains == 3:
        assert after == expected


def test_walls_are_no_particles_to_anyone_else(data, run, run_json, tmp_path):
    run("convert", data / "ramses/implosion2d_2ranks/output_00002", tmp_path / "run.octavo", "-q")
    assert run_json("info", tmp_path / "run.octavo")["particles"] == 0
    run("convert", tmp_path / "run.octavo", tmp_path / "plt", "--to", "amrex", "--fill", "-q")
    assert not [p for p in (tmp_path / "plt").iterdir() if "wall" in p.name]


def test_a_run_does_not_go_on_from_a_lossy_store_unasked(run, output, tmp_path):
    run("convert", output, tmp_path / "lossy.octavo", "--codec", "point:1e-3", "-q")
    run("convert", tmp_path / "lossy.octavo", tmp_path / "again.octavo", "-q")
    run("convert", output, tmp_path / "single.octavo", "--precision", "single", "-q")
    for store, loss in {"lossy": "point:0.001", "again": "point:0.001", "single": "single precision"}.items():
        for to, out in {"ramses": "output_00003", "flash": "x_hdf5_chk_0003"}.items():
            words = ["convert", tmp_path / f"{store}.octavo", tmp_path / out, "--to", to, "--fill"]
            refused = run(*words, check=False)
            assert refused.returncode == 2 and "--lossy-ok" in refused.stderr and loss in refused.stderr
            assert not (tmp_path / out).exists()
    done = run("convert", tmp_path / "lossy.octavo", tmp_path / "output_00003", "--to", "ramses", "--lossy-ok")
    assert "stored with a loss" in done.stdout + done.stderr
    # Nobody goes on from a plotfile.
    run("convert", tmp_path / "lossy.octavo", tmp_path / "plt", "--to", "amrex", "--fill", "-q")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("output_00003", ""),
        ("output_00090", "the output has the number 90, that of its name; the step's own was 3: start RAMSES with nrestart=90"),
        ("out_8", "the output has the number 3: start RAMSES with nrestart=3, in a directory where it is called output_00003"),
        ("more", "the output has the number 3: start RAMSES with nrestart=3, in a directory where it is called output_00003"),
    ],
)  # fmt: skip
def test_the_number_of_an_output_is_explained(run, output, tmp_path, name, words):
    done = run("convert", output, tmp_path / name, "--to", "ramses", "--json")
    notes = [note for note in json.loads(done.stdout)["notes"] if "number" in note]
    assert notes == ([words] if words else [])
    number = name[-5:] if name.startswith("output") else "00003"
    assert (tmp_path / name / f"info_{number}.txt").exists()


def test_flash_becomes_what_ramses_reads(data, run, tmp_path):
    """Variables in RAMSES' order, walls as its namelist has them, and the namelist beside."""
    out = tmp_path / "output_00002"
    source = data / "flash/sedov2d_pm4_serial/sedov2d_hdf5_chk_0002"
    report = json.loads(run("convert", source, out, "--to", "ramses", "--domains", 2, "--json").stdout)
    lines = (out / "hydro_file_descriptor.txt").read_text().splitlines()[2:]
    names = [line.split(",")[1].strip() for line in lines]
    assert names[:4] == ["density", "velocity_x", "velocity_y", "pressure"]
    assert any(f"NPSCAL={len(names) - 4}: " in note for note in report["notes"])
    namelist = (out / "namelist.txt").read_text()
    assert "&BOUNDARY_PARAMS nboundary=4 bound_type=2,2,2,2" in namelist
    assert "ibound_min=-1,1,-1,-1 ibound_max=-1,1,1,1 jbound_min=0,0,-1,1 jbound_max=0,0,-1,1" in namelist
    assert "gamma=1.3999999999999999" in namelist and "nrestart=2" in namelist
    # Without this RAMSES lets the tracers fly straight on.
    assert "pic=.true." in namelist and "tracer=.true." in namelist
    refused = run(
        "convert", source, tmp_path / "output_00003", "--to", "ramses", "--field", "dens,velx,vely", check=False
    )
    assert refused.returncode == 4 and "no pressure" in refused.stderr
    assert not (tmp_path / "output_00003").exists()


def seeds_of(output) -> list[bytes]:
    """Record 4 of each part file: the domain's random seeds."""
    seeds = []
    for file in sorted(output.glob("part_*.out*")):
        rest = file.read_bytes()
        for _ in range(3):
            rest = rest[int.from_bytes(rest[:4], "little") + 8 :]
        seeds.append(rest[4 : 4 + int.from_bytes(rest[:4], "little")])
    return seeds


def test_as_many_domains_keep_their_random_seeds(data, run, tmp_path):
    native = data / "ramses" / "tracer2d_3ranks" / "output_00002"
    before = seeds_of(native)
    assert len(set(before)) == 3
    run("convert", native, tmp_path / "same" / "output_00002", "--to", "ramses")
    assert seeds_of(tmp_path / "same" / "output_00002") == before
    run("convert", native, tmp_path / "run.octavo")
    for domains, kept in ((3, 3), (5, 1)):
        out = tmp_path / str(domains) / "output_00002"
        run("convert", tmp_path / "run.octavo", out, "--to", "ramses", "--domains", domains)
        assert seeds_of(out)[:kept] == before[:kept] and len(set(seeds_of(out))) == domains


def test_the_state_of_turbulence_comes_along(data, run, tmp_path, monkeypatch):
    native = tmp_path / "output_00002"
    shutil.copytree(data / "ramses" / "sedov3d_4ranks" / "output_00002", native)
    state = {f"turb_{name}.dat": bytes(range(256)) * 40 + name.encode() for name in ("fields", "last.0", "next.0")}
    for name, values in state.items():
        (native / name).write_bytes(values)
    run("convert", native, tmp_path / "run.octavo", "--flow", "checkpoint")
    done = run("repack", tmp_path / "run.octavo", tmp_path / "packed.octavo", "--domains", 3)
    assert "left out" not in done.stdout + done.stderr
    for source in (native, tmp_path / "run.octavo", tmp_path / "packed.octavo"):
        for domains in (4, 3):
            out = tmp_path / source.stem / str(domains) / "output_00002"
            done = run("convert", source, out, "--to", "ramses", "--domains", domains)
            assert {name: (out / name).read_bytes() for name in state} == state
            assert "left out" not in done.stdout + done.stderr
    monkeypatch.chdir(tmp_path / "run" / "3")
    shutil.rmtree("output_00002")
    start = octavo.restart(None, tmp_path / "run.octavo")
    with octavo.restart_write(None, tmp_path / "run.octavo", start, "ramses", tmp_path / "scratch"):
        assert {name: Path("output_00002", name).read_bytes() for name in state} == state
    assert not list((tmp_path / "scratch").glob("*"))


def star_masses(output) -> list[float]:
    """Records 6 and 7 of all part files: the sums of the masses of stars that were made and lost."""
    headers = [file.read_bytes()[:120] for file in sorted(output.glob("part_*.out*"))]
    return [sum(struct.unpack_from("<d", header, at)[0] for header in headers) for at in (92, 108)]


def test_the_mass_of_stars_that_were_made_stays(data, run, tmp_path):
    native = tmp_path / "output_00002"
    shutil.copytree(data / "ramses" / "tracer2d_3ranks" / "output_00002", native)
    for k, file in enumerate(sorted(native.glob("part_*.out*"))):
        bytes_ = bytearray(file.read_bytes())
        struct.pack_into("<i", bytes_, 80, 7)
        struct.pack_into("<d", bytes_, 92, 0.5 + k)
        struct.pack_into("<d", bytes_, 108, 0.25 * k)
        file.write_bytes(bytes_)
    assert star_masses(native) == [4.5, 0.75]
    run("convert", native, tmp_path / "run.octavo")
    for source in (native, tmp_path / "run.octavo"):
        for domains in (1, 3, 4):
            out = tmp_path / source.stem / str(domains) / "output_00002"
            run("convert", source, out, "--to", "ramses", "--domains", domains)
            assert star_masses(out) == [4.5, 0.75]


def test_a_checkpoint_is_ramses_own_files_until_they_are_removed(run, output, tmp_path, monkeypatch):
    run("convert", output, tmp_path / "run.octavo", "--flow", "checkpoint", "-q")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "direct").mkdir()
    start = octavo.restart(None, "run.octavo")
    assert start.attributes["output_number"] == 3
    with octavo.restart_write(None, "run.octavo", start, "ramses", tmp_path / "scratch"):
        mine = files_of(tmp_path / "output_00003")
        assert {"amr_00003.out00001", "hydro_00003.out00001"} <= set(mine)
        run("convert", "run.octavo", tmp_path / "direct/output_00003", "--to", "ramses", "--domains", 1, "-q")
        direct = files_of(tmp_path / "direct/output_00003")
        assert {name: direct[name] for name in mine if ".out" in name} == {
            name: mine[name] for name in mine if ".out" in name
        }
    assert not (tmp_path / "output_00003").is_symlink() and not list((tmp_path / "scratch").glob("*"))
