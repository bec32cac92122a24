"""Options, the call of the compiled verb, and output: shared by hist, phase and profile."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

ENDINGS = (".png", ".csv", ".npy")


def add_options(parser: argparse.ArgumentParser, weight: str) -> None:
    """Those behind the verb's own; `weight` is its default."""
    parser.add_argument(
        "--weight",
        metavar="W",
        help=f"weight of a cell: volume, mass, none (1), or the value of a field (default: {weight})",
    )
    options.add_selection(parser)
    options.add_fields(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="out.png, out.csv or out.npy")
    options.add_force(parser, "overwrite the output file")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_over_time(parser)
    options.add_threads(parser)
    options.add_json(parser)


def add_centre(parser: argparse.ArgumentParser) -> None:
    """Adds the place and the direction of distances; centre_of() reads them."""
    parser.add_argument(
        "--centre",
        default="center",
        metavar="C",
        help="of radius, cylinder, height and angle: x,y,z in fractions of the box length, center, max:FIELD or "
        "min:FIELD (default: center)",
    )
    parser.add_argument(
        "--normal",
        default="z",
        metavar="N",
        help="direction of the axis of cylinder, height and angle: x, y, z or nx,ny,nz (z)",
    )


def centre_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The place and the direction of distances, as bin_by() takes them."""
    normal: Any = arguments.normal
    if "," in normal:
        try:
            normal = [float(word) for word in normal.split(",")]
        except ValueError:
            raise UsageError(f"'{normal}': expected a direction", [], "--normal 1,1,0") from None
    return {"centre": arguments.centre, "normal": normal}


def pair(text: str | None, what: str) -> tuple[float, float] | None:
    """Reads "lo,hi"."""
    if text is None:
        return None
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"'{text}': expected two numbers", [], f"--{what}=0.1,10") from None
    return low, high


def output_of(arguments: argparse.Namespace, default: str | None) -> str | None:
    """The path to write; None if nothing was asked for and the verb has no `default` (the end of a file's name)."""
    path = arguments.output
    if path is None and default is not None:
        name = os.path.basename(os.path.normpath(arguments.path)).removesuffix(".octavo")
        path = name + "_" + re.sub(r"[^\w.+-]+", "_", default) + ".png"
    if path is None:
        return None
    if not path.endswith(ENDINGS):
        raise UsageError("the output must end in .png, .csv or .npy", [path], "-o out.png")
    options.check_output(path, arguments.force)
    return path


def compute(arguments: argparse.Namespace, asked: Sequence[Any]) -> Any:
    """The opened step, how it was read, and the diagrams asked for (octavo.binned.Asked); None if only a plan was asked for.
    Collective under mpirun."""
    from octavo.binned import make_diagrams
    from octavo.cli import console
    from octavo.ranks import world

    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    if options.planned(arguments, ds, [name for one in asked for name in one.reads()]):
        return None
    reading = options.reading(arguments, ds, ranks)
    names = [name for one in asked for name in one.fields or (a.get("field") or a["distance"] for a in one.axes)]
    with console.Progress(f"{arguments.verb} " + ", ".join(names), arguments.quiet, unit="domains") as progress:
        made = make_diagrams(asked, ds, lambda words: sums_of(arguments, reading, ranks, progress, words))
    console.notes(arguments.quiet, ds.notes)
    return ds, reading, made


def run(
    arguments: argparse.Namespace,
    path: str | None,
    asked: Any,
    show: Callable[[argparse.Namespace, Any, Any, str | None], None],
) -> int:
    """Computes one diagram and shows it."""
    from octavo.cli import console

    found = compute(arguments, [asked])
    if found is None:
        return 0
    ds, reading, (result,) = found
    show(arguments, ds, result, path)
    return console.end(reading)


def sums_of(
    arguments: argparse.Namespace, reading: Any, ranks: Any, progress: Any, words: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The compiled verb's result for each of octavo.binned.Asked.words(), in one pass. Collective over `ranks`."""
    from octavo import _core

    found = reading.do(
        lambda data: _core.diagrams(
            data,
            diagrams=words,
            threads=arguments.threads,
            ranks=ranks,
            progress=progress,
            **options.chosen(arguments, data),
        )
    )
    return [sums | reading.facts() for sums in found]


def write(arguments: argparse.Namespace, ds: Any, result: Any, path: str | None) -> None:
    """Writes the output, and prints JSON or says what was written; rank 0 alone."""
    from octavo.cli import console
    from octavo.ranks import is_root

    if not is_root():
        return
    if path is not None:
        save(result, path)
    if arguments.json:
        console.print_json({"output": path, **result.table()})
    elif path is not None:
        facts = result.facts
        things = "points" if ds.unstructured else "particles" if "particles" in facts else "cells"
        console.say(
            arguments.quiet,
            f"{path}: {console.number(facts['all']['cells'])} {things}, "
            f"{console.number(facts['beyond']['cells'])} of them outside of the bins, read {facts['parts_read']} of "
            f"{ds.num_parts} domains",
        )


def tell_beyond(result: Any) -> None:
    """Says below a table how many cells are in none of its bins."""
    from octavo.cli import console

    beyond = result.facts["beyond"]["cells"]
    if beyond:
        console.line(
            f"{console.number(beyond)} of {console.number(result.facts['all']['cells'])} lie outside of the bins"
        )


def save(result: Any, path: str) -> None:
    """Writes the output, which has its name once it is whole."""
    temporary = f"{path}.partial{os.path.splitext(path)[1]}"
    try:
        result.save(temporary)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
