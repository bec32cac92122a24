"""What the trials with real codes share: running programs, counting checks, and comparing two outputs.

A trial takes programs that the user has built, and never builds or changes them. Each check prints one line,
`PASS name: figure` or `FAIL name: figure`. A program that is not there gives a line `SKIP`. The last line has the counts.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = os.environ.get("PYTHON", str(ROOT / ".venv/bin/python"))
OCTAVO = os.environ.get("OCTAVO", str(ROOT / ".venv/bin/octavo"))
MPIRUN = os.environ.get("MPIRUN", "mpirun --oversubscribe").split()
REPETITIONS = int(os.environ.get("REPETITIONS", "3"))  # of a measured run
STORES = os.environ.get("STORES", "fast throttled core").split()  # on which a trial measures
RANKS = int(os.environ.get("RANKS", "2"))  # of a measured run


class Stopped(Exception):
    """A program ended with an error, so that the checks that need its output cannot be made."""


@dataclass
class Trial:
    """The folder of a trial with one code, and the checks so far."""

    folder: Path
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: int = 0

    def check(self, name: str, good: bool, figure: str) -> bool:
        print(f"{'PASS' if good else 'FAIL'} {name}: {figure}", flush=True)
        if good:
            self.passed += 1
        else:
            self.failed.append(name)
        return good

    def skip(self, name: str, why: str) -> None:
        print(f"SKIP {name}: {why}", flush=True)
        self.skipped += 1

    def attempt(self, name: str, work: Callable[[], None]) -> None:
        """Calls `work`. If a program in it stops, that is a failed check of this name, and the trial goes on."""
        try:
            work()
        except Stopped as stopped:
            self.check(name, False, str(stopped))


def folder_of(code: str) -> Path:
    """Returns the empty folder of a code's trial: $OCTAVO_TRY/CODE, else build/try/CODE."""
    folder = Path(os.environ.get("OCTAVO_TRY", ROOT / "build/try")).resolve() / code
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def close(trial: Trial) -> int:
    """Prints the counts. Returns the exit code: 0 if no check failed and at least one passed or was skipped."""
    for name in trial.failed:
        print(f"failed: {name}")
    print(f"{trial.passed} passed, {len(trial.failed)} failed, {trial.skipped} skipped")
    return 1 if trial.failed else 0


def run(
    words: Sequence[object], folder: Path, log: str, ranks: int = 0, seconds: float = 1800, any_code: bool = False
) -> str:
    """Runs a program in `folder`, on `ranks` ranks if not 0. Returns what it printed, which also stands in the file `log`.

    Raises Stopped if it ends with an exit code other than 0 (unless `any_code`), or runs longer than `seconds`.
    """
    command = [str(word) for word in words]
    if ranks:
        command = [*MPIRUN, "-n", str(ranks), *command]
    path = folder / log
    with path.open("w") as out:
        try:
            code = subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            raise Stopped(f"no end after {seconds:g} s, see {path}") from None
    text = path.read_text(errors="replace")
    if code and not any_code:
        last = next((line for line in reversed(text.splitlines()) if line.strip(" -")), "nothing printed")
        raise Stopped(f"exit code {code}: {last.strip()[:160]} (see {path})")
    return text


def preloaded(folder: Path, source: str, *variables: str) -> list[object]:
    """The words before a program that runs with a C file of the project preloaded; it is compiled into `folder`."""
    library = folder / f"{Path(source).stem}.so"
    run(["cc", "-shared", "-fPIC", "-O2", ROOT / source, "-o", library, "-ldl"], folder, f"{library.stem}.log")
    return ["env", f"LD_PRELOAD={library}", *variables]


def core_of_programs() -> float:
    """The core time [s] of all programs that this process has run."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


@dataclass
class Store:
    """A store on which a trial measures."""

    key: str  # in STORES
    figure: str  # what is measured there
    words: list[object]  # before the program
    bar: float  # of what the code itself takes there
    clock: Callable[[], float] = time.monotonic  # [s] for programs without a clock, around a call of them


def stores(folder: Path, throttled: int) -> list[Store]:
    """The stores of STORES; a throttled one takes so many MB/s of each process. On `core`, the disk as it is, the clocks of a
    code count what its calling thread works (core_clock.c), and not how long it waits for a core or for the disk."""
    made = {
        "fast": lambda: Store("fast", "visible time, the disk as it is", [], 1),
        "throttled": lambda: Store(
            "throttled",
            f"visible time, {throttled} MB/s a rank",
            preloaded(folder, "bench/throttle.c", f"THROTTLE_MB_S={throttled}"),
            0.2,
        ),
        "core": lambda: Store(
            "core",
            "core time of the calling thread",
            preloaded(folder, "scripts/try/core_clock.c"),
            1,
            core_of_programs,
        ),
    }
    return [made[key]() for key in STORES]


MEASURING = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print('octavo: memory', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 'kB', flush=True); sys.exit(code)"
)


def measured(words: Sequence[object]) -> list[object]:
    """The words of a command that runs a program and then prints its memory, for memory_of."""
    return [PYTHON, "-c", MEASURING, *words]


def memory_of(text: str) -> int:
    """The memory [bytes] of the largest of the processes that ran measured."""
    return 1024 * max(int(found) for found in re.findall(r"octavo: memory (\d+) kB", text))


def kill_when(pattern: str, command: Sequence[object], ranks: int, folder: Path) -> None:
    """Starts the program in the folder, and kills all its processes when a line of its log has the pattern."""
    log = folder / "killed.log"
    with log.open("w") as out:
        words = [*MPIRUN, "-n", str(ranks), *map(str, command)]
        run = subprocess.Popen(words, cwd=folder, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        end = time.monotonic() + 1200
        while run.poll() is None and time.monotonic() < end:
            if re.search(pattern, log.read_text(errors="replace"), re.MULTILINE):
                os.killpg(run.pid, signal.SIGKILL)
                # The ranks are in process groups of their own, and go on for a while without mpirun.
                for process in Path("/proc").glob("[0-9]*"):
                    with contextlib.suppress(OSError):
                        if (process / "cwd").samefile(folder):
                            os.kill(int(process.name), signal.SIGKILL)
                break
            time.sleep(0.01)
        if run.wait() != -signal.SIGKILL:
            raise Stopped(f"{command[0]} ended before it was killed, see {log}")


def octavo(folder: Path, *words: object, ranks: int = 0) -> str:
    """Runs the command `octavo` in `folder`; raises Stopped if it refuses."""
    verb = str(words[0])
    count = len(list(folder.glob(f"octavo-{verb}-*.log")))
    return run([OCTAVO, *words], folder, f"octavo-{verb}-{count}.log", ranks)


def relay(folder: Path, source: Path, out: Path, kind: str, ranks: int) -> None:
    """Restarts from `source` on some ranks and writes it again with the engine: as a store, or as files of a code."""
    run([PYTHON, HERE / "relay.py", source, out, kind], folder, "relay.log", ranks)


@dataclass
class Difference:
    """How far two outputs differ: `octavo diff` in one figure."""

    equal: bool  # meshes, particles and times are the same, and all values within the tolerance
    worst: float  # largest |a-b| of a variable over the largest |a| of it, the worst of all variables
    variable: str
    cells: int
    matched: int  # particles
    reasons: list[str]

    def text(self) -> str:
        """The figure of a check."""
        particles = f", {self.matched} particles" if self.matched else ""
        reasons = "; " + "; ".join(self.reasons[:3]) if self.reasons else ""
        return f"largest difference {self.worst:.1e} ({self.variable}), {self.cells} leaves{particles}{reasons}"


def difference(a: Path, b: Path, tolerance: float = 0, *words: str) -> Difference:
    """Compares two outputs; another mesh is a difference. `words` are further options of `octavo diff`."""
    command = [OCTAVO, "diff", a, b, "--same-mesh", "--json", "--rel", str(tolerance), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise Stopped(f"octavo diff {a} {b}: {done.stderr.strip()[:300]}")
    report = json.loads(done.stdout)
    figures = [(row["magnitude"], name) for name, row in report["variables"].items()]
    matched = 0
    for species, particles in report["particles"].items():
        matched += particles["matched"]
        figures += [(row["magnitude"], f"{species}/{name}") for name, row in particles["attributes"].items()]
    worst, variable = max(figures, key=lambda pair: pair[0])
    return Difference(report["equal"], worst, variable, report["mesh"]["cells"], matched, report["reasons"])


def same_bytes(a: Path, b: Path) -> list[str]:
    """Returns the names of files, under folders or of two files, that are not byte for byte the same on both sides;
    the list that Octavo leaves beside what it wrote is no file of the code."""
    if a.is_file() and b.is_file():
        return [] if a.read_bytes() == b.read_bytes() else [a.name]
    names = sorted({path.relative_to(top) for top in (a, b) for path in top.rglob("*") if path.is_file()})
    names = [name for name in names if name.name != "octavo_files.txt"]
    return [
        str(name)
        for name in names
        if not ((a / name).is_file() and (b / name).is_file() and (a / name).read_bytes() == (b / name).read_bytes())
    ]


def programs(variable: str, pattern: str) -> list[Path]:
    """Returns the programs that match `pattern` in the trees that the environment's `variable` names (by colons)."""
    trees = [Path(tree).resolve() for tree in os.environ.get(variable, "").split(":") if tree]
    for tree in trees:
        if not tree.exists():
            sys.exit(f"{variable}: {tree} does not exist")
    return [
        path for tree in trees for path in sorted(tree.glob(pattern)) if path.is_file() and os.access(path, os.X_OK)
    ]
