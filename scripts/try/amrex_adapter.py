"""The adapter for codes on AMReX, tried in AMReX itself: `make try-amrex-adapter AMREX=PREFIX[:PREFIX...]`.

Each PREFIX holds an AMReX that its user has installed with MPI, particles and plotfile tools, in 2-D or 3-D. The program
adapters/amrex/try.cpp is compiled with it and writes the same hierarchy by AMReX and by Octavo; fcompare, a program of
AMReX, and `octavo diff` compare them. Its checkpoint is read on 1 to 4 ranks, into the same boxes and into others.

TUTORIAL=FOLDER names Advection_AmrCore of the amrex-tutorials. A copy of it, in which this script changes the calls that
write and read, runs beside the program as it is, and continues on other ranks. So does LEVEL=FOLDER, AMReX's
Tests/Amr/Advection_AmrLevel, and EB=FOLDER, its Tests/EB_CNS: gas around a sphere, if AMReX has embedded boundaries.
WORKS="level eb" takes only these of own, tutorial, level and eb. MANY=64 runs the tutorial on 64 ranks too. MEASURE=1 prints
times and sizes.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import judge

ADAPTER = judge.ROOT / "adapters/amrex"
INPUTS = """
stop_time = 2.0
geometry.prob_lo = 0 0 0
geometry.prob_hi = 1 1 0.125
geometry.is_periodic = 1 1 1
amr.n_cell = 64 64 8
amr.max_level = 2
amr.ref_ratio = 2 2 2 2
amr.blocking_factor = 8
amr.max_grid_size = 16
amr.regrid_int = 2
adv.cfl = 0.7
adv.do_subcycle = 1
adv.do_reflux = 1
adv.phierr = 1.01 1.1 1.5
amr.plot_file = plt
amr.plot_int = 10
amr.chk_file = chk
"""
# The changes to the tutorial: a pattern that must occur once, and the text in its place.
CHANGES = {
    "main.cpp": [
        (r"(?=#include <AmrCoreAdv.H>)", '#include "octavo_amrex.hpp"\n'),
        (r"amrex::Initialize", "octavo::amrex::Initialize"),
    ],
    "AmrCoreAdv.cpp": [
        (r"(?=#include <AmrCoreAdv.H>)", '#include "octavo_amrex.hpp"\n'),
        (r"amrex::WriteMultiLevelPlotfile", "octavo::amrex::WritePlotfile"),
        (
            r"(?<=AmrCoreAdv::WriteCheckpointFile \(\) const\n\{\n)",
            'for (const std::string& name : {std::string("run.octavo"), amrex::Concatenate("own", istep[0])})\n'
            'octavo::amrex::WriteCheckpoint(name, finest_level + 1, {{"phi", phi_new}}, Geom(), t_new[0], istep, dt,'
            " refRatio());\nreturn;\n",
        ),
        (
            r"ParallelDescriptor::ReadAndBcastFile\(File, fileCharPtr\);",
            "octavo::amrex::Restart from(restart_chkfile);",
        ),
        (r"fileCharPtr\.dataPtr\(\)", 'from.HeaderText("Checkpoint file for AmrCoreAdv")'),
        (
            r"VisMF::Read\(phi_new\[lev\],\s*amrex::MultiFabFileFullPrefix\(.*?\)\);",
            'from.Fill("phi", lev, phi_new[lev]);',
        ),
    ],
}


# The same for codes on AmrLevel; their own plotfiles and checkpoints stay where the inputs name no store.
LEVEL_INPUTS = """
stop_time = 2.0
geometry.prob_lo = 0 0 0
geometry.prob_hi = 1 1 0.125
geometry.coord_sys = 0
amr.n_cell = 64 64 8
amr.ref_ratio = 2 2 2 2
amr.blocking_factor = 8
amr.max_grid_size = 16
amr.regrid_int = 2
amr.checkpoint_files_output = 1
amr.check_file = chk
amr.plot_files_output = 1
amr.plot_file = plt
amr.plot_int = 10
"""
ADVECTION = """
geometry.is_periodic = 1 1 1
amr.max_level = 2
adv.cfl = 0.7
adv.do_reflux = 1
adv.do_subcycle = 1
adv.do_tracers = 1
tagging.phierr = 1.01 1.1 1.5
tagging.max_phierr_lev = 10
"""
# A shock tube with a sphere. The state Cost, which is left out, holds times.
EMBEDDED = """
geometry.is_periodic = 0 0 1
amr.max_level = 1
amr.plot_vars = density xmom ymom rho_E rho_e Temp
amr.derive_plot_vars = pressure x_velocity
cns.lo_bc = 2 5 0
cns.hi_bc = 2 5 0
cns.cfl = 0.3
cns.refine_cutcells = 1
cns.refine_max_dengrad_lev = 1
cns.refine_dengrad = 0.05
eb2.geom_type = sphere
eb2.sphere_radius = 0.125
eb2.sphere_center = 0.6 0.5 0.0625
eb2.sphere_has_fluid_inside = 0
"""
LEVEL_CHANGES = {
    "main.cpp": [
        (r"(?=#include <AMReX_Amr.H>)", '#include "octavo_amrex.hpp"\n#include "amr.hpp"\n'),
        (r"amrex::Initialize", "octavo::amrex::Initialize"),
        (r"Amr amr\(", "octavo::amrex::Amr amr("),
    ]
}


@dataclass
class Run:
    trial: judge.Trial
    folder: Path
    build: Path
    fcompare: Path
    dim: str

    def check(self, words: str, good: bool, figure: str) -> bool:
        return self.trial.check(f"amrex-adapter {self.dim}-D, {words}", good, figure)


def compile_programs(folder: Path, config: Path, octavo: Path, code: Path | None = None) -> Path:
    """Builds `try`, or the program of a code; returns the build tree."""
    build = folder / ("build-" + code.name if code else "build")
    words = [f"-DAMReX_DIR={config.parent}", f"-DCMAKE_PREFIX_PATH={octavo}", "-DCMAKE_BUILD_TYPE=Release"]
    words += ["-DCMAKE_CXX_FLAGS_RELEASE=-O1", f"-DCODE={code or ''}"]
    judge.run(["cmake", "-S", ADAPTER, "-B", build, *words], folder, build.name + "-configure.log")
    judge.run(["cmake", "--build", build, "--target", "code" if code else "try"], folder, build.name + ".log")
    return build


def agrees(run: Run, a: Path, b: Path) -> tuple[bool, str]:
    """Whether fcompare finds the same boxes and no difference, and the last line that it prints."""
    try:
        text = judge.run([run.fcompare, a, b], run.folder, "fcompare.log", 1)
    except judge.Stopped as stopped:
        return False, str(stopped)
    said = [line.strip() for line in text.splitlines() if "AGREE" in line]
    return said == ["PLOTFILE AGREE"], f"fcompare: {said[-1] if said else 'no verdict'}"


def tried(run: Run, folder: Path, mode: str, ranks: int, *words: object) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return judge.run([run.build / "try", f"mode={mode}", *words], folder, f"{mode}-{ranks}.log", ranks)


def line(text: str, start: str) -> list[str]:
    return [found for found in text.splitlines() if found.startswith(start)]


def plotfiles(run: Run, folder: Path, ranks: int) -> str:
    """Writes by both; returns the line about the particles."""
    said = tried(run, folder, "write", ranks)
    run.check(f"plotfile, {ranks} ranks", *agrees(run, folder / "native", folder / "plt"))
    differing = judge.same_bytes(folder / "native/Header", folder / "plt/Header")
    run.check(f"plotfile, {ranks} ranks: the Header's bytes", not differing, "the same" if not differing else "others")
    for name, out in (("plotfile", "plt"), ("store", "plots.octavo")):
        found = judge.difference(folder / "native", folder / out)
        run.check(f"{name}, {ranks} ranks: cells and particles", found.equal and found.matched > 0, found.text())
    judge.octavo(folder, "verify", "run.octavo")
    return line(said, "particles")[0]


def one_rank(run: Run) -> None:
    """On one rank AMReX has one data file a level, as Octavo does: then all bytes are the same."""
    folder = run.folder / "one"
    plotfiles(run, folder, 1)
    names = [path.relative_to(folder / "native") for path in (folder / "native").glob("Level_*/*")]
    differing = [str(name) for name in names if judge.same_bytes(folder / "native" / name, folder / "plt" / name)]
    run.check(
        "plotfile, 1 rank: bytes of all MultiFabs", bool(names) and not differing, f"{len(names)} files, {differing}"
    )


def restarts(run: Run, folder: Path, particles: str) -> None:
    for ranks in (1, 2, 3, 4):
        said = tried(run, folder, "restart", ranks)
        kept, expected = line(said, "boxes, "), f"boxes, time, steps kept; ranks {'kept' if ranks in (1, 3) else 'new'}"
        run.check(f"boxes on {ranks} ranks", kept == [expected], kept[0])
        for words in ("same boxes", "other boxes", "earlier step"):
            found = line(said, words)
            run.check(f"checkpoint on {ranks} ranks, {words}", found == [words + ": wrong 0"], str(found))
        found = line(said, "particles")
        run.check(
            f"particles on {ranks} ranks",
            found == [particles] * 2,
            found[0] + ("" if found == [particles] * 2 else f", expected {particles}"),
        )


def control(run: Run) -> None:
    """Values rounded to 1e-9 must be seen."""
    folder = run.folder / "rounded"
    os.environ["OCTAVO_CHECKPOINT_CODEC"] = "abs:1e-9"
    tried(run, folder, "write", 2)
    del os.environ["OCTAVO_CHECKPOINT_CODEC"]
    found = line(tried(run, folder, "restart", 2), "same boxes")
    run.check("control: values rounded to 1e-9", bool(found) and found != ["same boxes: wrong 0"], str(found))


def native_layout(run: Run, folder: Path) -> None:
    found = judge.octavo(folder, "stats", "chk", "--json")
    run.check("a checkpoint in AMReX's own layout", "flux" in found, "opened")


ERRORS = {
    "no such field": "absent",
    "cells that are not there": "lacks cells",
    "other particles": "the container has",
    "no such species": "stars",
    "edges": "edges",
    "other boxes": "boxes or ranks differ",
    "an output that is there": "exists already",
    "levels": "geometries of 4 levels",
    "names": "names of components",
}


def errors(run: Run, folder: Path) -> None:
    said = tried(run, folder, "errors", 2)
    run.check("a first start", "first start" in said, "no store, no error")
    for words, text in ERRORS.items():
        if words == "edges" and run.dim == "2":
            continue
        found = re.search(rf"^{words}: (.*)$", said, re.MULTILINE)
        run.check(
            f"error: {words}", bool(found) and text in said[found.start() :][:300], found[1][:100] if found else "none"
        )


def copy_sources(source: Path, problem: str, to: Path) -> None:
    """Copies a code's sources, flat but for kernels."""
    shutil.copytree(source / "Source", to)
    for path in [*(source / problem).glob("*.H"), *(source / problem).glob("*.cpp")]:
        shutil.copy(path, to)


Changes = dict[str, list[tuple[str, str]]]


def change(source: Path, all_changes: Changes) -> int:
    """Changes sources. Returns how many lines differ."""
    lines = 0
    for name, changes in all_changes.items():
        text = (source / name).read_text()
        for pattern, new in changes:
            text, times = re.subn(pattern, new.replace("\\", r"\\"), text, flags=re.DOTALL)
            if times != 1:
                raise judge.Stopped(f"{source}/{name}: expected {pattern} once, found it {times} times")
            lines += 1
        (source / name).write_text(text)
    return lines


def build_twice(run: Run, config: Path, octavo: Path, sources: Path, changes: Changes) -> tuple[Path, Path]:
    """Builds a code as it is and changed, of the same objects but for the changed files."""
    programs = []
    for kind in ("native", "changed"):
        if kind == "changed":
            run.check(f"{sources.name}, {change(sources, changes)} places changed", True, "built")
        build = compile_programs(run.folder, config, octavo, sources)
        programs.append(run.folder / f"{sources.name}-{kind}")
        shutil.copy(build / "code", programs[-1])
    return programs[0], programs[1]


def tutorial(run: Run, config: Path, octavo: Path, source: Path) -> None:
    copy_sources(source, "Exec", run.folder / "tutorial")
    native, changed = build_twice(run, config, octavo, run.folder / "tutorial", CHANGES)

    def advance(program: Path, name: str, ranks: int, *words: object) -> Path:
        folder = run.folder / "runs" / name
        folder.mkdir(parents=True)
        (folder / "inputs").write_text(INPUTS)
        # With 64 ranks on two cores Open MPI may find a fault in their ends, when AMReX has ended well.
        text = judge.run([program, "inputs", *words], folder, "run.log", ranks, any_code=ranks > 4)
        if "finalized" not in text:
            raise judge.Stopped(f"AMReX did not come to its end, see {folder}/run.log")
        return folder

    whole = advance(native, "native", 3, "max_step=20", "amr.chk_int=10")
    first = advance(changed, "changed", 3, "max_step=15", "amr.chk_int=10")
    run.check("tutorial: plotfile of step 10", *agrees(run, whole / "plt00010", first / "plt00010"))
    for ranks in (1, 2, 3, 4):
        end = advance(
            changed, f"restart-{ranks}", ranks, "max_step=20", "amr.chk_int=-1", f"amr.restart={first}/run.octavo"
        )
        same, said = agrees(run, whole / "plt00020", end / "plt00020")
        run.check(f"tutorial: restart at step 10 of 3 ranks on {ranks}, step 20", same, said)
    back = advance(native, "back", 2, "max_step=20", "amr.chk_int=-1", f"amr.restart={first}/own00010")
    run.check(
        "tutorial as it is: restart from the adapter's directory on 2",
        *agrees(run, whole / "plt00020", back / "plt00020"),
    )
    own = advance(native, "own", 2, "max_step=20", "amr.chk_int=-1", f"amr.restart={whole}/chk00010")
    run.check("tutorial: its own restart on 2", *agrees(run, whole / "plt00020", own / "plt00020"))
    if many := int(os.environ.get("MANY", "0")):
        many_ranks(run, many, lambda kind, *more: advance(native if kind == "native" else changed, *more))


def many_ranks(run: Run, ranks: int, advance: Callable[..., Path]) -> None:
    """Many ranks, on whatever cores there are: a checkpoint's files in a store with one file a host, and a restart on 3 ranks."""
    words = ("amr.plot_int=4", "amr.max_grid_size=8")
    whole = advance("native", f"native-{ranks}", ranks, "max_step=4", "amr.chk_int=2", *words)
    os.environ["OCTAVO_CONTRIBUTORS_PER_FILE"] = "0"
    first = advance("changed", f"changed-{ranks}", ranks, "max_step=2", "amr.chk_int=2", *words)
    del os.environ["OCTAVO_CONTRIBUTORS_PER_FILE"]
    restart = ("max_step=4", "amr.chk_int=-1", f"amr.restart={first}/run.octavo")
    end = advance("changed", f"from-{ranks}", 3, *restart, *words)
    same, said = agrees(run, whole / "plt00004", end / "plt00004")
    run.check(f"tutorial: restart at step 2 of {ranks} ranks on 3, step 4", same, said)
    native, mine = size_of([whole / "chk00000", whole / "chk00002"])[0], size_of([first / "run.octavo/checkpoint"])[0]
    run.check(f"tutorial: files of two checkpoints, {ranks} ranks", mine * ranks <= native, f"{mine}, native {native}")


@dataclass
class LevelCode:
    """A code on AmrLevel."""

    name: str
    variable: str  # of the environment: its folder
    problem: str
    inputs: str
    tracers: bool  # they stay in AMReX's own files


LEVEL_CODES = {
    "level": LevelCode("AmrLevel", "LEVEL", "Exec/SingleVortex", ADVECTION, True),
    "eb": LevelCode("EB", "EB", "Exec/Sod", EMBEDDED, False),
}


def level_tutorial(run: Run, config: Path, octavo: Path, code: LevelCode, source: Path) -> None:
    sources = run.folder / code.variable.lower()
    copy_sources(source, code.problem, sources)
    native, changed = build_twice(run, config, octavo, sources, LEVEL_CHANGES)
    runs = run.folder / f"{sources.name}-runs"

    def advance(program: Path, name: str, ranks: int, *words: object, store: Path | None = None) -> Path:
        folder = runs / name
        folder.mkdir(parents=True)
        if store:
            shutil.copytree(store, folder / store.name)
        (folder / "inputs").write_text(LEVEL_INPUTS + code.inputs)
        judge.run([program, "inputs", *words], folder, "run.log", ranks)
        return folder

    def same_end(words: str, end: Path) -> None:
        run.check(f"{code.name}: {words}", *agrees(run, whole / "plt00020", end / "plt00020"))
        if code.tracers:
            found = judge.difference(whole / "plt00020", end / "plt00020")
            run.check(f"{code.name}: {words}, tracers", found.equal and found.matched > 0, found.text())

    whole = advance(native, "native", 3, "max_step=20", "amr.check_int=10")
    store = ("amr.check_file=run.octavo", "amr.restart=run.octavo")
    first = advance(changed, "changed", 3, "max_step=15", "amr.check_int=10", *store, "amr.plot_file=plots.octavo")
    found = judge.difference(whole / "plt00010", first / "plots.octavo", 0, "--step-b", "10", "--flow-b", "analysis")
    # AMReX writes the time with 15 digits; tracers are the code's own.
    others = [reason for reason in found.reasons if not reason.startswith(("time differs", "particles Tracer"))]
    run.check(f"{code.name}: plotfile of step 10 in a store", found.worst == 0 and not others, found.text())
    left = [
        path.name for path in first.iterdir() if path.name not in ("inputs", "run.log", "run.octavo", "plots.octavo")
    ]
    run.check(f"{code.name}: nothing beside the stores", not left, str(left))
    words = ("max_step=20", "amr.check_int=-1", "amr.restart=run.octavo")
    for ranks in (1, 2, 3, 4):
        end = advance(changed, f"restart-{ranks}", ranks, *words, store=first / "run.octavo")
        same_end(f"restart from the newest step of 3 ranks on {ranks}, step 20", end)
    own = advance(native, "own", 2, "max_step=20", "amr.check_int=-1", f"amr.restart={whole}/chk00010")
    same_end("its own restart on 2", own)


def size_of(paths: list[Path]) -> tuple[int, int]:
    files = [path for top in paths for path in (top.rglob("*") if top.is_dir() else [top]) if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files)


CELLS = {"2": 832, "3": 96}  # along an axis: outputs of 39 MB
PLACES = {"native": "native*", "plotfile": "plt*", "store": "run*"}


def timed(run: Run, words: str, before: list[object], *inputs: str) -> dict[str, dict[str, float]]:
    """Runs the loop; returns the figures of each way, and what it left on the disk."""
    folder = run.folder / words
    (folder / "time").mkdir(parents=True)
    sizes = os.environ.get("SIZES", f"cells={CELLS[run.dim]} outputs=7")
    command = ["env", "OCTAVO_ANALYSIS_CODEC=raw", *before, run.build / "try", "mode=time", *inputs, *sizes.split()]
    said = judge.run(command, folder, "time.log", judge.RANKS)
    figures = {}
    for found in line(said, "time "):
        way, *numbers = found.split()[1:]
        figures[way] = {name: float(value) for name, value in zip(numbers[::2], numbers[1::2], strict=True)}
        files, size = size_of(list((folder / "time").glob(PLACES[way])))
        figures[way] |= {"files": files, "MB": size / 1e6}
        print(f"{words} {way}: " + ", ".join(f"{name} {value:.4g}" for name, value in figures[way].items()), flush=True)
    shutil.rmtree(folder / "time")
    return figures


def measure(run: Run) -> None:
    """All ways in turn in one run, on each store; and each way alone, for its memory. Values in the store are raw, as in
    AMReX's files."""
    for store in judge.stores(run.folder, 50):
        figures = timed(run, store.key, store.words)
        figure = "foreground" if store.key == "core" else "visible"  # this program has clocks of its own
        native = figures["native"][figure]
        for way in ("plotfile", "store"):
            ratio = figures[way][figure] / native
            run.check(f"{store.figure}: {way}", ratio <= store.bar, f"{ratio:.2f} of AMReX's {native:.3f} s")
    for way in PLACES:
        timed(run, f"alone-{way}", [], f"ways={way}")


def try_amrex(trial: judge.Trial, config: Path, octavo: Path) -> None:
    dim = re.search(r"SPACEDIM\s+(\d)", config.read_text())
    prefix = config.parents[3]
    found = [path for pattern in ("**/amrex_fcompare", "**/fcompare*.ex") for path in sorted(prefix.glob(pattern))]
    if not dim or not found:
        return trial.skip(f"amrex-adapter {prefix}", "no dimension in AMReXConfig.cmake, or no tool fcompare")
    folder = trial.folder / f"{dim[1]}d-{prefix.name}"
    folder.mkdir()
    run = Run(trial, folder, folder / "build", found[0], dim[1])
    works = os.environ.get("WORKS", "own tutorial level eb").split()
    if "own" in works:
        own(run, config, octavo)
    if "tutorial" in works:
        with_folder(run, "TUTORIAL", "Advection_AmrCore", lambda source: tutorial(run, config, octavo, source))
    for code in (LEVEL_CODES[name] for name in works if name in LEVEL_CODES):
        if code.name == "EB" and not re.search(r"AMReX_EB\s+ON", config.read_text()):
            trial.skip(f"amrex-adapter {dim[1]}-D, EB", f"{prefix} was built without embedded boundaries")
            continue
        with_folder(
            run, code.variable, code.problem, lambda source, c=code: level_tutorial(run, config, octavo, c, source)
        )


def with_folder(run: Run, variable: str, code: str, work: Callable[[Path], None]) -> None:
    if source := os.environ.get(variable):
        work(Path(source).resolve())
    else:
        run.trial.skip(f"amrex-adapter {run.dim}-D, {variable}", f"{variable}=FOLDER names no {code}")


def own(run: Run, config: Path, octavo: Path) -> None:
    """The program adapters/amrex/try.cpp."""
    folder = run.folder
    compile_programs(folder, config, octavo)
    one_rank(run)
    particles = plotfiles(run, folder / "three", 3)
    restarts(run, folder / "three", particles)
    control(run)
    native_layout(run, folder / "three")
    errors(run, folder / "three")
    if os.environ.get("MEASURE"):
        measure(run)


def main() -> int:
    trial = judge.Trial(judge.folder_of("amrex-adapter"))
    trees = [Path(tree).resolve() for tree in os.environ.get("AMREX", "").split(":") if tree]
    for tree in trees:
        if not tree.exists():
            sys.exit(f"AMREX: {tree} does not exist")
    configs = [path for tree in trees for path in sorted(tree.glob("lib*/cmake/AMReX/AMReXConfig.cmake"))]
    if not configs:
        trial.skip("amrex-adapter", "AMREX=PREFIX names no installed AMReX (lib/cmake/AMReX/AMReXConfig.cmake)")
        return judge.close(trial)
    release, octavo = judge.ROOT / "build/release", trial.folder / "octavo"
    judge.run(["cmake", "--build", release, "--target", "octavo_library"], trial.folder, "library.log")
    judge.run(
        ["cmake", "--install", release, "--component", "library", "--prefix", octavo], trial.folder, "install.log"
    )
    for config in configs:
        trial.attempt(f"amrex-adapter {config}", lambda c=config: try_amrex(trial, c, octavo))
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
