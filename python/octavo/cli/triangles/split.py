"""Cut a SERAFIN result in the same way as existing pieces, by their global numbers, for a run that continues from it or
reads it. One variable of one step is in memory at a time."""

from __future__ import annotations

import argparse

from octavo.cli import options

EXAMPLES = [
    "octavo split previous.slf --like run/T2DGEO -o run/T2DPRE",
    "octavo split r3d.slf --like run/T3DGEO -o run/T3DPRE --layout files",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="RESULT.slf", help="the result, 2-D or 3-D")
    parser.add_argument(
        "--like", nargs="+", required=True, metavar="PIECES", help="a prefix, a -CONCAT file, or all the pieces"
    )
    parser.add_argument("-o", "--out", metavar="PREFIX", required=True, help="first part of the new pieces' names")
    parser.add_argument(
        "--layout",
        choices=["concat", "files", "med"],
        default="concat",
        help="concat (default): two files; files: one per part; med: one MED file, PREFIX.med, with a mesh for each part",
    )
    options.add_piece_force(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console

    options.refuse_ranks("split")
    with console.Progress("split", arguments.quiet) as progress:
        report = _core.split(
            arguments.path,
            arguments.like,
            arguments.out,
            layout=arguments.layout,
            overwrite=arguments.force,
            progress=progress,
        )
    report["files"] = [str(path) for path in report["files"]]
    console.report(
        arguments.quiet,
        arguments.json,
        report,
        f"{arguments.path}: {console.counted(report['steps'], 'step')} of {console.number(report['points'])} points a plane in "
        f"{report['parts']} parts; {len(report['files'])} files",
    )
    return 0
