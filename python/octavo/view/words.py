"""Lines that do again, without a browser, what a view shows: for a shell and for Python."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from octavo.view.steps import Shown
from octavo.view.tiles import Look, Window, kind_of, place_of, region_of


@dataclass(frozen=True)
class Colours:
    """How values become colours."""

    name: str = "viridis"
    limits: tuple[float, float] | None = None
    log: bool = False


def words_of_step(shown: Shown) -> list[str]:
    flow = ["--flow", shown.snapshot.flow] if shown.snapshot.flow else []
    return flow if shown.alone else ["--step", str(shown.snapshot.step), *flow]


def opening(shown: Shown) -> str:
    more = "" if shown.alone else f", step={shown.snapshot.step}"
    more += f", flow={shown.snapshot.flow!r}" if shown.snapshot.flow else ""
    return f"import octavo\n\nds = octavo.open({shown.snapshot.path!r}{more})\n"


def selecting(look: Look, region: str | None) -> tuple[list[str], str]:
    """The options of a selection, and the methods."""
    words = [f"--define={name}={formula}" for name, formula in look.definitions]
    methods = "".join(f".derive({name!r}, {formula!r})" for name, formula in look.definitions)
    for option, method, value in (
        ("--roi", "inside", region), ("--level", "level", look.max_level), ("--where", "where", look.where),
    ):  # fmt: skip
        if value is not None:
            words.append(f"{option}={value}")
            methods += f".{method}({value!r})"
    return words, methods


def cut(data: Any, look: Look, window: Window, grid: bool) -> tuple[list[str], str]:
    """The verb and its options that make the picture of a window, and the call of a selection's method."""
    kind = kind_of(data, look.kind)
    if kind == "slice":
        at = place_of(data, window, look.at)
        words = ["slice", "--normal", look.axis, f"--at={at}"]
        call = f"slice({look.field!r}, normal={look.axis!r}, at={at!r}"
    else:
        words = ["map", "--axis", look.axis, "--kind", kind]
        call = f"map({look.field!r}, axis={look.axis!r}, kind={kind!r}"
        if kind == "mean" and look.weight:
            words.append(f"--weight={look.weight}")
            call += f", weight={look.weight!r}"
    if look.unit:
        words.append(f"--unit={look.field}={look.unit}")
        call += f", unit={look.unit!r}"
    if grid and not data.unstructured:
        words.append("--grid")
        call += ", grid=True"
    return words, call + ")"


def coloured(colours: Colours) -> tuple[list[str], str]:
    """The options of colours, and the words of a picture's save()."""
    words = ["--cmap", colours.name, "--log" if colours.log else "--linear"]
    save = f"cmap={colours.name!r}, scale={'log' if colours.log else 'linear'!r}"
    if colours.limits:
        words.append("--limits={!r},{!r}".format(*colours.limits))
        save += f", limits={colours.limits!r}"
    return words, save


def picture(shown: Shown, data: Any, look: Look, window: Window, colours: Colours, grid: bool) -> dict[str, str]:
    """The command and the Python that draw the window."""
    chosen, methods = selecting(look, region_of(data, window))
    words, call = cut(data, look, window, grid)
    paint, save = coloured(colours)
    command = [words[0], shown.snapshot.path, f"--field={look.field}", *words[1:], *paint, *chosen]
    return {
        "command": _shell([*command, *words_of_step(shown), "-o", "view.png"]),
        "python": opening(shown) + f"picture = ds{methods}.{call}\npicture.save('view.png', {save})\n",
    }


def difference(
    one: tuple[Shown, Any, Look], less: tuple[Shown, Any, Look], window: Window, colours: Colours
) -> dict[str, str]:
    """The Python that draws the window of one picture less that of another, and a command that runs it: no verb does this."""
    calls = []
    for shown, data, look in (less, one):
        _, methods = selecting(look, region_of(data, window))
        calls.append(f"{opening(shown)}{{}} = ds{methods}.{cut(data, look, window, False)[1]}\n")
    _, save = coloured(colours)
    second = calls[1].removeprefix("import octavo\n\n")
    python = calls[0].format("before") + second.format("after") + f"(after - before).save('view.png', {save})\n"
    return {"python": python, "command": f"python3 - <<'END'\n{python}END\n"}


Camera = tuple[tuple[float, float, float], tuple[float, float, float]]


def volume(shown: Shown, look: Look, camera: Camera, region: str | None, colours: Colours) -> dict[str, str]:
    """The command and the Python that draw the largest values along a camera's lines of sight, through all of the domain or a
    region. `camera`: the directions towards the viewer, and up."""
    chosen, methods = selecting(look, region)
    paint, save = coloured(colours)
    towards, up = (",".join(map(repr, vector)) for vector in camera)
    words = ["map", shown.snapshot.path, f"--field={look.field}", f"--camera={towards}", f"--up={up}", "--kind", "max"]
    call = f"map({look.field!r}, camera={camera[0]!r}, up={camera[1]!r}, kind='max'"
    if look.unit:
        words.append(f"--unit={look.field}={look.unit}")
        call += f", unit={look.unit!r}"
    return {
        "command": _shell([*words, *paint, *chosen, *words_of_step(shown), "-o", "view.png"]),
        "python": opening(shown) + f"picture = ds{methods}.{call})\npicture.save('view.png', {save})\n",
    }


def surface(shown: Shown, look: Look, at: float, region: str | None) -> dict[str, str]:
    """The command and the Python that write the surface of one value [the field's own unit]."""
    chosen, methods = selecting(look, region)
    words = ["contour", shown.snapshot.path, f"--field={look.field}", f"--at={at!r}", *chosen, *words_of_step(shown)]
    call = f"surface = ds{methods}.contour({look.field!r}, {at!r})\nsurface.save('view.ply')\n"
    return {"command": _shell([*words, "-o", "view.ply"]), "python": opening(shown) + call}


def line(shown: Shown, look: Look, region: str | None, start: str, end: str) -> dict[str, str]:
    """The command and the Python of the values on a line."""
    chosen, methods = selecting(look, region)
    words = ["line", shown.snapshot.path, f"--field={look.field}", f"--from={start}", f"--to={end}", *chosen]
    places = ", ".join(repr(_place(place)) for place in (start, end))
    call = f"line = ds{methods}.line({look.field!r}, {places}"
    if look.unit:
        words.append(f"--unit={look.field}={look.unit}")
        call += f", units={{{look.field!r}: {look.unit!r}}}"
    return {
        "command": _shell([*words, *words_of_step(shown), "-o", "line.csv"]),
        "python": opening(shown) + call + f")\nprint(line.length, line[{look.field!r}])\n",
    }


def _place(text: str) -> str | tuple[float, ...]:
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        return text


def table(
    shown: Shown, look: Look, region: str | None, what: str, other: str, centre: str, log: bool
) -> dict[str, str]:
    """The command and the Python of statistics ("stats"), a profile over `other`, or a phase diagram with it."""
    chosen, methods = selecting(look, region)
    if what == "stats":
        words, call, end = [f"--field={look.field}"], f"stats([{look.field!r}]", "print(found['fields'])\n"
    elif what == "profile":
        words = [f"--field={look.field}", f"--axis={other}", f"--centre={centre}", *(["--log"] if log else [])]
        call = f"profile({look.field!r}, axis={other!r}, centre={centre!r}, log={log!r}"
        end = "found.save('profile.png')\n"
    else:
        words = [f"--x={look.field}", f"--y={other}", "--bins", "96"]
        call, end = f"phase({look.field!r}, {other!r}, bins=96", "found.save('phase.png')\n"
    if look.unit:
        words.append(f"--unit={look.field}={look.unit}")
        call += f", units={{{look.field!r}: {look.unit!r}}}"
    output = [] if what == "stats" else ["-o", f"{what}.png"]
    command = [what, shown.snapshot.path, *words, *chosen, *words_of_step(shown), *output]
    return {"command": _shell(command), "python": opening(shown) + f"found = ds{methods}.{call})\n{end}"}


def _shell(words: list[str]) -> str:
    return "octavo " + shlex.join(words)
