"""`octavo bench`: plans are exact arithmetic, the document's figures are what its commands print, and small measurements
on 1, 2 and 4 ranks tell what was written and read the right values back."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import mostly_long

ROOT = Path(__file__).resolve().parents[2]
SCALING = ROOT / "docs" / "scaling.md"
VIRTUAL = ROOT / "bench" / "results" / "scaling.md"


def mpi_here():
    try:
        from octavo import _bench  # noqa: F401
    except ImportError:
        return False
    return shutil.which("mpirun") is not None


needs_mpi = pytest.mark.skipif(not mpi_here(), reason="octavo was built without MPI, or there is no mpirun")


# ---------------------------------------------------------------------------------------------------------- plans


@needs_mpi
def test_a_plan_of_fifty_thousand_ranks_is_known_arithmetic(run_json):
    one, sixteen, all_of_a_node = run_json(
        "bench", "plan", "--ranks", 50000, "--ranks-per-node", 128, "--bytes-per-rank", "300M", "--per-file", "1,16,all",
        "--node-rate", "2G", "--rate", "500G", "--creates-rate", 10000)["plans"]  # fmt: skip
    # 390 full nodes and one of 80 ranks: 8 files of 16 on each, 5 on the last.
    assert [plan["files"] for plan in (one, sixteen, all_of_a_node)] == [50000, 390 * 8 + 5, 391]
    assert sixteen["hosts"] == 391 and sixteen["contributors"] == 16
    assert sixteen["bytes"] == 15_000_000_000_000
    assert sixteen["bytes_of_writer"] == 16 * 300_000_000
    assert sixteen["bytes_of_host"] == 128 * 300_000_000
    assert (sixteen["creates"], sixteen["opens"], sixteen["syncs"]) == (3125, 3125, 3 * 3125)
    # 15 TB at 500 GB/s are 30 s; a node's 38.4 GB at 2 GB/s only 19.2 s.
    assert one["seconds"] == pytest.approx(5 + 30) and all_of_a_node["seconds"] == pytest.approx(0.0391 + 30)
    assert one["steps_in_quota"] == -1


@needs_mpi
def test_the_ramses_quota_before_and_after(run_json):
    words = ["bench", "plan", "--ranks", 16384, "--bytes", "4.7T", "--quota-files", "2M", "--quota-bytes", "100T"]
    native = run_json(*words, "--per-file", 1, "--files-per-writer", 4)["plans"][0]
    assert native["files"] == 65536
    assert native["steps_by_files"] == 30 == 2_000_000 // 65536
    assert native["steps_by_bytes"] == 21
    after = run_json(*words, "--per-file", "all", "--ratio", 7.05)["plans"][0]
    assert after["files"] == 128
    assert after["steps_by_bytes"] == after["steps_in_quota"] == 150
    assert run_json(*words, "--per-file", "all", "--ratio", 7.05, "--append")["plans"][0]["steps_by_files"] == -1


@needs_mpi
@pytest.mark.parametrize("command", re.findall(r"^\$ (octavo bench plan .*)$", SCALING.read_text(), re.MULTILINE))
def test_the_document_shows_what_its_commands_print(run, command):
    shown = SCALING.read_text().split("$ " + command + "\n")[1].split("```")[0]
    printed = run(*shlex.split(command)[1:]).stdout
    assert [line.rstrip() for line in printed.strip().splitlines()] == shown.strip().splitlines()


SCALE = ROOT / "build" / "release" / "bench" / "octavo_bench_scale"


def rows_of(text, ranks):
    """Cells of the rows of that many ranks. Left out is what chance decides: the bytes that malloc gives, and how many
    threads of local disks make a directory at the same time, or find an index that another one has made."""
    rows, columns = [], []
    for line in text.splitlines():
        if line.lstrip().startswith("ranks"):  # the head of a table: columns end with their names
            columns = [(name.group().strip(), name.end()) for name in re.finditer(r" {2,}\S+( \S+)?", line.rstrip())]
        elif columns and line[40:50].replace(" ", "") == str(ranks):
            ends = [40, *(end for _, end in columns)]
            cells = {name: line[a:b].strip() for (name, b), a in zip(columns, ends, strict=False)}
            without = {"heap", "most", "rank 0"}
            if "partners" in line or "XOR" in line:
                without |= {"mkdirs", "dir sync", "opens", "reads", "metadata", "at rate"}
            rows.append((line[:40].rstrip(), {name: cells[name] for name in cells.keys() - without}))
    return rows


@needs_mpi
@pytest.mark.skipif(not SCALE.exists(), reason="octavo_bench_scale is not built: OCTAVO_BENCH")
def test_the_document_shows_the_simulator_s_rows(tmp_path):
    """Messages, bytes and file operations of 512 virtual ranks; `bench/run.py scale --write` makes the page's block anew."""
    shown = VIRTUAL.read_text().split("\n$ bench/run.py scale\n")[1].split("```")[0]
    command = [SCALE, "--metadata-rate", "10k", "--ranks", "512"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env={"TMPDIR": str(tmp_path)}).stdout
    found = rows_of(printed, 512)
    assert len(found) == 19 and sum(name.startswith("restart") for name, _ in found) == 6
    assert found == rows_of(shown, 512)
    assert "not run" not in shown and list(tmp_path.iterdir()) == []


def test_the_document_has_its_sweep():
    assert len(re.findall(r"^\$ octavo bench plan ", SCALING.read_text(), re.MULTILINE)) >= 3


# ---------------------------------------------------------------------------------------------------------- measuring


def tiny(tmp_path, *words):
    return ["bench", *words, "--directory", tmp_path, "--bytes-per-rank", "200k", "--fields", 2, "--repetitions", 2]


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_writes_of_each_way_are_counted(run_json, tmp_path, ranks):
    report = run_json(*tiny(tmp_path, "write"), ranks=ranks)
    rows = {row["name"]: row for row in report["rows"]}
    whole = ranks * report["bytes_per_rank"]
    assert report["ranks"] == ranks and 190_000 <= report["bytes_per_rank"] <= 200_000
    assert rows["raw, file a rank"]["median"]["ratio"] == 1
    # One call a field and rank; the kernel counts them.
    assert rows["raw, shared file"]["median"]["writes"] == 2 * ranks
    for name in ("raw, file a rank", "octavo, 1 file a rank", "octavo, 1 file a node, checksums", "MPI-IO collective"):
        median = rows[name]["median"]
        assert len(rows[name]["samples"]) == 2
        assert median["seconds"] > 0 and median["ratio"] > 0
    for name in ("raw, file a rank", "raw, file a rank, checksums", "octavo, 1 file a rank"):
        assert whole <= rows[name]["median"]["written"] < 1.2 * whole + 100_000 * ranks
    assert list(tmp_path.iterdir()) == []


RATES = {"creates_rate", "syncs_rate", "writer_rate", "node_rate"}


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_rates_are_measured_once_and_plans_read_them(run, run_json, tmp_path, ranks):
    """The plan of a calibrated directory is the plan with the file's numbers as options; an option replaces its line."""
    (tmp_path / "here").mkdir()
    file = tmp_path / "rates.toml"
    words = ["bench", "calibrate", tmp_path / "here", "-o", file, "--bytes-per-rank", "400k", "--files", 20]
    report = run_json(*words, ranks=ranks)
    rates = tomllib.loads(file.read_text())
    assert set(rates) == RATES and all(0 < rate < 1e12 for rate in rates.values())
    assert (report["ranks"], report["nodes"]) == (ranks, 1)
    assert all(report[name] == pytest.approx(rate, rel=1e-5) for name, rate in rates.items())
    assert list((tmp_path / "here").iterdir()) == []
    assert run(*words, check=False).returncode == 2  # the file is there

    plan = ["bench", "plan", "--ranks", 64, "--bytes", "1G", "--per-file", 8]
    by_file = run_json(*plan, "--rates", file)["plans"][0]["seconds"]
    slowest = max(1e9 / 64 * 8 / rates["writer_rate"], 1e9 / rates["node_rate"])
    assert by_file == pytest.approx(8 / rates["creates_rate"] + 3 / rates["syncs_rate"] + slowest)
    replaced = run_json(*plan, "--rates", file, "--creates-rate", 2)["plans"][0]["seconds"]
    assert replaced == pytest.approx(by_file + 8 / 2 - 8 / rates["creates_rate"])
    if SCALE.exists():
        table = subprocess.run([SCALE, "--ranks", "256", "--only", "new files", "--rates", file], capture_output=True,
                               text=True, check=True).stdout  # fmt: skip
        row = next(line for line in table.splitlines() if line.startswith("checkpoint, new files")).split()
        assert float(row[-2]) == pytest.approx(int(row[10]) / 2 / rates["syncs_rate"], abs=0.0051) and row[4] == "2"


@needs_mpi
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, "cannot be read"),
        ("creates_rate = ", "expected lines NAME = NUMBER"),
        ("creates_rate = -1", "creates_rate: expected a number above 0, found -1"),
        ("create_rate = 5", "expected creates_rate, syncs_rate, writer_rate, node_rate, rate, found create_rate"),
    ],
)
def test_a_bad_file_of_rates_is_named(run, tmp_path, text, found):
    file = tmp_path / "rates.toml"
    if text is not None:
        file.write_text(text)
    done = run("bench", "plan", "--ranks", 4, "--rates", file, check=False)
    assert done.returncode != 0 and found in done.stderr and str(file) in done.stderr
    assert "octavo bench calibrate" in done.stderr and "Traceback" not in done.stderr


@needs_mpi
@pytest.mark.parametrize(
    ("ranks", "words"), [(1, []), (4, []), (2, ["--blocks", 200, "--block-bytes", 800])], ids=["1", "4", "2, blocks"]
)
def test_every_way_reads_back_what_it_wrote(run_json, tmp_path, ranks, words):
    """The command compares every value after each read: damage would be exit code 3."""
    report = run_json(*tiny(tmp_path, "read"), *words, ranks=ranks)
    for row in report["rows"]:
        assert row["missing"] or (len(row["samples"]) == 2 and row["median"]["seconds"] > 0), row["name"]
    if words:
        assert 190 <= report["blocks"] <= 200
        assert any(row["name"] == "HDF5, a data set a block" for row in report["rows"])


@needs_mpi
def test_rewritten_synced_and_background_steps(run_json, tmp_path):
    words = ["--files", "rewritten", "--sync", "--mode", "sync,background", "--per-file", "1", "--checksums", "on",
             "--only", "octavo"]  # fmt: skip
    rows = {r["name"]: r for r in run_json(*tiny(tmp_path, "write"), *words, ranks=2)["rows"]}
    assert "raw, shared file" not in rows and "raw, file a rank" in rows
    background = rows["octavo, 1 file a rank, checksums, background"]["median"]
    assert 0 < background["copying"] <= background["end_step"] <= background["seconds"]
    assert rows["octavo, 1 file a rank, checksums"]["median"]["copying"] == 0


@needs_mpi
@pytest.mark.parametrize(
    ("flow", "files"),
    mostly_long(
        ("checkpoint", "fresh"), ("analysis", "fresh"), ("checkpoint", "rewritten"), short=[("checkpoint", "fresh")]
    ),
)
def test_a_throttled_run_sees_the_rate_of_its_store(run_json, tmp_path, flow, files):
    """200 kB at 4 MB/s are 50 ms a step: a run that waits for them takes at least that, and computing takes longer."""
    words = ["--steps", 3, "--throttle", "4M", "--codec", "raw", "--flow", flow, "--files", files]
    report = run_json(*tiny(tmp_path, "async"), *words, ranks=2)
    rows = {row["name"]: row["median"] for row in report["rows"]}
    assert report["compute"] == pytest.approx(1.5 * report["bytes_per_rank"] / 4e6)
    # But for what is owed to the store at the end, 10 ms at most, and a sleep of before that ended late, 5 ms.
    least = 3 * report["bytes_per_rank"] / 4e6 - 0.0151
    assert rows["pwrite"]["in_calls"] >= least and rows["octavo sync"]["in_calls"] >= least
    assert rows["off"]["visible"] == 0 and rows["off"]["gain"] is None
    # Only the steps that count, whatever was written before them.
    assert 2 <= rows["octavo background"]["stored_per_step"] / report["bytes_per_rank"] < 2.2
    assert set(rows) >= {"copy + thread + pwrite", "octavo lend", "octavo auto"}


def test_a_gain_over_nothing_is_no_number():
    from octavo.cli.machine.bench import summary_of_runs

    def run(seconds):
        return {"whole": seconds, "before_close": seconds, "in_calls": 0, "computing": 0, "cpu": 0, "stored": 0}

    rows = {"off": [run(3.0)] * 3, "octavo sync": [run(5.0)] * 3}
    assert summary_of_runs([run(3.5)] * 3, rows, 1)["gain"] == pytest.approx(4)
    assert summary_of_runs([run(2.9), run(3.0), run(3.5)], rows, 1)["gain"] is None  # faster than without output


@needs_mpi
def test_a_codec_stores_less(run_json, tmp_path):
    words = ["--steps", 2, "--throttle", "1G", "--codec", "point:2e-3"]
    rows = {row["name"]: row["median"] for row in run_json(*tiny(tmp_path, "async"), *words)["rows"]}
    assert 0 < rows["octavo sync"]["stored_per_step"] < 200_000 / 4


@needs_mpi
def test_tables_are_printed_by_one_rank(run, tmp_path):
    done = run(*tiny(tmp_path, "write"), "--blocks", 50, "--block-bytes", 800, ranks=2)
    assert done.stdout.count("MPI-IO independent") == 1 and "us a block" in done.stdout


# Peers live in modules beside _bench: an installation without them says so and measures the rest.
@needs_mpi
def test_a_peer_that_is_missing_is_said(tmp_path):
    import octavo

    installed = Path(octavo.__file__).parent
    shutil.copytree(installed, tmp_path / "octavo", ignore=shutil.ignore_patterns("octavo_peer_*"))
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from octavo.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, tmp_path, "bench", "write", "--directory", tmp_path, "--bytes-per-rank", "100k",
               "--repetitions", 1]  # fmt: skip
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"HDF5 collective +not found", done.stdout) and "octavo, 1 file a rank" in done.stdout
    assert "note: not found: parallel HDF5" in done.stderr


def test_without_mpi_the_command_says_so():
    code = "import sys; sys.modules['octavo._bench'] = None; from octavo.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "bench", "plan", "--ranks", "4"], capture_output=True, text=True)
    assert done.returncode == 4 and "no MPI" in done.stderr


@needs_mpi
@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["plan", "--ranks", "0"],
        ["plan", "--ranks", "3000000000"],
        ["plan", "--ranks", "2000000000", "--bytes-per-rank", "15T"],
        ["plan", "--ranks", "4", "--ratio", "0", "--quota-bytes", "1T"],
        ["write", "--per-file", "none"],
        ["write", "--bytes-per-rank", "8"],
        ["write", "--bytes-per-rank", "64X"],
        ["write", "--blocks", "5", "--block-bytes", "12"],
        ["write", "--option", "no_such_option=1"],
        ["write", "--directory", "/no/such/folder"],
        ["write", "--mode", "later"],
        ["calibrate"],
        ["calibrate", "/no/such/folder"],
        ["calibrate", ".", "--files", "0"],
        ["async", "--codec", "best"],
        ["nothing"],
    ],
)
def test_wrong_use_is_2(run, tmp_path, words):
    done = run("bench", *words, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr and list(tmp_path.iterdir()) == []
