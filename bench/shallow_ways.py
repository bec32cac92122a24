"""Ways to write the results of a distributed unstructured mesh: octavo-shallow with each of them, in turn, in one run.

.venv/bin/python bench/run.py shallow          1.66 million triangles, 4 ranks; OCTAVO_BENCH_REPETITIONS (default 5)

OCTAVO_BENCH_REFINE sets how often malpasset-small's 26,000 triangles are cut into four (default 3). The picture goes to
docs/figures/shallow-ways.png.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from engine_bars import MPI

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data")) / "serafin"
SOLVER = Path(os.environ.get("OCTAVO_SHALLOW", ROOT / "build" / "release" / "apps" / "shallow" / "octavo-shallow"))
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
REPETITIONS = int(os.environ.get("OCTAVO_BENCH_REPETITIONS", "5"))
RANKS = int(os.environ.get("OCTAVO_BENCH_RANKS", "4"))
STEPS = int(os.environ.get("OCTAVO_BENCH_STEPS", "8"))  # of the solver between two results
RESULTS = 4  # and the state at the start
RATE = 100  # [MB/s] of the throttled store, all ranks together
WAYS = {
    "background": "octavo, in the background",
    "sync": "octavo, in the call",
    "view": "MPI-IO, file view, blocking",
    "view-nonblocking": "MPI-IO, file view, non-blocking",
    "pieces": "a file a rank, then octavo merge",
}


def run(words, environment=None):
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, env={**MPI, **os.environ, **(environment or {})}
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def throttled(folder):
    """Makes the writes of all processes share one slow store."""
    library = folder / "throttle.so"
    run(["cc", "-shared", "-fPIC", "-O2", ROOT / "bench" / "throttle.c", "-o", library, "-ldl"])
    return {"LD_PRELOAD": str(library), "THROTTLE_MB_S": str(RATE), "THROTTLE_SHARED": str(library)}


def solve(folder, mesh, way, environment=None):
    """The report of one run, and the seconds of merging where there are pieces."""
    for old in folder.glob("result*"):
        old.unlink()
    slow = [word for name, value in (environment or {}).items() for word in ("-x", f"{name}={value}")]
    words = ["mpirun", "-n", RANKS, *slow, SOLVER, mesh, "--method", "hilbert", "--until", "1e9"]
    words += [
        "--steps",
        RESULTS * STEPS,
        "--strickler",
        "30",
        "-o",
        folder / "result.slf",
        "--every-steps",
        STEPS,
        "--io",
        way,
        "--json",
    ]
    report = json.loads(run(words))
    report["merge"] = 0.0
    if way == "pieces":
        begin = time.monotonic()
        run(
            [OCTAVO, "merge", folder / "result.slf", "--mesh", mesh, "-o", folder / "result-merged.slf", "-q"],
            environment,
        )
        report["merge"] = time.monotonic() - begin
    return report


def costs(reports):
    """Medians [s] a result: what the solver waited for, with the last wait, and with merging."""

    def each(seconds):
        return statistics.median(seconds(report) / report["results"] for report in reports)

    return [
        each(lambda report: report["seconds_results"]),
        each(lambda report: report["seconds_results"] + report["seconds_closing"]),
        each(lambda report: report["seconds_results"] + report["seconds_closing"] + report["merge"]),
    ]


def measure(folder, mesh, environment):
    """Costs by way: all ways in turn, so that a disturbance meets all of them."""
    reports = {way: [] for way in WAYS}
    for _ in range(REPETITIONS):
        for way in WAYS:
            reports[way].append(solve(folder, mesh, way, environment))
    return {way: costs(found) for way, found in reports.items()}


def show(head, row, label, measured):
    head(label, "ms a result in the solver", "with the last wait", "with merging", "ratio to octavo in the background")
    best = measured["background"][1]
    for way, name in WAYS.items():
        visible, closed, merged = measured[way]
        row(name, f"{1e3 * visible:.0f}", f"{1e3 * closed:.0f}", f"{1e3 * merged:.0f}", f"{merged / best:.1f}")


def draw(stores, path):
    """Bars of each way in each store: in the solver, and what comes on top of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, (label, measured) in zip(figure.subplots(1, len(stores)), stores.items(), strict=True):
        names = [WAYS[way].replace(", ", "\n", 1) for way in WAYS]
        for part, (name, colour) in enumerate(
            [("in the solver", "#31688e"), ("last wait", "#8fb8cc"), ("merge", "#d8b365")]
        ):
            below = [measured[way][part - 1] if part else 0 for way in WAYS]
            tall = [measured[way][part] - low for way, low in zip(WAYS, below, strict=True)]
            axes.barh(
                names, [1e3 * value for value in tall], left=[1e3 * low for low in below], color=colour, label=name
            )
        axes.invert_yaxis()
        axes.set_title(label.replace(" (", "\n("), fontsize=9)
        axes.set_xlabel("ms a result", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=7)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def tables(folder, head, row):
    mesh = folder / "mesh.slf"
    times = os.environ.get("OCTAVO_BENCH_REFINE", "3")
    coarse = DATA / "geo_malpasset-small.slf"
    facts = json.loads(run([OCTAVO, "refine", coarse, "-o", mesh, "--times", times, "-q", "--json"]))
    print(f"\n{facts['elements']} triangles, {20 * facts['points'] / 1e6:.1f} MB a result of 5 variables")
    print(f"{RANKS} ranks, {REPETITIONS} repetitions")
    stores = {"page cache": None, f"a store of {RATE} MB/s (passed by non-blocking MPI-IO)": throttled(folder)}
    measured = {}
    for label, environment in stores.items():
        measured[label] = measure(folder, mesh, environment)
        show(head, row, label, measured[label])
    draw(measured, ROOT / "docs" / "figures" / "shallow-ways.png")
