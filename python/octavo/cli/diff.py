"""How far two outputs or steps differ: variable by variable on the cells they share, particles matched by identity. The
formats, the cutting into domains, the order of blocks and the layout of boxes make no difference.

A variable is within its tolerance where sup|a-b| is at most --abs, or at most --rel times max(sup|a|, sup|b|); both are 0
unless given. A NaN or infinity on one side only is a difference under any tolerance. Where one mesh is finer, the mean of
its cells is held against the other's cell. Exit code 0: equal within the tolerances, 1: they differ, 3: not readable."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options

EXAMPLES = [
    "octavo diff output_00080 run.octavo                      # lossless? then all errors are 0",
    "octavo diff a_hdf5_chk_0002 b_hdf5_chk_0002 --rel 1e-12 --rel particles=1e-9",
    "octavo diff old new --rel 1e-6 --abs 'vel*=1e-10' --ignore temp,particles",
    "octavo diff plt00100 flash_hdf5_chk_0010 --name density=dens --ignore time",
    "octavo diff run.octavo --step 3 --step-b 4 --same-mesh --json",
]


def tolerance(text: str) -> tuple[str, float]:
    """ "1e-6" holds for all, "NAME=1e-6" for what the pattern NAME matches."""
    name, sign, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not value >= 0 or (sign and not name):
        raise argparse.ArgumentTypeError(f"expected E or NAME=E with E at least 0, found '{text}'")
    return (name or "*", value)


def name_pair(text: str) -> tuple[str, str]:
    a, sign, b = text.partition("=")
    if not sign or not a or not b:
        raise argparse.ArgumentTypeError(f"expected NAME_IN_A=NAME_IN_B, found '{text}'")
    return (a, b)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", help="an output, or a store")
    parser.add_argument("b", nargs="?", help="another; without it, the same store (see --step-b)")
    parser.add_argument(
        "--abs", type=tolerance, action="append", default=[], metavar="[NAME=]E", help="absolute tolerance; repeatable"
    )
    parser.add_argument(
        "--rel",
        type=tolerance,
        action="append",
        default=[],
        metavar="[NAME=]E",
        help="tolerance of the magnitude error",
    )
    parser.add_argument(
        "--ignore",
        type=options.names,
        action="extend",
        default=[],
        metavar="NAME,...",
        help="variables, particles, SPECIES/ATTRIBUTE, time, domain; patterns with * work",
    )
    parser.add_argument(
        "--name", type=name_pair, action="append", default=[], metavar="A=B", help="variable A is called B in the other"
    )
    parser.add_argument("--same-mesh", action="store_true", help="another refinement is a difference")
    parser.add_argument("--headers", action="store_true", help="other attributes, units or steps are differences")
    options.add_step(parser)
    parser.add_argument("--step-b", type=int, metavar="N", help="step of B (default: as --step, else the newest)")
    parser.add_argument("--flow-b", choices=["analysis", "checkpoint"], help="flow of B (default: as --flow)")
    options.add_threads(parser)
    options.add_json(parser)


def _open_both(arguments: argparse.Namespace) -> tuple[Any, Any]:
    from octavo import _core

    first = _core.open(arguments.a, arguments.flow, arguments.step)
    step = arguments.step if arguments.step_b is None else arguments.step_b
    flow = arguments.flow_b or arguments.flow
    path = arguments.b or arguments.a
    # One --step for a store and a native output, which has only one, means the store's.
    if arguments.step_b is None and arguments.flow_b is None and len(_core.steps(path)) == 1 and arguments.b:
        step = flow = None
    return first, _core.open(path, flow, step)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.errors import UsageError
    from octavo.ranks import is_root

    if arguments.b is None and arguments.step_b is None and arguments.flow_b is None:
        raise UsageError(
            "nothing to compare with", [arguments.a], "name a second output, or --step-b N of the same store"
        )
    a, b = _open_both(arguments)
    with console.Progress("diff", arguments.quiet, unit="domains") as progress:
        report = _core.diff(
            a,
            b,
            absolute=arguments.abs,
            relative=arguments.rel,
            ignore=arguments.ignore,
            names=dict(arguments.name),
            same_mesh=arguments.same_mesh,
            headers=arguments.headers,
            threads=arguments.threads,
            progress=progress,
        )
    if arguments.json:
        console.print_json({"a": a.path, "b": b.path, **report})
    elif not arguments.quiet and is_root():
        _print(report)
    return 0 if report["equal"] else 1


def _place(row: dict[str, Any] | None, what: str) -> str:
    if row is None:
        return ""
    if "identity" in row:
        return f"{what} {row['identity']}" + (f" of rank {row['rank']}" if row["rank"] else "")
    at = ", ".join(f"{value:.6g}" for value in row["at"])
    level = str(row["level_a"]) if row["level_a"] == row["level_b"] else f"{row['level_a']}/{row['level_b']}"
    return f"({at}) level {level}, parts {row['part_a']}/{row['part_b']}"


def _print_variables(title: str, rows: dict[str, Any], weighted: bool) -> None:
    from octavo.cli.console import table

    def ratio(norm: dict[str, float]) -> float:
        return norm["difference"] / max(norm["b"], 1e-99)

    table(
        title,
        ["name", "", "differing", "magnitude error", "abs error", "a", "b", "where", "L1", "L2"]
        + (["L1 by volume"] if weighted else [])
        + ["only one NaN/inf"],
        (
            [name, "" if v["within"] else "differs", v["differing"], v["magnitude"], v["absolute"],
             worst["a"] if (worst := v["largest"] or v["first_mismatch"]) else None, worst["b"] if worst else None,
             _place(worst, "particle" if title.startswith("particles") else "point"), ratio(v["l1"]), ratio(v["l2"])]
            + ([ratio(v["l1_volume"])] if weighted else [])
            + [v["mismatches"]]
            for name, v in rows.items()
        ),
    )  # fmt: skip
    table(
        "values",
        ["name", "min of A", "min of B", "max of A", "max of B", "sum of A", "sum of B"],
        (
            [name, v["a"]["min"], v["b"]["min"], v["a"]["max"], v["b"]["max"], v["a"]["sum"], v["b"]["sum"]]
            for name, v in rows.items()
        ),
    )


def _print(report: dict[str, Any]) -> None:
    from octavo.cli.console import number, say, table

    mesh = report["mesh"]
    print(f"{number(mesh['cells'])} common cells")
    for note in report["notes"]:
        say(False, "note: " + note)
    if report["variables"]:
        _print_variables("variables", report["variables"], mesh["nested"])
    for name, species in report["particles"].items():
        if species["attributes"]:
            title = f"particles {name}: {number(species['matched'])} matched"
            _print_variables(title, species["attributes"], False)
        for side, other in (("a", "b"), ("b", "a")):
            first = ", ".join(str(identity) for identity, _ in species["first_missing"][side])
            if first:
                print(f"particles {name} of {other.upper()} missing in {side.upper()}: {first}")
    if report["headers"]:
        shown = list(report["headers"].items())[:20]
        table(
            "headers that differ" + (f" (20 of {len(report['headers'])})" if len(report["headers"]) > 20 else ""),
            ["name", "A", "B"],
            ([name, row["a"][:60], row["b"][:60]] for name, row in shown),
        )
    for reason in report["reasons"]:
        print(reason)
    print("equal" if report["equal"] else "different")
