"""Threads and ranks share the work; the streams, the values and the maps do not depend on how many there are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import OCTAVO, measured, mostly_long

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def streams(path, run_json):
    """The bytes of every stream of a store, wherever it lies, by part, field and level group."""
    listed = run_json("ls", path, "--streams")["steps"]
    result = {}
    for step in listed:
        for s in step["streams"]:
            with open(s["file"], "rb") as file:
                file.seek(s["offset"])
                data = file.read(s["stored_bytes"])
            result[step["step"], s["part"], s["field"], s["first_level"]] = data
    return result


@pytest.fixture(scope="module")
def reference(run, run_json, sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "run.octavo"
    run("convert", sample, path, "-j", 1, "--codec", "point:1e-3,density=range:1e-4")
    return path, streams(path, run_json), run_json("stats", path, "-j", 1)


@pytest.mark.parametrize("words", [["-j", 2], ["-j", 5], ["-j", 2, "--per-file", 1], ["--per-file", 3]])
def test_streams_are_the_same_for_any_threads_and_files(run, run_json, sample, reference, tmp_path, words):
    out = tmp_path / "run.octavo"
    run("convert", sample, out, "--codec", "point:1e-3,density=range:1e-4", *words)
    assert streams(out, run_json) == reference[1]
    assert run("verify", out).returncode == 0


@needs_mpi
@pytest.mark.parametrize("ranks", mostly_long(1, 2, 3, 4, 9, short=(3, 9)))
def test_streams_are_the_same_for_any_ranks(run, run_json, sample, reference, tmp_path, ranks):
    """Nine ranks for eight domains: one has nothing to do, and nothing hangs."""
    out = tmp_path / "run.octavo"
    run("convert", sample, out, "--codec", "point:1e-3,density=range:1e-4", ranks=ranks)
    assert streams(out, run_json) == reference[1]
    assert run("verify", out).returncode == 0


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_maps_and_stats_are_the_same_bits_for_any_threads(run, run_json, reference, tmp_path, threads):
    path, _, stats = reference
    assert run_json("stats", path, "-j", threads) == stats
    for name, count in (("one", 1), ("many", threads)):
        run("map", path, "--field", "density", "--pixels", 77, "-j", count, "-o", tmp_path / f"{name}.npy")
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "many.npy").read_bytes()


@needs_mpi
@pytest.mark.parametrize("ranks", mostly_long(2, 3, 4, 8, 9, short=(3,)))
def test_maps_and_stats_are_the_same_bits_for_any_ranks(run, run_json, reference, tmp_path, ranks):
    """Of a store, which rank 0 opens for all, and in files that the ranks write together."""
    path, _, stats = reference
    assert run_json("stats", path, ranks=ranks) == stats
    for kind in (["--pixels", 77], ["--kind", "max", "--axis", "x", "--roi", "box:0.3,0.7,0:0.8,1.2,0.4"]):
        words = ["map", path, "--field", "density", *kind, "-j", 1, "-f", "-o"]
        run(*words, tmp_path / "one.npy")
        run(*words, tmp_path / "all.npy", ranks=ranks)
        assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "all.npy").read_bytes()


@needs_mpi
def test_ranks_share_the_parts_of_other_formats_too(run, run_json, sample, tmp_path):
    words = ["map", sample, "--field", "density", "--weight", "pressure", "--pixels", 50, "-j", 1, "-o"]
    run(*words, tmp_path / "one.npy")
    run(*words, tmp_path / "all.npy", ranks=3)
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "all.npy").read_bytes()
    assert run_json("stats", sample, ranks=3) == run_json("stats", sample, "-j", 1)


@needs_mpi
@pytest.mark.long
def test_pictures_and_hdf5_are_the_same_from_any_ranks(run, reference, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = reference[0]
    for ending in ("png", "h5"):
        for name, ranks in (("one", 0), ("all", 3)):
            words = ["map", path, "--field", "density", "--pixels", 1300, "-o", tmp_path / f"{name}.{ending}"]
            run(*words, ranks=ranks)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "all.png").read_bytes()
    with h5py.File(tmp_path / "one.h5") as one, h5py.File(tmp_path / "all.h5") as every:
        assert one["map"].shape == (1300, 1300) and np.array_equal(one["map"][:], every["map"][:])
        assert dict(one["map"].attrs).keys() == dict(every["map"].attrs).keys()


@needs_mpi
@pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine")
def test_ranks_open_a_file_of_a_store_at_most_twice_and_once_a_part(run_json, reference, tmp_path):
    """Rank 0 reads heads and footers, and tables; whoever reads a part opens its file. The number of ranks is no
    factor."""
    path = reference[0]
    files, parts = len(list(path.rglob("data.*"))), run_json("info", path)["domains"]
    counts = []
    for ranks in (1, 4):
        traces = tmp_path / f"traces{ranks}"
        traces.mkdir()
        trace = f"exec strace -f -e trace=open,openat -o {traces}/$OMPI_COMM_WORLD_RANK "
        words = [str(OCTAVO), "map", str(path), "--field", "density", "-q", "-f", "-o", str(tmp_path / "map.npy")]
        done = subprocess.run(["mpirun", "-n", str(ranks), "sh", "-c", trace + '"$@"', "sh", *words], timeout=600)
        assert done.returncode == 0
        lines = [line for file in traces.iterdir() for line in file.read_text().splitlines()]
        opens = [line for line in lines if re.search(r"/data\.\d+\"", line) and " = -1 " not in line]
        counts.append(len(opens))
    assert counts[0] == counts[1] <= 2 * files + parts


@needs_mpi
@pytest.mark.parametrize("kind", mostly_long("integral", "mean", short=["mean"]))
def test_a_rank_holds_its_rows_of_a_map_and_little_more(run, tmp_path, kind):
    """A map of 4000^2 pixels on 8 ranks takes each rank at most its share of the image and 200 MB, the interpreter
    included; and one process the image and 200 MB. A mean is two sums a pixel."""
    store, pixels, ranks = tmp_path / "run.octavo", 4000, 8
    run("sample", store, "--to", "octavo", "--domains", 24, "--levels", "5-7", "-q")
    words = ["map", store, "--field", "density", "--kind", kind, "--pixels", pixels, "-j", 1, "-q", "-o"]
    image = 8 * pixels**2 * (2 if kind == "mean" else 1)
    files = []
    for count in (1, ranks):
        folder = tmp_path / f"peaks{count}"
        folder.mkdir()
        files.append(tmp_path / f"{count}.npy")
        command = ["mpirun", "-n", str(count), *measured(folder, [*words, files[-1]])]
        assert subprocess.run(command, timeout=600).returncode == 0
        peaks = [int(file.read_text()) for file in folder.iterdir()]
        assert len(peaks) == count and max(peaks) < image / count + 200e6, peaks
    assert files[0].read_bytes() == files[1].read_bytes()


@needs_mpi
def test_an_error_on_one_rank_is_the_error_of_all(run, sample, tmp_path):
    broken = tmp_path / "output_00007"
    shutil.copytree(sample, broken)
    file = broken / "hydro_00007.out00006"
    file.write_bytes(file.read_bytes()[:-1000])
    done = run("convert", broken, tmp_path / "o", ranks=3, check=False)
    assert done.returncode == 3
    assert done.stderr.count("error:") == 1 and "hydro_00007.out00006" in done.stderr
    assert not (tmp_path / "o").exists()


VERIFY = """
import sys
from octavo import _core
from octavo.ranks import world
ranks = world()
def read():
    return int(next(line for line in open("/proc/self/io") if line.startswith("rchar")).split()[1])
before = read()
_core.verify(sys.argv[1], 1, None, False, ranks)
sys.stdout.write(f"read {read() - before}\\n")  # in one piece: ranks share the pipe
"""


@needs_mpi
def test_verify_shares_the_parts_over_ranks(run, sample, reference, tmp_path):
    path = tmp_path / "run.octavo"
    shutil.copytree(reference[0], path)

    def outputs(of, ranks=0):
        done = run("verify", of, "--json", check=False, ranks=ranks)
        return done.returncode, done.stdout

    for of in (path, sample):
        assert outputs(of, 3) == outputs(of)
        assert outputs(of)[0] == 0
    # Two damaged parts, which different ranks find.
    files = sorted(path.rglob("data.*"))
    for at in (files[0].stat().st_size // 4, files[0].stat().st_size * 3 // 4):
        content = bytearray(files[0].read_bytes())
        content[at] ^= 1
        files[0].write_bytes(content)
    assert outputs(path, 3) == outputs(path)
    assert outputs(path)[0] == 1

    alone, shared = bytes_read_by_each(VERIFY, [reference[0]], 1)[0], bytes_read_by_each(VERIFY, [reference[0]], 2)
    assert max(shared) < 0.75 * alone


DIFF = VERIFY.replace(
    "_core.verify(sys.argv[1], 1, None, False, ranks)",
    "_core.diff(a, b, threads=1, ranks=ranks)",
).replace("before = read()", "a, b = _core.open(sys.argv[1]), _core.open(sys.argv[2])\nbefore = read()")


def bytes_read_by_each(program, words, ranks):
    before = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*before, sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True)
    found = [int(count) for count in re.findall(r"read (\d+)", done.stdout)]
    assert len(found) == ranks, done.stderr
    return found


@needs_mpi
def test_diff_shares_the_parts_over_ranks(few, run, sample, reference, tmp_path):
    """The same report, figures and all, of cells and particles; each rank reads a share of both steps."""
    path = reference[0]
    fewer = tmp_path / "few.octavo"
    run("repack", path, fewer, "--domains", 3)

    def report(ranks, *words):
        done = run("diff", *words, "--json", "--quiet", check=False, ranks=ranks)
        facts = json.loads(done.stdout)
        for cost in ("reads", "parts_held"):
            facts.pop(cost)
        return done.returncode, facts

    for words in ([sample, path], [path, fewer], [sample, path, "--rel", "2e-3"]):
        alone = report(0, *words)
        assert alone[1]["variables"]
        for ranks in few(2, 3, 9):
            assert report(ranks, *words) == alone
    for pair in ([sample, path], [path, path]):
        alone, shared = bytes_read_by_each(DIFF, pair, 1)[0], bytes_read_by_each(DIFF, pair, 2)
        assert max(shared) < 0.75 * alone


def bytes_of_each(calls, folder, words, ranks):
    """Bytes that the command reads or writes (`calls`, for strace) below a folder, of each rank. Each thread has a
    trace of its own: in one for all, lines of threads that wait are broken."""
    traces = folder / f"traces{ranks}"
    traces.mkdir(exist_ok=True)
    trace = f'exec strace -ff -y -e trace={calls} -o {traces}/${{OMPI_COMM_WORLD_RANK:-0}} "$@"'
    before = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*before, "sh", "-c", trace, "sh", str(OCTAVO), *map(str, words), "-q"], timeout=600)
    assert done.returncode == 0
    counts = [0] * ranks
    for file in traces.iterdir():
        lines = [line for line in file.read_text().splitlines() if f"<{folder}/" in line]
        sizes = [re.search(r" = (\d+)$", line) for line in lines]
        counts[int(file.name.partition(".")[0])] += sum(int(size[1]) for size in sizes if size)
    return counts


needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine")


@needs_mpi
@needs_strace
def test_diff_opens_a_file_of_a_store_twice_and_once_a_part_that_is_read(run, reference, tmp_path):
    """Whatever the number of ranks: rank 0 reads heads, footers and tables, and lists the steps."""
    a, b = tmp_path / "a.octavo", tmp_path / "b.octavo"
    shutil.copytree(reference[0], a)
    run("repack", a, b, "--domains", 5)
    files = sum(len(list(path.rglob("data.*"))) for path in (a, b))
    beside_parts = []
    for ranks in (1, 4):
        traces = tmp_path / f"opens{ranks}"
        traces.mkdir()
        trace = f'exec strace -f -e trace=open,openat -o {traces}/${{OMPI_COMM_WORLD_RANK:-0}} "$@"'
        words = ["sh", "-c", trace, "sh", str(OCTAVO), "diff", str(a), str(b), "--json"]
        before = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*before, *words], capture_output=True, text=True, timeout=600)
        lines = [line for file in traces.iterdir() for line in file.read_text().splitlines()]
        opens = [line for line in lines if re.search(r"/data\.\d+\"", line) and " = -1 " not in line]
        beside_parts.append(len(opens) - sum(json.loads(done.stdout)["reads"].values()))
    # Heads, footers, tables, the lists of steps, and the particles of 8 and of 5 parts.
    assert beside_parts[0] == beside_parts[1] <= 3 * files + 8 + 5


@needs_mpi
@needs_strace
def test_ranks_share_the_outputs_of_a_series(few, run, run_json, tmp_path):
    """The same table from any ranks. Each output is opened and read by one rank; fewer outputs than ranks are read by
    all together."""
    for number in range(1, 5):
        out = tmp_path / f"output_{number:05}"
        run("sample", out, "--dim", 2, "--levels", "4-7", "--domains", 3, "--seed", number, "-q")
    words = ["series", tmp_path / "output_*", "--roi", "sphere:max:density:0.3", "--of", "min,integral"]
    alone = run_json(*words)
    for ranks in few(2, 3, 9):
        assert run_json(*words, ranks=ranks) == alone
    one, two = (bytes_of_each("read,pread64", tmp_path, words, ranks) for ranks in (1, 2))
    assert one[0] > 0 and max(two) < 0.75 * one[0]
    assert sum(two) < 1.05 * one[0]
    failed = run(*words, "--field", "densty", ranks=3, check=False)
    assert failed.returncode == 2 and failed.stderr.count("error:") == 1


@needs_mpi
@needs_strace
@pytest.mark.long
def test_ranks_share_the_domains_of_a_sample(few, run, run_json, tmp_path):
    words = ["--to", "octavo", "--levels", "4-6", "--domains", 8, "--particles", 500, "-j", 1]

    def made(name, ranks):
        out = tmp_path / f"{name}.octavo"
        run("sample", out, *words, "-q", ranks=ranks)
        assert run("verify", out).returncode == 0
        return streams(out, run_json)

    alone = made("alone", 0)
    assert alone
    for ranks in few(2, 3, 9):
        assert made(f"by{ranks}", ranks) == alone
    counts = []
    for ranks in (1, 2):
        folder = tmp_path / f"counted{ranks}"
        folder.mkdir()
        out = folder / "run.octavo"
        counts.append(bytes_of_each("write,pwrite64,writev,pwritev", folder, ["sample", out, *words], ranks))
    assert counts[0][0] > 0 and max(counts[1]) < 0.75 * counts[0][0]
    refused = run("sample", tmp_path / "output_00001", "--levels", "4-5", ranks=2, check=False)
    assert refused.returncode == 2 and "written by one process" in refused.stderr
    assert not (tmp_path / "output_00001").exists()


def opens_of(path, words, folder, ranks):
    """How often the ranks of a command open a file, together."""
    folder.mkdir()
    trace = f'exec strace -ff -e trace=open,openat -o {folder}/$OMPI_COMM_WORLD_RANK "$@"'
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), "sh", "-c", trace, "sh", str(OCTAVO), *map(str, words)], timeout=600
    )
    assert done.returncode == 0
    lines = [line for file in folder.iterdir() for line in file.read_text().splitlines()]
    return sum(f'"{path}"' in line and " = -1 " not in line for line in lines)


@needs_mpi
@needs_strace
@pytest.mark.parametrize("ending", mostly_long("med", "vtkhdf", "nc", "msh", short=["med", "msh"]))
def test_rank_0_opens_a_file_of_triangles_and_one_more_reads_it(run, run_json, data, tmp_path, ending):
    """The number of ranks is no factor. A rank that reads the part opens the file anew."""
    source = data / "serafin" / "f2d_malpasset-large.slf"
    if not source.exists():
        pytest.skip(f"no {source}")
    path = tmp_path / f"mesh.{ending}"
    if run("convert", source, path, check=False).returncode != 0:
        pytest.skip(f"no {ending} here")
    words = ["map", path, "--field", run_json("info", path)["fields"][0]["name"], "--pixels", 50, "-q", "-f", "-o"]
    counts = {n: opens_of(path, [*words, tmp_path / f"{n}.npy"], tmp_path / f"of{n}", n) for n in (1, 2, 4)}
    assert counts[2] == counts[4] <= counts[1] + 4, counts
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "4.npy").read_bytes()
    assert run_json("stats", path, ranks=3) == run_json("stats", path)


@needs_mpi
@needs_strace
def test_ranks_share_the_fields_of_triangles(few, run, run_json, data, tmp_path):
    """The report of `diff` and the numbers of `stats` are the same; a rank reads a share of the values, and rank 0 the
    meshes."""
    source = data / "serafin" / "f2d_malpasset-large.slf"
    if not source.exists():
        pytest.skip(f"no {source}")
    a, b = tmp_path / "a.slf", tmp_path / "b.slf"
    shutil.copy(source, a)
    changed = bytearray(source.read_bytes())
    changed[-64] ^= 0x10
    b.write_bytes(changed)

    def report(*words, ranks=0):
        facts = json.loads(run(*words, "--json", check=False, ranks=ranks).stdout)
        for cost in ("reads", "parts_held"):
            facts.pop(cost, None)
        return facts

    for words in (("diff", a, b), ("stats", a), ("series", a)):
        alone = report(*words)
        for ranks in few(2, 3, 9):
            assert report(*words, ranks=ranks) == alone, words
    one, two = (bytes_of_each("read,pread64", tmp_path, ["stats", a], ranks) for ranks in (1, 2))
    assert max(two) < 0.85 * one[0]
