"""Options that several verbs share: the same words everywhere."""

from __future__ import annotations

import argparse
import os
from typing import Any

from octavo.errors import UsageError


def names(text: str) -> list[str]:
    """Reads a comma-separated list. A comma in parentheses, or in a quoted name, separates nothing."""
    out, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in '"`':
            quote = sign
        depth += (sign == "(") - (sign == ")") if not quote else 0
        if sign == "," and depth == 0 and not quote:
            out.append("")
        else:
            out[-1] += sign
    return [name.strip() for name in out if name.strip()]


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def add_force(parser: argparse.ArgumentParser, effect: str) -> None:
    parser.add_argument("-f", "--force", action="store_true", help=effect)


def add_piece_force(parser: argparse.ArgumentParser) -> None:
    add_force(parser, "replace other files, too (pieces are always replaced)")


def add_step(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--step",
        type=whole64,
        metavar="N",
        help="step of a store (default: the newest complete one), or of a SERAFIN file, from 0",
    )
    add_flow(parser)


def add_flow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--flow", choices=["analysis", "checkpoint"], help="flow of a store (default: analysis, if it has a step)"
    )


def add_staging(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--staging-directory",
        default=os.environ.get("OCTAVO_STAGING_DIRECTORY"),
        metavar="DIR",
        help="the run's directory on local disks: also list the levels of safety that each step has there, on the disks that "
        "this machine sees (default: $OCTAVO_STAGING_DIRECTORY)",
    )


def safety(arguments: argparse.Namespace, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The levels of safety of each of the store's steps; damaged files are noted on stderr."""
    from octavo.cli import console
    from octavo.safety import levels

    rows, notes = levels(arguments.path, arguments.staging_directory, steps)
    console.notes(arguments.quiet, notes)
    return rows


def print_safety(rows: list[dict[str, Any]]) -> None:
    """One row a step: segments at each level of those that it has, or whether the step is in the store."""
    from octavo.cli import console
    from octavo.safety import LOCAL_LEVELS

    def cell(row: dict[str, Any], level: str) -> str | None:
        there = row[level]
        if there is None:
            return None
        return "complete" if there["complete"] else f"{there['segments']} of {row['segments']}"

    console.table(
        "safety",
        ["flow", "step", *LOCAL_LEVELS, "drained"],
        (
            [row["flow"], str(row["step"]), *(cell(row, level) for level in LOCAL_LEVELS),
             "complete" if row["drained"]["complete"] else "no"]
            for row in rows
        ),
    )  # fmt: skip


def add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--level",
        type=int,
        metavar="L",
        help="deepest level kept, the code's own number; coarse cells take their stored value",
    )
    parser.add_argument(
        "--roi",
        metavar="REGION",
        help="a region, in fractions of the box length or with units (20 kpc): box:x,y,z:x,y,z, sphere:x,y,z:r, shell:x,y,z:r:r, cylinder:x,y,z:axis:r:height, "
        "sector:x,y,z:r:direction:angle, halfspace:x,y,z:normal or all, joined by & (in both), | (in either) and - (without)",
    )


def add_edge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--edge",
        choices=["centre", "clip"],
        help="which cells --roi takes: those whose centre is inside, or at a box the share of each that is inside (default: "
        "clip in maps of a box, else centre)",
    )


def direction(text: str) -> tuple[float, float, float]:
    """Reads the three components of a vector."""
    try:
        x, y, z = (float(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected three numbers such as 1,1,1, found {text}") from None
    return x, y, z


def add_place(
    parser: argparse.ArgumentParser, option: str, what: str, default: str | None, *, to: str | None = None
) -> None:
    """An option for a point, in the words of the compiled code."""
    parser.add_argument(
        option,
        default=default,
        dest=to or option.strip("-"),
        metavar="POINT",
        help=f"{what}: 0.5,0.5,0.5 (fractions of the box length, or lengths: 20 kpc), center, max:FIELD or min:FIELD"
        + (f" (default: {default})" if default else ""),
    )


THROUGH = "--through 4500,4350 5500,4400, or --through line.geojson"
POLYGON = "--polygon 4500,4000 5500,4000 5000,5000, or --polygon valley.geojson"


def add_through(parser: argparse.ArgumentParser, effect: str, *, required: bool = False, several: bool = False) -> None:
    """An option for a line with bends through triangles; outlines.words_of() reads it."""
    _add_points(parser, "--through", f"{effect}: two points or more", required, several)


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """An option for the places at which ways begin; outlines.words_of() reads it."""
    _add_points(parser, "--at", "where they start: points", False, False)


def add_polygon(parser: Any, effect: str, *, several: bool = False) -> None:
    """An option for a polygon over triangles; outlines.words_of() reads it."""
    _add_points(parser, "--polygon", f"{effect}: three corners or more", False, several)


def _add_points(parser: Any, option: str, effect: str, required: bool, several: bool) -> None:
    parser.add_argument(
        option,
        nargs="+",
        action="append" if several else "store",
        required=required,
        metavar="X,Y",
        help=f"{effect} in the mesh's own coordinates, or a file of them (text, GeoJSON); write coordinates with minus signs as one word: "
        f"{option} '-5,0 5,0'{'; may be repeated' if several else ''}",
    )


def add_skip_damaged(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--skip-damaged",
        action="store_true",
        help="leave damaged domains out, name them, and mark the result as incomplete (exit code 6)",
    )


def reading(arguments: argparse.Namespace, ds: Any, ranks: Any) -> Any:
    """The opened step as verbs read it: past its damaged domains with --skip-damaged."""
    from octavo.damage import Reading

    return Reading(ds, ranks, skip=arguments.skip_damaged)


def add_crs(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--crs", metavar="CRS", help=f"{what}: the coordinate system of the mesh, EPSG:2154")


def add_fields(parser: argparse.ArgumentParser, *, unit: bool = True, dry_run: bool = True) -> None:
    """Adds --where, --define, --definitions, --unit for results with one, and --dry-run for verbs of one step. Fields may be other names and formulas wherever they are read."""
    parser.add_argument(
        "--where", metavar="COND", help="only cells where this formula holds: 'density > 1e-3', 'temperature < 1e4 K'"
    )
    add_definitions(parser)
    if unit:
        add_unit(parser)
    if dry_run:
        _add_dry_run(parser)


def add_definitions(parser: argparse.ArgumentParser) -> None:
    """Adds --define and --definitions; definitions_of() reads them."""
    parser.add_argument(
        "--define",
        action="append",
        default=[],
        type=definition,
        metavar="NAME=F",
        help="a field or constant computed by a formula, for use in others ('gamma=1.4'); may be repeated",
    )
    parser.add_argument(
        "--definitions",
        action="append",
        default=[],
        metavar="FILE",
        help='fields and constants from a TOML file (mach = "speed/sound_speed"); may be repeated',
    )


def add_unit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unit",
        action="append",
        default=[],
        type=unit_of_name,
        metavar="NAME=U",
        help="gives a result in this unit (density=H/cc, mass=Msun); may be repeated",
    )


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="read nothing; print the most that reading would take: domains, cells, bytes and memory",
    )


def definition(text: str) -> tuple[str, str]:
    return _pair(text, text.partition("="), "NAME=FORMULA")


def unit_of_name(text: str) -> tuple[str, str]:
    """A formula may hold an equals sign; a unit has none."""
    return _pair(text, text.rpartition("="), "NAME=UNIT")


def _pair(text: str, parts: tuple[str, str, str], form: str) -> tuple[str, str]:
    name, sign, value = parts
    if not sign or not name.strip() or not value.strip():
        raise argparse.ArgumentTypeError(f"expected {form}, found '{text}'")
    return name.strip(), value.strip()


def unit_of(arguments: argparse.Namespace, field: str) -> str | None:
    """The unit that --unit gives the one result of a verb."""
    units = dict(arguments.unit)
    for name in units:
        if name != field:
            raise UsageError(f"a unit for '{name}', which is not computed", [], f"--unit '{field}=...'")
    return units.get(field)


def planned(arguments: argparse.Namespace, ds: Any, fields: list[str] | None) -> bool:
    """Says what reading these fields takes, if only that was asked for."""
    if not arguments.dry_run:
        return False
    from octavo import _core
    from octavo.cli import console
    from octavo.plan import Plan
    from octavo.ranks import is_root

    selection = chosen(arguments, ds)
    if is_root():
        plan = Plan(**_core.plan(ds, fields=fields, threads=arguments.threads, **selection))
        if arguments.json:
            console.print_json(vars(plan))
        else:
            console.line(str(plan))
    return True


def add_percentiles(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--percentiles", type=percentages, default=[], metavar="P,Q", help=f"percentiles of {what} (0 to 100): 5,50,95"
    )


def percentages(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 5,50,95, found {text}") from None
    if not all(0 <= one <= 100 for one in found):
        raise argparse.ArgumentTypeError(f"expected numbers from 0 to 100, found {text}")
    return found


def place(text: str, ds: Any) -> str:
    """A point as compiled functions take it."""
    from octavo.units import in_fractions

    return in_fractions(text, ds)


def chosen(arguments: argparse.Namespace, ds: Any, *, alone: bool = False) -> dict[str, Any]:
    """The selection as compiled functions take it, of add_selection and add_fields. The place of an extreme is read: by
    all ranks together, or with `alone` by this one."""
    all_cells = {
        "region": None,
        "max_level": arguments.level,
        "where": arguments.where,
        "definitions": definitions_of(arguments),
    }
    if arguments.roi is None:
        return all_cells
    from octavo.ranks import world
    from octavo.regions import with_extremes

    return all_cells | {"region": with_extremes(place(arguments.roi, ds), ds, all_cells, None if alone else world())}


def definitions_of(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """The definitions of add_fields: those of files, and those of --define, which come first where both define a name."""
    if not arguments.definitions:
        return arguments.define
    from octavo.definition_files import definitions, joined

    known: list[tuple[str, str]] = []
    for path in arguments.definitions:
        known = joined(known, definitions(path))
    return joined(known, arguments.define)


def add_particles(parser: argparse.ArgumentParser, effect: str) -> None:
    parser.add_argument(
        "--particles",
        metavar="FAMILY",
        help=f"particles, not cells: {effect}. A species, or dm, star, cloud, sink, debris, other, tracer, tracer_gas ...",
    )


def open_particles(arguments: argparse.Namespace, ranks: Any) -> tuple[Any, str | None]:
    """The step, and the region that --roi names, for verbs of particles. Levels and conditions choose no particles. Collective
    over `ranks`."""
    if arguments.level is not None or arguments.where is not None:
        raise UsageError("--level and --where choose no particles", [], "--roi chooses them")
    data = open_dataset(arguments, ranks)
    return data, chosen(arguments, data)["region"]


def add_effort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--effort",
        choices=["default", "fast", "max"],
        default="default",
        help="fast tries hardly anything: less than half of the time, up to half again as many bytes; max is slower, with fewer bytes",
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-j", "--threads", type=positive, default=0, metavar="N", help="threads (default: all cores)")


def whole(text: str, bits: int = 32) -> int:
    """Reads a whole number that fits the compiled code. All options use it instead of `int`."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text}") from None
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise argparse.ArgumentTypeError(f"expected a whole number below {2 ** (bits - 1)}, found {text}")
    return value


def whole64(text: str) -> int:
    """Reads numbers of steps, and counts that can be large."""
    return whole(text, 64)


def positive(text: str) -> int:
    value = whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number, found {text}")
    return value


def add_over_time(parser: Any) -> None:
    parser.add_argument(
        "--over-time",
        metavar="KIND",
        help="triangles: show each point's max, min or mean of all steps, or arrival:T, the first time at which its value is "
        "above T",
    )


def open_dataset(arguments: argparse.Namespace, ranks: Any = None):
    """Opens the step that PATH, --flow and --step name; reads headers only. Collective over `ranks`."""
    from octavo import _core

    if getattr(arguments, "over_time", None):
        if arguments.step is not None:
            raise UsageError("--over-time takes all steps", [], "leave --step away")
        return _core.over_time(arguments.path, arguments.over_time, arguments.flow)
    # A rank that reads past damage may have to read other parts than those of its share.
    open_step = _core.open_on_all if getattr(arguments, "skip_damaged", False) else _core.open
    return open_step(arguments.path, arguments.flow, arguments.step, ranks)


def check_output(path: str, overwrite: bool, kind: str | None = "") -> None:
    """Refuses to overwrite without being asked, to replace what is no such output, and to write to a place that cannot be written.
    `kind`: "octavo", or a format's name; "" for pictures, tables and other files of no format; None where the job itself looks at what
    is there."""
    import os

    from octavo import _core

    if os.path.exists(path) and not overwrite:
        raise UsageError("the output exists", [path], "-f replaces it")
    if kind is not None:
        _core.require_replaceable(path, kind)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError("the folder of the output does not exist", [folder], f"mkdir -p {folder}")


#: Endings of stores.
STORE_ENDS = ("", ".octavo")


def ends_of(*names: str) -> tuple[str, ...]:
    """The endings that outputs of these formats may have."""
    from octavo import _core

    return ("", *(ending for format in _core.formats() if format["name"] in names for ending in format["endings"]))


def check_ending(path: str, known: tuple[str, ...], kind: str, hint: str = "") -> None:
    """Refuses an output whose ending belongs to another format than the one that is written. A number is no ending
    ("run.0042")."""
    import os

    from octavo.printable import printable

    name = os.path.basename(os.path.normpath(path))
    ending = os.path.splitext(name)[1]
    if ending.lower() in known or ending[1:].isdigit():
        return
    named = ", ".join(end for end in known if end)
    those = f"those are: {named}, or none" if named else "it has none"
    raise UsageError(f"'{printable(ending)}' is no ending of {kind} ({those})", [path], hint)


def memory(text: str) -> int:
    """Reads a number of bytes like "8 GiB"."""
    from octavo.sizes import bytes_of

    try:
        size = bytes_of(text)
    except UsageError:
        size = 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"expected an amount of memory such as 8GiB, found '{text}'")
    return size


def refuse_ranks(verb: str) -> None:
    """Refuses several processes, for verbs where all of them would write the same file."""
    from octavo.errors import Unsupported
    from octavo.ranks import launched

    if launched()[1] > 1:
        raise Unsupported(f"{verb} is done by one process", [], "run it without mpirun")
