"""What VTK reads in VTKHDF files: run as a child process, because VTK dies of a malformed file.

    python vtk_reads.py OUT.npz FILE...

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
    return {"lo": lo, "hi": hi, **{f"field:{name}": array for name, array in values(grid.GetCellData()).items()}}


KINDS = {"vtkHyperTreeGrid": hyper_tree_grid, "vtkUnstructuredGrid": unstructured}


def read(path):
    reader = vtkHDFReader()
    if not reader.CanReadFile(path):
        raise SystemExit(f"VTK cannot read {path}")
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    found = KINDS[grid.GetClassName()](grid)
    found["class"], found["time"] = np.array(grid.GetClassName()), values(grid.GetFieldData())["TimeValue"][0]
    return found


if __name__ == "__main__":
    out, *files = sys.argv[1:]
    np.savez(out, **{f"{i}/{name}": array for i, file in enumerate(files) for name, array in read(file).items()})
