"""The command `octavo`: a table of verbs, one file each, in folders by what users do.

Data goes to stdout, messages and progress to stderr. Exit codes: 0 good, 1 differences or a check failed, 2 wrong use,
3 unreadable or damaged input, 4 not supported, 5 would exceed memory or disk, 6 incomplete, 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

from octavo.printable import printable, printable_lines

# verb -> its summary, in the order of the help.
VERBS = {
    "info": "what is in an output or a store, from headers alone",
    "ls": "steps, domains and fields of a store, with sizes, codecs and ratios",
    "convert": "write outputs as steps of a compact store",
    "export": "write cells or particles as a file for other programs: VTK, NumPy, FITS, CSV",
    "repack": "change the domains and files of a store",
    "verify": "read everything and check it",
    "stats": "extremes, means and integrals of fields and particles",
    "diff": "how far two outputs or steps differ",
    "map": "project a field to a picture or an array",
    "hist": "how cells are spread over the values of a field",
    "phase": "how cells are spread over the values of two fields",
    "profile": "means of fields over radius, height or another field",
    "diagrams": "several of hist, phase and profile in one pass over the data",
    "slice": "cut a plane through the cells: a picture or an array",
    "line": "the cells on a straight line, with entry, exit and values",
    "spectrum": "the power of a field in shells of the wave number",
    "clumps": "connected sets of cells above a threshold",
    "contour": "the surface of one value, or its lines, as a file",
    "series": "a table over time: extremes, means and integrals of many outputs or steps",
    "view": "look around in outputs and stores in a browser",
    "publish": "a view as files for any web server, for open archives",
    "movie": "maps or slices of many outputs or steps, with the same colours",
    "stack": "a map through several outputs, each at the time at which light left it",
    "batch": "run the verbs that a file lists on many outputs; a second run goes on where the first stopped",
    "probe": "values at places through outputs and steps",
    "discharge": "the discharge through lines at every step of a file of triangles",
    "volume": "the integral over polygons at every step of a file of triangles",
    "streamlines": "lines along the velocity on a mesh of triangles",
    "pathlines": "ways of particles through the steps of a file of triangles",
    "partition": "cut a SERAFIN mesh, and results on it, into TELEMAC's pieces",
    "split": "cut a SERAFIN result in the same way as existing pieces",
    "merge": "put SERAFIN pieces together into one file",
    "refine": "cut each triangle of a SERAFIN mesh into four",
    "sample": "make a sample output to try things on",
    "bench": "measure the parallel engine beside its peers, or plan a step",
    "doctor": "what works on this machine, and why the rest does not",
    "completion": "a script that completes verbs and options in bash, zsh or fish",
    "man": "the manual page of a verb",
}

# Folder -> its verbs; the module octavo.cli.FOLDER.VERB has configure(parser) and run(arguments) -> exit code.
FOLDERS = {
    "files": ("info", "ls", "convert", "export", "repack", "verify", "diff", "sample", "batch"),
    "pictures": ("map", "slice", "contour", "movie", "stack", "view", "publish"),
    "numbers": ("stats", "hist", "phase", "profile", "diagrams", "line", "spectrum", "clumps", "series"),
    "triangles": (
        "probe", "discharge", "volume", "streamlines", "pathlines", "partition", "split", "merge", "refine"
    ),
    "machine": ("bench", "doctor", "completion", "man"),
}  # fmt: skip

#: The five most used lines, as the project's README has them.
MOST_USED = (
    "octavo info output_00080                                    # headers only",
    "octavo view output_00080                                    # look around in a browser",
    "octavo map output_00080 --field density -o density.png      # exact cell-pixel overlap",
    "octavo convert output_00080 run.octavo --codec point:2e-3   # every value of a cell within 0.2 % of itself",
    "octavo stats run.octavo                                     # extremes, means, integrals",
)

#: Option -> the page of docs/ that explains its values; an error that quotes such a value names the page.
PAGES = {
    "roi": "regions",
    "codec": "codecs",
    "unit": "units",
    "field": "fields",
    "define": "fields",
    "definitions": "fields",
    "where": "fields",
    "weight": "fields",
    "mask": "fields",
    "normal": "slices",
    "camera": "slices",
    "centre": "histograms",
    "bins": "histograms",
}


def version() -> str:
    """The library's version, then a line each: its formats, and of a build the commit and the MPI it was made with. MPI
    is not loaded."""
    from octavo import _core

    formats = ", ".join(["octavo", *(row["name"] for row in _core.formats())])
    built = Path(__file__).parent.with_name("built.txt")
    return f"octavo {_core.version}\nformats: {formats}\n{built.read_text() if built.exists() else ''}".rstrip()


class _Version(argparse.Action):
    def __call__(self, *_: object) -> None:
        print(version())
        raise SystemExit(0)


class _Parser(argparse.ArgumentParser):
    """Quotes words of the user, which may hold any bytes, in a form that can be shown. Its help begins with the most
    used form of the verb."""

    most_used = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # A value such as -8,-1,5.5 is one, and no option.
        self._negative_number_matcher = re.compile(r"-\.?\d[\d.,:eE+-]*$")

    def format_help(self) -> str:
        return f"{self.most_used}\n\n{super().format_help()}" if self.most_used else super().format_help()

    def error(self, message: str) -> NoReturn:
        """Names the option that a misspelt one is near to, and says how many inputs there may be."""
        import difflib

        if message.startswith("unrecognized arguments: "):
            word = message.split(": ", 1)[1].split()[0].split("=")[0]
            near = difflib.get_close_matches(word, self._option_string_actions, 1) if word.startswith("-") else []
            message += f"; did you mean {near[0]}?" if near else ""
            if not word.startswith("-"):
                places = [action.metavar or action.dest for action in self._actions if not action.option_strings]
                message += f"; the verb takes {' '.join(map(str, places)).upper()}"
                message += " ('octavo series', 'movie' and 'batch' take several inputs)" if os.path.exists(word) else ""
        named = re.match(r"argument (?:-\w/)?--([\w-]+): ", message)
        if named and named[1] in PAGES:
            message += f"; {_more_in(PAGES[named[1]])}"
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(printable_lines(message), file)


def module_of(verb: str) -> Any:
    """The module of a verb, which is imported when it is first asked for."""
    folder = next(name for name, verbs in FOLDERS.items() if verb in verbs)
    return importlib.import_module(f"octavo.cli.{folder}.{verb}")


def verb_parser(verb: str) -> argparse.ArgumentParser:
    """The options of a verb, with its help."""
    from octavo.cli import options

    module = module_of(verb)
    parser = _Parser(
        prog=f"octavo {verb}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n" + "".join(f"  {line}\n" for line in module.EXAMPLES),
    )
    parser.most_used = module.EXAMPLES[0]
    parser.register("type", int, options.whole)
    module.configure(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no messages but errors")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument(
        "--memory",
        type=options.memory,
        metavar="SIZE",
        help="most that is read at once, '8GiB' (default: 80 %% of what is free)",
    )
    parser.set_defaults(run=module.run)
    return parser


def _top_parser() -> argparse.ArgumentParser:
    groups = (
        "\n".join([f"{name}:", *(f"  {verb:11} {VERBS[verb]}" for verb in verbs)]) for name, verbs in FOLDERS.items()
    )
    parser = _Parser(
        prog="octavo",
        usage="octavo VERB [options]",
        description="Input and output for large mesh simulations.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n\n".join([*groups, "octavo help VERB   its options, with examples"]) + "\n",
    )
    parser.most_used = "\n".join(MOST_USED)
    parser.add_argument("--version", nargs=0, action=_Version, help="print the version, the commit, formats and MPI")
    parser.add_argument("verb", nargs="?", help=argparse.SUPPRESS)
    return parser


def _check_verb(top: argparse.ArgumentParser, word: str) -> None:
    if word not in VERBS:
        import difflib

        near = difflib.get_close_matches(word, VERBS, 1)
        top.error(f"no verb '{word}'" + (f"; did you mean {near[0]}?" if near else ""))


def _parse(words: list[str]) -> argparse.Namespace | None:
    """Returns the arguments of a verb, or None if help was printed."""
    top = _top_parser()
    if words and words[0] == "help":
        if words[1:]:
            _check_verb(top, words[1])
        (verb_parser(words[1]) if words[1:] else top).print_help()
        return None
    if not words:
        top.print_help()
        return None
    if words[0].startswith("-"):
        top.parse_args(words)
        top.error("name a verb first")
    _check_verb(top, words[0])
    return verb_parser(words[0]).parse_args(words[1:])


def main(words: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    words = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # the encoding may lack characters of a name
    try:
        return _run(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if "--debug" in words:
            raise
        text, code = _described(error)
        return _report(_with_page(text, words), code)


def _run(words: list[str]) -> int:
    arguments = _parse(words)
    if arguments is None:
        return 0
    if words[0] not in FOLDERS["machine"]:
        _make_ready()
    if arguments.memory:
        from octavo import _core

        _core.set_memory_limit(arguments.memory)
    code = arguments.run(arguments)
    sys.stdout.flush()
    return code


def _make_ready() -> None:
    """Sets up this process for the work of one verb."""
    from octavo import _core

    _core.keep_freed_memory()
    # NumPy's threads for products of matrices, one a core, spin when it is imported. No verb has use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _described(error: Exception) -> tuple[str, int]:
    """Returns the message for an error, and the exit code."""
    from octavo.errors import Error

    if isinstance(error, Error):
        return str(error), error.exit_code
    if isinstance(error, MemoryError):
        return "out of memory\n  try: fewer threads (-j 1), a region (--roi) or fewer levels (--level)", 5
    if isinstance(error, ImportError):
        return _missing(error)
    if isinstance(error, OSError):
        import errno

        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        place = f"\n  in {printable(os.fsdecode(error.filename))}" if error.filename else ""
        return f"{error.strerror or error}{place}", 5 if full else 3
    return f"unexpected: {type(error).__name__}: {error}\n  try: --debug shows where; this is a bug of octavo", 3


def _more_in(page: str) -> str:
    """An installed package brings the pages, and prints them."""
    return f"more in docs/{page}.md (octavo man {page})"


def _with_page(text: str, words: list[str]) -> str:
    """Names the page of the option whose value the text quotes."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.removeprefix("--").partition("=")
        value = value if equals else following
        if (
            word.startswith("--")
            and name in PAGES
            and value
            and re.search(rf"(?<![\w./-]){re.escape(value)}(?![\w./-])", text)
        ):
            lead = ";" if "\n  try: " in text else "\n  try:"
            return f"{text}{lead} {_more_in(PAGES[name])}"
    return text


def _missing(error: ImportError) -> tuple[str, int]:
    """Describes a missing Python package that only some verbs need, or a missing part of ours."""
    name = (error.name or "").partition(".")[0]
    if "failed to map segment" in str(error):  # the loader's message if memory is short
        return f"out of memory: {error}", 5
    if name in ("", "octavo", "_core", "_mpi"):
        return f"this installation of octavo is not whole: {error}\n  try: install it again", 4
    if isinstance(error, ModuleNotFoundError):
        from octavo.extras import source_of

        return f"this needs the Python package {name}, which is not installed\n  try: {source_of(name)}", 4
    return f"the Python package {name} cannot be loaded: {error}\n  try: pip install --force-reinstall {name}", 4


def _report(text: str, code: int) -> int:
    """Prints an error: what, where, what to do. Under mpirun every rank has the same error; rank 0 prints it."""
    from octavo.ranks import is_root

    if is_root():
        print("error: " + printable_lines(text), file=sys.stderr)
    return code
