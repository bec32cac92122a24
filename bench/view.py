"""What a view costs: `octavo view` of a sample of 64 domains, as a user starts it."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


class View:
    """A running view, and what it has used."""

    def __init__(self, octavo, path):
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [octavo, "view", str(path), "--no-browser", "-q"], stdout=subprocess.PIPE, text=True
        )
        self.url = self.process.stdout.readline().strip()

    def get(self, path, **words):
        with urllib.request.urlopen(self.url + path + ("?" + urllib.parse.urlencode(words) if words else "")) as answer:
            return answer.read()

    def tile(self, zoom, column, row, **words):
        """The header of a tile."""
        body = self.get("step/0/tile", field="density", zoom=zoom, column=column, row=row, **words)
        return json.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])

    def cpu(self):
        """Seconds so far, user and system."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / TICK

    def peak(self):
        """MB"""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+)", text)[1]) / 1024

    def close(self):
        self.process.terminate()
        self.process.wait()


def places(zoom, count):
    """Tiles spread over a zoom."""
    n = 2**zoom
    return list(dict.fromkeys(((7 * k + 3) * n // 31 % n, (11 * k + 5) * n // 29 % n) for k in range(4 * count)))[
        :count
    ]


def first_picture(octavo, path, kind):
    """Wall and CPU seconds from start to the 16 tiles that a window of 1280 x 800 asks for."""
    view = View(octavo, path)
    view.get("")
    view.get("steps")
    view.get("step/0")
    asked = [threading.Thread(target=view.tile, args=(2, k % 4, k // 4), kwargs={"kind": kind}) for k in range(16)]
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join()
    wall, cpu = time.monotonic() - view.begin, view.cpu()
    view.close()
    return wall, cpu


def tables(octavo, source, store, head, row):
    sources = (("RAMSES output", source), ("store", store))
    head("first picture: 16 tiles of density", "s", "CPU s, interpreter included")
    for kind in ("slice", "integral"):
        for name, path in sources:
            runs = [first_picture(octavo, path, kind) for _ in range(3)]
            row(f"{kind}, {name}", f"{min(wall for wall, _ in runs):.2f}", f"{min(cpu for _, cpu in runs):.2f}")
    head("tile of 256^2, density", *(f"zoom {zoom}" for zoom in range(8)), "median of all")
    for kind in ("slice", "integral", "mean", "max"):
        for name, path in sources:
            row(f"CPU ms, {kind}, {name}", *tile_costs(View(octavo, path), kind))
    head("bytes read for a tile, at most", *(f"zoom {zoom}" for zoom in range(8)))
    for kind in ("slice", "integral"):
        for name, path in sources:
            view = View(octavo, path)
            found = [
                max(view.tile(zoom, *place, kind=kind)["bytes_read"] for place in places(zoom, 6)) for zoom in range(8)
            ]
            row(f"MB, {kind}, {name}", *(f"{count / 1e6:.1f}" for count in found))
            view.close()
    head(
        "brick of 32^3, density", *(f"zoom {zoom}" for zoom in range(5)), "median of all", "MB read, at most, zoom 0, 4"
    )
    for name, path in sources:
        row(f"CPU ms, {name}", *brick_costs(View(octavo, path)))
    eight_views(View(octavo, store), head, row)
    head("a site: slice, integral and volume", "files", "MB", "CPU s, 1 thread", "peak MB")
    for name, path in sources:
        row(name, *site_costs(octavo, path))


def brick_costs(view):
    """The median of the CPU ms of bricks, by zoom, and of all; and bytes."""

    def brick(zoom, i, j, k, **words):
        body = view.get("step/0/brick", field="density", zoom=zoom, i=i, j=j, k=k, **words)
        return json.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])

    read = [brick(zoom, 0, 0, 0)["bytes_read"] / 1e6 for zoom in (0, 4)]
    medians, every = [], []
    for zoom in range(5):
        costs = []
        for turn in range(3):
            group, before = [(*place, place[0]) for place in places(zoom, 8)], view.cpu()
            for place in group:
                brick(zoom, *place, where=f"density > -{turn + 1}")
            costs.append(1000 * (view.cpu() - before) / len(group))
        medians.append(statistics.median(costs))
        every += costs
    view.close()
    return [f"{cost:.0f}" for cost in [*medians, statistics.median(every)]] + [" and ".join(f"{x:.0f}" for x in read)]


def site_costs(octavo, path):
    """Files, MB, CPU seconds and peak of memory of a site."""
    with tempfile.TemporaryDirectory(prefix="octavo-bench-") as folder:
        words = ["--field", "density", "--kind", "slice,integral", "--volume", "-j", "1", "-q"]
        running = subprocess.Popen([octavo, "publish", str(path), "-o", folder, *words])
        _, running.returncode, used = os.wait4(running.pid, 0)
        files = [file for file in Path(folder).rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files) / 1e6
    return [str(len(files)), f"{size:.0f}", f"{used.ru_utime + used.ru_stime:.1f}", f"{used.ru_maxrss / 1024:.0f}"]


def tile_costs(view, kind):
    """The median of the CPU ms of tiles, by zoom, and of all. Ticks are 10 ms: tiles are asked for in groups."""
    view.tile(7, 1, 1, kind="min")  # opens the step
    medians, every = [], []
    for zoom in range(8):
        costs = []
        for turn in range(3):
            group, before = places(zoom, 8), view.cpu()
            for place in group:
                view.tile(zoom, *place, kind=kind, where=f"density > -{turn + 1}")
            costs.append(1000 * (view.cpu() - before) / len(group))
        medians.append(statistics.median(costs))
        every += costs
    view.close()
    return [f"{cost:.0f}" for cost in [*medians, statistics.median(every)]]


def eight_views(view, head, row):
    """Eight users at once, each of whom looks at another field or kind."""
    waits = []

    def look(kind, factor):
        for k in range(32):
            begin = time.monotonic()
            view.tile(2 + k % 4, *places(2 + k % 4, 8)[k // 4], kind=kind, where=f"density > -{factor}")
            waits.append(time.monotonic() - begin)

    users = [
        threading.Thread(target=look, args=(kind, k)) for kind in ("slice", "integral", "mean", "max") for k in (1, 2)
    ]
    for user in users:
        user.start()
    for user in users:
        user.join()
    waits.sort()
    head("eight views at once, 256 tiles", "median wait s", "longest 5 % s", "peak MB of the server")
    row("store", f"{statistics.median(waits):.2f}", f"{waits[int(0.95 * len(waits))]:.2f}", f"{view.peak():.0f}")
    view.close()
