"""What VTK reads in VTKHDF files: run as a child process, because VTK dies of a malformed file.

    python vtk_reads.py OUT.npz FILE[@STEP]...

writes arrays "NUMBER/NAME" of the NUMBER-th file: its cells (lo, hi, field:F), and of a hyper tree grid the values of all
its cells (all:F)."""

from __future__ import annotations

import sys

import numpy as np
import vtkmodules.vtkRenderingCore  # noqa: F401 (some filters need its factories)
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridToUnstructuredGrid
from vtkmodules.vtkIOHDF import vtkHDFReader


def values(data):
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}


def corners(grid):
    """The lower and the upper corner of each cell."""
    if grid.GetNumberOfCells() == 0:
        return np.zeros((0, 3)), np.zeros((0, 3))
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    ids = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
    starts = vtk_to_numpy(grid.GetCells().GetOffsetsArray())[:-1]
    return np.minimum.reduceat(points[ids], starts), np.maximum.reduceat(points[ids], starts)


def hyper_tree_grid(grid):
    leaves = vtkHyperTreeGridToUnstructuredGrid()
    leaves.SetInputData(grid)
    leaves.Update()
    found = unstructured(leaves.GetOutput())
    found.update({f"all:{name}": array for name, array in values(grid.GetCellData()).items()})
    found["numbers"] = np.array([grid.GetNumberOfCells(), grid.GetNumberOfLeaves(), grid.GetNumberOfLevels()])
    found["bounds"] = np.array(grid.GetBounds())
    return found


def unstructured(grid):
    lo, hi = corners(grid)
    found = {f"field:{name}": array for name, array in values(grid.GetCellData()).items()}
    return {"lo": lo, "hi": hi, "points": np.array(grid.GetNumberOfPoints()), **found}


def particles(cloud):
    points = vtk_to_numpy(cloud.GetPoints().GetData())
    vertices = vtk_to_numpy(cloud.GetVerts().GetConnectivityArray())
    fields = values(cloud.GetPointData())
    return {"points": points, "vertices": vertices, **{f"field:{name}": array for name, array in fields.items()}}


def image(grid):
    found = {f"field:{name}": array for name, array in values(grid.GetCellData()).items()}
    return {"dimensions": np.array(grid.GetDimensions()), "bounds": np.array(grid.GetBounds()), **found}


def boxes(amr):
    """The cells that are not hidden under finer ones, level after level, and how many there are with the others."""
    lo, hi, fields, cells = [], [], {}, 0
    for level in range(amr.GetNumberOfLevels()):
        for number in range(amr.GetNumberOfBlocks(level)):
            block = amr.GetDataSetAsImageData(level, number)
            found = values(block.GetCellData())
            shown = found.pop("vtkGhostType") == 0
            counts = [n - 1 for n in block.GetDimensions()]
            z, y, x = np.meshgrid(*(np.arange(n) for n in counts[::-1]), indexing="ij")
            corner = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1) * block.GetSpacing() + block.GetOrigin()
            lo.append(corner[shown])
            hi.append(corner[shown] + block.GetSpacing())
            cells += len(shown)
            for name, array in found.items():
                fields.setdefault(f"field:{name}", []).append(array[shown])
    joined = {name: np.concatenate(arrays) for name, arrays in fields.items()}
    return {"lo": np.concatenate(lo), "hi": np.concatenate(hi), "cells": np.array(cells), **joined}


KINDS = {
    "vtkOverlappingAMR": boxes,
    "vtkHyperTreeGrid": hyper_tree_grid,
    "vtkUnstructuredGrid": unstructured,
    "vtkPolyData": particles,
    "vtkImageData": image,
}


def read(path):
    """A file's first step, or step N of "FILE@N"."""
    path, _, step = path.partition("@")
    reader = vtkHDFReader()
    if not reader.CanReadFile(path):
        raise SystemExit(f"VTK cannot read {path}")
    reader.SetFileName(path)
    if step:
        reader.UpdateInformation()
        reader.SetStep(int(step))
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    found = KINDS[grid.GetClassName()](grid)
    found["class"] = np.array(grid.GetClassName())
    found["steps"] = np.array(reader.GetNumberOfSteps())
    if step:
        found["time"] = np.array(reader.GetTimeValue())
    if "TimeValue" in (facts := values(grid.GetFieldData())):
        found["time"] = facts["TimeValue"][0]
    return found


if __name__ == "__main__":
    out, *files = sys.argv[1:]
    np.savez(out, **{f"{i}/{name}": array for i, file in enumerate(files) for name, array in read(file).items()})
