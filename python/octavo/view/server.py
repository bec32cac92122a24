"""The server behind the page: it answers questions about the steps that it was given, and about nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from octavo.cli.console import as_json
from octavo.errors import Damaged, Error, Interrupted, NoSpace, Unreadable, Unsupported, UsageError
from octavo.printable import valid
from octavo.view import answers, asked, bricks, files, ground, tiles, words
from octavo.view.damage import Damage
from octavo.view.guard import Guard
from octavo.view.steps import Steps
from octavo.view.work import Busy, Gone, Progress, Work

#: Bytes of the tiles and other answers that are kept.
KEPT_BYTES = 64 << 20
#: Requests that wait while others are worked on: some eight views that each ask for a screen of tiles, and overlays.
MOST_WAITING = 512
#: Threads that work, at most: each holds parts of a step.
MOST_THREADS = 4
_STATUS = {
    Busy: 503, UsageError: 400, Unreadable: 404, Damaged: 422, Unsupported: 501, NoSpace: 507, Interrupted: 503,
}  # fmt: skip
_PAGE = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "json": "application/json",
    "svg": "image/svg+xml",
}
_BYTES = "application/octet-stream"

Answer = Callable[[Request], Awaitable[Response]]


def as_response(facts: Any, status: int = 200) -> Response:
    return Response(json.dumps(as_json(facts)), status, media_type="application/json")


def refusal(error: Error) -> Response:
    """An error as JSON: what, where, what to do."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    facts = {
        "error": error.message, "places": [valid(place) for place in error.places], "hint": error.hint,
        "kind": type(error).__name__,
    }  # fmt: skip
    return as_response(facts, status)


def answered(answer: Answer) -> Answer:
    """The same, with every error as JSON. A bug of ours is said on stderr, without the frames: `--debug` shows them."""

    async def safe(request: Request) -> Response:
        try:
            return await answer(request)
        except Gone:
            return Response(status_code=499)
        except Error as error:
            if isinstance(error, (Unreadable, Damaged)) and (step := request.path_params.get("step")) is not None:
                request.app.state.steps.forget(step)  # files may be other ones now
            return refusal(error)
        except MemoryError:
            return as_response({"error": "out of memory", "kind": "NoSpace"}, 507)
        except OSError as error:
            return as_response({"error": str(error.strerror or error), "places": [str(error.filename)]}, 404)
        except Exception as error:
            if request.app.state.debug:
                raise
            print(f"error: unexpected: {type(error).__name__}: {error}", file=sys.stderr)
            return as_response({"error": f"unexpected: {type(error).__name__}: {error}"}, 500)

    return safe


async def made(request: Request, key: Any, job: Callable[[Progress], bytes], media_type: str) -> Response:
    """The answer of a job, which is done once for all who ask for it."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    body = await request.app.state.work.do(key, job, gone)
    return Response(body, media_type=media_type)


def in_json(facts: Any) -> bytes:
    return json.dumps(as_json(facts)).encode()


# ------------------------------------------------------------------ the page


async def page(request: Request) -> Response:
    name = request.path_params.get("file", "index.html")
    kind = _PAGE.get(name.rpartition(".")[2])
    folder = resources.files("octavo.view").joinpath("page")
    if kind is None or name not in {file.name for file in folder.iterdir()}:
        return as_response({"error": "there is no such page"}, 404)
    return Response(folder.joinpath(name).read_bytes(), media_type=kind)


# ------------------------------------------------------------------ what there is


async def steps(request: Request) -> Response:
    known = request.app.state.steps
    await run_in_threadpool(known.refresh)
    under = request.app.state.ground
    return as_response({"steps": known.table(), "ground": under and under.template})


async def step(request: Request) -> Response:
    known, number = request.app.state.steps, request.path_params["step"]
    known[number]
    return await made(request, ("step", number), lambda _: in_json(known.described(number)), "application/json")


# ------------------------------------------------------------------ what is shown


def opened(request: Request) -> tuple[Steps, int]:
    """The steps, and the one that the request is about. Raises UsageError for one that there is not."""
    known, number = request.app.state.steps, request.path_params["step"]
    known[number]
    return known, number


async def tile(request: Request) -> Response:
    known, number = opened(request)
    look, damage = asked.look(request.query_params), request.app.state.damage
    most = 1 << tiles.DEEPEST_ZOOM
    zoom, column, row = (
        asked.whole(request.query_params, name, 0, bound)
        for name, bound in (("zoom", tiles.DEEPEST_ZOOM), ("column", most), ("row", most))
    )

    def job(progress: Progress) -> bytes:
        return tiles.tile(known.opened(number), look, zoom, column, row, progress, damage)

    return await made(request, ("tile", number, look, zoom, column, row), job, _BYTES)


async def brick(request: Request) -> Response:
    known, number = opened(request)
    query, damage = request.query_params, request.app.state.damage
    look = asked.look(query)
    zoom = asked.whole(query, "zoom", 0, bricks.DEEPEST_ZOOM)
    i, j, k = (asked.whole(query, name, 0, 1 << bricks.DEEPEST_ZOOM) for name in "ijk")

    def job(progress: Progress) -> bytes:
        return bricks.brick(known.opened(number), look, zoom, (i, j, k), progress, damage)

    return await made(request, ("brick", number, look, zoom, i, j, k), job, _BYTES)


def window(request: Request, data: Any) -> tiles.Window:
    """The part of the domain that a request names by its corners [code length]."""
    query = request.query_params
    axis = asked.choice(query, "axis", ("x", "y", "z"), "z")
    whole = tiles.domain(data, axis)
    x0, x1, y0, y1 = (asked.number(query, name) for name in ("x0", "x1", "y0", "y1"))
    lo = (max(x0, whole.lo[0]), max(y0, whole.lo[1]))
    hi = (min(x1, whole.hi[0]), min(y1, whole.hi[1]))
    if not (lo[0] < hi[0] and lo[1] < hi[1]):
        raise UsageError("the window shows nothing of the domain", [data.path], "")
    return tiles.Window(axis, lo, hi)


async def particles(request: Request) -> Response:
    known, number = opened(request)
    query = request.query_params
    species = asked.required(query, "species")
    depth = (asked.number(query, "from", 0.0), asked.number(query, "to", 1.0))
    if not 0 <= depth[0] < depth[1] <= 1:
        raise UsageError("from and to: expected two ascending fractions, 0 to 1", [], "")

    def job(progress: Progress) -> bytes:
        ds = known.opened(number)
        return answers.particles(ds, window(request, ds._data), species, depth, progress)

    return await made(request, ("particles", number, str(query)), job, _BYTES)


async def under(request: Request) -> Response:
    """The squares of the map under a window, which may be larger than the domain."""
    known, number = opened(request)
    query, map_ = request.query_params, request.app.state.ground
    if map_ is None:
        raise UsageError("there is no map", [], "octavo view --map-tiles https://tiles.example.org/{z}/{x}/{y}.png")
    x0, x1, y0, y1 = (asked.number(query, name) for name in ("x0", "x1", "y0", "y1"))
    if not (x0 < x1 and y0 < y1):
        raise UsageError("the window shows nothing", [known[number].name], "")
    pixels = asked.whole(query, "pixels", 1, files.MOST_PIXELS)

    def job(_: Progress) -> bytes:
        return in_json({"squares": ground.squares(map_, (x0, y0), (x1, y1), pixels)})

    return await made(request, ("ground", str(query)), job, "application/json")


async def edges(request: Request) -> Response:
    known, number = opened(request)

    def job(_: Progress) -> bytes:
        ds = known.opened(number)
        return answers.edges(ds, window(request, ds._data))

    return await made(request, ("edges", number, str(request.query_params)), job, _BYTES)


# ------------------------------------------------------------------ what is computed of it


def _table(request: Request) -> tuple[str, str, bool]:
    """The other quantity of a profile or phase diagram, the centre, and whether bins are logarithmic."""
    query = request.query_params
    other = asked.text(query, "other") or "radius"
    return other, asked.text(query, "centre") or "center", asked.choice(query, "log", ("0", "1"), "0") == "1"


async def table(request: Request) -> Response:
    known, number = opened(request)
    query, what = request.query_params, request.path_params["what"]
    look, region = asked.look(query), asked.text(query, "region")
    other, centre, log = _table(request)

    def job(progress: Progress) -> bytes:
        ds = known.opened(number)
        if what == "stats":
            return in_json(answers.stats(ds, look, region, progress))
        if what == "profile":
            return in_json(answers.profile(ds, look, region, other, centre, log, progress))
        return in_json(answers.phase(ds, look, region, other, progress))

    return await made(request, (what, number, str(query)), job, "application/json")


async def line(request: Request) -> Response:
    """The values along a line."""
    known, number = opened(request)
    query = request.query_params
    look, region = asked.look(query), asked.text(query, "region")
    start, end = asked.required(query, "start"), asked.required(query, "end")

    def job(_: Progress) -> bytes:
        return in_json(answers.line(known.opened(number), look, region, start, end))

    return await made(request, ("line", number, str(query)), job, "application/json")


# ------------------------------------------------------------------ what is taken away


def _colours(query: asked.Query) -> words.Colours:
    limits = None
    if asked.text(query, "low") is not None:
        limits = (asked.number(query, "low"), asked.number(query, "high"))
    return words.Colours(asked.text(query, "colours") or "viridis", limits, asked.text(query, "scale") == "log")


def _less(request: Request) -> tuple[int, tiles.Look] | None:
    """The step and look of the picture that a difference takes away."""
    query = request.query_params
    if asked.text(query, "less_step") is None:
        return None
    number = asked.whole(query, "less_step", 0, len(request.app.state.steps) - 1)
    return number, asked.look(query, "less_")


def _words(request: Request, what: str) -> dict[str, str]:
    """The command, and the Python code, that make the picture shown."""
    known, number = opened(request)
    query, look, shown = request.query_params, asked.look(request.query_params), known[number]
    region = asked.text(query, "region")
    if what in ("stats", "profile", "phase"):
        return words.table(shown, look, region, what, *_table(request))
    if what == "line":
        return words.line(shown, look, region, asked.required(query, "start"), asked.required(query, "end"))
    if what == "volume":
        camera = (asked.direction(query, "towards"), asked.direction(query, "up"))
        return words.volume(shown, look, camera, region, _colours(query))
    data = known.opened(number)._data
    if what == "surface":
        at = asked.number(query, "value")
        if look.unit:
            from octavo.units import factor

            at /= factor(bricks.unit_of(data, look.field), look.unit, data, look.field)
        return words.surface(shown, look, at, region)
    shape, less = window(request, data), _less(request)
    if less is not None:
        taken = known.opened(less[0])._data
        return words.difference((shown, data, look), (known[less[0]], taken, less[1]), shape, _colours(query))
    grid = asked.choice(query, "grid", ("0", "1"), "0") == "1"
    return words.picture(shown, data, look, shape, _colours(query), grid)


async def lines(request: Request) -> Response:
    known, number = opened(request)
    kinds = ("picture", "volume", "surface", "line", "stats", "profile", "phase")
    what = asked.choice(request.query_params, "what", kinds, "picture")
    asked.look(request.query_params)
    key = ("lines", known[number], str(request.query_params))
    return await made(request, key, lambda _: in_json(_words(request, what)), "application/json")


async def file(request: Request) -> Response:
    """The window, or what it has more than another picture, as a file."""
    known, number = opened(request)
    query, damage = request.query_params, request.app.state.damage
    kind = asked.choice(query, "as", tuple(files.KINDS), "pdf")
    look, less, colours = asked.look(query), _less(request), _colours(query)
    pixels = asked.whole(query, "pixels", 1, files.MOST_PIXELS)

    def job(progress: Progress) -> bytes:
        data = known.opened(number)._data
        shape = window(request, data)
        shown = files.picture(data, look, shape, pixels, progress, damage)
        if less is not None:
            taken = known.opened(less[0])._data
            shown = shown - files.picture(taken, less[1], shape, pixels, progress, damage)
        return files.as_file(shown, kind, colours, request.app.state.crs)

    return await made(request, ("file", number, str(query)), job, files.KINDS[kind])


# ------------------------------------------------------------------ all of it


async def no_page(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return as_response({"error": "there is no such page"}, status)


def make_app(
    paths: Steps, token: str, on_signal: Callable[[], None], *, debug: bool = False, crs: str | None = None,
    under_it: ground.Ground | None = None,
) -> tuple[Guard, Work]:  # fmt: skip
    """The application, and its work, which is to be closed at the end. `on_signal` is as in Work; `crs` is the coordinate
    system of the data, for GeoTIFF; `under_it` is a map for triangles."""
    routes = [
        Route("/", answered(page)),
        Route("/page/{file}", answered(page)),
        Route("/steps", answered(steps)),
        Route("/step/{step:int}", answered(step)),
        Route("/step/{step:int}/tile", answered(tile)),
        Route("/step/{step:int}/particles", answered(particles)),
        Route("/step/{step:int}/edges", answered(edges)),
        Route("/step/{step:int}/brick", answered(brick)),
        Route("/step/{step:int}/line", answered(line)),
        Route("/step/{step:int}/ground", answered(under)),
        Route("/step/{step:int}/lines", answered(lines)),
        Route("/step/{step:int}/file", answered(file)),
        *(Route(f"/step/{{step:int}}/{what}", answered(_of(what))) for what in ("stats", "profile", "phase")),
    ]
    app = Starlette(routes=routes, exception_handlers={404: no_page, 405: no_page})
    app.router.redirect_slashes = False  # the address there lacks the token
    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    app.state.steps = paths
    app.state.debug = debug
    app.state.crs = crs
    app.state.ground = under_it
    app.state.damage = Damage()
    app.state.work = Work(threads, MOST_WAITING, KEPT_BYTES, on_signal)
    return Guard(app, token, under_it.origin if under_it else ""), app.state.work


def _of(what: str) -> Answer:
    async def answer(request: Request) -> Response:
        request.scope["path_params"]["what"] = what
        return await table(request)

    return answer
