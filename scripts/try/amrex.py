"""AMReX codes restart from Octavo's files: `make try-amrex AMREX=TREE[:TREE...]`.

Each TREE is a source or a build tree of AMReX that holds, built by its user with MPI and particles, the test programs
Advection_AmrCore and Advection_AmrLevel (SingleVortex), in 2-D or 3-D, and the tool fcompare. Each program runs on 3 ranks to
step 20, with a checkpoint at step 10. The checkpoint goes through Octavo; the program continues from it on other ranks.
fcompare, a program of AMReX, says whether the two plotfiles of step 20 agree in every cell of every level. `octavo diff`
compares the tracers by identity.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import judge

INPUTS = """
stop_time = 2.0
geometry.prob_lo = 0 0 0
geometry.prob_hi = 1 1 {depth}
geometry.is_periodic = 1 1 1
geometry.coord_sys = 0
amr.n_cell = 64 64 {cells}
amr.max_level = 2
amr.ref_ratio = 2 2 2 2
amr.blocking_factor = 8
amr.max_grid_size = 16
amr.regrid_int = 2
amr.plot_file = plt
amr.plot_int = 10
adv.cfl = 0.7
adv.do_reflux = 1
adv.do_subcycle = 1
"""
CORE = "amr.chk_file = chk\namr.chk_int = 10\namr.do_tracers = 1\nadv.phierr = 1.01 1.1 1.5\n"
LEVEL = (
    "amr.checkpoint_files_output = 1\namr.check_file = chk\namr.check_int = 10\namr.plot_files_output = 1\n"
    "tagging.phierr = 1.01 1.1 1.5\ntagging.max_phierr_lev = 10\nadv.do_tracers = 0\n"
)


@dataclass
class Code:
    """A test program, and the places where its user's build left it."""

    name: str
    patterns: Sequence[str]
    inputs: str
    depths: tuple[str, str]  # extent of the domain along z, and its cells


CODES = [
    Code(
        "AmrCore",
        ["**/Test_Amr_Advection_AmrCore_[23]d", "**/Advection_AmrCore/Exec/main[23]d*.ex"],
        CORE,
        ("0.125", "8"),
    ),
    Code(
        "AmrLevel",
        ["**/Test_Advection_AmrLevel_SV_[23]d", "**/Advection_AmrLevel/Exec/SingleVortex/main[23]d*.ex"],
        LEVEL,
        ("0.125", "8"),
    ),
]


@dataclass
class Run:
    """An uninterrupted run: chk00010 and plt00020 stand in `folder`."""

    trial: judge.Trial
    code: Code
    program: Path
    fcompare: Path
    dim: int
    folder: Path

    def name(self, words: str) -> str:
        return f"amrex {self.code.name} {self.dim}-D, {words}"


def advance(run: Run, folder: Path, ranks: int, *words: str) -> str:
    """Runs the program to step 20, or to the one that `words` name."""
    folder.mkdir(parents=True)
    depth, cells = run.code.depths
    (folder / "inputs").write_text(INPUTS.format(depth=depth, cells=cells) + run.code.inputs)
    return judge.run([run.program, "inputs", "max_step=20", *words], folder, "run.log", ranks)


def compare_plotfiles(run: Run, a: Path, b: Path, *options: str) -> tuple[bool, str]:
    """Returns whether fcompare finds no difference, and the last line that it prints."""
    try:
        text = judge.run([run.fcompare, *options, a, b], run.folder, "fcompare.log", 1)
    except judge.Stopped as stopped:
        return False, str(stopped)
    said = [line.strip() for line in text.splitlines() if "AGREE" in line]
    return said == ["PLOTFILE AGREE"], f"fcompare: {said[-1] if said else 'no verdict'}"


def has_tracers(plotfile: Path) -> bool:
    return any((plotfile / name).is_dir() for name in ("particles", "Tracer"))


def restart(run: Run, words: str, checkpoint: Path, ranks: int, other_boxes: bool = False) -> None:
    """Continues from `checkpoint`; checks that step 20 is that of the uninterrupted run in all cells and tracers. The
    program keeps the boxes of level 0 that it finds, so fcompare must allow others if the checkpoint has others."""
    folder = run.folder.parent / re.sub(r"\W+", "-", words)
    name = run.name(f"{words}, {ranks} ranks")
    try:
        advance(run, folder, ranks, f"amr.restart={checkpoint}")
        options = ["--allow_diff_grids"] if other_boxes else []
        same, said = compare_plotfiles(run, run.folder / "plt00020", folder / "plt00020", *options)
        run.trial.check(name, same, said)
        if has_tracers(run.folder / "plt00020"):
            found = judge.difference(run.folder / "plt00020", folder / "plt00020")
            run.trial.check(name + ": tracers", found.equal and found.matched > 0, found.text())
    except judge.Stopped as stopped:
        run.trial.check(name, False, str(stopped))
    shutil.rmtree(folder, ignore_errors=True)


def convert(run: Run, words: str, source: Path, *options: str, ranks: int = 0) -> Path:
    """Returns `source` as a checkpoint that Octavo wrote."""
    folder = run.folder.parent / ("from-" + re.sub(r"\W+", "-", words))
    folder.mkdir()
    out = folder / "chk00010"
    judge.octavo(folder, "convert", source, out, "--to", "amrex", "--kind", "checkpoint", *options, ranks=ranks)
    return out


def restart_in_other_boxes(run: Run, words: str, source: Path, ranks: int, *options: str, writers: int = 0) -> None:
    run.trial.attempt(
        run.name(words),
        lambda: restart(run, words, convert(run, words, source, *options, ranks=writers), ranks, True),
    )


def same_files(run: Run, words: str, made: Path, names: Sequence[str]) -> None:
    """Checks files of a checkpoint that Octavo wrote beside those that the program wrote, byte for byte."""
    native = run.folder / "chk00010"
    differing = [name for name in names if judge.same_bytes(native / name, made / name)]
    run.trial.check(run.name(words), not differing, f"differing: {differing}" if differing else ", ".join(names))


def refused(run: Run, words: str, source: Path, *options: str) -> None:
    """Checks that `octavo convert` refuses what no code could continue from."""
    try:
        convert(run, words, source, *options)
        run.trial.check(run.name(words), False, "not refused")
    except judge.Stopped as stopped:
        run.trial.check(run.name(words), bool(re.search("exit code [24]", str(stopped))), str(stopped)[:120])


def plotfiles(run: Run) -> None:
    """fcompare reads plotfiles that Octavo wrote: in the same boxes and in others, direct and through a store."""
    native, store = run.folder / "plt00020", run.folder.parent / "plt.octavo"
    judge.octavo(run.folder, "convert", native, store)
    for source, words, options in (
        (native, "plotfile copied", []),
        (store, "plotfile through a store", []),
        (native, "plotfile with --max-box 32", ["--max-box", "32"]),
        (native, "plotfile with --blocking-factor 8 --max-box 8", ["--blocking-factor", "8", "--max-box", "8"]),
    ):
        out = run.folder.parent / re.sub(r"\W+", "-", words)
        judge.octavo(run.folder, "convert", source, out, "--to", "amrex", "--kind", "plotfile", *options)
        same, said = compare_plotfiles(run, native, out, *(["--allow_diff_grids"] if options else []))
        run.trial.check(run.name(words), same, said)
    control(run, native)


def control(run: Run, native: Path) -> None:
    """fcompare must see values that are rounded to 1e-9, in the same boxes: exit code 1, not its abort for other meshes."""
    store, out = run.folder.parent / "rounded.octavo", run.folder.parent / "rounded"
    judge.octavo(run.folder, "convert", native, store, "--codec", "abs:1e-9", "--no-particles")
    judge.octavo(run.folder, "convert", store, out, "--to", "amrex", "--kind", "plotfile", "--lossy-ok")
    same, said = compare_plotfiles(run, native, out)
    run.trial.check(run.name("control: values rounded to 1e-9"), not same and "exit code 1:" in said, said[:60])


def amr_core(run: Run) -> None:
    """A Header that Octavo can make anew: any boxes, any source."""
    source, store = run.folder / "chk00010", run.folder.parent / "run.octavo"
    judge.octavo(run.folder, "convert", source, store, "--flow", "checkpoint")
    made = convert(run, "copied through a store", store)
    same_files(run, "through a store: the same Header", made, ["Header"])
    restart(run, "through a store", made, 4)
    restart_in_other_boxes(run, "with --max-box 32", source, 2, "--max-box", "32")
    restart_in_other_boxes(
        run, "store with --blocking-factor 8, written by 3 ranks", store, 1, "--blocking-factor", "8", writers=3
    )
    packed = run.folder.parent / "packed.octavo"
    judge.octavo(run.folder, "repack", store, packed, "--domains", "5")
    restart_in_other_boxes(run, "store repacked to 5 domains", packed, 3, "--max-box", "16")
    refused(run, "a plotfile without --dt", run.folder / "plt00010", "--multifab", "phi")
    continue_from_plotfile(run)


def continue_from_plotfile(run: Run) -> None:
    """From a plotfile and time steps given by the user the program continues, with all tracers."""
    words = "from a plotfile with --dt"
    out = convert(run, words, run.folder / "plt00010", "--multifab", "phi", "--dt", "0.008,0.004,0.002")
    folder = run.folder.parent / "continued"
    advance(run, folder, 2, f"amr.restart={out}", "max_step=14", "amr.plot_int=4")
    end = sorted(folder.glob("plt*"))[-1]
    start = judge.difference(run.folder / "plt00010", out, 0, "--name", "phi=phi")
    run.trial.check(run.name(words + ": values and tracers"), start.worst == 0, start.text())
    before, after = (judge.octavo(folder, "stats", p, "--field", "phi", "--json") for p in (out, end))
    totals = [float(re.search(r'"integral":\s*([-0-9.e+]+)', text)[1]) for text in (before, after)]
    drift = abs(totals[1] / totals[0] - 1)
    run.trial.check(
        run.name(words + ": phi is conserved over 4 steps"), drift < 1e-13, f"{drift:.1e} of {totals[0]:.6g}"
    )


def amr_level(run: Run) -> None:
    """A Header that must stay: the checkpoint goes unchanged through a store, and any change is refused."""
    source, store = run.folder / "chk00010", run.folder.parent / "run.octavo"
    judge.octavo(run.folder, "convert", source, store, "--flow", "checkpoint")
    made = convert(run, "copied through a store", store)
    same_files(run, "through a store: the same headers", made, ["Header", "FabArrayHeaders.txt"])
    restart(run, "through a store", made, 2)
    refused(run, "AmrLevel's Header with --max-box 32", store, "--max-box", "32")
    refused(run, "AmrLevel's Header with --dt 0.1", store, "--dt", "0.1")


def try_program(trial: judge.Trial, code: Code, program: Path, fcompare: Path) -> None:
    dim = int(re.search(r"([23])d", program.name)[1])
    run = Run(trial, code, program, fcompare, dim, trial.folder / f"{code.name}-{dim}d" / "native")
    advance(run, run.folder, 3)
    plotfiles(run)
    try:
        advance(run, run.folder.parent / "native-restart", 3, f"amr.restart={run.folder}/chk00010")
    except judge.Stopped as stopped:
        trial.skip(run.name("restarts"), f"the program cannot restart from its own checkpoint: {stopped}")
        return
    restart(run, "its own checkpoint", run.folder / "chk00010", 4)
    (amr_core if code.name == "AmrCore" else amr_level)(run)


def beside(program: Path, tools: Sequence[Path]) -> Path:
    """The tool with the longest path in common with the program: that of its own tree, as fcompare knows one dimension."""
    return max(tools, key=lambda tool: len(os.path.commonpath([tool, program])))


def main() -> int:
    trial = judge.Trial(judge.folder_of("amrex"))
    tools = [p for pattern in ("**/amrex_fcompare", "**/fcompare*.ex") for p in judge.programs("AMREX", pattern)]
    if not tools:
        trial.skip("amrex", "AMREX=TREE names no tree with the built tool fcompare")
        return judge.close(trial)
    for code in CODES:
        found = [program for pattern in code.patterns for program in judge.programs("AMREX", pattern)]
        if not found:
            trial.skip(f"amrex {code.name}", "AMREX=TREE has no such program, built")
        for program in found:
            compare = beside(program, tools)
            trial.attempt(f"amrex {code.name}", lambda c=code, p=program, f=compare: try_program(trial, c, p, f))
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
