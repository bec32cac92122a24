"""Print the manual page of a verb, or of the command; or write all pages into a folder, as octavo-VERB.1. They are made
from the help, and an installed package brings them: `man octavo-map`. Another name is that of a page of the documentation, such
as regions: its text is printed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

EXAMPLES = [
    "octavo man map | man -l -",
    "octavo man regions",
    "octavo man --into ~/.local/share/man/man1",
]

EXIT_CODES = [
    ("0", "good"),
    ("1", "differences, or a check failed"),
    ("2", "wrong use"),
    ("3", "unreadable or damaged input"),
    ("4", "not supported"),
    ("5", "would exceed memory or disk"),
    ("6", "incomplete: damaged domains are left out, as asked"),
    ("130", "interrupted"),
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verb", nargs="?", metavar="VERB", help="or the name of a page; default: the command itself")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="write the pages of all verbs and of the command")


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import VERBS
    from octavo.errors import UsageError

    if arguments.verb is not None and arguments.verb not in VERBS:
        if arguments.verb not in (pages := texts()):
            raise UsageError(
                f"no verb and no page '{arguments.verb}'", [], "octavo --help lists verbs; pages: " + ", ".join(pages)
            )
        print(pages[arguments.verb].read_text("utf-8"), end="")
        return 0
    if arguments.into is None:
        print(page(arguments.verb), end="")
        return 0
    arguments.into.mkdir(parents=True, exist_ok=True)
    for verb in (None, *VERBS):
        (arguments.into / f"{name_of(verb)}.1").write_text(page(verb), encoding="utf-8")
    return 0


def texts() -> dict[str, Path]:
    """The pages of the documentation that the package brings, by name."""
    folder = Path(__file__).parents[2] / "pages"
    return {path.stem: path for path in sorted(folder.glob("*.md"))}


def name_of(verb: str | None) -> str:
    return f"octavo-{verb}" if verb else "octavo"


def page(verb: str | None) -> str:
    """A manual page as troff with the macros of man(7)."""
    from octavo import __version__

    head = f'.TH "{name_of(verb).upper()}" "1" "" "octavo {__version__}" "Octavo"\n'
    return head + (_page_of_verb(verb) if verb else _page_of_command())


def _page_of_command() -> str:
    from octavo.cli import VERBS

    return (
        _section("NAME", "octavo \\- input and output for large mesh simulations")
        + _section("SYNOPSIS", "\\fBoctavo\\fR \\fIVERB\\fR [options]")
        + _section("VERBS", _items((f"\\fBoctavo\\-{verb}\\fR(1)", _text(does)) for verb, does in VERBS.items()))
        + _section("EXIT STATUS", _items((code, _text(means)) for code, means in EXIT_CODES))
    )


def _page_of_verb(verb: str) -> str:
    from octavo.cli import VERBS, verb_parser

    parser = verb_parser(verb)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    groups = "".join(
        _section(
            (group.title or "options").upper(),
            _items((_spelling(action), _text(help_of(parser, action))) for action in actions),
        )
        for group in parser._action_groups
        if (actions := [action for action in group._group_actions if action.help != argparse.SUPPRESS])
    )
    return (
        _section("NAME", f"octavo\\-{verb} \\- {_text(VERBS[verb])}")
        + _section("SYNOPSIS", _text(usage))
        + _section("DESCRIPTION", _paragraphs(parser.description or ""))
        + groups
        + _section("EXAMPLES", _literal(examples(verb)))
        + _section("EXIT STATUS", _items((code, _text(means)) for code, means in EXIT_CODES))
        + _section("SEE ALSO", "\\fBoctavo\\fR(1)")
    )


def examples(verb: str) -> list[str]:
    from octavo.cli import module_of

    found: list[str] = module_of(verb).EXAMPLES
    return found


def help_of(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def spelling(action: argparse.Action) -> list[str]:
    """The ways to write an option, each with its value: ["-o FILE", "--output FILE"]."""
    if not action.option_strings:
        return [action.metavar if isinstance(action.metavar, str) else action.dest]
    formatter = argparse.HelpFormatter("")
    value = "" if action.nargs == 0 else " " + formatter._format_args(action, action.dest.upper())
    return [name + value for name in action.option_strings]


def _spelling(action: argparse.Action) -> str:
    def bold(text: str) -> str:
        name, _, value = text.partition(" ")
        return f"\\fB{_text(name)}\\fR" + (f" \\fI{_text(value)}\\fR" if value else "")

    return ", ".join(map(bold, spelling(action)))


# ------------------------------------------------------------------------------------------------------ troff


def _text(text: str) -> str:
    """Text whose characters troff takes as they are: a hyphen is one to copy, and no line begins with a request."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def _section(title: str, body: str) -> str:
    return f'.SH "{title}"\n{body.rstrip()}\n'


def _items(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f".TP\n{name}\n{text}\n" for name, text in pairs)


def _paragraphs(text: str) -> str:
    """Indented lines stay as they are, as in the help."""
    blocks = (block.strip("\n") for block in text.split("\n\n"))
    return ".PP\n".join(_literal(b.split("\n")) if b.startswith("  ") else _text(b) + "\n" for b in blocks if b.strip())


def _literal(lines: Iterable[str]) -> str:
    shown = (line.replace("\\", "\\e").replace("-", "\\-") for line in lines)
    return ".nf\n" + "".join(f"\\&{line}\n" for line in shown) + ".fi\n"
