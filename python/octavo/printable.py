"""Makes text from files safe to show: names, units and comments are data, never markup or commands of a terminal."""

from __future__ import annotations

import unicodedata

# Control characters, invisible ones (U+202E turns a line around), bytes that were no UTF-8, separators of lines.
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text with U+FFFD in place of each control or invisible character and each byte that is not UTF-8."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(sign) in _HIDDEN else sign for sign in text)


def printable_lines(text: str) -> str:
    """The same, but keeps line ends: for messages of several lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def valid(text: str) -> str:
    """The text with U+FFFD in place of each byte that is not UTF-8. Keeps control characters: for JSON, which escapes
    them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
