"""How far two outputs or steps differ: variable by variable on the cells they share, particles matched by identity. The
formats, the cutting into domains, the order of blocks and the layout of boxes make no difference.

A variable is within its tolerance where sup|a-b| is at most --abs, or at most --rel times max(sup|a|, sup|b|); both are 0
unless given. A NaN or infinity on one side only is a difference under any tolerance. Where one mesh is finer, the mean of
its cells is compared with the other's cell. All steps of files and stores of triangles are compared, in their order, unless
--step names one. Under mpirun the ranks share the parts. Exit code 0: equal within the tolerances, 1: they differ, 3: not
readable."""

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
    "octavo diff r2d.slf run.octavo --abs 1e-3                # all steps",
]


def tolerance(text: str) -> tuple[str, float]:
    """ "1e-6" holds for all, "NAME=1e-6" for the names that the pattern NAME matches."""
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
    parser.add_argument(
        "--step-b", type=options.whole64, metavar="N", help="step of B (default: as --step, else the newest)"
    )
    parser.add_argument("--flow-b", choices=["analysis", "checkpoint"], help="flow of B (default: as --flow)")
    options.add_threads(parser)
    options.add_json(parser)


def _listed(path: str) -> list[dict[str, Any]]:
    """The steps at a path; rank 0 looks for all."""
    from octavo import _core
    from octavo.ranks import gathered, is_root, world

    return gathered(world(), lambda: _core.steps(path) if is_root() else [])[0]


def _open_both(arguments: argparse.Namespace) -> tuple[Any, Any]:
    from octavo import _core
    from octavo.ranks import world

    ranks = world()
    first = _core.open_on_all(arguments.a, arguments.flow, arguments.step, ranks)
    step = arguments.step if arguments.step_b is None else arguments.step_b
    flow = arguments.flow_b or arguments.flow
    path = arguments.b or arguments.a
    # With a store and a native output, which has only one step, --step means the store's step.
    if arguments.step_b is None and arguments.flow_b is None and len(_listed(path)) == 1 and arguments.b:
        step = flow = None
    return first, _core.open_on_all(path, flow, step, ranks)


def _steps(path: str, flow: str | None) -> list[int]:
    """Returns the steps of a file or store that are compared one by one: those of the flow that opens by default."""
    from octavo import _core

    every = _listed(path)
    if not _core.is_store(path):
        return [s["step"] for s in every] if _core.times(path) else []
    flow = flow or ("analysis" if any(s["flow"] == "analysis" for s in every) else "checkpoint")
    return [s["step"] for s in every if s["flow"] == flow]


def _pairs(arguments: argparse.Namespace, a: Any, b: Any) -> tuple[list[tuple[int, int]], list[str]]:
    """Returns pairs of steps of two series of triangles, and the problem if their counts differ; none for others."""
    if arguments.b is None or arguments.step is not None or arguments.step_b is not None:
        return [], []
    if not (a.unstructured and b.unstructured):
        return [], []
    of_a = _steps(arguments.a, arguments.flow)
    of_b = _steps(arguments.b, arguments.flow_b or arguments.flow)
    if not of_a and not of_b:
        return [], []
    reasons = [] if len(of_a) == len(of_b) else [f"A has {len(of_a)} steps, B has {len(of_b)}"]
    return list(zip(of_a, of_b, strict=False)), reasons


def _compare(arguments: argparse.Namespace, a: Any, b: Any) -> dict[str, Any]:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import world

    ranks = world()
    with console.Progress("diff", arguments.quiet, unit="domains") as progress:
        return _core.diff(
            a,
            b,
            absolute=arguments.abs,
            relative=arguments.rel,
            ignore=arguments.ignore,
            names=dict(arguments.name),
            same_mesh=arguments.same_mesh,
            headers=arguments.headers,
            threads=arguments.threads,
            ranks=ranks,
            progress=progress,
        )


def _compare_series(arguments: argparse.Namespace, pairs: list[tuple[int, int]], reasons: list[str]) -> dict[str, Any]:
    """The report of the first step that differs, or of the last, with one line a step in `steps`. Tables of the first few
    that differ are printed on the way."""
    from octavo import _core
    from octavo.ranks import world

    lines: list[dict[str, Any]] = []
    shown: dict[str, Any] | None = None
    for step_a, step_b in pairs:
        a = _core.open_on_all(arguments.a, arguments.flow, step_a, world())
        b = _core.open_on_all(arguments.b, arguments.flow_b or arguments.flow, step_b, world())
        report = _compare(arguments, a, b)
        line = {"a": step_a, "b": step_b, "time": a.time, "equal": report["equal"], "reasons": report["reasons"]}
        lines.append(line)
        if not report["equal"]:
            _print_step(arguments, line, report, sum(not other["equal"] for other in lines))
        if shown is None or shown["equal"]:
            shown = report
    assert shown is not None
    equal = not reasons and all(line["equal"] for line in lines)
    named = [f"step {line['a']}: {reason}" for line in lines for reason in line["reasons"]]
    return {**shown, "equal": equal, "reasons": reasons + named, "steps": lines}


def _print_step(arguments: argparse.Namespace, line: dict[str, Any], report: dict[str, Any], which: int) -> None:
    from octavo.cli import console
    from octavo.ranks import is_root

    tables = 5  # of steps that differ; further steps are only named
    if arguments.json or arguments.quiet or not is_root():
        return
    other = "" if line["a"] == line["b"] else f" and {line['b']}"
    console.line(f"step {line['a']}{other}, time {line['time']:.10g}:" + ("" if which <= tables else " different"))
    if which <= tables:
        _print(report)


def _print_series(report: dict[str, Any]) -> None:
    from octavo.cli import console

    for note in report["notes"] if report["equal"] else []:
        console.say(False, "note: " + note)
    different = sum(not line["equal"] for line in report["steps"])
    for reason in report["reasons"]:
        if not reason.startswith("step "):
            console.line(reason)
    count = len(report["steps"])
    steps = console.counted(count, "step")
    console.line(
        f"equal: {'' if count == 1 else 'all '}{steps}"
        if report["equal"]
        else f"different: {different} of {steps} compared"
    )


def _which(arguments: argparse.Namespace) -> list[str]:
    """Says which of several steps was compared if none was named. Collective."""
    if arguments.step is not None or arguments.step_b is not None:
        return []
    lines = []
    for name, path, flow in (
        ("A", arguments.a, arguments.flow),
        ("B", arguments.b, arguments.flow_b or arguments.flow),
    ):
        if path is not None and len(steps := _steps(path, flow)) > 1:
            lines.append(f"{name}: step {steps[-1]} of {len(steps)} is compared; --step takes another")
    return lines


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.errors import UsageError
    from octavo.ranks import is_root

    if arguments.b is None and arguments.step_b is None and arguments.flow_b is None:
        raise UsageError(
            "nothing to compare with", [arguments.a], "name a second output, or --step-b N of the same store"
        )
    a, b = _open_both(arguments)
    pairs, reasons = _pairs(arguments, a, b)
    report = _compare_series(arguments, pairs, reasons) if pairs else _compare(arguments, a, b)
    if not pairs and reasons:
        report = {**report, "equal": False, "reasons": reasons + report["reasons"]}
    which = [] if pairs or arguments.json or arguments.quiet else _which(arguments)
    if arguments.json:
        console.print_json({"a": a.path, "b": b.path, **report})
    elif not arguments.quiet and is_root():
        if pairs:
            _print_series(report)
        else:
            for line in which:
                console.line(line)
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
    from octavo.cli.console import line, number, say, table

    mesh = report["mesh"]
    places = "cells" if mesh["nested"] or not mesh["cells"] else "points"  # a mesh without levels has no grid
    line(f"{number(mesh['cells'])} common {places}")
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
                line(f"particles {name} of {other.upper()} missing in {side.upper()}: {first}")
    if report["headers"]:
        shown = list(report["headers"].items())[:20]
        table(
            "headers that differ" + (f" (20 of {len(report['headers'])})" if len(report["headers"]) > 20 else ""),
            ["name", "A", "B"],
            ([name, row["a"][:60], row["b"][:60]] for name, row in shown),
        )
    for reason in report["reasons"]:
        line(reason)
    line("equal" if report["equal"] else "different")
