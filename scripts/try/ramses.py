"""RAMSES restarts from Octavo's files: `make try-ramses RAMSES=TREE[:TREE...]`.

A TREE holds programs bin/ramses1d, ramses2d or ramses3d that its user has built with MPI. A program runs the set-ups of its
dimension and solver. Each set-up runs on a few ranks past an output to its end. Then that output goes through Octavo, and
RAMSES continues from the new output on the same or another number of ranks. The end is compared with that of the
uninterrupted run: the mesh leaf by leaf, all values, all particles.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import judge
import numpy as np

# RAMSES adds fluxes and particles of a cell in the order of its octs, which a restart changes: its own restart differs by
# rounding as well. Its solver of the potential stops at a residual, so that a potential differs more than gas does.
GAS = 1e-12
GRAVITY = 1e-10


@dataclass
class Setup:
    """A run: RAMSES restarts from output 2 (after `steps` coarse steps) and ends with output 3 (after twice as many)."""

    name: str
    dim: int
    solver: str
    namelist: str  # all groups but &RUN_PARAMS and &OUTPUT_PARAMS
    run: str  # lines of &RUN_PARAMS
    steps: int
    ranks: int
    others: tuple[int, ...]  # numbers of ranks to restart on
    tolerance: float = GAS
    inputs: Callable[[Path], None] | None = None  # writes further files that RAMSES reads
    random: bool = False  # it draws a number an oct: a restart on other ranks goes on, but not as the uninterrupted run
    needs: str = ""  # words of RAMSES' make; a program without them does not run the set-up. Only if SETUPS names it
    other_codes: bool = False  # also through checkpoints of AMReX and FLASH


def write_ball(folder: Path) -> None:
    """Writes 6000 particles of dark matter around the centre: position from it, velocity, mass. The seed is fixed."""
    draw = random.Random(1)
    lines = []
    while len(lines) < 6000:
        at = [draw.uniform(-0.25, 0.25) for _ in range(3)]
        if sum(x * x for x in at) < 0.0625:
            numbers = [*at, *(draw.gauss(0, 0.7) for _ in range(3)), 1 / 6000]
            lines.append(" ".join(f"{x:.12e}" for x in numbers))
    (folder / "ic_part").write_text("\n".join(lines) + "\n")


def write_grafic(folder: Path, cells: int = 32, start: float = 0.1) -> None:
    """Writes a young universe of 10 Mpc as RAMSES reads it: waves of random phases, moved by Zel'dovich's approximation."""
    draw = np.random.default_rng(1)
    step, hubble, omega = np.float64(10 / cells), 70.0, 0.3
    k = np.fft.fftfreq(cells, 1 / cells)
    kx, ky, kz = np.meshgrid(k, k, k, indexing="ij")
    square = np.maximum(kx**2 + ky**2 + kz**2, 1)
    white = np.fft.fftn(draw.normal(size=(cells,) * 3)) * ((square <= 36) & (kx**2 + ky**2 + kz**2 > 0)) / square
    density = np.fft.ifftn(white).real
    white, density = white * (0.25 / density.std()), density * (0.25 / density.std())
    per_mpc = start * hubble * np.sqrt(omega / start**3 + 1 - omega)  # [km/s] of growing waves, for each Mpc
    wave = 2 * np.pi / (cells * step)
    arrays = {"deltab": density}
    for name, along in (("x", kx), ("y", ky), ("z", kz)):
        arrays["velc" + name] = np.fft.ifftn(1j * along * white / (square * wave)).real * per_mpc
    head = np.array([cells] * 3, "<i4").tobytes()
    head += np.array([step, 0, 0, 0, start, omega, 1 - omega, hubble], "<f4").tobytes()
    (folder / "ic").mkdir()
    for name, values in arrays.items():
        records = [head, *(plane.T.astype("<f4").tobytes() for plane in values.transpose(2, 0, 1))]
        with (folder / "ic" / f"ic_{name}").open("wb") as out:
            for record in records:
                out.write(len(record).to_bytes(4, "little") + record + len(record).to_bytes(4, "little"))


COSMOLOGY = """
&AMR_PARAMS
levelmin=5, levelmax=8, ngridmax=60000, npartmax=80000, nexpand=1
/
&INIT_PARAMS
filetype='grafic', initfile(1)='ic'
/
&REFINE_PARAMS
m_refine=6*3., interpol_var=1, interpol_type=0
/
&HYDRO_PARAMS
gamma=1.6666667, courant_factor=0.8, slope_type=1, riemann='hllc', smallr=1e-11
/
"""

PERIODIC_BOX = """
&AMR_PARAMS
levelmin=4, levelmax=6, ngridmax=60000, nexpand=1, boxlen=1.0{particles}
/
&REFINE_PARAMS
{refine}
interpol_var=0, interpol_type=2
/
&HYDRO_PARAMS
gamma=1.4, courant_factor=0.8, slope_type=1, riemann='{riemann}'
/
"""

SETUPS = [
    Setup(
        "sedov",
        3,
        "hydro",
        PERIODIC_BOX.format(refine="err_grad_p=0.1, err_grad_d=0.1", riemann="hllc", particles="")
        + """
&INIT_PARAMS
nregion=2, region_type='square','point', exp_region=10,10
x_center=0.5,0.5, y_center=0.5,0.5, z_center=0.5,0.5, length_x=10,1, length_y=10,1, length_z=10,1
d_region=1,0, p_region=1e-5,0.1
/
""",
        "hydro=.true., nsubcycle=10*2, nremap=3",
        10,
        4,
        (1, 2, 8),
        other_codes=True,
    ),
    Setup(
        "dark-matter",
        3,
        "hydro",
        PERIODIC_BOX.format(
            refine="m_refine=6*8, mass_sph=3e-4, err_grad_d=0.5", riemann="hllc", particles=", npartmax=20000"
        )
        + """
&INIT_PARAMS
filetype='ascii', initfile(1)='.'
nregion=2, region_type='square','square', exp_region=10,2
x_center=0.5,0.5, y_center=0.5,0.5, z_center=0.5,0.5, length_x=10,0.3, length_y=10,0.3, length_z=10,0.3
d_region=0.1,2, u_region=0,0.1, p_region=0.1,0.3
/
&POISSON_PARAMS
epsilon=1d-4
/
""",
        "hydro=.true., pic=.true., poisson=.true., nsubcycle=2*1,10*2, nremap=2",
        3,
        3,
        (1, 5),
        GRAVITY,
        inputs=write_ball,
    ),
    Setup(
        "cosmology",
        3,
        "hydro",
        COSMOLOGY,
        "hydro=.true., pic=.true., poisson=.true., cosmo=.true., nsubcycle=1,1,2,2, nremap=3",
        6,
        3,
        (1, 2),
        GRAVITY,
        inputs=write_grafic,
    ),
    Setup(
        "stars",
        3,
        "hydro",
        COSMOLOGY.replace("levelmax=8", "levelmax=6")
        + """
&SF_PARAMS
n_star=1e-6, eps_star=0.5, m_star=0.1, del_star=1.5
/
""",
        "hydro=.true., pic=.true., poisson=.true., cosmo=.true., nsubcycle=1,1,2,2, nremap=3",
        3,
        2,
        (),
        GRAVITY,
        inputs=write_grafic,
        random=True,
    ),
    Setup(
        "turbulence",
        3,
        "hydro",
        PERIODIC_BOX.format(refine="err_grad_d=0.5", riemann="hllc", particles="").replace("levelmax=6", "levelmax=5")
        + """
&INIT_PARAMS
nregion=1, region_type='square', exp_region=10
x_center=0.5, y_center=0.5, z_center=0.5, length_x=10, length_y=10, length_z=10, d_region=1, p_region=1
/
&TURB_PARAMS
turb=.true., turb_type=1, turb_seed=7, turb_T=0.02, turb_Ndt=10, turb_rms=200
/
""",
        "hydro=.true., nsubcycle=10*1, nremap=3",
        6,
        2,
        (1, 3),
        needs="USE_TURB=1",
    ),
    Setup(
        "implosion-in-walls",
        2,
        "hydro",
        """
&AMR_PARAMS
levelmin=5, levelmax=8, ngridmax=20000, nexpand=2, boxlen=1.0
/
&BOUNDARY_PARAMS
nboundary=4, bound_type=1,1,1,1
ibound_min=-1,1,-1,-1, ibound_max=-1,1,1,1, jbound_min=0,0,1,-1, jbound_max=0,0,1,-1
/
&INIT_PARAMS
nregion=2, region_type='square','square', exp_region=10,1
x_center=0.5,0, y_center=0.5,0, length_x=1,1, length_y=1,1
d_region=1,0.125, p_region=1,0.4
/
&REFINE_PARAMS
err_grad_d=0.05, err_grad_u=0.05, err_grad_p=0.05, interpol_var=0, interpol_type=2
/
&HYDRO_PARAMS
gamma=1.4, courant_factor=0.8, slope_type=2, riemann='hllc'
/
""",
        "hydro=.true., nsubcycle=10*2, nremap=5",
        20,
        4,
        (2, 3),
    ),
]


def write_namelist(setup: Setup, folder: Path, restart: bool) -> None:
    """Writes run.nml: to the end, or from output 2 to the end. RAMSES writes an output at the begin of a step."""
    folder.mkdir(parents=True)
    (folder / "run.nml").write_text(
        f"&RUN_PARAMS\n{setup.run}, ncontrol=1, nstepmax={2 * setup.steps + 1}, nrestart={2 if restart else 0}\n/\n"
        f"&OUTPUT_PARAMS\nfoutput={setup.steps}, noutput=1, tout=1e9\n/\n{setup.namelist}"
    )


def ramses(program: Path, folder: Path, ranks: int) -> str:
    """Runs RAMSES to output 3. It ends with exit code 0 after an error, too, so the output is looked for."""
    text = judge.run([program, "run.nml"], folder, "ramses.log", ranks)
    if not (folder / "output_00003/info_00003.txt").exists():
        said = [line.strip() for line in text.splitlines() if line.strip()]
        raise judge.Stopped(f"RAMSES did not come to output 3: {' / '.join(said[-3:])[:200]} ({folder}/ramses.log)")
    return text


def last_step(text: str) -> tuple[list[tuple[int, int]], float]:
    """Returns what RAMSES itself says of its last step: (level, octs) of each level, and the error of the mass."""
    steps = text.split("Mesh structure")
    levels = re.findall(r"Level\s+(\d+) has\s+(\d+) grids", steps[-1])
    masses = re.findall(r"mcons=\s*(\S+)", text)
    return [(int(level), int(octs)) for level, octs in levels], float(masses[-1]) if masses else 0.0


@dataclass
class Run:
    """A set-up's uninterrupted run."""

    trial: judge.Trial
    program: Path
    setup: Setup
    folder: Path  # of the uninterrupted run
    text: str

    def name(self, words: str) -> str:
        return f"ramses {self.setup.solver} {self.setup.name}, {words}"


def restart(run: Run, words: str, output: Path, ranks: int, tolerance: float | None = None) -> judge.Difference | None:
    """Continues from `output` on `ranks` ranks; checks the end, and the octs that RAMSES counts."""
    folder = run.folder.parent / re.sub(r"\W+", "-", words)
    write_namelist(run.setup, folder, True)
    (folder / "output_00002").symlink_to(output)
    tolerance = run.setup.tolerance if tolerance is None else tolerance
    try:
        text = ramses(run.program, folder, ranks)
        found = judge.difference(run.folder / "output_00003", folder / "output_00003", tolerance)
    except judge.Stopped as stopped:
        run.trial.check(run.name(words), False, str(stopped))
        return None
    goes_on = run.setup.random and ranks != run.setup.ranks
    run.trial.check(run.name(words), found.equal or goes_on, f"{found.text()}, tolerance {tolerance:.0e}")
    (octs, mass), (octs_before, mass_before) = last_step(text), last_step(run.text)
    same = (octs == octs_before or goes_on) and bool(octs)
    run.trial.check(run.name(words) + ": octs of each level, as RAMSES counts them", same, str(octs))
    same = abs(mass - mass_before) < 1e-12 or goes_on  # gas becomes stars
    figure = f"{mass:.1e} from the start's, {mass_before:.1e} in the uninterrupted run"
    run.trial.check(run.name(words) + ": mass, as RAMSES sums it", same, figure)
    shutil.rmtree(folder)
    return found


def folder_for(run: Run, words: str) -> Path:
    return run.folder.parent / ("from-" + re.sub(r"\W+", "-", words))


def restart_converted(run: Run, words: str, source: Path, ranks: int, *options: str) -> None:
    """Octavo writes `source` as an output for `ranks` ranks; RAMSES continues from it."""

    def work() -> None:
        folder = folder_for(run, words)
        folder.mkdir()
        out = folder / "output_00002"
        judge.octavo(folder, "convert", source, out, "--to", "ramses", "--domains", str(ranks), *options)
        restart(run, words, out, ranks)

    run.trial.attempt(run.name(words), work)


def on_other_ranks(run: Run, source: Path) -> None:
    """Restarts on other numbers of ranks; and from the output for the last of them back on the first number."""
    home = run.setup.ranks
    for ranks in run.setup.others:
        restart_converted(run, f"{home} to {ranks} ranks", source, ranks)
    if not run.setup.others:
        return
    last = run.setup.others[-1]
    there = folder_for(run, f"{home} to {last} ranks") / "output_00002"
    restart_converted(run, f"{last} back to {home} ranks", there, home)


def through_a_store(run: Run, source: Path) -> None:
    """Converts to a store, repacks it to other domains, and makes outputs of both."""
    store, packed = (run.folder.parent / f"{name}.octavo" for name in ("run", "packed"))
    judge.octavo(run.folder, "convert", source, store)
    judge.octavo(run.folder, "verify", store)
    restart_converted(run, "through a store", store, run.setup.ranks)
    judge.octavo(run.folder, "repack", store, packed, "--domains", "3")
    restart_converted(run, "through a store repacked to 3 domains, 3 ranks", packed, 3)


def through_other_codes(run: Run, source: Path) -> None:
    """Through a checkpoint of AMReX and one of FLASH."""
    for code, path, options in (
        ("amrex", "chk00002", ["--kind", "checkpoint"]),
        ("flash", "step_hdf5_chk_0002", ["--fill"]),
    ):
        other = run.folder.parent / path
        judge.octavo(run.folder, "convert", source, other, "--to", code, *options)
        restart_converted(run, f"through a checkpoint of {code}", other, run.setup.ranks)


def controls(run: Run, source: Path) -> None:
    """Checks that the judge sees differences: of other steps, and after a restart from values with an error of 1e-4."""
    found = judge.difference(source, run.folder / "output_00003", run.setup.tolerance)
    run.trial.check(run.name("control: output 2 is not output 3"), not found.equal, found.text()[:60])
    store = run.folder.parent / "lossy.octavo"
    judge.octavo(run.folder, "convert", source, store, "--codec", "point:1e-4")
    folder = run.folder.parent / "lossy"
    write_namelist(run.setup, folder, True)
    judge.octavo(folder, "convert", store, folder / "output_00002", "--to", "ramses", "--lossy-ok")
    ramses(run.program, folder, run.setup.ranks)
    found = judge.difference(run.folder / "output_00003", folder / "output_00003", run.setup.tolerance)
    run.trial.check(run.name("control: a lossy restart is seen"), not found.equal, found.text()[:60])


def refuses_another_number(run: Run, source: Path) -> None:
    """RAMSES itself must refuse its own output on another number of ranks: else the trials prove little."""
    folder = run.folder.parent / "refused"
    write_namelist(run.setup, folder, True)
    (folder / "output_00002").symlink_to(source)
    try:
        ramses(run.program, folder, run.setup.ranks + 1)
        run.trial.check(run.name("its own output on another number of ranks"), False, "RAMSES took it")
    except judge.Stopped:
        run.trial.check(run.name("its own output on another number of ranks"), True, "refused by RAMSES")


def try_setup(trial: judge.Trial, program: Path, setup: Setup, folder: Path) -> None:
    write_namelist(setup, folder / "native", False)
    if setup.inputs:
        setup.inputs(folder / "native")
    text = ramses(program, folder / "native", setup.ranks)
    run = Run(trial, program, setup, folder / "native", text)
    source = run.folder / "output_00002"
    if setup.needs and not (source / "turb_fields.dat").exists():
        return trial.skip(run.name(""), f"{program} was built without {setup.needs}")
    restart(run, f"native restart, {setup.ranks} ranks", source, setup.ranks)
    restart_converted(run, "converted, same domains", source, setup.ranks)
    on_other_ranks(run, source)
    trial.attempt(run.name("through a store"), lambda: through_a_store(run, source))
    if setup.other_codes:
        trial.attempt(run.name("through other codes"), lambda: through_other_codes(run, source))
    trial.attempt(run.name("refusal"), lambda: refuses_another_number(run, source))
    trial.attempt(run.name("controls"), lambda: controls(run, source))


def kind_of(program: Path, folder: Path) -> tuple[int, str]:
    """Returns the dimension and the solver that a program was built for; it prints them if it gets no namelist."""
    text = judge.run([program], folder, "kind.log", 1, any_code=True)
    dim, solver = re.search(r"ndim\s*=\s*(\d)", text), re.search(r"solver\s*=\s*(\w+)", text)
    if not dim or not solver:
        raise judge.Stopped(f"{program} does not say its dimension and solver, see {folder}/kind.log")
    return int(dim[1]), solver[1]


def main() -> int:
    trial = judge.Trial(judge.folder_of("ramses"))
    found = judge.programs("RAMSES", "bin/ramses[123]d")
    if not found:
        trial.skip("ramses", "RAMSES=TREE[:TREE...] names no tree with a built program bin/ramses2d or bin/ramses3d")
    wanted = os.environ.get("SETUPS", "").split()
    all_names = [setup.name for setup in SETUPS if not setup.needs]
    for number, program in enumerate(found):
        dim, solver = kind_of(program, trial.folder)
        setups = [s for s in SETUPS if (s.dim, s.solver) == (dim, solver) and s.name in (wanted or all_names)]
        if not setups:
            trial.skip(str(program), f"no set-up for {dim}-D {solver}")
        for setup in setups:
            folder = trial.folder / f"{number}-{solver}-{dim}d-{setup.name}"
            trial.attempt(
                f"ramses {solver} {setup.name}", lambda p=program, s=setup, f=folder: try_setup(trial, p, s, f)
            )
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
