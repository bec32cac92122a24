"""Steps, domains and fields: bytes stored and raw, codecs, ratios. Reads headers or footers only. A step that is damaged is
named, the others are listed, and the exit code is 1; it is 4 for a step that this Octavo does not understand."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options

EXAMPLES = [
    "octavo ls run.octavo",
    "octavo ls run.octavo --step 80 --streams",
    "octavo ls run.octavo --staging-directory /local/scratch",
    "octavo ls run.octavo --json",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a store, or an output directory")
    parser.add_argument("--streams", action="store_true", help="one row per stream: part, field, levels, place")
    options.add_step(parser)
    options.add_staging(parser)
    options.add_json(parser)


def _label(field: str) -> str:
    return {"": "(refinement)", "?": "(ownership)"}.get(field, field)


def by_field(streams: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sums up streams by field, in the order in which they were stored."""
    rows: dict[str, dict[str, Any]] = {}
    for stream in streams:
        row = rows.setdefault(
            stream["field"],
            {"field": _label(stream["field"]), "streams": 0, "raw": 0, "stored": 0, "codecs": set()},
        )
        row["streams"] += 1
        row["raw"] += stream["raw_bytes"]
        row["stored"] += stream["stored_bytes"]
        row["codecs"].add(stream["codec"])
    for row in rows.values():
        row["codecs"] = sorted(row["codecs"])
        row["ratio"] = row["raw"] / row["stored"] if row["stored"] else None
    return list(rows.values())


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.errors import Damaged, Unsupported

    steps = _core.steps(arguments.path)
    if not _core.is_store(arguments.path):
        return _list_native(arguments)
    if arguments.step is not None or arguments.flow is not None:
        if not any(_matches(s, arguments) for s in steps):
            _core.open(arguments.path, arguments.flow, arguments.step)  # throws the error that there is no such step
        steps = [s for s in steps if _matches(s, arguments)]
    listed: list[dict] = []
    damaged: list[dict] = []
    unsupported: list[dict] = []
    for step in steps:
        try:
            streams = _core.list_streams(arguments.path, step["flow"], step["step"])
        except Unsupported as error:
            unsupported.append({"flow": step["flow"], "step": step["step"], "problem": str(error)})
            continue
        except Damaged as error:
            if len(damaged) + 1 == len(steps):
                raise  # nothing is left to list
            damaged.append({"flow": step["flow"], "step": step["step"], "damage": str(error)})
            continue
        listed.append({**step, "fields": by_field(streams), **({"streams": streams} if arguments.streams else {})})
    safety = [row for row in options.safety(arguments, steps) if _matches(row, arguments)]
    if arguments.json:
        facts = {"path": str(arguments.path), "steps": listed, "damaged": damaged, "unsupported": unsupported}
        console.print_json({**facts, "safety": safety})
    else:
        _print(listed)
        if arguments.staging_directory is not None:
            options.print_safety(safety)
    for step in damaged:
        console.say(False, f"{step['flow']} step {step['step']} is damaged and not listed: {step['damage']}")
    for step in unsupported:
        console.say(False, f"{step['flow']} step {step['step']} is not listed: {step['problem']}")
    return 1 if damaged else 4 if unsupported else 0


def _matches(step: dict[str, Any], arguments: argparse.Namespace) -> bool:
    return arguments.step in (None, step["step"]) and arguments.flow in (None, step["flow"])


def _print(steps: list[dict[str, Any]]) -> None:
    from octavo.cli.console import size, table

    for step in steps:
        title = f"{step['flow']} step {step['step']}, time {step['time']:.6g}, {step['parts']} domains, {size(step['bytes'])}"
        rows = [
            [f["field"], f["streams"], size(f["raw"]), size(f["stored"]), f"{f['ratio']:.2f}" if f["ratio"] else None,
             ", ".join(f["codecs"][:4]) + (" ..." if len(f["codecs"]) > 4 else "")]
            for f in step["fields"]
        ]  # fmt: skip
        table(title, ["field", "streams", "raw", "stored", "ratio", "codecs"], rows, spare=["streams", "raw"])
        if "streams" in step:
            table(
                "streams",
                ["part", "field", "levels", "raw", "stored", "codec", "file", "offset"],
                (
                    [s["part"], _label(s["field"]), f"{s['first_level']}-{s['last_level']}", s["raw_bytes"],
                     s["stored_bytes"], s["codec"], s["file"].rsplit("/", 1)[-1], s["offset"]]
                    for s in step["streams"]
                ),
            )  # fmt: skip


def _list_native(arguments: argparse.Namespace) -> int:
    """Lists a native output, which has no codecs: one row per domain."""
    from octavo.cli import console

    ds = options.open_dataset(arguments)
    rows = [{"domain": part + 1, "bytes": ds.part_bytes(part)} for part in range(ds.num_parts)]
    if arguments.json:
        console.print_json({"path": ds.path, "domains": rows, "fields": [f["name"] for f in ds.fields]})
        return 0
    console.table(f"{ds.path}: {ds.num_parts} domains", ["domain", "bytes"], ([r["domain"], r["bytes"]] for r in rows))
    console.table("fields", ["field", "type"], ([f["name"], f["dtype"]] for f in ds.fields))
    return 0
