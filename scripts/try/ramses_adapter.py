"""RAMSES writes to a store and restarts from it, by adapters/ramses: `make try-ramses-adapter RAMSES=TREE`.

A TREE holds RAMSES' sources. A copy of it is built twice, as it is and with the adapter; the tree itself stays as it is. Each
set-up runs past an output with the adapter, which writes RAMSES' own outputs beside the store, so that both can be compared.
Then the run is killed and goes on from the store on other numbers of ranks. MANY=64 counts the files of 64 ranks. MEASURE=1
compares times, bytes, files and memory.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import sys
from pathlib import Path

import judge
import ramses

RESTARTS = (1, 3, 4)
THROTTLED = 2  # MB/s of each rank
ANALYSIS = 'contributors_per_file = 0\n[analysis]\nevery = 1\ncodec = "point:2e-3"\n'


@dataclasses.dataclass
class Built:
    """One program of RAMSES as it is, and with the adapter."""

    plain: Path
    adapted: Path
    solver: str
    dim: int
    needs: str


def library() -> Path:
    """Returns where the library is installed: $OCTAVO_PREFIX, else it is installed for the trial."""
    if prefix := os.environ.get("OCTAVO_PREFIX"):
        return Path(prefix).resolve()
    prefix = judge.ROOT / "build/try/library"
    prefix.parent.mkdir(parents=True, exist_ok=True)
    judge.run(["make", "-C", judge.ROOT, "install-library", f"PREFIX={prefix}"], prefix.parent, "library.log")
    return prefix


def build(folder: Path, tree: Path, solver: str, dim: int, needs: str) -> Built:
    """Builds a copy of the tree; objects are RAMSES' own in both programs."""
    copy = folder / re.sub(r"\W+", "-", f"{solver}{dim}d{needs}")
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns("*.o", "*.mod", ".git", "output_?????"))
    words = ["make", f"NDIM={dim}", f"SOLVER={solver}", "MPI=1", *needs.split()]
    judge.run([*words, "EXEC=plain"], copy / "bin", "plain.log")
    judge.run([*words, "EXEC=adapted", f"PATCH={judge.ROOT}/adapters/ramses"], copy / "bin", "adapted.log")
    return Built(copy / f"bin/plain{dim}d", copy / f"bin/adapted{dim}d", solver, dim, needs)


def write_namelist(setup: ramses.Setup, folder: Path, params: str, steps: int = 0) -> None:
    ramses.write_namelist(setup, folder, False)
    if setup.inputs:
        setup.inputs(folder)
    text = (folder / "run.nml").read_text()
    if steps:
        text = re.sub(r"nstepmax=\d+", f"nstepmax={steps}", text)
    (folder / "run.nml").write_text(f"{text}\n&OCTAVO_PARAMS\n{params}\n/\n")


@dataclasses.dataclass
class Run:
    trial: judge.Trial
    built: Built
    setup: ramses.Setup
    folder: Path

    def name(self, words: str) -> str:
        return f"ramses-adapter {self.built.solver} {self.setup.name}, {words}"

    def check(self, words: str, good: bool, figure: str) -> None:
        self.trial.check(self.name(words), good, figure)


def native_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.out?????"))


def beside_native(run: Run) -> None:
    """The adapter's run writes RAMSES' own bytes, and its store has the values of these files."""
    plain, both = run.folder / "plain", run.folder / "both"
    write_namelist(run.setup, plain, "")
    write_namelist(run.setup, both, "native=.true.")
    ramses.ramses(run.built.plain, plain, run.setup.ranks)
    ramses.ramses(run.built.adapted, both, run.setup.ranks)
    names = native_files(plain / "output_00003")
    same = [(plain / "output_00003" / n).read_bytes() == (both / "output_00003" / n).read_bytes() for n in names]
    run.check(
        "RAMSES' own output beside the store, byte for byte", all(same) and bool(same), f"{sum(same)} files the same"
    )
    for number, step in ((2, run.setup.steps), (3, 2 * run.setup.steps)):
        found = judge.difference(both / "run.octavo", both / f"output_0000{number}", 0, "--step", str(step))
        run.check(f"store beside output {number}", found.equal and found.worst == 0, found.text())
    # The same files for other ranks: lists, neighbours, walls, headers and particles, not values alone.
    made = [run.folder / name / "output_00002" for name in ("of-native", "of-store")]
    judge.octavo(both, "convert", both / "output_00002", made[0], "--to", "ramses", "--domains", "3")
    step = ("--flow", "checkpoint", "--step", str(run.setup.steps))
    judge.octavo(both, "convert", both / "run.octavo", made[1], "--to", "ramses", "--domains", "3", *step)
    names = native_files(made[0])
    other = [name for name in judge.same_bytes(*made) if name in names]
    run.check(
        "output for 3 ranks, of the store and of RAMSES' own",
        not other and bool(names),
        f"{len(names)} files, {len(other)} differ",
    )
    shutil.copytree(both / "output_00002", run.folder / "native/output_00002")


def restarts(run: Run) -> None:
    """Kills a run after its checkpoint, and lets it go on on other numbers of ranks."""
    killed, end = run.folder / "killed", run.folder / "both/output_00003"
    write_namelist(run.setup, killed, "")
    # Late: the checkpoint is complete when the background has written it, some steps after it was put.
    late = 2 * run.setup.steps - 1
    judge.kill_when(rf"Main step=\s*{late}\b", [run.built.adapted, "run.nml"], run.setup.ranks, killed)
    native = run.folder / "native"
    (native / "run.nml").write_text((run.folder / "plain/run.nml").read_text().replace("nrestart=0", "nrestart=2"))
    ramses.ramses(run.built.plain, native, run.setup.ranks)
    own = judge.difference(end, native / "output_00003", run.setup.tolerance)
    run.check(f"native restart, {run.setup.ranks} ranks", own.equal, own.text())
    for ranks in sorted({run.setup.ranks, *RESTARTS}):
        folder = run.folder / f"on-{ranks}"
        write_namelist(run.setup, folder, "native=.true.")
        shutil.copytree(killed / "run.octavo", folder / "run.octavo")
        text = ramses.ramses(run.built.adapted, folder, ranks)
        found = judge.difference(end, folder / "output_00003", run.setup.tolerance)
        from_store = "octavo: restart from run.octavo as output_00002" in text
        # RAMSES draws numbers for one oct after another, and on other ranks the octs have another order.
        good = from_store and (found.equal or (run.setup.random and ranks != run.setup.ranks))
        run.check(f"killed on {run.setup.ranks}, restarted on {ranks}", good, found.text())
        left = [*Path("/dev/shm").glob("octavo-*/output_00002"), *folder.glob("output_00002")]
        run.check(f"no file of the restart is left, {ranks} ranks", not left, f"{len(left)} left")
        if ranks == run.setup.ranks:
            beside = judge.difference(native / "output_00003", folder / "output_00003", run.setup.tolerance)
            run.check(f"restart beside the native one, {ranks} ranks", beside.equal, beside.text())


def refusals(run: Run) -> None:
    """State that the adapter would lose, and a step with a loss, are errors that name it."""
    for words, params, change, said in (
        ("bisection", "", ("ncontrol=1", "ncontrol=1, ordering='bisection'"), "octavo: ordering=bisection"),
        ("overload", "", ("ncontrol=1", "ncontrol=1, overload=2"), "octavo: overload above 1"),
        ("an unknown parameter", "stor='x'", ("", ""), "octavo: &OCTAVO_PARAMS"),
    ):  # fmt: skip
        folder = run.folder / re.sub(r"\W+", "-", words)
        write_namelist(run.setup, folder, params)
        (folder / "run.nml").write_text((folder / "run.nml").read_text().replace(*change, 1))
        text = judge.run([run.built.adapted, "run.nml"], folder, "ramses.log", run.setup.ranks, any_code=True)
        run.check(f"refused: {words}", said in text, said)
    folder = run.folder / "lossy"
    write_namelist(run.setup, folder, "options='octavo.toml'", 1)
    (folder / "octavo.toml").write_text('[checkpoint]\ncodec = "point:1e-4"\n')
    judge.run([run.built.adapted, "run.nml"], folder, "first.log", run.setup.ranks, any_code=True)
    text = judge.run([run.built.adapted, "run.nml"], folder, "ramses.log", run.setup.ranks, any_code=True)
    run.check("refused: a checkpoint with a loss", "stored with a loss" in text, "stored with a loss")


# ------------------------------------------------------------------------------------------------------------- measured


def bytes_of(folder: Path) -> tuple[int, int]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files), len(files)


def io_seconds(text: str) -> float:
    """RAMSES' own timer `io`: the mean of the ranks, which RAMSES prints behind their minimum; one rank has no minimum."""
    row = re.search(r"^\s*(?:[\d.]+\s+(?=[\d.]+\s+[\d.]+\s+[\d.]+))?([\d.]+)\s.*\bio\s*$", text, re.MULTILINE)
    return float(row[1]) if row else float("nan")


def write_larger(run: Run, folder: Path, params: str, options: str) -> None:
    """A blast of 64**3 cells and a finer level, with an output a step: files of megabytes."""
    write_namelist(run.setup, folder, params, 4)
    text = (folder / "run.nml").read_text()
    for old, new in ((r"foutput=\d+", "foutput=1"), ("levelmin=4, levelmax=6", "levelmin=6, levelmax=7"),
                     ("ngridmax=60000", "ngridmax=200000")):  # fmt: skip
        text = re.sub(old, new, text)
    (folder / "run.nml").write_text(text)
    (folder / "octavo.toml").write_text(options)


def measure(run: Run) -> None:
    """An output a step: RAMSES' own and the adapter's in turn, on each store; the best of the runs."""
    ranks = judge.RANKS
    for store in judge.stores(run.folder, THROTTLED):
        seconds: dict[str, list[float]] = {"native": [], "octavo": []}
        memory = {"native": 0, "octavo": 0}
        for kind in ["native", "octavo"] * judge.REPETITIONS:
            folder = run.folder / f"{kind}-{store.key}"
            shutil.rmtree(folder, ignore_errors=True)
            write_larger(run, folder, "options='octavo.toml'", "contributors_per_file = 0\n")
            program = run.built.plain if kind == "native" else run.built.adapted
            text = judge.run(judge.measured([*store.words, program, "run.nml"]), folder, "ramses.log", ranks)
            seconds[kind].append(io_seconds(text))
            memory[kind] = max(memory[kind], judge.memory_of(text))
        mine, native = min(seconds["octavo"]), min(seconds["native"])
        spread = ", ".join(f"{kind} {min(all_):.3f}-{max(all_):.3f} s" for kind, all_ in seconds.items())
        run.check(f"{store.figure}, {ranks} ranks", mine <= native * store.bar, f"{mine / native:.2f}: {spread}")
        text = ", ".join(f"{kind} {size / 1e6:.0f} MB" for kind, size in memory.items())
        run.check(f"memory of the largest rank, {store.key}", True, text)
    native = [bytes_of(output) for output in sorted((run.folder / f"native-{store.key}").glob("output_*"))]
    mine = bytes_of(run.folder / f"octavo-{store.key}/run.octavo/checkpoint")
    files = mine[1] / len(native)
    run.check(f"files of a checkpoint, {ranks} ranks", files <= 2, f"{files:g}, native {native[-1][1]}")
    total = sum(size for size, _ in native)
    text = f"{mine[0] / 1e6:.1f} MB, native {total / 1e6:.1f} MB: {total / mine[0]:.1f} times fewer"
    run.check("bytes of all checkpoints, lossless", mine[0] < total, text)


def measure_analysis(run: Run) -> None:
    """Analysis steps within 0.2 % of each value of a cell, beside RAMSES' own outputs of the same steps."""
    folder = run.folder / "analysis"
    write_larger(run, folder, "native=.true., analysis=.true., options='octavo.toml'", ANALYSIS)
    ramses.ramses(run.built.adapted, folder, 4)
    native = [bytes_of(output)[0] for output in sorted(folder.glob("output_*"))]
    mine = bytes_of(folder / "run.octavo/analysis")[0]
    text = f"{mine / 1e6:.2f} MB, native {sum(native) / 1e6:.1f} MB: {sum(native) / mine:.0f} times fewer"
    run.check(f"analysis at 2e-3, {len(native)} steps", sum(native) >= 16 * mine, text)
    step = ("--step-b", str(len(native) - 1), "--flow-b", "analysis")
    found = judge.difference(folder / f"output_{len(native):05d}", folder / "run.octavo", 1, *step)
    run.check("analysis: the same leaves, values within the bound", 0 < found.worst <= 2e-3, found.text())


def many_ranks(run: Run) -> None:
    """As many ranks as MANY says, on whatever cores there are: a step's files in a store with one file a host."""
    small = run.setup.namelist.replace("levelmax=6", "levelmax=5").replace("ngridmax=60000", "ngridmax=4000")
    setup = dataclasses.replace(run.setup, namelist=small, steps=2, ranks=int(os.environ["MANY"]))
    folders = {kind: run.folder / f"{kind}-on-{setup.ranks}" for kind in ("native", "octavo")}
    for kind, program in (("native", run.built.plain), ("octavo", run.built.adapted)):
        folder = folders[kind]
        write_namelist(setup, folder, "options='octavo.toml'")
        (folder / "octavo.toml").write_text("contributors_per_file = 0\n")
        judge.run([program, "run.nml"], folder, "ramses.log", setup.ranks)
    last = folders["native"] / "output_00003"
    found = judge.difference(last, folders["octavo"] / "run.octavo", 0, "--step-b", str(2 * setup.steps))
    run.check(f"store beside output 3, {setup.ranks} ranks", found.equal and found.worst == 0, found.text())
    native, (size, mine) = bytes_of(last)[1], bytes_of(folders["octavo"] / "run.octavo/checkpoint")
    steps = len(list(folders["native"].glob("output_*")))
    figure = f"{mine} in {steps} steps ({size / 1e6:.2f} MB), native {native} in each"
    run.check(f"files of a checkpoint, {setup.ranks} ranks", mine * setup.ranks <= native * steps, figure)


def try_setup(trial: judge.Trial, built: Built, setup: ramses.Setup, folder: Path) -> None:
    run = Run(trial, built, setup, folder)
    beside_native(run)
    others = [measure_analysis] if setup.name == "sedov" else []
    if others and os.environ.get("MEASURE"):
        others.append(measure)
    if others and os.environ.get("MANY"):
        others.append(many_ranks)
    for work in (restarts, refusals, *others):
        trial.attempt(run.name(work.__name__), lambda w=work: w(run))


def main() -> int:
    trial = judge.Trial(judge.folder_of("ramses-adapter"))
    trees = [Path(tree).resolve() for tree in os.environ.get("RAMSES", "").split(":") if tree]
    trees = [tree for tree in trees if (tree / "bin/Makefile").exists()]
    if not trees:
        trial.skip("ramses-adapter", "RAMSES=TREE[:TREE...] names no tree with bin/Makefile")
        return judge.close(trial)
    wanted = os.environ.get("SETUPS", "sedov dark-matter implosion-in-walls").split()
    os.environ["PKG_CONFIG_PATH"] = f"{library()}/lib/pkgconfig:{os.environ.get('PKG_CONFIG_PATH', '')}"
    for number, tree in enumerate(trees):
        top = trial.folder / str(number)
        for kind in sorted({(s.solver, s.dim, s.needs) for s in ramses.SETUPS if s.name in wanted}):
            built = build(top, tree, *kind)
            for setup in (s for s in ramses.SETUPS if (s.solver, s.dim, s.needs) == kind and s.name in wanted):
                folder = top / f"{setup.solver}-{setup.name}"
                trial.attempt(
                    f"ramses-adapter {setup.name}", lambda b=built, s=setup, f=folder: try_setup(trial, b, s, f)
                )
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
