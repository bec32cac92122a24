"""A table over time: extremes, means and integrals of fields in many outputs, or in all steps of a store or a SERAFIN
file. A process has one output open at a time; under mpirun the ranks share the outputs, or of few the domains."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from octavo.cli import options
from octavo.errors import UsageError

if TYPE_CHECKING:
    from octavo.snapshots import Snapshot

EXAMPLES = [
    "octavo series 'output_*' --field density",
    "octavo series run.octavo --field density --of integral --roi sphere:0.5,0.5,0.5:0.1 --csv > mass.csv",
    "octavo series run.octavo --field density,pressure --of max,mass_mean -o extremes.png",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo.snapshots import QUANTITIES, USUAL

    add_snapshots(parser)
    parser.add_argument("--field", type=options.names, metavar="A,B", help="only these fields (default: all)")
    parser.add_argument(
        "--of",
        type=options.names,
        default=list(USUAL),
        metavar="Q,Q",
        help=f"of each field: {', '.join(QUANTITIES)} (default: {','.join(USUAL)})",
    )
    options.add_selection(parser)
    options.add_fields(parser, dry_run=False)
    options.add_skip_damaged(parser)
    options.add_threads(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="a picture of the table (.png)")
    options.add_force(parser, "overwrite the output file")
    parser.add_argument("--csv", action="store_true", help="comma-separated values")
    options.add_json(parser)


def add_snapshots(parser: argparse.ArgumentParser) -> None:
    """Adds PATH..., and the flow of stores."""
    parser.add_argument("paths", nargs="+", metavar="path", help="outputs, stores, files of many steps; or 'output_*'")
    options.add_flow(parser)


def listed(paths: Any, flow: str | None, ranks: Any) -> tuple[Snapshot, ...]:
    """The steps of add_snapshots(). Says which outputs are left out, and why. Collective over `ranks`."""
    from octavo.cli import console
    from octavo.ranks import gathered, is_root
    from octavo.snapshots import found

    series = gathered(ranks, lambda: found(paths, flow=flow) if is_root() else None)[0]
    assert series is not None
    console.notes(False, (f"left out: {error}" for error in series.skipped))
    return series.snapshots


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.damage import INCOMPLETE
    from octavo.ranks import gathered, is_root, world
    from octavo.snapshots import Table, check_quantities

    if arguments.output is not None:
        if not arguments.output.endswith(".png"):
            raise UsageError("the picture must end in .png", [arguments.output], "--csv and --json print the numbers")
        options.check_output(arguments.output, arguments.force)
    ranks = world()
    check_quantities(arguments.of)
    snapshots = listed(arguments.paths, arguments.flow, ranks)
    shares_steps = ranks is not None and len(snapshots) >= ranks.size
    mine = snapshots[ranks.rank :: ranks.size] if shares_steps else snapshots
    with console.Progress("series", arguments.quiet, unit="steps") as progress:
        done = 0

        def stats(snapshot: Snapshot) -> dict[str, Any]:
            nonlocal done
            numbers = _stats(snapshot, arguments, None if shares_steps else ranks)
            done += 1
            progress(done, len(mine))
            return numbers

        if shares_steps:
            by_rank = gathered(ranks, lambda: [stats(snapshot) for snapshot in mine])
            rows = {snapshot: by_rank[i % ranks.size][i // ranks.size] for i, snapshot in enumerate(snapshots)}
            table = Table.of(snapshots, rows.__getitem__, arguments.of)
        else:
            table = Table.of(snapshots, stats, arguments.of)
    if not is_root():
        return INCOMPLETE if any(table.incomplete) else 0
    if arguments.output is not None:
        _draw(table, arguments.output)
    _print(table, arguments)
    return console.end_of_steps(zip(table.snapshots, table.incomplete, strict=False))


def _stats(snapshot: Any, arguments: argparse.Namespace, ranks: Any) -> dict[str, Any]:
    """Numbers of one step, in the units asked for, and which damaged domains they lack. Collective over `ranks`."""
    from octavo import _core
    from octavo.units import stats_in

    ds = snapshot.open(ranks, on_all=arguments.skip_damaged)
    reading = options.reading(arguments, ds, ranks)
    numbers = reading.do(
        lambda data: _core.stats(
            data, fields=arguments.field, particles=False, threads=arguments.threads, ranks=ranks, progress=None,
            **options.chosen(arguments, data, alone=ranks is None),
        )
    )  # fmt: skip
    stats_in(numbers, dict(arguments.unit), ds)
    return {**numbers, **reading.facts()}


def _draw(table: Any, path: str) -> None:
    temporary = f"{path}.partial.png"
    try:
        table.draw().savefig(temporary, dpi=150, bbox_inches="tight")
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _print(table: Any, arguments: argparse.Namespace) -> None:
    from octavo.cli import console

    if arguments.json:
        console.print_json(
            {
                "output": arguments.output,
                "paths": [snapshot.path for snapshot in table.snapshots],
                "steps": [snapshot.step for snapshot in table.snapshots],
                "times": table.times.tolist(),
                "leaves": table.leaves.tolist(),
                "fields": {
                    name: {quantity: values.tolist() for quantity, values in column.items()}
                    for name, column in table.columns.items()
                },
                **({"incomplete": list(table.incomplete)} if arguments.skip_damaged else {}),
            }
        )
    elif arguments.csv:
        console.print_csv(table.heads(), table.rows())
    elif arguments.output is not None:
        console.say(arguments.quiet, f"{arguments.output}: {console.counted(len(table.snapshots), 'step')}")
    else:
        console.table("", table.heads(), table.rows())
