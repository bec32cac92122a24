"""movie.py STORE OUT.gif [--field density] [--pixels 480]   All analysis steps of 2-D stores as a movie: the field, the outlines of
the blocks in which its leaves stand, and the tracers. Several stores are shown one after another (steps that a run
repeated once). OUT may also end in .png: the last step alone; or in .mp4, where there is ffmpeg."""

from __future__ import annotations

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.collections import LineCollection

import octavo


def outlines(dataset: octavo.Dataset, block: int) -> np.ndarray:
    """The edges of all blocks of `block` cells in which leaves stand: (edges, 2 ends, 2 axes)."""
    cells = dataset.arrays(["density"])
    edge = block * cells["dx"]
    level, unique = np.unique(
        np.stack([cells["level"], np.floor(cells["x"] / edge), np.floor(cells["y"] / edge)]).astype(np.int64),
        axis=1,
        return_index=True,
    )
    size = edge[unique]
    x, y = level[1] * size, level[2] * size
    corners = [np.stack([x + a * size, y + b * size], axis=-1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return np.concatenate([np.stack([corners[i], corners[(i + 1) % 4]], axis=1) for i in range(4)])


def frames(stores: list[str]) -> list[tuple[str, int]]:
    """The steps to show, each once: of the last store that has it."""
    owner = {s["step"]: store for store in stores for s in octavo.steps(store) if s["flow"] == "analysis"}
    return [(owner[step], step) for step in sorted(owner)]


class Screen:
    """A figure that shows one step after another with the same scale."""

    def __init__(self, field: str, limits: tuple[float, float], pixels: int, block: int) -> None:
        self.field, self.limits, self.pixels, self.block = field, limits, pixels, block
        self.figure, self.axes = plt.subplots(figsize=(6.8, 5.8), dpi=100, layout="constrained")
        self.bar = None

    def show(self, store: str, step: int) -> None:
        dataset = octavo.open(store, flow="analysis", step=step)
        image = dataset.map(self.field, kind="mean", weight="volume", pixels=self.pixels)
        tracers = dataset.particles("tracers")
        self.axes.clear()
        shown = self.axes.imshow(
            image.values, origin="lower", extent=image.extent, vmin=self.limits[0], vmax=self.limits[1], cmap="inferno"
        )
        self.axes.add_collection(
            LineCollection(outlines(dataset, self.block), colors="white", linewidths=0.6, alpha=0.5, snap=False)
        )
        self.axes.plot(tracers["position_x"], tracers["position_y"], ".", color="#30c0ff", markersize=1.6)
        self.axes.set_xlim(*image.extent[:2])
        self.axes.set_ylim(*image.extent[2:])
        self.axes.set_xlabel("x")
        self.axes.set_ylabel("y")
        mesh = "patches" if "patches" in store else "blocks"
        self.axes.set_title(f"{self.field}, step {step}, time {dataset.time:.4f}, on {mesh}", fontsize=10)
        if self.bar is None:
            self.bar = self.figure.colorbar(shown, ax=self.axes, label=self.field)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="+")
    parser.add_argument("out")
    parser.add_argument("--field", default="density")
    parser.add_argument("--pixels", type=int, default=480)
    parser.add_argument("--block", type=int, default=8, help="cells of a block")
    parser.add_argument("--limits", default=None, help="LO,HI of the colours")
    arguments = parser.parse_args()
    steps = frames(arguments.stores)
    if not steps:
        raise SystemExit("movie: there are no analysis steps in " + ", ".join(arguments.stores))
    if arguments.limits:
        lo, hi = (float(word) for word in arguments.limits.split(","))
    else:
        lo = 0.0
        hi = max(
            float(
                np.nanmax(
                    octavo.open(store, flow="analysis", step=step).map(arguments.field, kind="max", pixels=128).values
                )
            )
            for store, step in steps[:: max(1, len(steps) // 5)]
        )
    screen = Screen(arguments.field, (lo, hi), arguments.pixels, arguments.block)
    if arguments.out.endswith(".png"):
        screen.show(*steps[-1])
        screen.figure.savefig(arguments.out)
        return
    writer = FFMpegWriter(fps=8) if arguments.out.endswith(".mp4") else PillowWriter(fps=8)
    with writer.saving(screen.figure, arguments.out, dpi=100):
        for store, step in steps:
            screen.show(store, step)
            writer.grab_frame()


if __name__ == "__main__":
    main()
