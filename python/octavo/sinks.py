"""Sinks: the table that RAMSES writes of them (pm/output_sink.f90), with names and units. docs/particles.md has the rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo import _core
from octavo.errors import Damaged, UsageError
from octavo.units import factor

#: Names of RAMSES' columns in the words of particles; other columns keep their names.
NAMES = {
    "id": "identity", "msink": "mass", "tform": "birth_time", "level": "level",
    **{axis: f"position_{axis}" for axis in "xyz"}, **{f"v{axis}": f"velocity_{axis}" for axis in "xyz"},
    **{f"l{axis}": f"angular_momentum_{axis}" for axis in "xyz"},
    **{f"v{axis}_gas": f"gas_velocity_{axis}" for axis in "xyz"},
    "acc_rate": "accretion_rate", "del_mass": "accreted_mass", "rho_gas": "gas_density",
    "cs**2": "gas_sound_speed_squared", "etherm": "gas_thermal_energy", "mbh": "black_hole_mass",
    "dmfsink": "gas_mass_for_accretion",
}  # fmt: skip
#: RAMSES' letters of the second line.
_LETTERS = {"m": "code_mass", "l": "code_length", "t": "code_time", "1": "1"}


@dataclass(frozen=True)
class Sinks:
    """The sinks of a step, in the order of the file: sinks["mass"] is an array in code units, `position` has shape
    (sinks, 3). No files of cells or particles are read."""

    columns: dict[str, np.ndarray]
    #: The unit of each column, in code units; "" where the file says none.
    units: dict[str, str]
    _data: Any

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise UsageError(f"sinks have no column '{name}'", [], "there are: " + ", ".join(self.columns))
        return self.columns[name]

    def in_unit(self, name: str, unit: str) -> np.ndarray:
        """A column in a unit: sinks.in_unit("mass", "Msun"). Raises UsageError for a unit of another dimension."""
        return self[name] * factor(self.units[name], unit, self._data, name)

    @property
    def position(self) -> np.ndarray:
        return np.stack([self[f"position_{axis}"] for axis in "xyz"], axis=-1)

    @property
    def velocity(self) -> np.ndarray:
        return np.stack([self[f"velocity_{axis}"] for axis in "xyz"], axis=-1)

    @property
    def mass(self) -> np.ndarray:
        return self["mass"]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the columns."""
        from octavo.exports.libraries import needed

        return needed("pandas").DataFrame(self.columns)

    def __repr__(self) -> str:
        return f"<octavo.Sinks: {len(self)} sinks, columns {', '.join(self.columns)}>"


def sinks_of(data: Any, region: str | None = None) -> Sinks:
    """Those of a step whose position is in the region. Raises UsageError for a step without the table, Damaged for a
    table that is cut or is none."""
    text = data.attributes.get("sink_csv")
    if text is None:
        raise UsageError("the step has no table of sinks", [data.path], "RAMSES writes sink_NNNNN.csv if sink is set")
    names, units, rows = _lines(text, data.path)
    columns = {
        NAMES.get(name, name): _column(name, [row[i] for row in rows], data.path) for i, name in enumerate(names)
    }
    given = dict(zip(columns, units, strict=True))
    if len(columns) != len(names) or not {"position_x", "position_y", "position_z", "mass"} <= set(columns):
        raise _damaged(data.path, 1, "expected the columns id, msink, x, y, z ..., found " + ", ".join(names))
    if "birth_time" in columns:
        from octavo.cosmology import time_since

        columns["age"], given["age"] = time_since(data, columns["birth_time"]), "code_time"
    if region is not None:
        chosen: Any = _core.inside(data, region, np.stack([columns[f"position_{axis}"] for axis in "xyz"], axis=-1))
        columns = {name: values[chosen] for name, values in columns.items()}
    return Sinks(columns, given, data)


def _lines(text: str, path: str) -> tuple[list[str], list[str], list[list[str]]]:
    """Names, units and rows of words. The first two lines begin with a hash and have names and units."""
    lines = [line for line in text.splitlines() if line.strip()]
    heads = [line.split("#", 1)[1].split(",") for line in lines if line.lstrip().startswith("#")]
    rows = [line.split(",") for line in lines if not line.lstrip().startswith("#")]
    if not heads:
        raise _damaged(
            path, 1, "expected a line '# id,msink,x,y,z ...', found " + (lines[0][:40] if lines else "nothing")
        )
    names = [name.strip() for name in heads[0]]
    units = [_unit(word) for word in heads[1]] if len(heads) > 1 and len(heads[1]) == len(names) else [""] * len(names)
    for number, row in enumerate(rows):
        if len(row) != len(names):
            raise _damaged(path, len(heads) + number + 1, f"expected {len(names)} values, found {len(row)}")
    return names, units, rows


def _unit(word: str) -> str:
    """RAMSES' "m l**2 t**-1" in the words of units."""
    out = []
    for part in word.split():
        found = re.fullmatch(r"([mlt1])(\*\*-?\d+)?", part)
        if found is None:
            return ""
        out.append(_LETTERS[found[1]] + (found[2] or ""))
    return "*".join(out)


def _column(name: str, words: list[str], path: str) -> np.ndarray:
    whole = name in ("id", "level")
    values = []
    for number, word in enumerate(words):
        try:
            values.append(int(word) if whole else _real(word))
        except ValueError:
            raise _damaged(path, number + 3, f"{name}: expected a number, found '{word.strip()}'") from None
    return np.array(values, "i8" if whole else "f8")


def _real(word: str) -> float:
    """Fortran leaves the letter E away where the exponent has three digits: 1.0000000000-100."""
    return float(re.sub(r"(\d)([+-]\d+)$", r"\1E\2", word.strip()) if "E" not in word.upper() else word)


def _damaged(path: str, line: int, why: str) -> Damaged:
    return Damaged(f"table of sinks, line {line}: {why}", [path], "")
