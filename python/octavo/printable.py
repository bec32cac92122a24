"""Text that comes from files, fit to be shown: names, units and comments are data, never markup or commands of a
terminal."""

from __future__ import annotations

import unicodedata

# Control characters, invisible ones (U+202E turns a line around), bytes that were no UTF-8, separators of lines.
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text with U+FFFD in the place of each character that is no sign, and of each byte that is not UTF-8."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(sign) in _HIDDEN else sign for sign in text)


def printable_lines(text: str) -> str:
    """The same, line by line: for messages of several lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def valid(text: str) -> str:
    """The text as it is, with U+FFFD in the place of each byte that is not UTF-8: for JSON, which has a way to write
    control characters."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
