"""Read everything and check it: every checksum, sizes, tree closed, counts consistent. Exit code 1 and a list where a step
is damaged (its bytes are not what was written) or lost (it was durable, and is not there), 3 where nothing could be opened,
4 where all is good but for a step with features that this Octavo does not know.
Notes report events that lose nothing, with exit code 0: a step whose writer was interrupted or failed before it was durable. With
--quick only footers and tables of a store are read: it finds truncation and lost files, but no flipped bit in a stream.
Under mpirun the ranks share the parts."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options

EXAMPLES = [
    "octavo verify run.octavo",
    "octavo verify --quick run.octavo",
    "octavo verify output_00080 --json",
    "mpirun -n 16 octavo verify run.octavo",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a store, or an output directory")
    parser.add_argument("--quick", action="store_true", help="footers and tables of a store only")
    parser.add_argument("--rebuild-index", action="store_true", help="make a store's indexes anew before")
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.errors import UsageError
    from octavo.ranks import is_root, world

    if arguments.rebuild_index:
        if not _core.is_store(arguments.path):
            raise UsageError("only a store has an index")
        if is_root():
            _core.rebuild_indexes(arguments.path)
    ranks = world()
    with console.Progress("verify", arguments.quiet, unit="parts") as progress:
        report = _core.verify(arguments.path, arguments.threads, progress, arguments.quick, ranks)
    findings = report["findings"]
    if arguments.json:
        console.print_json(report)
        return _exit_code(findings)
    console.notes(arguments.quiet, report["notes"])
    for kind in ("damaged", "lost", "unsupported"):
        rows = [[f["where"], f["what"]] for f in findings if f["kind"] == kind]
        if rows:
            console.table(f"{arguments.path}: {kind}", ["where", "what"], rows)
    if not findings and not arguments.quiet:
        console.line(
            f"{arguments.path}: good. {console.counted(report['steps'], 'step')}, "
            f"{console.number(report['streams'])} streams or domains, {console.size(report['bytes'])} read"
        )
    return _exit_code(findings)


def _exit_code(findings: list[dict[str, Any]]) -> int:
    if any(finding["kind"] != "unsupported" for finding in findings):
        return 1
    return 4 if findings else 0
