"""Change the domains and files of a store. Steps, flows, times and attributes stay, and the values of all cells stay the same
bits: fields stored with a bound are stored with it again where that gives the same values, else losslessly. Domains that
stay are copied without being decoded. The new store has its name only once it is complete. Under mpirun the ranks share
the files; otherwise threads share the domains."""

from __future__ import annotations

import argparse

from octavo.cli import options

EXAMPLES = [
    "octavo repack run.octavo for_64_ranks.octavo --domains 64",
    "octavo repack run.octavo few_files.octavo --per-file all",
    "octavo repack run.octavo last.octavo --flow checkpoint --step 40 --domains 8 --per-file 1",
    "octavo repack run.octavo run.octavo -f --domains 16        # in place, once the new one is complete",
]


def per_file(text: str) -> int:
    return 0 if text == "all" else options.positive(text)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="IN", help="a store")
    parser.add_argument("out", metavar="OUT", help="the new store")
    parser.add_argument(
        "--domains", type=options.positive, default=0, metavar="M",
        help="number of domains of each step, with equal numbers of leaves along the Hilbert curve (default: keep the domains; so does M if there are M)",
    )  # fmt: skip
    parser.add_argument(
        "--per-file", type=per_file, default=64, metavar="K", help="domains per file, or all (default: up to 64)"
    )
    parser.add_argument("--flow", choices=["analysis", "checkpoint"], help="only this flow (default: both)")
    parser.add_argument(
        "--step", type=steps, default=[], metavar="A,B", help="only these steps, by number (default: all)"
    )
    options.add_effort(parser)
    options.add_force(parser, "replace an existing store, once the new one is complete")
    options.add_threads(parser)
    options.add_json(parser)


def steps(text: str) -> list[int]:
    return [options.whole64(word) for word in options.names(text)]


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import world

    options.check_ending(arguments.out, options.STORE_ENDS, "a store")
    with console.Progress("repack", arguments.quiet, unit="domains") as progress:
        report = _core.repack(
            arguments.path,
            arguments.out,
            domains=arguments.domains,
            per_file=arguments.per_file,
            flow=arguments.flow,
            steps=arguments.step,
            effort=arguments.effort,
            overwrite=arguments.force,
            threads=arguments.threads,
            ranks=world(),
            progress=progress,
        )
    console.notes(arguments.quiet, report["notes"])
    if report["made_lossless"]:
        console.say(
            arguments.quiet,
            f"note: {report['made_lossless']} fields of new domains are stored losslessly: their bound would change them",
        )
    if arguments.json:
        console.print_json(report)
    else:
        how = "copied as they are" if report["parts_copied"] else "cut anew"
        console.say(
            arguments.quiet,
            f"{arguments.out}: {console.counted(report['steps'], 'step')}, {console.counted(report['parts'], 'domain')} {how}, "
            f"{console.size(report['stored_bytes'])}",
        )
    return 0
