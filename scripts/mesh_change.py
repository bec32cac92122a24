"""mesh_change.py [--work DIR] [--out docs/figures]   What a change of the mesh package in the middle of a run does to its
answer: a Sedov blast of 41 checkpoints on blocks and on patches, and again with the mesh changed at checkpoint 21, both
ways. For checkpoints 22 to 41 the magnitude error (`octavo diff`) of the changed run beside the one that went on where it
was: density and temperature on the mesh (mesh_change_fields.png) and at the tracers (mesh_change_tracers.png), and
positions. All runs have the same constant time step, so that they are compared at the same times.

Needs build/release/apps/octavo-sedov; takes half a minute on 2 cores."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
SEDOV = ROOT / "build/release/apps/octavo-sedov"
OCTAVO = ROOT / ".venv/bin/octavo"
STEPS = 18  # between checkpoints
FIRST, LAST, CHANGE = 22, 41, 21
OTHER = {"blocks": "patches", "patches": "blocks"}
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def sedov(mesh: str, ranks: int, store: Path, *more: str) -> None:
    """Runs to the last checkpoint."""
    words = [
        "mpirun",
        "-n",
        ranks,
        SEDOV,
        "--mesh",
        mesh,
        "--roots",
        8,
        "--block",
        4,
        "--max-level",
        2,
        "--tracers",
        32,
    ]
    words += ["--dt", "1.2e-4", "--steps", STEPS * LAST, "--checkpoint-every", STEPS, "--analysis-every", 10**6]
    subprocess.run([str(w) for w in [*words, "--store", store, "--quiet", *more]], check=True, env=os.environ | MPI)


def magnitudes(a: Path, b: Path, checkpoint: int) -> dict[str, float]:
    """The magnitude errors between two runs at a checkpoint, by variable and tracers/attribute."""
    words = [OCTAVO, "diff", a, b, "--flow", "checkpoint", "--step", checkpoint * STEPS, "--json"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    report = json.loads(done.stdout)
    found = {name: row["magnitude"] for name, row in report["variables"].items()}
    for name, row in report["particles"]["tracers"]["attributes"].items():
        found["tracers/" + name] = row["magnitude"]
    return found


def draw(path: Path, title: str, names: dict[str, str], errors: dict[str, list[dict[str, float]]]) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.2), dpi=110)
    for start, style in (("blocks", "o-"), ("patches", "s--")):
        for (name, label), colour in zip(names.items(), ("tab:blue", "tab:red", "tab:green"), strict=False):
            values = [row[name] for row in errors[start]]
            axes.plot(
                range(FIRST, LAST + 1), values, style, color=colour, markersize=4, linewidth=1,
                label=f"{label}, {start} to {OTHER[start]}",
            )  # fmt: skip
    axes.set_yscale("symlog", linthresh=1e-16)  # 0: the same bits
    axes.set_ylim(bottom=-2e-17)
    axes.set_xticks(range(FIRST - 1, LAST + 1, 2))
    axes.set_xlabel("checkpoint")
    axes.set_ylabel("magnitude error")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "build/mesh_change", help="where the stores go")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/figures")
    parser.add_argument("--ranks", type=int, nargs=2, default=(2, 3), help="before the change, and after it")
    arguments = parser.parse_args()
    subprocess.run(["rm", "-rf", str(arguments.work)], check=True)
    arguments.work.mkdir(parents=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    errors: dict[str, list[dict[str, float]]] = {}
    for start in OTHER:
        sedov(start, arguments.ranks[0], arguments.work / f"{start}.octavo")
    for start, other in OTHER.items():
        stayed, changed = arguments.work / f"{start}.octavo", arguments.work / f"{start}-{other}.octavo"
        sedov(other, arguments.ranks[1], changed, "--restart", str(stayed), "--restart-step", str(CHANGE * STEPS))
        errors[start] = [magnitudes(stayed, changed, n) for n in range(FIRST, LAST + 1)]
        last = errors[start][-1]
        print(f"{start} to {other}, checkpoint {LAST}:", {name: f"{value:.2e}" for name, value in last.items()})
    (arguments.work / "errors.json").write_text(json.dumps(errors, indent=1))
    fields = {"density": "density", "temperature": "temperature"}
    draw(arguments.out / "mesh_change_fields.png", "On the mesh: changed at checkpoint 21 or not", fields, errors)
    tracers = {f"tracers/{name}": name for name in ("density", "temperature", "position_x")}
    draw(arguments.out / "mesh_change_tracers.png", "At the tracers: changed at checkpoint 21 or not", tracers, errors)


if __name__ == "__main__":
    main()
