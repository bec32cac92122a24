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
from octavo.view.guard import Guard
from octavo.view.steps import Held, Steps
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


async def made(
    request: Request, key: Any, job: Callable[[Progress], bytes], media_type: str, *, long: bool = False
) -> Response:
    """The answer of a job, which is done once for all who ask for it."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    body = await request.app.state.work.do(key, job, gone, long=long)
    return Response(body, media_type=media_type)


def opened(request: Request) -> tuple[Steps, int]:
    """The steps, and the one that the request is about. Raises UsageError for one that there is not."""
    known, number = request.app.state.steps, request.path_params["step"]
    known[number]
    return known, number


async def made_of(
    request: Request, key: Any, job: Callable[[Held, Progress], bytes], media_type: str = "application/json",
    *, long: bool = False,
) -> Response:  # fmt: skip
    """The answer of a job about the request's step as its files are now, and a word for them: pages that have answers with
    another word forget them. `key` says what is asked."""
    known, number = opened(request)
    state = await run_in_threadpool(known.state, number)

    def of_step(progress: Progress) -> bytes:
        return job(known.held(number), progress)

    answer = await made(request, (number, state, *key), of_step, media_type, long=long)
    answer.headers["octavo-state"] = state
    return answer


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
    states = await run_in_threadpool(known.states)
    table = [row | {"state": state} for row, state in zip(known.table(), states, strict=False)]
    skipped = [valid(str(error)) for error in known.skipped]
    return as_response({"steps": table, "skipped": skipped, "ground": under and under.template})


async def step(request: Request) -> Response:
    known, number = opened(request)
    return await made_of(request, ("step",), lambda _held, _progress: in_json(known.described(number)))


# ------------------------------------------------------------------ what is shown


def _look(request: Request, prefix: str = "") -> tiles.Look:
    return asked.look(request.query_params, request.app.state.steps.definitions, prefix)


async def tile(request: Request) -> Response:
    look = _look(request)
    most = 1 << tiles.DEEPEST_ZOOM
    zoom, column, row = (
        asked.whole(request.query_params, name, 0, bound)
        for name, bound in (("zoom", tiles.DEEPEST_ZOOM), ("column", most), ("row", most))
    )

    def job(held: Held, progress: Progress) -> bytes:
        return tiles.tile(held.ds, look, zoom, column, row, progress, held.damage)

    return await made_of(request, ("tile", look, zoom, column, row), job, _BYTES)


async def brick(request: Request) -> Response:
    query = request.query_params
    look = _look(request)
    zoom = asked.whole(query, "zoom", 0, bricks.DEEPEST_ZOOM)
    i, j, k = (asked.whole(query, name, 0, 1 << bricks.DEEPEST_ZOOM) for name in "ijk")

    def job(held: Held, progress: Progress) -> bytes:
        return bricks.brick(held.ds, look, zoom, (i, j, k), progress, held.damage)

    return await made_of(request, ("brick", look, zoom, i, j, k), job, _BYTES)


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
    query = request.query_params
    species = asked.required(query, "species")
    depth = (asked.number(query, "from", 0.0), asked.number(query, "to", 1.0))
    if not 0 <= depth[0] < depth[1] <= 1:
        raise UsageError("from and to: expected two ascending fractions, 0 to 1", [], "")

    def job(held: Held, progress: Progress) -> bytes:
        return answers.particles(held.ds, window(request, held.ds._data), species, depth, progress)

    return await made_of(request, ("particles", str(query)), job, _BYTES, long=True)


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
    def job(held: Held, _: Progress) -> bytes:
        return answers.edges(held.ds, window(request, held.ds._data))

    return await made_of(request, ("edges", str(request.query_params)), job, _BYTES, long=True)


# ------------------------------------------------------------------ what is computed of it


def _table(request: Request, data: Any) -> tuple[str, str, bool]:
    """The other quantity of a profile or phase diagram, the centre, and whether bins are logarithmic."""
    query = request.query_params
    centre = asked.text(query, "centre") or answers.centre_of(asked.text(query, "region"), data)
    return asked.text(query, "other") or "radius", centre, asked.choice(query, "log", ("0", "1"), "0") == "1"


async def table(request: Request) -> Response:
    query, what = request.query_params, request.path_params["what"]
    look, region = _look(request), asked.text(query, "region")

    def job(held: Held, progress: Progress) -> bytes:
        ds = held.ds
        other, centre, log = _table(request, ds._data)
        if what == "stats":
            return in_json(answers.stats(ds, look, region, progress))
        if what == "profile":
            return in_json(answers.profile(ds, look, region, other, centre, log, progress))
        return in_json(answers.phase(ds, look, region, other, progress))

    return await made_of(request, (what, str(query)), job, long=True)


async def line(request: Request) -> Response:
    """The values along a line."""
    query = request.query_params
    look, region = _look(request), asked.text(query, "region")
    start, end = asked.required(query, "start"), asked.required(query, "end")

    def job(held: Held, _: Progress) -> bytes:
        return in_json(answers.line(held.ds, look, region, start, end))

    return await made_of(request, ("line", str(query)), job, long=True)


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
    return number, _look(request, "less_")


def _words(request: Request, what: str) -> dict[str, str]:
    """The command, and the Python code, that make the picture shown."""
    known, number = opened(request)
    query, look, shown = request.query_params, _look(request), known[number]
    region = asked.text(query, "region")
    if what in ("stats", "profile", "phase"):
        return words.table(shown, look, region, what, *_table(request, known.opened(number)._data))
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

            at /= factor(bricks.unit_of(data, look.field, look.definitions), look.unit, data, look.field)
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
    _look(request)
    key = ("lines", known[number].alone, str(request.query_params))
    return await made_of(request, key, lambda _held, _progress: in_json(_words(request, what)))


async def file(request: Request) -> Response:
    """The window, or what it has more than another picture, as a file."""
    known, query = request.app.state.steps, request.query_params
    kind = asked.choice(query, "as", tuple(files.KINDS), "pdf")
    look, less, colours = _look(request), _less(request), _colours(query)
    pixels = asked.whole(query, "pixels", 1, files.MOST_PIXELS)

    def job(held: Held, progress: Progress) -> bytes:
        shape = window(request, held.ds._data)
        shown = files.picture(held, look, shape, pixels, progress)
        if less is not None:
            shown = shown - files.picture(known.held(less[0]), less[1], shape, pixels, progress)
        return files.as_file(shown, kind, colours, request.app.state.crs)

    other = less and await run_in_threadpool(known.state, less[0])
    return await made_of(request, ("file", other, str(query)), job, files.KINDS[kind], long=True)


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
    threads = max(2, min(MOST_THREADS, len(os.sched_getaffinity(0))))
    app.state.steps = paths
    app.state.debug = debug
    app.state.crs = crs
    app.state.ground = under_it
    app.state.work = Work(threads, MOST_WAITING, KEPT_BYTES, on_signal)
    return Guard(app, token, under_it.origin if under_it else ""), app.state.work


def _of(what: str) -> Answer:
    async def answer(request: Request) -> Response:
        request.scope["path_params"]["what"] = what
        return await table(request)

    return answer
