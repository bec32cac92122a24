"""A uniform grid of cells of one level, and its files: NumPy, FITS, VTKHDF."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.exports import fits
from octavo.exports.libraries import needed
from octavo.exports.tables import write_npz
from octavo.printable import printable
from octavo.shown import facts as facts_html


@dataclass(frozen=True)
class Cube:
    """Fields on the cells of one level over a box. `cube["density"]` has axes (z, y, x), (y, x) or (x,)."""

    #: By name, float64 (or float32, where that was asked for); NaN where nothing is selected.
    fields: dict[str, np.ndarray]
    #: By name, "" where the data has none.
    units: dict[str, str]
    #: The code's own number of the level.
    level: int
    #: Along x, y, z: the lower corner and the edges of a cell [code length], and the number of the first cell, counted
    #: from the domain's lower corner.
    corner: tuple[float, ...]
    cell: tuple[float, ...]
    first: tuple[int, ...]
    #: [code time]
    time: float
    axes: str = field(default="xyz")

    def __getitem__(self, name: str) -> np.ndarray:
        return self.fields[name]

    @property
    def shape(self) -> tuple[int, ...]:
        return next(iter(self.fields.values())).shape

    def centres(self, axis: str) -> np.ndarray:
        """The centres of the cells along "x", "y" or "z" [code length]."""
        a = self.axes.index(axis)
        return self.corner[a] + (np.arange(self.shape[::-1][a]) + 0.5) * self.cell[a]

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape[::-1]))
        return printable(f"<octavo.Cube: {size} cells of level {self.level}, fields {', '.join(self.fields)}>")

    def _repr_html_(self) -> str:
        known = [(name, values[np.isfinite(values)], self.units[name]) for name, values in self.fields.items()]
        ranges = [
            (name, f"{some.min():.6g} to {some.max():.6g} {unit}".rstrip() if some.size else "no value")
            for name, some, unit in known
        ]
        size = " x ".join(map(str, self.shape[::-1]))
        return facts_html(f"{size} cells of level {self.level}", [("time", self.time), ("cell", self.cell[0]), *ranges])

    def to_xarray(self) -> Any:
        """An xarray.Dataset with coordinates of the cells' centres."""
        xarray = needed("xarray")
        dims = tuple(self.axes[::-1])
        return xarray.Dataset(
            {name: (dims, values, {"units": self.units[name]}) for name, values in self.fields.items()},
            coords={axis: self.centres(axis) for axis in self.axes},
            attrs={"time": self.time, "level": self.level, "cell": list(self.cell)},
        )


def cube_of(data: Any, chosen: dict[str, Any], fields: Sequence[str] | None, single_precision: bool = False) -> Cube:
    """The fields (default: all that are stored) of an opened step over a selection, at its level, else the finest."""
    names = [info["name"] for info in data.fields] if fields is None else list(dict.fromkeys(fields))
    found = _core.cube(data, names, **chosen)
    values = found["fields"]
    if single_precision:
        values = {name: array.astype(np.float32) for name, array in values.items()}
    return Cube(
        fields=values, units=found["units"], level=found["level"],
        corner=tuple(found["corner"]), cell=tuple(found["cell"]), first=tuple(found["first"]), time=data.time,
        axes="xyz"[: data.dim],
    )  # fmt: skip


def save(cube: Cube, path: str) -> None:
    """Writes the cube in the format of the file's ending."""
    WRITERS[os.path.splitext(path)[1].lower()](cube, path)


def _write_npy(cube: Cube, path: str) -> None:
    if len(cube.fields) != 1:
        raise UsageError(f"a .npy file holds one field, not {len(cube.fields)}", [path], "--field F, or a name *.npz")
    np.save(path, next(iter(cube.fields.values())))


def _write_npz(cube: Cube, path: str) -> None:
    facts = {f"octavo_{name}": getattr(cube, name) for name in ("corner", "cell", "first", "level", "time")}
    write_npz(path, {**facts, **cube.fields})


def _write_vtkhdf(cube: Cube, path: str) -> None:
    h5py = needed("h5py")
    cells = [*cube.shape[::-1], 0, 0][:3]  # one layer of points along an axis that the data lack
    extent = [number for n in cells for number in (0, n)]
    with h5py.File(path, "w") as file:
        group = file.create_group("VTKHDF")
        group.attrs["Version"] = np.array([1, 0])
        group.attrs.create("Type", np.bytes_("ImageData"))
        group.attrs["WholeExtent"] = np.array(extent)
        group.attrs["Origin"] = np.array([*cube.corner, 0.0, 0.0][:3])
        group.attrs["Spacing"] = np.array([*cube.cell, 1.0, 1.0][:3])
        group.attrs["Direction"] = np.eye(3).ravel()
        data = group.create_group("CellData")
        layers = (1,) * (3 - len(cube.shape)) + cube.shape
        for name, values in cube.fields.items():
            data[name.replace("/", "_")] = values.reshape(layers)
        group.create_group("FieldData")["TimeValue"] = [cube.time]


def _write_fits(cube: Cube, path: str) -> None:
    axes = [fits.Axis(*row) for row in zip(cube.axes, cube.corner, cube.cell, strict=True)]
    cards = {"TIME": float(cube.time), "LEVEL": cube.level}
    with open(path, "wb") as file:
        for i, (name, values) in enumerate(cube.fields.items()):
            image = fits.Image(name, cube.units[name], values.shape, values.dtype.itemsize, axes, cards)
            fits.write(file, image, [values], first=i == 0)


WRITERS = {".npy": _write_npy, ".npz": _write_npz, ".fits": _write_fits, ".vtkhdf": _write_vtkhdf}
