"""Flash-X continues from Octavo's files: `make try-flash FLASH=FOLDER[:FOLDER...]`.

A FOLDER holds the program flashx or flash4, built by its user: the Sedov problem in 2-D with PARAMESH, HDF5 output, blocks of
8 cells along each axis, with or without tracer particles. It runs on 2 ranks to step 40, with a checkpoint at step 20. That
checkpoint goes through Octavo, and Flash-X continues from it on other ranks. Step 40 must then be that of the uninterrupted
run, byte for byte.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import h5py
import judge
import numpy as np

# Lists that describe a run and not its state, and the rank of each block.
OF_THE_RUN = re.compile("runtime parameters$|^sim info$|^processor number$|scalars$")
# Scalars that tell how the run was started, and not its state.
OF_THE_START = {"nbegin", "checkpointfilenumber", "plotfilenumber", "particlefilenumber", "forcedplotfilenumber"}

PARAMETERS = {
    "basenm": '"sedov_"',
    "run_comment": '"Sedov"',
    "log_file": '"sedov.log"',
    "stats_file": '"sedov.dat"',
    "gamma": "1.4",
    "sim_pAmbient": "1.e-5",
    "sim_rhoAmbient": "1.",
    "sim_expEnergy": "1.",
    "sim_rInit": "0.03125",
    "sim_xctr": "0.5",
    "sim_yctr": "0.5",
    "sim_profFileName": '"/dev/null"',
    "geometry": '"cartesian"',
    "xmin": "0.",
    "xmax": "1.",
    "ymin": "0.",
    "ymax": "1.",
    "xl_boundary_type": '"outflow"',
    "xr_boundary_type": '"outflow"',
    "yl_boundary_type": '"outflow"',
    "yr_boundary_type": '"outflow"',
    "cfl": "0.4",
    "tmax": "1.",
    "dtinit": "1.e-6",
    "eintSwitch": "1.e-4",
    "lrefine_min": "1",
    "nblockx": "1",
    "nblocky": "1",
    "refine_var_1": '"dens"',
    "refine_var_2": '"pres"',
    "plot_var_1": '"dens"',
    "checkpointFileIntervalStep": "20",
    "checkpointFileIntervalTime": "0.",
    "plotfileIntervalStep": "0",
    "plotfileIntervalTime": "0.",
    "ignoreForcedPlot": ".true.",
}
TRACERS = {
    "useParticles": ".true.",
    "pt_numX": "10",
    "pt_numY": "10",
    "pt_initialXmin": "0.3",
    "pt_initialXmax": "0.7",
    "pt_initialYmin": "0.3",
    "pt_initialYmax": "0.7",
    "pt_maxPerProc": "1000",
    "particleFileIntervalTime": "0.",
}


@dataclass
class Run:
    """An uninterrupted run: chk_0001 (step 20) and chk_0002 (step 40) stand in `folder`."""

    trial: judge.Trial
    program: Path
    tracers: bool
    folder: Path
    label: str

    def name(self, words: str) -> str:
        return f"flash {self.label}, {words}"

    def checkpoint(self, number: int) -> Path:
        return self.folder / f"sedov_hdf5_chk_{number:04d}"


def advance(run: Run, folder: Path, ranks: int, last_step: int = 40, levels: int = 5, restart: bool = False) -> str:
    """Runs Flash-X in `folder` to a step, from checkpoint 1 there if `restart`."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {**PARAMETERS, **(TRACERS if run.tracers else {}), "lrefine_max": str(levels), "nend": str(last_step)}
    words |= {"restart": ".true." if restart else ".false.", "checkpointFileNumber": "1" if restart else "0"}
    (folder / "flash.par").write_text("".join(f"{name} = {value}\n" for name, value in words.items()))
    return judge.run([run.program], folder, "flash.log", ranks)


def scalars(file: h5py.File) -> dict[str, object]:
    return {
        name.decode().strip(): value.item()
        for kind in ("integer scalars", "real scalars")
        for name, value in file[kind][:]
        if name.decode().strip() not in OF_THE_START
    }


def sorted_particles(file: h5py.File) -> np.ndarray:
    """Returns rows of particles by tag, without the columns of block and rank."""
    names = [name[0].decode().strip() for name in file["particle names"][:]]
    rows = file["tracer particles"][:]
    rows = rows[np.argsort(rows[:, names.index("tag")])]
    return rows[:, [i for i, name in enumerate(names) if name not in ("blk", "proc")]]


def differing(a: Path, b: Path) -> tuple[list[str], int]:
    """Returns what differs between two checkpoints, by h5py: data sets byte for byte, particles by tag, scalars of the
    state; and how many data sets were compared."""
    with h5py.File(a) as left, h5py.File(b) as right:
        wrong = [f"{name} is in one only" for name in sorted(set(left) ^ set(right))]
        names = [n for n in left if n in right and not OF_THE_RUN.search(n) and n != "tracer particles"]
        wrong += [
            n for n in names if left[n].dtype != right[n].dtype or left[n][()].tobytes() != right[n][()].tobytes()
        ]
        if scalars(left) != scalars(right):
            wrong.append("scalars")
        if "tracer particles" in left and sorted_particles(left).tobytes() != sorted_particles(right).tobytes():
            wrong.append("tracer particles")
        return wrong, len(names)


def folder_for(run: Run, words: str) -> Path:
    return run.folder.parent / re.sub(r"\W+", "-", words)


def restart(run: Run, words: str, checkpoint: Path, ranks: int) -> None:
    """Continues from `checkpoint` to step 40, which must be that of the uninterrupted run."""
    folder, name = folder_for(run, words), run.name(f"{words}, {ranks} ranks")
    try:
        folder.mkdir(exist_ok=True)
        shutil.copy(checkpoint, folder / "sedov_hdf5_chk_0001")
        advance(run, folder, ranks, restart=True)
        wrong, count = differing(run.checkpoint(2), folder / "sedov_hdf5_chk_0002")
        run.trial.check(name, not wrong, f"{count} data sets, differing: {', '.join(wrong[:6]) or 'none'}")
    except judge.Stopped as stopped:
        run.trial.check(name, False, str(stopped))


def integrals(folder: Path) -> np.ndarray:
    """Returns what Flash-X writes into its file of integrals: a row a step, time first."""
    lines = (folder / "sedov.dat").read_text().splitlines()
    return np.array([[float(word) for word in line.split()] for line in lines if not line.lstrip().startswith("#")])


def energy_error(run: Run, folder: Path) -> tuple[float, float]:
    """Returns the total energy that Flash-X found at its restart, and how far it is from that of the uninterrupted run
    at that time."""
    column = (run.folder / "sedov.dat").read_text().splitlines()[0].split().index("E_total")
    whole, found = integrals(run.folder), integrals(folder)[0]
    at = np.argmin(np.abs(whole[:, 0] - found[0]))
    if whole[at, 0] != found[0]:
        raise judge.Stopped(f"the restart's time {found[0]!r} is none of the uninterrupted run")
    return float(found[column]), float(abs(found[column] / whole[at, column] - 1))


def continues(run: Run, words: str, checkpoint: Path, ranks: int, levels: int) -> None:
    """Continues for four steps; the energy that Flash-X finds in the file must be that of the uninterrupted run."""
    folder, name = folder_for(run, words), run.name(f"{words}, {ranks} ranks")
    try:
        folder.mkdir(exist_ok=True)
        shutil.copy(checkpoint, folder / "sedov_hdf5_chk_0001")
        advance(run, folder, ranks, last_step=24, levels=levels, restart=True)
        found, error = energy_error(run, folder)
        run.trial.check(name, error < 1e-12, f"E_total {found:.15g}, {error:.1e} from the uninterrupted run's")
    except judge.Stopped as stopped:
        run.trial.check(name, False, str(stopped))


def converted(run: Run, words: str, source: Path, *options: str, ranks: int = 0) -> Path:
    folder = run.folder.parent / ("from-" + re.sub(r"\W+", "-", words))
    folder.mkdir()
    out = folder / "sedov_hdf5_chk_0001"
    judge.octavo(folder, "convert", source, out, "--to", "flash", *options, ranks=ranks)
    return out


def relayed(run: Run, source: Path) -> Path:
    folder = run.folder.parent / "from-relay"
    folder.mkdir()
    out = folder / "sedov_hdf5_chk_0001"
    judge.relay(folder, source, out, "flash", 3)
    return out


def same_mesh(run: Run, source: Path) -> None:
    """Ways on which nothing may change."""
    store = run.folder.parent / "run.octavo"
    attempt = run.trial.attempt
    words = "converted to FLASH"
    attempt(run.name(words), lambda: restart(run, words, converted(run, words, source), 3))
    judge.octavo(run.folder, "convert", source, store, "--flow", "checkpoint")
    through = "through a store"
    attempt(run.name(through), lambda: restart(run, through, converted(run, through, store, "--flow", "checkpoint"), 2))
    by_three = "through a store repacked to 5 domains, written by 3 ranks"
    packed = run.folder.parent / "packed.octavo"
    judge.octavo(run.folder, "repack", store, packed, "--domains", "5")
    attempt(
        run.name(by_three),
        lambda: restart(run, by_three, converted(run, by_three, packed, "--flow", "checkpoint", ranks=3), 1),
    )
    relay = "restart on 3 ranks and Writer"
    attempt(run.name(relay), lambda: restart(run, relay, relayed(run, source), 2))


def other_meshes(run: Run, source: Path) -> None:
    """A finer mesh, and a way through another code's format."""
    fine = "--refine 1"
    run.trial.attempt(run.name(fine), lambda: continues(run, fine, converted(run, fine, source, "--refine", "1"), 2, 6))
    for words, path, options in (
        ("through an AMReX plotfile", "plt00020", ["--kind", "plotfile"]),
        ("through an AMReX checkpoint", "chk00020", ["--kind", "checkpoint"]),
    ):
        other = run.folder.parent / path
        judge.octavo(run.folder, "convert", source, other, "--to", "amrex", *options)
        run.trial.attempt(
            run.name(words),
            lambda w=words, o=other: continues(run, w, converted(run, w, o, "--block", "8"), 2, 5),
        )


def controls(run: Run, source: Path) -> None:
    """Checks that the judge sees a difference of one bit in one value, and of other steps."""
    wrong, _ = differing(source, run.checkpoint(2))
    run.trial.check(run.name("control: step 20 is not step 40"), bool(wrong), f"{len(wrong)} differ")
    changed = run.folder.parent / "changed_hdf5_chk_0001"
    shutil.copy(source, changed)
    with h5py.File(changed, "r+") as file:
        value = file["dens"][0, 0, 0, 0]
        file["dens"][0, 0, 0, 0] = np.nextafter(value, np.inf)
    wrong, _ = differing(source, changed)
    run.trial.check(run.name("control: one bit of one density"), wrong == ["dens"], ", ".join(wrong))


def has_particles(program: Path) -> bool:
    """Returns whether the program knows the parameters of particles: one built without them stops at such a parameter."""
    return b"pt_initialxmin" in program.read_bytes().lower()


def try_program(trial: judge.Trial, program: Path) -> None:
    label = program.parent.name
    tracers = has_particles(program)
    run = Run(trial, program, tracers, trial.folder / label / "native", label)
    advance(run, run.folder, 2)
    source = run.checkpoint(1)
    restart(run, "its own checkpoint", source, 3)
    same_mesh(run, source)
    other_meshes(run, source)
    controls(run, source)


def main() -> int:
    trial = judge.Trial(judge.folder_of("flash"))
    found = [program for name in ("flashx", "flash4") for program in judge.programs("FLASH", name)]
    if not found:
        trial.skip("flash", "FLASH=FOLDER names no folder with a built program flashx or flash4")
    for program in found:
        trial.attempt(f"flash {program.parent.name}", lambda p=program: try_program(trial, p))
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
