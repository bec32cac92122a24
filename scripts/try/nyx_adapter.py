"""Nyx, an application on AMReX's AmrLevel, with adapters/amrex: `make try-nyx-adapter NYX=TREE AMREX=PREFIX`.

TREE holds Nyx's sources; PREFIX an AMReX that its user has installed in 3-D, with MPI, particles in double precision, linear
solvers and plotfile tools. A copy of Nyx is built as it is and with three places of its main program changed. The problem is
Nyx's MiniSB: gas, gravity and dark matter in an expanding box, 32^3 cells and a finer level.

The changed program writes to stores and is killed; it goes on from the newest step on 1 to 4 ranks. Nyx goes on from its own
checkpoint of that step on as many ranks. Both must come to the same plotfile, to the bit. Nyx's sums depend on the ranks, so
the distance from the uninterrupted run is printed beside them. MEASURE=1 compares times, bytes, files and memory.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import judge
from amrex_adapter import size_of
from ramses_adapter import library

RANKS = (1, 2, 3, 4)
STEP, KILLED, END = 2, 3, 4  # the checkpoint, the step that is not finished, the last one
OWN = (
    "inputs",
    "words",
    "run.log",
    "killed.log",
    "runlog",
    "mem_info.log",
    "ic_sb_32.ascii",
)  # files of a run beside its outputs
INPUTS = """
nyx.h_species = 0.75
nyx.he_species = 0.25
nyx.ppm_type = 0
nyx.small_dens = 6921.0511053125
nyx.small_temp = 1e-3
nyx.small_pres = 9.710685272388679e-2
nyx.do_santa_barbara = 1
nyx.initial_z = 63.
nyx.final_a = 1.0
nyx.lo_bc = 0 0 0
nyx.hi_bc = 0 0 0
nyx.do_hydro = 1
nyx.do_grav = 1
nyx.comoving_OmM = 1.0
nyx.comoving_OmB = 0.1
nyx.comoving_h = 0.5
nyx.do_dm_particles = 1
nyx.particle_init_type = AsciiFile
nyx.ascii_particle_file = ic_sb_32.ascii
nyx.cfl = 0.9
nyx.change_max = 1.1
nyx.init_shrink = 1.0
nyx.dt_cutoff = 5e-20
nyx.sum_interval = -1
nyx.v = 1
gravity.sl_tol = 1e-7
gravity.ml_tol = 1e-7
gravity.no_sync = 1
gravity.no_composite = 1
gravity.v = 0
mg.v = 0
particles.v = 0
geometry.is_periodic = 1 1 1
geometry.coord_sys = 0
geometry.prob_lo = 0 0 0
geometry.prob_hi = 64 64 64
amr.v = 1
amr.probin_file = ""
amr.n_cell = 32 32 32
amr.max_grid_size = 16
amr.max_level = 1
amr.ref_ratio = 2
amr.blocking_factor = 8
amr.regrid_int = 2
amr.n_error_buf = 1
amr.refinement_indicators = dense
amr.dense.field_name = density
amr.dense.value_greater = 1.2e10
amr.data_log = runlog
amr.checkpoint_files_output = 1
amr.check_file = chk
amr.plot_files_output = 1
amr.plot_file = plt
amr.plot_vars = ALL
amr.derive_plot_vars = particle_mass_density pressure magvel
"""
LIBRARY = "find_package(octavo CONFIG REQUIRED)\ntarget_link_libraries(nyxcore PUBLIC octavo::octavo)\n"
# The changes to Nyx's main program: a pattern that must occur once, and the text in its place.
CHANGES = [
    (
        r"(?=#include <Nyx_output.H>)",
        '#include "octavo_amrex/octavo_amrex.hpp"\n#include "octavo_amrex/amr.hpp"\n',
    ),
    (r"amrex::Initialize\(argc, argv\)", "octavo::amrex::Initialize(argc, argv)"),
    (
        r"Amr \*amrptr = new Amr\(getLevelBld\(\)\);",
        "auto* amrptr = new octavo::amrex::Amr(getLevelBld());\n"
        'amrptr->plot_species = [] { return std::vector{octavo::amrex::Gather("DM", *Nyx::theDMPC(), '
        '{"mass", "xvel", "yvel", "zvel"})}; };',
    ),
]
# For MEASURE: the seconds of each call that writes, by MPI's clock, of the slower rank. Names that are no store are AMReX's own
# files.
TIMED = """
namespace {
struct Timed : octavo::amrex::Amr {
    using octavo::amrex::Amr::Amr;
    void checkPoint () override { timed("checkpoint", [&] { octavo::amrex::Amr::checkPoint(); }); }
    void writePlotFile () override { timed("plotfile", [&] { octavo::amrex::Amr::writePlotFile(); }); }
    template <class F> void timed (const char* kind, F&& f) {
        amrex::ParallelDescriptor::Barrier();
        const double start = MPI_Wtime();
        f();
        double seconds = MPI_Wtime() - start;
        amrex::ParallelDescriptor::ReduceRealMax(seconds);
        amrex::Print() << "octavo: visible " << kind << " " << seconds << " s\\n";
    }
};
}
"""


@dataclass
class Run:
    trial: judge.Trial
    folder: Path
    tree: Path  # the copy
    fcompare: Path
    programs: dict[str, Path]

    def check(self, words: str, good: bool, figure: str) -> bool:
        return self.trial.check(f"nyx-adapter, {words}", good, figure)

    def prepare(self, name: str, *words: str) -> Path:
        """A folder with the inputs of a run; later words win."""
        folder = self.folder / "runs" / name
        folder.mkdir(parents=True)
        (folder / "inputs").write_text(INPUTS)
        shutil.copy(self.tree / "Exec/MiniSB/ic_sb_32.ascii", folder)
        (folder / "words").write_text(" ".join(words))
        return folder

    def start(self, program: str, name: str, ranks: int, *words: str) -> Path:
        folder = self.prepare(name, *words)
        judge.run([self.programs[program], "inputs", *words], folder, "run.log", ranks)
        return folder


# -------------------------------------------------------------------------------------------------------------- programs


def changed(text: str, changes: list[tuple[str, str]], place: Path) -> str:
    for pattern, new in changes:
        text, times = re.subn(pattern, new.replace("\\", r"\\"), text)
        if times != 1:
            raise judge.Stopped(f"{place}: expected {pattern} once, found it {times} times")
    return text


def build(folder: Path, tree: Path, amrex: Path) -> dict[str, Path]:
    """Builds a copy of Nyx three times: as it is, with the adapter, and with the adapter and a clock. Only the main program
    is compiled again; all are linked with Octavo."""
    copy = folder / "tree"
    shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    (copy / "Exec/CMakeLists.txt").write_text("include(NyxSetupExecutable)\nadd_subdirectory(MiniSB)\n")
    with (copy / "Source/CMakeLists.txt").open("a") as text:
        text.write(LIBRARY)
    words = [f"-DAMReX_DIR={amrex}", f"-DCMAKE_PREFIX_PATH={library()}", "-DNyx_OMP=NO", "-DNyx_HYDRO=YES"]
    words += ["-DNyx_HEATCOOL=NO", "-DNyx_SINGLE_PRECISION_PARTICLES=NO", "-DCMAKE_BUILD_TYPE=Release"]
    words += ["-DCMAKE_CXX_FLAGS=-O1", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"]
    judge.run(["cmake", "-S", copy, "-B", folder / "build", *words], folder, "configure.log")
    main = copy / "Source/Driver/nyx_main.cpp"
    text = main.read_text()
    adapted = changed(text, CHANGES, main)
    timed = changed(adapted, [(r"new octavo::amrex::Amr\(", "new Timed("), (r"(?=void\s+nyx_main \(int)", TIMED)], main)
    programs = {}
    for name, source in (("native", text), ("adapted", adapted), ("timed", timed)):
        main.write_text(source)
        judge.run(["cmake", "--build", folder / "build", f"-j{os.cpu_count()}"], folder, f"build-{name}.log")
        programs[name] = folder / f"nyx-{name}"
        shutil.copy(folder / "build/Exec/MiniSB/nyx_MiniSB", programs[name])
    return programs


# ---------------------------------------------------------------------------------------------------------------- checks


def agrees(run: Run, words: str, a: Path, b: Path) -> None:
    """Whether fcompare finds the same boxes and no difference in any cell, and `octavo diff` none in any particle."""
    try:
        text = judge.run([run.fcompare, a, b], run.folder, "fcompare.log", 1)
    except judge.Stopped as stopped:
        text = str(stopped)
    said = [line.strip() for line in text.splitlines() if "AGREE" in line] or [text.strip().splitlines()[-1]]
    found = judge.difference(a, b)
    same = said == ["PLOTFILE AGREE"] and found.equal and found.matched > 0
    run.check(words, same, f"fcompare: {said[-1]}; {found.text()}")


def plot(folder: Path, step: int) -> Path:
    return folder / f"plt{step:05d}"


def distance(a: Path, b: Path) -> str:
    found = judge.difference(a, b, 1)
    return f"{found.worst:.1e} ({found.variable})"


BYTES = """
import json, sys, octavo
from mpi4py import MPI
found = octavo.restart(MPI.COMM_WORLD, sys.argv[1], fields=[], opaque=True).opaque
print(json.dumps([sum(len(text) for name, text in named.items() if "/DATA_" in name) for named in found.values()]))
"""


def particles_by_rank(run: Run, store: Path, ranks: int) -> None:
    """Each rank keeps the particles that it has: Nyx's files of them are bytes of the rank that wrote them."""
    text = judge.run([judge.PYTHON, "-c", BYTES, store], run.folder, "bytes.log", 1)
    found = json.loads(text.splitlines()[-1])
    even = len(found) == ranks and max(found) < 2 * sum(found) / ranks
    run.check("particles of a checkpoint, by rank", even, f"{found} bytes")


def interrupted(run: Run, whole: Path) -> Path:
    """Kills a run with stores in a step after the checkpoint. Its plotfile of the checkpoint's step is compared."""
    words = ("amr.restart=run.octavo", "amr.check_file=run.octavo", "amr.plot_file=plots.octavo")
    words += (f"max_step={END}", f"amr.check_int={STEP}", f"amr.plot_int={STEP}")
    folder = run.prepare("killed", *words)
    judge.kill_when(rf"^STEP = {KILLED} ", [run.programs["adapted"], "inputs", *words], 3, folder)
    found = judge.difference(
        plot(whole, STEP), folder / "plots.octavo", 0, "--step-b", str(STEP), "--flow-b", "analysis"
    )
    others = [reason for reason in found.reasons if not reason.startswith("time differs")]
    good = found.worst == 0 and found.matched > 0 and not others
    run.check(f"plotfile of step {STEP} in a store", good, found.text())
    left = sorted(path.name for path in folder.iterdir() if path.name not in OWN)
    run.check("nothing beside the stores", left == ["plots.octavo", "run.octavo"], ", ".join(left))
    judge.octavo(folder, "verify", "run.octavo")
    particles_by_rank(run, folder / "run.octavo", 3)
    return folder


def restarts(run: Run, whole: Path, killed: Path) -> None:
    words = (f"max_step={END}", "amr.check_int=-1", f"amr.plot_int={STEP}")
    for ranks in RANKS:
        own = run.start("native", f"own-{ranks}", ranks, *words, f"amr.restart={whole}/chk{STEP:05d}")
        folder = run.prepare(f"store-{ranks}", *words)
        shutil.copytree(killed / "run.octavo", folder / "run.octavo")
        command = [run.programs["adapted"], "inputs", *words, "amr.restart=run.octavo"]
        judge.run(command, folder, "run.log", ranks)
        agrees(run, f"from the store on {ranks} beside its own restart on {ranks}", plot(own, END), plot(folder, END))
        a, b = distance(plot(whole, END), plot(folder, END)), distance(plot(whole, END), plot(own, END))
        run.check(f"restart on {ranks}, from the uninterrupted run", a == b, f"{a}, Nyx' own {b}")


# -------------------------------------------------------------------------------------------------------------- measured


def io_seconds(text: str) -> float:
    """Of a checkpoint and a plotfile, the median call of each: the first one opens a store."""
    calls = [re.findall(rf"octavo: visible {kind} (\S+) s", text) for kind in ("checkpoint", "plotfile")]
    return sum(statistics.median(map(float, found)) for found in calls)


def measured(run: Run, way: str, words: tuple[str, ...], store: judge.Store) -> float:
    """Checkpoint and plotfile of every step. Prints the figures; returns the seconds of one of each."""
    name = f"{way}-{store.key}"
    shutil.rmtree(run.folder / "runs" / name, ignore_errors=True)
    folder = run.prepare(name, f"max_step={END}", "amr.check_int=1", "amr.plot_int=1", *words)
    program = [*store.words, run.programs["timed"]]
    command = judge.measured([*program, "inputs", *(folder / "words").read_text().split()])
    text = judge.run(command, folder, "run.log", judge.RANKS)
    files, size = size_of([path for path in folder.iterdir() if path.name not in OWN])
    seconds, memory = io_seconds(text), judge.memory_of(text) / 1e6
    print(f"{name}: {seconds:.4f} s, {files} files, {size / 1e6:.1f} MB, memory {memory:.0f} MB", flush=True)
    return seconds


def measure(run: Run) -> None:
    """By AMReX and to a store in turn, on each store."""
    ways = {"AMReX": (), "store": ("amr.check_file=run.octavo", "amr.plot_file=run.octavo")}
    for store in judge.stores(run.folder, 10):
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for way in [*ways] * judge.REPETITIONS:
            seconds[way].append(measured(run, way, ways[way], store))
        native, mine = (min(seconds[way]) for way in ways)
        run.check(
            f"{store.figure}, {judge.RANKS} ranks",
            mine <= native * store.bar,
            f"{mine / native:.2f} of AMReX's {native:.4f} s",
        )


def try_nyx(trial: judge.Trial, tree: Path, prefix: Path, fcompare: Path) -> None:
    amrex = next(prefix.glob("lib*/cmake/AMReX"))
    run = Run(trial, trial.folder, trial.folder / "tree", fcompare, build(trial.folder, tree, amrex))
    run.check(f"{len(CHANGES)} places changed", True, "built")
    whole = run.start("native", "native", 3, f"max_step={END}", f"amr.check_int={STEP}", f"amr.plot_int={STEP}")
    restarts(run, whole, interrupted(run, whole))
    if os.environ.get("MEASURE"):
        measure(run)


def main() -> int:
    trial = judge.Trial(judge.folder_of("nyx-adapter"))
    trees = [Path(tree).resolve() for tree in os.environ.get("NYX", "").split(":") if tree]
    trees = [tree for tree in trees if (tree / "Source/Driver/nyx_main.cpp").exists()]
    prefixes = [Path(one).resolve() for one in os.environ.get("AMREX", "").split(":") if one]
    # fcompare's folder is that of an AMReX with plotfile tools.
    found = [
        (prefix, path)
        for prefix in prefixes
        for config in prefix.glob("lib*/cmake/AMReX/AMReXConfig.cmake")
        if re.search(r"SPACEDIM\s+3", config.read_text())
        for path in sorted(prefix.glob("**/amrex_fcompare"))
    ]
    if not trees or not found:
        trial.skip(
            "nyx-adapter", "NYX=TREE names no sources of Nyx, or AMREX=PREFIX no installed AMReX in 3-D with fcompare"
        )
        return judge.close(trial)
    trial.attempt("nyx-adapter", lambda: try_nyx(trial, trees[0], *found[0]))
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
