"""Describes an output or a store: code, time, units, levels, domains, fields, particles, bytes. Reads headers or
footers only."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from octavo.cli import options

EXAMPLES = [
    "octavo info output_00080",
    "octavo info run.octavo --step 80",
    "octavo info run.octavo --staging-directory /local/scratch",
    "octavo info output_00080 --json",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    options.add_step(parser)
    options.add_staging(parser)
    options.add_json(parser)


def has_blocks(ds: Any) -> bool:
    """Returns whether a cell of the tree is a block of cells, as in FLASH."""
    return not ds.unstructured and any(extent > 1 for extent in ds.block)


def describe(ds: Any) -> dict[str, Any]:
    """The stable interface of `--json`."""
    levels = ds.levels
    return {
        "format": ds.format,
        "code": ds.code,
        "path": ds.path,
        "time": ds.time,
        "ndim": ds.dim,
        "cells": sum(level["cells"] for level in levels),
        "leaves": sum(level["leaves"] for level in levels),
        "blocks": sum(level["blocks"] for level in levels) if has_blocks(ds) else None,
        "block": list(ds.block) if has_blocks(ds) else None,
        "levels": levels,
        "domains": ds.num_parts,
        "fields": [{"name": f["name"], "unit": f["unit"], "dtype": f["dtype"]} for f in ds.fields],
        "derived": [dict(field) for field in ds.derived],
        "particles": sum(species["count"] for species in ds.species),
        "particle_fields": {
            species["name"]: [{"name": a["name"], "dtype": a["dtype"]} for a in species["attributes"]]
            for species in ds.species
        },
        "box": {"lo": ds.lo, "hi": ds.hi, "periodic": ds.periodic},
        "units": ds.units,
        "bytes": ds.bytes,
    }


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.triangles.polygons import by_corners
    from octavo.triangles.solids import SHAPES

    ds = options.open_dataset(arguments)
    facts = describe(ds)
    if _core.is_store(arguments.path):
        steps = _core.steps(arguments.path)
        facts["steps"] = [{key: s[key] for key in ("flow", "step", "time", "writer", "unknown")} for s in steps]
        facts["safety"] = options.safety(arguments, steps)
    if times := _core.times(arguments.path):
        facts["series"] = {"steps": len(times), "first": times[0], "last": times[-1]}
        facts["file_bytes"] = max(
            Path(ds.path).stat().st_size, ds.bytes
        )  # a step may stand in files that this one names
    if counts := by_corners(ds):
        facts["elements"] = {str(k + 3): count for k, count in enumerate(counts) if count}
    if ds.solids:
        facts["solids"] = dict(zip(SHAPES, ds.solids, strict=True))
    if arguments.json:
        console.print_json(facts)
        return 0
    console.notes(arguments.quiet, ds.notes)
    _print(facts, ds)
    if arguments.staging_directory is not None and "safety" in facts:
        options.print_safety(facts["safety"])
    return 0


def _scales(facts: dict[str, Any], extent: str, ds: Any) -> list[tuple[str, str]]:
    """Time, box and units; in cgs too where the output says its units."""
    from octavo.cosmology import cosmic_facts
    from octavo.units import code_units

    known, box = code_units(ds), facts["box"]
    time, length = f"{facts['time']:.10g} code units", f"{extent} code units"
    if cosmic := cosmic_facts(ds):
        age = cosmic["age"] * ds.units["time"]
        time += f" of conformal time: z = {cosmic['redshift']:.6g}, age {age:.6g} s"
    elif known:
        time += f" = {facts['time'] * known['code_time']:.6g} s"
    if known:
        length += f" = {(box['hi'][0] - box['lo'][0]) * known['code_length']:.6g} cm along x"
    units = "length {length:g} cm, density {density:g} g/cm^3, time {time:g} s".format(**ds.units)
    wraps = "".join(axis for axis, wrap in zip("xyz", box["periodic"], strict=False) if wrap)
    return [
        ("time", time),
        ("box", length),
        ("periodic", wraps or "no"),
        ("units", units if known else "not in the output"),
    ]


def _print(facts: dict[str, Any], ds: Any) -> None:
    from octavo.cli.console import fact, line, number, size, table
    from octavo.triangles.polygons import fields_in_cells

    box = facts["box"]
    extent = " x ".join(f"{hi - lo:g}" for lo, hi in zip(box["lo"], box["hi"], strict=True))
    lines = [
        ("code", f"{facts['code']} ({facts['format']})"),
        *_scales(facts, extent, ds),
        ("domains", number(facts["domains"])),
        *_blocks(facts),
        ("cells", f"{number(facts['cells'])}, of which {number(facts['leaves'])} leaves"),
        ("particles", number(facts["particles"])),
        ("bytes", size(facts["bytes"])),
    ]
    if ds.unstructured:
        lines = _lines_of_triangles(facts, extent)
    if facts.get("steps"):
        steps = facts["steps"]
        lines.insert(1, ("steps", f"{len(steps)}: " + ", ".join(f"{s['flow']} {s['step']}" for s in steps[-6:])))
        lines.insert(2, ("writer", ", ".join(dict.fromkeys(s["writer"] for s in steps))))
    if series := facts.get("series"):
        unit = " s" if facts["units"]["length"] == 100 else ""
        lines.insert(1, ("steps", f"{series['steps']}, from {series['first']:.10g} to {series['last']:.10g}{unit}"))
        lines[-1] = ("bytes", f"{size(facts['file_bytes'])}, of which {size(facts['bytes'])} for this step")
    line(facts["path"])
    for name, text in lines:
        fact(name, text)
    line()
    if not ds.unstructured:
        columns = ["level", "blocks", "cells", "leaves"] if facts["block"] else ["level", "cells", "leaves"]
        table("levels", columns, ([level[column] for column in columns] for level in facts["levels"]))
    columns, rows = ["field", "unit", "type"], [[f["name"], f["unit"], f["dtype"]] for f in facts["fields"]]
    if "elements" in facts or "solids" in facts:
        own = fields_in_cells(ds)
        columns.append("values")
        rows = [[*row, "in cells" if row[0] in own else "at points"] for row in rows]
    table("fields", columns, rows)
    if facts["derived"]:
        rows = [[f["name"], f["unit"], f["formula"] + _first(f["define"])] for f in facts["derived"]]
        table("derived fields", ["field", "unit", "formula"], rows, spare=["unit"])
    for name, attributes in facts["particle_fields"].items():
        table(name, ["attribute", "type"], ([a["name"], a["dtype"]] for a in attributes))


def _first(constant: str) -> str:
    return f"   (--define {constant}=...)" if constant else ""


def _blocks(facts: dict[str, Any]) -> list[tuple[str, str]]:
    from octavo.cli.console import number

    if not facts["block"]:
        return []
    shape = " x ".join(str(extent) for extent in facts["block"])
    return [("blocks", f"{number(facts['blocks'])} of {shape} cells")]


def _elements(facts: dict[str, Any]) -> str:
    """How many there are, of each number of corners."""
    from octavo.cli.console import number
    from octavo.triangles.polygons import described

    if "solids" in facts:
        return ", ".join(f"{number(count)} {name}" for name, count in facts["solids"].items() if count)
    if "elements" not in facts:
        return number(facts["cells"])
    counts = {int(corners): count for corners, count in facts["elements"].items()}
    return described([counts.get(corners, 0) for corners in range(3, 1 + max(counts, default=3))])


def _lines_of_triangles(facts: dict[str, Any], extent: str) -> list[tuple[str, str]]:
    """Describes triangles and solids: no levels, no blocks, and metres and seconds where the file says so."""
    from octavo.cli.console import number, size

    metres = facts["units"]["length"] == 100
    return [
        ("code", f"{facts['code']} ({facts['format']})"),
        ("time", f"{facts['time']:.10g}{' s' if metres else ''}"),
        ("box", f"{extent}{' m' if metres else ', the unit is not in the file'}"),
        ("domains", number(facts["domains"])),
        ("elements", _elements(facts)),
        ("bytes", size(facts["bytes"])),
    ]
