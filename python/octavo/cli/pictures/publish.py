"""Write a view of outputs and stores as files that any web server gives out, for open archives: the page of `octavo view`, tiles of chosen
fields, kinds and planes, whole volumes if asked for, sums of all files, and JSON for a DOI. A run that was cut off goes on where it
stopped. Nothing is written beside the data."""

from __future__ import annotations

import argparse
import os
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo publish output_00080 -o site --field density",
    "octavo publish run.octavo -o site --field density,pressure --kind slice,mean --axis x,z --at 0.25,0.5 --volume",
    "octavo publish 'output_*' -o site --field density --title 'A turbulent box' --metadata datacite.json",
    "cd site && python3 -m http.server",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="outputs, stores, or patterns such as 'output_*'")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the site")
    parser.add_argument("--field", type=options.names, required=True, metavar="F,G", help="fields or formulas to show")
    parser.add_argument(
        "--kind", type=options.names, default=["slice"], metavar="K,L", help="slice (default), integral, mean, max, min"
    )
    parser.add_argument("--axis", type=options.names, default=["z"], metavar="A,B", help="x, y, z (default: z)")
    parser.add_argument(
        "--at", type=_planes, default=[0.5], metavar="P,Q", help="planes of slices, fractions of the extent (0.5)"
    )
    parser.add_argument("--weight", metavar="F", help="weight of means, a field (default: volume)")
    options.add_fields(parser, dry_run=False)
    parser.add_argument(
        "--zooms",
        type=options.positive,
        metavar="N",
        help="levels of zoom of the pictures (default: those that show the finest cells, at most 4)",
    )
    parser.add_argument(
        "--volume",
        type=options.positive,
        nargs="?",
        const=0,
        metavar="N",
        help="also write volumes, with N levels of zoom (default: at most 3)",
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the site")
    parser.add_argument(
        "--metadata", metavar="FILE", help="JSON of DataCite's schema: creators, publisher, rightsList ..."
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="write nothing; print the number of files and their size at most"
    )
    options.add_flow(parser)
    options.add_threads(parser)
    options.add_force(parser, "replace a site of other pictures")
    options.add_json(parser)


def _planes(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected fractions such as 0.25,0.5, found {text}") from None
    if not all(0 <= one <= 1 for one in found):
        raise argparse.ArgumentTypeError(f"expected fractions, 0 to 1, found {text}")
    return found


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.view import datacite, publish
    from octavo.view.steps import Steps

    options.refuse_ranks("publish")
    steps = Steps(arguments.paths, arguments.flow, options.definitions_of(arguments))
    if steps.skipped:  # an archive lacks nothing that its owner named
        raise steps.skipped[0]
    data = steps.opened(0)._data
    plan = _plan(arguments, len(steps), data, steps.definitions)
    files, most = publish.count_of(plan, data)
    if arguments.dry_run:
        said = f"{files} tiles and bricks, at most {console.size(most)} before compression"
        _report(arguments, {"files": files, "bytes": most}, said)
        return 0
    given = datacite.read(arguments.metadata) if arguments.metadata else {}
    record, missing = datacite.record(arguments.title, given, _told(arguments, steps))
    site = publish.site_of(plan, record["titles"][0]["title"] if record["titles"] else "", datacite.about(record))
    _apart(arguments.output, [shown.snapshot.path for shown in map(steps.__getitem__, range(len(steps)))])
    publish.begin(arguments.output, plan, _state(steps), arguments.force)
    threads = arguments.threads or len(os.sched_getaffinity(0))
    total = files + 1 + len(steps) * (1 + len(plan.fields))
    with console.Progress("publish", arguments.quiet, unit="files") as progress:
        made = publish.write(arguments.output, plan, steps, site, record, threads, progress, total)
    notes = [f"datacite.json lacks {', '.join(missing)}: --title and --metadata give them"] if missing else []
    _report(
        arguments, {"output": arguments.output, **made, "notes": notes},
        f"{arguments.output}: {made['files']} files, {console.size(made['bytes'])}; {made['made']} tiles and tables made now",
    )  # fmt: skip
    return 0


def _report(arguments: argparse.Namespace, facts: dict[str, Any], sentence: str) -> None:
    from octavo.cli import console

    console.report(arguments.quiet, arguments.json, facts, sentence)


def _plan(arguments: argparse.Namespace, steps: int, data: Any, definitions: tuple[tuple[str, str], ...]) -> Any:
    from octavo.view import bricks, publish, tiles

    fields = tuple(dict.fromkeys(arguments.field))
    _known(arguments.kind, tiles.KINDS, "--kind")
    _known(arguments.axis, tuple(tiles.AXES), "--axis")
    units = dict(arguments.unit)
    _known(list(units), fields, "--unit")

    def look(field: str, kind: str = "slice", axis: str = "z", at: float = 0.5) -> tiles.Look:
        weight = arguments.weight if kind == "mean" else None
        return tiles.Look(field, kind, axis, at, weight, arguments.where, units.get(field), None, definitions)

    flat = data.dim < 3 or (data.unstructured and not data.solids)
    looks = [
        look(field, kind, axis, at)
        for field in fields
        for kind in dict.fromkeys(arguments.kind)
        for axis in dict.fromkeys(arguments.axis)
        for at in (dict.fromkeys(arguments.at) if kind == "slice" and not flat else [0.5])
    ]
    volumes = tuple(look(field) for field in fields) if arguments.volume is not None else ()
    if volumes:
        bricks.block_of(data, 0, (0, 0, 0))  # raises for data without a volume
    return publish.Plan(
        steps, tuple(looks), fields, arguments.zooms or publish.zooms_for(data, tiles.PIXELS, publish.USUAL_ZOOMS),
        (arguments.volume or publish.zooms_for(data, bricks.EDGE, publish.USUAL_BRICKS)) if volumes else 0, volumes,
    )  # fmt: skip


def _known(words: list[str], of: tuple[str, ...], option: str) -> None:
    for word in words:
        if word not in of:
            raise UsageError(f"'{word}': expected one of {', '.join(of)}", [], f"{option} {of[0]}")


def _told(arguments: argparse.Namespace, steps: Any) -> str:
    """How the site was made, without the places of files on this machine."""
    from octavo import _core

    names = list(dict.fromkeys(row["name"] for row in steps.table()))
    count = f"{len(steps)} steps" if len(steps) > 1 else "one step"
    return (
        f"{', '.join(arguments.kind)} of {', '.join(arguments.field)} of {', '.join(names)} ({count}), "
        f"made by octavo publish {_core.version}"
    )


def _apart(output: str, paths: list[str]) -> None:
    """Refuses to write among the data."""
    where = os.path.realpath(output)
    for path in paths:
        if os.path.commonpath([where, os.path.realpath(path)]) == os.path.realpath(path):
            raise UsageError("the site would lie among the data", [output], "a folder outside of it")


def _state(steps: Any) -> list[Any]:
    """The state of a site's sources: names, numbers and times of steps, and a fingerprint of their files."""
    from octavo.snapshots import state_of

    paths = list(dict.fromkeys(steps[number].snapshot.path for number in range(len(steps))))
    return [steps.table(), [state_of(path) for path in paths]]
