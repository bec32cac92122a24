"""The exceptions of the package. Each says what happened, where, and what to do about it."""

from __future__ import annotations

from octavo.printable import printable, printable_lines


class Error(Exception):
    """Base of all. `message` says what, `places` where (innermost first), `hint` what to do; `exit_code` is the command's."""

    exit_code = 3

    def __init__(self, message: str, places: list[str] | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.places = places or []
        self.hint = hint

    def __str__(self) -> str:
        lines = [printable_lines(self.message)]
        if self.places:
            lines.append("  in " + ", ".join(printable(place) for place in reversed(self.places)))
        if self.hint:
            lines.append("  try: " + printable_lines(self.hint))
        return "\n".join(lines)


class UsageError(Error, ValueError):
    """The request itself is wrong: an unknown field, contradictory options."""

    exit_code = 2


class Unreadable(Error, OSError):
    """The operating system refused: missing file, permission, read error."""


class Damaged(Error):
    """The bytes are not what the format demands."""


class Unsupported(Error, NotImplementedError):
    """Valid, but not something this version or build can do."""

    exit_code = 4


class NoSpace(Error, MemoryError):
    """Would exceed, or has exceeded, memory or disk."""

    exit_code = 5


class Interrupted(Error):
    """The user asked to stop."""

    exit_code = 130


# In the order of octavo::base::Kind.
_kinds = (UsageError, Unreadable, Damaged, Unsupported, NoSpace, Interrupted)


def make(kind: int, message: str, places: list[str], hint: str) -> Error:
    """The exception for an error of the compiled library."""
    return _kinds[kind](message, places, hint)


def kind_of(error: Error) -> int:
    """The number of an error's kind in the compiled library."""
    return next((kind for kind, known in enumerate(_kinds) if isinstance(error, known)), 0)
