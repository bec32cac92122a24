"""What a bound does to science: maps, histograms, power spectra, conserved sums and the divergence of B, before and after.

.venv/bin/python bench/bounds.py    real outputs of $OCTAVO_DATA; docs/figures/bounds-*.png and bench/results/bounds.md
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import octavo

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data"))
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
BOUNDS = ["point:2e-2", "point:2e-3", "point:2e-4", "range:1e-3"]
SHOWN = "point:2e-3"  # in the map of differences
PIXELS = 256
# Name of the picture, title, path, density, velocities, pressure.
SETS = [
    ("dm-gas", "RAMSES, dark matter and gas, 3-D", "ramses/dm_gas_gravity3d_3ranks/output_00002", "density",
     ["velocity_x", "velocity_y", "velocity_z"], "pressure"),
    ("implosion", "RAMSES, implosion, 2-D", "ramses/implosion2d_2ranks/output_00002", "density",
     ["velocity_x", "velocity_y"], "pressure"),
    ("sedov", "RAMSES, Sedov blast, 3-D", "ramses/sedov3d_4ranks_medium/output_00002", "density",
     ["velocity_x", "velocity_y", "velocity_z"], "pressure"),
    ("flash", "FLASH, Sedov blast, 2-D", "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002", "dens", ["velx", "vely"], "pres"),
    ("amrex", "AMReX, smooth fields, 2-D", "amrex/single2d_r3/plt00007", "density", [], None),
]  # fmt: skip


def converted(source: Path, folder: Path, bound: str) -> tuple[Any, float]:
    """The step within a bound, and how much smaller its fields are."""
    out = folder / (bound.replace(":", "-") + ".octavo")
    words = [OCTAVO, "convert", source, out, "--codec", bound, "--no-particles", "--json"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    fields = json.loads(done.stdout)["fields"].values()
    return octavo.open(out), sum(field["raw"] for field in fields) / sum(field["stored"] for field in fields)


def spectrum(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Power of a square map over wave numbers, in cycles a side: |FFT|^2 summed over rings of width 1."""
    power = np.abs(np.fft.fft2(image - image.mean())) ** 2 / image.size**2
    axes = np.meshgrid(*(np.fft.fftfreq(n, 1 / n) for n in image.shape), indexing="ij")
    ring = np.rint(np.hypot(*axes)).astype(int).ravel()
    half = min(image.shape) // 2
    return np.arange(1, half), np.bincount(ring, power.ravel())[1:half]


def conserved(
    cells: dict[str, np.ndarray], dim: int, density: str, velocities: list[str], pressure: str | None
) -> dict:
    """Sums over the leaves, each with the sum of magnitudes that it is compared with."""
    volume = cells["dx"] ** dim
    mass = cells[density] * volume
    sums = {"mass": (mass.sum(), np.abs(mass).sum())}
    for name in velocities[:1]:
        sums["momentum"] = ((mass * cells[name]).sum(), np.abs(mass * cells[name]).sum())
    if velocities:
        kinetic = 0.5 * mass * sum(cells[name] ** 2 for name in velocities)
        sums["kinetic energy"] = (kinetic.sum(), kinetic.sum())
    if pressure:
        internal = cells[pressure] * volume
        sums["pressure"] = (internal.sum(), np.abs(internal).sum())
    return sums


def picture(name: str, title: str, density: str, before: Any, after: dict[str, Any], cells: dict[str, dict]) -> None:
    """Density before, its relative change, histograms and power spectra."""
    figure = Figure(figsize=(11, 9), layout="constrained")
    FigureCanvasAgg(figure)
    (map_panel, change_panel), (histogram_panel, spectrum_panel) = figure.subplots(2, 2)
    maps = {bound: np.asarray(step.map(density, weight="volume", pixels=PIXELS)) for bound, step in after.items()}
    whole = np.asarray(before.map(density, weight="volume", pixels=PIXELS))
    shown = map_panel.imshow(whole, origin="lower", cmap="viridis")
    figure.colorbar(shown, ax=map_panel, label=f"{density} [code units]")
    figure.suptitle(title)
    map_panel.set(title=f"mean {density} along z, before", xticks=[], yticks=[])
    change = maps[SHOWN] / whole - 1
    limit = max(float(np.nanmax(np.abs(change))), 1e-300)
    shown = change_panel.imshow(change, origin="lower", cmap="RdBu", vmin=-limit, vmax=limit)
    figure.colorbar(shown, ax=change_panel, label="change / value")
    change_panel.set(title=f"relative change of that map, {SHOWN}", xticks=[], yticks=[])
    every = {"before": cells["before"], **cells}
    positive = every["before"][density][every["before"][density] > 0]
    edges = np.geomspace(positive.min() * 0.95, positive.max() * 1.05, 65)
    for number, (label, one) in enumerate(every.items()):
        weights = one["dx"] ** before._data.dim
        weights /= weights.sum()
        counts, _ = np.histogram(one[density], edges, weights=weights)
        style = {"color": "k", "lw": 3, "alpha": 0.4} if label == "before" else {"color": f"C{number}", "lw": 1}
        histogram_panel.stairs(counts, edges, label=label, **style)
        if label == "before":
            spectrum_panel.loglog(*spectrum(whole), label=label, **style)
        else:
            spectrum_panel.loglog(*spectrum(maps[label]), label=label, **style)
            spectrum_panel.loglog(*spectrum(maps[label] - whole), color=style["color"], ls=":", lw=1)
    histogram_panel.set(
        title="volume by density",
        xlabel=f"{density} [code units]",
        ylabel="share of the volume",
        xscale="log",
        yscale="log",
    )
    histogram_panel.legend(fontsize=8)
    spectrum_panel.set(
        title="power of the map; dotted: power of its error",
        xlabel="waves along a side",
        ylabel="power [code units squared]",
    )
    spectrum_panel.legend(fontsize=8)
    figure.savefig(ROOT / "docs" / "figures" / f"bounds-{name}.png", dpi=70)


def one_set(name: str, title: str, path: str, density: str, velocities: list[str], pressure: str | None,
            folder: Path) -> list[str]:  # fmt: skip
    """Draws one set and returns the rows of its table."""
    source = DATA / path
    before = octavo.open(source)
    fields = [density, *velocities, *([pressure] if pressure else [])]
    after, ratios = {}, {}
    for bound in BOUNDS:
        after[bound], ratios[bound] = converted(source, folder, bound)
    cells = {"before": before.arrays(fields)} | {bound: step.arrays(fields) for bound, step in after.items()}
    picture(name, title, density, before, after, cells)
    dim = before._data.dim
    given = conserved(cells["before"], dim, density, velocities, pressure)
    _, power = spectrum(np.asarray(before.map(density, weight="volume", pixels=PIXELS)))
    rows = []
    for bound in BOUNDS:
        found = conserved(cells[bound], dim, density, velocities, pressure)
        drifts = [f"{abs(found[key][0] - total) / size:.1e}" if size else "0" for key, (total, size) in given.items()]
        drifts += [""] * (4 - len(drifts))
        numbers, changed = spectrum(np.asarray(after[bound].map(density, weight="volume", pixels=PIXELS)))
        low, high = numbers <= 16, numbers > 64
        worst = [f"{np.abs(changed[part] / power[part] - 1).max():.1e}" for part in (low, high)]
        rows.append(f"| {title} | {bound} | {ratios[bound]:.1f} | " + " | ".join(drifts + worst) + " |")
    return rows


# ------------------------------------------------------------------------------------------- divergence of B


def solenoidal(n: int) -> list[np.ndarray]:
    """Face values of a field without divergence, periodic, n cells a side: [axis], each (n, n, n) in z, y, x. It is the curl of
    a potential with amplitudes k^-11/6 at random phases."""
    rng, k = np.random.default_rng(7), np.fft.fftfreq(n, 1 / n)
    size = np.sqrt(sum(x**2 for x in np.meshgrid(k, k, k, indexing="ij")))
    size[0, 0, 0] = 1
    potential = []
    for _ in range(3):
        modes = np.fft.fftn(rng.normal(size=(n, n, n))) * size ** (-11 / 6 - 1)
        modes[size > n / 3] = 0
        potential.append(np.fft.ifftn(modes).real)
    ax, ay, az = potential
    ahead = lambda a, axis: np.roll(a, -1, axis) - a  # noqa: E731
    field = [ahead(az, 1) - ahead(ay, 0), ahead(ax, 0) - ahead(az, 2), ahead(ay, 2) - ahead(ax, 1)]
    return [component / np.std(field[0]) for component in field]


def divergence(faces: list[np.ndarray]) -> np.ndarray:
    """Of each cell, times the cell's width."""
    return sum(np.roll(faces[axis], -1, 2 - axis) - faces[axis] for axis in range(3))


def of_divergence(folder: Path) -> list[str]:
    """Rows for a field of our own on a tree of 64^3 leaves: no real set has B."""
    n, faces = 64, solenoidal(64)
    store = folder / "b.octavo"
    write_uniform(store, {f"b_{axis}": faces[a] for a, axis in enumerate("xyz")})
    rows = []
    for bound in ["lossless", *BOUNDS, "abs:1e-3"]:
        step, ratio = converted(store, folder, bound) if bound != "lossless" else (octavo.open(store), None)
        cells = step.arrays(["b_x", "b_y", "b_z"])
        at = tuple(np.rint(cells[axis] * n - 0.5).astype(int) for axis in "zyx")
        found = []
        for axis in "xyz":
            whole = np.empty((n, n, n))
            whole[at] = cells["b_" + axis]
            found.append(whole)
        div = np.abs(divergence(found))
        smaller = "" if ratio is None else f"{ratio:.1f}"
        rows.append(f"| {bound} | {smaller} | {div.max():.1e} | {np.sqrt(np.mean(div**2)):.1e} |")
    return rows


def write_uniform(store: Path, fields: dict[str, np.ndarray]) -> None:
    """A store of a tree that is refined everywhere; coarse cells have the means of their children."""
    from mpi4py import MPI

    n = next(iter(fields.values())).shape[0]
    levels = n.bit_length() - 1
    order = [np.zeros((1, 3), int)]  # places x, y, z of each level's cells
    corners = np.array([[child >> axis & 1 for axis in range(3)] for child in range(8)])
    for _ in range(levels):
        order.append((2 * order[-1][:, None, :] + corners).reshape(-1, 3))
    refined = [np.full(len(places), level < levels) for level, places in enumerate(order)]
    with octavo.Writer(MPI.COMM_WORLD, store, octavo.Header(code="example")) as writer:
        writer.begin_step("analysis", 0, 0.0)
        writer.put_mesh(octavo.Octree(refined))
        for name, values in fields.items():
            pyramid = [values]
            while len(pyramid[-1]) > 1:
                m = len(pyramid[-1]) // 2
                pyramid.append(pyramid[-1].reshape(m, 2, m, 2, m, 2).mean(axis=(1, 3, 5)))
            levels_of = zip(reversed(pyramid), order, strict=True)
            writer.put_field(name, np.concatenate([whole[at[:, 2], at[:, 1], at[:, 0]] for whole, at in levels_of]))
        writer.end_step()


HEAD = """# Bounds and science

`.venv/bin/python bench/bounds.py`. Real outputs and the divergence of a field of our own. Drifts are those of a sum over the leaves, over
the sum of magnitudes. The last columns are the largest relative change of the power of the map of density (256 x 256 pixels) at wave
numbers up to 16 and beyond 64.

| set | bound | ratio | mass | momentum x | kinetic energy | pressure | power, k <= 16 | k > 64 |
|---|---|---|---|---|---|---|---|---|
"""
BETWEEN = """
Divergence of B of each cell of 64^3, times the cell's width, beside a field of unit variance (power k^-11/3, curl of a potential):

| bound | ratio | largest | root of mean square |
|---|---|---|---|
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        rows = []
        for number, (key, *words) in enumerate(SETS):
            folder = Path(name) / str(number)
            folder.mkdir()
            if (DATA / words[1]).exists():
                rows += one_set(key, *words, folder)
        folder = Path(name) / "b"
        folder.mkdir()
        text = HEAD + "\n".join(rows) + "\n" + BETWEEN + "\n".join(of_divergence(folder)) + "\n"
    (ROOT / "bench" / "results" / "bounds.md").write_text(text)


if __name__ == "__main__":
    main()
