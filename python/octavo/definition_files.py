"""Fields that a user defines once, in a TOML file. docs/fields.md has the form."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable

from octavo import _core
from octavo.errors import UsageError

#: A field's name and its formula.
Definition = tuple[str, str]


def definitions(path: str | os.PathLike[str]) -> tuple[Definition, ...]:
    """Reads names and formulas from a TOML file: lines such as `mach = "speed/sound_speed"` and `mu = 0.6`. For
    ds.derive(octavo.definitions("galaxy.toml")). Raises UsageError, with the file and the line, for what is no TOML, a
    value that is neither a text nor a number, and a formula that is none. Names that it uses are looked up when a field
    is read."""
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        table = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read definitions: {error.strerror}", [path], "") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"this is no TOML: {error}", [path], 'lines such as mach = "speed/sound_speed"') from None
    return tuple((name, _formula(name, value, path, text)) for name, value in table.items())


def _formula(name: str, value: object, path: str, text: str) -> str:
    place = f"{path}{_line_of(name, text)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(float(value))
    if not isinstance(value, str) or not value.strip():
        kind = "a table" if isinstance(value, dict) else repr(value)
        raise UsageError(
            f"expected a formula or a number for {name}, found {kind}", [place], f'{name} = "speed/sound_speed"'
        )
    try:
        _core.check_formula(value)
    except UsageError as error:
        raise UsageError(error.message, [*error.places, f"definition of {name}", place], error.hint) from None
    return value


def _line_of(name: str, text: str) -> str:
    """Where the name is defined: ", line 3". Empty if it stands in no form that we look for."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[?\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]", line):
            return f", line {number}"
    return ""


def joined(first: Iterable[Definition], later: Iterable[Definition]) -> list[Definition]:
    """All of them; of a name that both define the later one."""
    later = list(later)
    taken = {name for name, _ in later}
    return [*(one for one in first if one[0] not in taken), *later]
