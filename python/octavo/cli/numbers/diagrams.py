"""Several histograms, phase diagrams and profiles of one selection in one pass over the data. Each is asked for in the words of
its verb, quoted, without the input; what all share (--roi, --level, --where ...) is given once. Each is what the verb makes
alone, to the last bit."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from octavo.cli import options
from octavo.cli.numbers import binned, hist, phase, profile
from octavo.errors import UsageError

EXAMPLES = [
    "octavo diagrams run.octavo 'hist --field density --log -o hist.png' 'phase --x density --y pressure -o phase.png'",
    "octavo diagrams output_00080 'profile --field density,pressure -o p.csv' 'hist --field speed -o speed.csv' --roi "
    "sphere:0.5,0.5,0.5:0.2",
]
_VERBS: dict[str, Any] = {"hist": hist, "phase": phase, "profile": profile}
# What all diagrams share. --memory and --debug are of the process.
_SHARED = (
    "roi", "level", "where", "define", "definitions", "dry_run", "skip_damaged", "step", "flow", "over_time", "threads",
    "json", "quiet", "debug", "memory",
)  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument(
        "diagrams",
        nargs="+",
        metavar="diagram",
        help="a diagram in the words of hist, phase or profile, quoted: 'hist --field density -o hist.png'",
    )
    options.add_selection(parser)
    options.add_fields(parser, unit=False)
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_over_time(parser)
    options.add_threads(parser)
    options.add_json(parser)
    parser.set_defaults(verb="diagrams")


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.ranks import is_root

    several = [_diagram(text, arguments) for text in arguments.diagrams]
    paths = [_VERBS[one.verb].path_of(one) for one in several]
    for path in paths:
        if path is not None and paths.count(path) > 1:
            raise UsageError("two diagrams have one output", [path], "-o with another name")
    found = binned.compute(arguments, [_VERBS[one.verb].asked(one) for one in several])
    if found is None:
        return 0
    ds, reading, made = found
    rows = []
    for one, result, path in zip(several, made, paths, strict=True):
        if not arguments.json:
            _VERBS[one.verb].show(one, ds, result, path)
        elif is_root():
            if path is not None:
                binned.save(result, path)
            rows.append({"diagram": one.verb, "output": path, **result.table()})
    if arguments.json and is_root():
        console.print_json({"diagrams": rows})
    return console.end(reading)


def _diagram(text: str, shared: argparse.Namespace) -> argparse.Namespace:
    """The options of one diagram, and those that all share."""
    from octavo.cli import verb_parser

    try:
        verb, *words = shlex.split(text)
    except ValueError:  # no word, or a quotation mark without its pair
        verb, words = text, []
    if verb not in _VERBS:
        raise UsageError(
            f"'{text}' is no diagram", [], "quote one each: 'hist --field density', 'phase --x ...', 'profile ...'"
        )
    parser = verb_parser(verb)
    one = parser.parse_args([shared.path, *words])
    for name in _SHARED:
        if getattr(one, name, None) != parser.get_default(name):
            raise UsageError(
                f"'{text}': --{name.replace('_', '-')} is of all diagrams", [], "give it once, outside of the quotes"
            )
        setattr(one, name, getattr(shared, name))
    if getattr(one, "particles", None) is not None:
        raise UsageError(f"'{text}': diagrams are of cells", [], "octavo hist --particles")
    return one
