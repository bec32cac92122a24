"""A view as files that any web server gives out: the page, tiles and bricks of chosen pictures, and what an archive wants.

First decide, then do: plan_of() says what the site holds, write() makes each file that is not there yet. A file gets its name when it is
whole, so that a run that was cut off goes on. The sums come last: a site that has them is complete.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from importlib import resources
from threading import Event
from typing import Any

from octavo import _core
from octavo.cli.console import as_json
from octavo.errors import Damaged, UsageError
from octavo.view import answers, bricks, datacite, tiles
from octavo.view.damage import Damage
from octavo.view.steps import Steps
from octavo.view.tiles import Look
from octavo.view.work import Progress

#: In the site: what it was planned to hold, of which input. A run with another plan does not go on with it.
PLAN = ".octavo-publish.json"
SUMS = "checksums.sha256"
#: Zooms that are made where nobody says how many: 85 tiles, and 73 bricks.
USUAL_ZOOMS, USUAL_BRICKS = 4, 3
_ABOUT = """A view of simulation data, made by octavo publish. Any web server can give out this folder:

    python3 -m http.server      # then open http://localhost:8000/

site.json lists the pictures. step/N/FOLDER/ZOOM/COLUMN/ROW.tile is a square of the picture at 4^ZOOM squares, step/N/FOLDER/ZOOM/I/J/K.brick
a cube of the volume. Each is a gzip stream: the length of a JSON text (4 bytes, little-endian), the text, and the values over its `scale` as
little-endian float32, x fastest, the lowest row first; NaN where there is none. `extent` is the place [code length], `pixels` the shape, `unit`
the unit. sha256sum -c checksums.sha256 checks all files. datacite.json describes the site for a DOI.
"""


@dataclass(frozen=True)
class Plan:
    """The contents of a site: each look of each step, with `zooms` levels of zoom."""

    steps: int
    looks: tuple[Look, ...]
    fields: tuple[str, ...]
    zooms: int
    bricks: int  #: zooms of volumes; 0: none
    volumes: tuple[Look, ...]  #: of which field, condition and unit count


#: A file of the site, and how its bytes are made.
Job = tuple[str, Callable[[Progress], bytes]]


def zooms_for(data: Any, edge: int, most: int) -> int:
    """The number of zooms with which tiles of `edge` pixels a side show the finest cells; at most `most`."""
    side = max(hi - lo for lo, hi in zip(data.lo, data.hi, strict=True))
    if data.unstructured:
        return most
    finest = min(min(size) for size in data.cell_sizes)
    return min(most, 1 + max(0, math.ceil(math.log2(side / (edge * finest)) - 1e-6)))


def folder_of(look: Look, solid: bool = False) -> str:
    """The name of a look's folder: readable, and one for each look."""
    words = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in look.field)[:40]
    kind = "volume" if solid else f"{look.kind}-{look.axis}" + (f"-{look.at:g}" if look.kind == "slice" else "")
    told = json.dumps([look.field, look.at, look.weight, look.where, look.unit]).encode()
    return f"{words}-{kind}-{hashlib.sha256(told).hexdigest()[:6]}"


def _words(look: Look) -> dict[str, Any]:
    """A look as the page asks for it."""
    words: dict[str, Any] = {"field": look.field, "kind": look.kind, "axis": look.axis}
    if look.kind == "slice":
        words["at"] = look.at
    return words | {name: value for name in ("weight", "where", "unit") if (value := getattr(look, name)) is not None}


def site_of(plan: Plan, title: str, about: list[list[str]]) -> dict[str, Any]:
    """site.json: what the page may ask for, and where it lies."""
    flat = [_words(look) | {"folder": folder_of(look), "zooms": plan.zooms} for look in plan.looks]
    solid = [
        {name: value for name, value in _words(look).items() if name in ("field", "where", "unit")}
        | {"folder": folder_of(look, solid=True), "bricks": plan.bricks}
        for look in plan.volumes
    ]
    return {"title": title, "about": about, "fields": list(plan.fields), "looks": flat + solid}


def places(lo: tuple[float, ...], hi: tuple[float, ...], zoom: int) -> Iterator[tuple[int, ...]]:
    """The squares, or cubes, of a zoom that show something of a domain: the last axis fastest."""
    side = math.ldexp(max(b - a for a, b in zip(lo, hi, strict=True)), -zoom)
    counts = [math.ceil((b - a) / side - 1e-9) for a, b in zip(lo, hi, strict=True)]

    def numbered(left: list[int]) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
            return
        for first in range(left[0]):
            for rest in numbered(left[1:]):
                yield first, *rest

    return numbered(counts)


def count_of(plan: Plan, data: Any) -> tuple[int, int]:
    """Tiles and bricks of the site, where all steps have the domain of this one, and an upper limit of their bytes but for
    headers, uncompressed."""
    flat = 0
    for look in plan.looks:
        window = tiles.domain(data, look.axis)
        flat += sum(1 for zoom in range(plan.zooms) for _ in places(window.lo, window.hi, zoom))
    solid = sum(
        1 for _ in plan.volumes for zoom in range(plan.bricks) for _ in places(tuple(data.lo), tuple(data.hi), zoom)
    )
    files = plan.steps * (flat + solid)
    return files, plan.steps * 4 * (flat * tiles.PIXELS**2 + solid * bricks.EDGE**3)


def jobs_of(plan: Plan, steps: Steps) -> Iterator[Job]:
    """All files of data, one after another."""
    yield "steps.json", lambda _: _json({"steps": steps.table()})
    for number in range(plan.steps):
        yield f"step/{number}/facts.json", _facts(steps, number, plan)
        for k, field in enumerate(plan.fields):
            yield f"step/{number}/stats/{k}.json", _stats(steps, number, _of_all(field, plan.looks[0]))
        data = steps.opened(number)._data
        for look in plan.looks:
            window = tiles.domain(data, look.axis)
            for zoom in range(plan.zooms):
                for column, row in places(window.lo, window.hi, zoom):
                    name = f"step/{number}/{folder_of(look)}/{zoom}/{column}/{row}.tile"
                    yield name, _tile(steps, number, look, zoom, column, row)
        for look in plan.volumes:
            for zoom in range(plan.bricks):
                for i, j, k in places(tuple(data.lo), tuple(data.hi), zoom):
                    name = f"step/{number}/{folder_of(look, solid=True)}/{zoom}/{i}/{j}/{k}.brick"
                    yield name, _brick(steps, number, look, zoom, (i, j, k))


def _of_all(field: str, look: Look) -> Look:
    """A look of which statistics of the whole domain are made, with the condition and the definitions of another."""
    return Look(field, where=look.where, definitions=look.definitions)


def _facts(steps: Steps, number: int, plan: Plan) -> Callable[[Progress], bytes]:
    def job(_: Progress) -> bytes:
        facts = steps.described(number)
        units = {field["name"]: field["unit"] for field in facts["fields"]}
        shown = [{"name": name, "unit": units.get(name, "")} for name in plan.fields]
        return _json(facts | {"fields": shown, "species": [], "particles": [], "derived": []})

    return job


def _stats(steps: Steps, number: int, look: Look) -> Callable[[Progress], bytes]:
    return lambda progress: _json(answers.stats(steps.opened(number), look, None, progress))


def _tile(steps: Steps, number: int, look: Look, zoom: int, column: int, row: int) -> Callable[[Progress], bytes]:
    return lambda progress: _whole(
        tiles.tile(steps.opened(number), look, zoom, column, row, progress, Damage()), steps, number
    )


def _brick(steps: Steps, number: int, look: Look, zoom: int, place: bricks.Index3) -> Callable[[Progress], bytes]:
    return lambda progress: _whole(
        bricks.brick(steps.opened(number), look, zoom, place, progress, Damage()), steps, number
    )


def _whole(data: bytes, steps: Steps, number: int) -> bytes:
    """Compressed. Raises Damaged where it lacks a damaged domain: an archive holds whole pictures."""
    if damaged := tiles.unpacked(data)[0].get("damaged"):
        raise Damaged(damaged[0], [steps[number].snapshot.path], "octavo verify lists all damage")
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)  # gzip, without a date
    return packer.compress(data) + packer.flush()


def _json(facts: Any) -> bytes:
    return (json.dumps(as_json(facts), ensure_ascii=False, indent=1) + "\n").encode()


# ------------------------------------------------------------------ the folder


def begin(folder: str, plan: Plan, state: Any, overwrite: bool) -> None:
    """Makes the folder, or goes on with one of the same plan and input. Raises UsageError for another one's."""
    told = _json({"octavo": _core.version, "plan": asdict(plan), "input": state})
    path = os.path.join(folder, PLAN)
    if os.path.isdir(folder) and os.listdir(folder):
        if not os.path.exists(path):
            raise UsageError("the folder is not empty, and holds no site of octavo publish", [folder], "another -o")
        with open(path, "rb") as file:
            before = file.read()
        if before != told:
            if not overwrite:
                raise UsageError("the folder holds a site of other pictures or data", [folder], "-f replaces it")
            clear(folder)
    os.makedirs(folder, exist_ok=True)
    put(folder, PLAN, told)


def clear(folder: str) -> None:
    """Takes away what write() makes, and nothing else."""
    for name in ("step", "page"):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    for name in ("index.html", "steps.json", "site.json", "README.txt", "datacite.json", SUMS):
        if os.path.exists(path := os.path.join(folder, name)):
            os.remove(path)


def put(folder: str, name: str, data: bytes) -> None:
    """Writes a file that has its name once it is whole."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".partial", "wb") as file:
        file.write(data)
    os.replace(path + ".partial", path)


def write(
    folder: str, plan: Plan, steps: Steps, site: dict[str, Any], record: dict[str, Any], threads: int, progress: Any, total: int
) -> dict[str, Any]:  # fmt: skip
    """Makes the files that are not there. Memory: for each thread a part of a step and a tile. `progress` is called with the
    files that are done, and all of them. Returns files, bytes, and how many of them were made now."""
    made = _data(folder, jobs_of(plan, steps), threads, progress, total)
    for name, data in page_files():
        put(folder, name, data)
    put(folder, "site.json", _json(site))
    put(folder, "README.txt", _ABOUT.encode())
    names = sorted(_names(folder) - {SUMS, "datacite.json"})
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in names)
    put(folder, "datacite.json", _json(datacite.sized(record, len(names) + 2, size)))
    listed = sorted([*names, "datacite.json"])
    put(folder, SUMS, "".join(f"{_sum(os.path.join(folder, name))}  {name}\n" for name in listed).encode())
    return {"files": len(listed) + 1, "bytes": size, "made": made}


def _data(folder: str, jobs: Iterator[Job], threads: int, progress: Any, total: int) -> int:
    stop, made, done = Event(), 0, 0

    def goes_on(_done: int, _total: int) -> bool:
        return not stop.is_set()

    def make(name: str, job: Callable[[Progress], bytes]) -> int:
        if os.path.exists(os.path.join(folder, name)):
            return 0
        put(folder, name, job(goes_on))
        return 1

    pool, running = ThreadPoolExecutor(threads, thread_name_prefix="octavo-publish"), set()
    try:
        for name, job in jobs:
            running.add(pool.submit(make, name, job))
            while len(running) >= 4 * threads:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                made += sum(one.result() for one in ended)
                done += len(ended)
                progress(done, total)
        ended, _ = wait(running, return_when=FIRST_EXCEPTION)
        made += sum(one.result() for one in ended)
        progress(total, total)
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
    return made


def page_files() -> Iterator[tuple[str, bytes]]:
    """The page of `octavo view`, told that it is one of a site."""
    folder = resources.files("octavo.view").joinpath("page")
    for file in folder.iterdir():
        data = file.read_bytes()
        if file.name == "index.html":
            yield file.name, data.replace(b'<html lang="en">', b'<html lang="en" data-site="site.json">')
        else:
            yield f"page/{file.name}", data


def _names(folder: str) -> set[str]:
    """All files of the site, by their relative names."""
    found = set()
    for where, _, names in os.walk(folder):
        found |= {os.path.relpath(os.path.join(where, name), folder) for name in names}
    return {name for name in found if name != PLAN and not name.endswith(".partial")}


def _sum(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
