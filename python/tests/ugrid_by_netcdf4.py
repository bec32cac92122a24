"""UGRID files written by netCDF4, and read by it or by VTK, in a process of its own: it brings an HDF5 of its own. Words:

write IN.npz OUT.nc FORMAT START LAYOUT
read IN.nc OUT.npz
vtk IN.nc OUT.npz
"""

import sys

import netCDF4
import numpy as np


def write(source, path, file_format, start, layout):
    given = np.load(source)
    cells = np.ma.masked_equal(given["cells"], -1)
    with netCDF4.Dataset(path, "w", format=file_format) as file:
        file.title = "made by netCDF4"
        file.createDimension("time", None)
        file.createDimension("nodes", len(given["x"]))
        file.createDimension("faces", len(cells))
        file.createDimension("most", cells.shape[1])
        file.createDimension("layers", 2)
        mesh = file.createVariable("Mesh", "i4")
        mesh.cf_role, mesh.topology_dimension = "mesh_topology", 2
        mesh.node_coordinates, mesh.face_node_connectivity = "node_x node_y", "nodes_of_faces"
        mesh.face_dimension = "faces"
        for axis in "xy":
            file.createVariable(f"node_{axis}", "f8", ("nodes",))[:] = given[axis]
        by_corner = layout == "by_corner"
        axes = ("most", "faces") if by_corner else ("faces", "most")
        nodes = file.createVariable("nodes_of_faces", "i4", axes, fill_value=-99, zlib=file_format == "NETCDF4")
        nodes.start_index = np.int32(start)
        nodes[:] = (cells + start).T if by_corner else cells + start
        time = file.createVariable("time", "f8", ("time",))
        time.units = "hours since 2020-01-02 03:04:05"
        time[:] = np.arange(len(given["depth"]))
        packed = layout == "packed"
        for name, place, axis in (("depth", "node", "nodes"), ("u", "face", "faces"), ("v", "face", "faces")):
            options = {"fill_value": -9999} if packed else {"fill_value": -9999.0, "zlib": file_format == "NETCDF4"}
            variable = file.createVariable(name, "i2" if packed else "f8", ("time", axis), **options)
            variable.mesh, variable.location, variable.units = "Mesh", place, "m"
            if packed:
                variable.scale_factor, variable.add_offset = 0.5, 1.0
            variable[:] = np.ma.masked_invalid(given[name])
        bed = file.createVariable("bed", "f4", ("faces",))
        bed.mesh, bed.location = "Mesh", "face"
        bed[:] = given["bed"]
        layered = file.createVariable("layered", "f4", ("time", "faces", "layers"))
        layered.mesh, layered.location = "Mesh", "face"


def read(path, out):
    found = {}
    with netCDF4.Dataset(path) as file:
        found["format"] = np.array(file.data_model)
        found["conventions"] = np.array(file.Conventions)
        for name, variable in file.variables.items():
            found[name] = np.ma.filled(variable[:].astype("f8"), np.nan)
            for attribute in variable.ncattrs():
                found[f"{name}:{attribute}"] = np.array(variable.getncattr(attribute))
    np.savez(out, **found)


def vtk(path, out):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIONetCDF import vtkNetCDFUGRIDReader

    reader = vtkNetCDFUGRIDReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    found = {
        "points": vtk_to_numpy(grid.GetPoints().GetData()),
        "types": vtk_to_numpy(grid.GetCellTypesArray()),
        "connectivity": vtk_to_numpy(grid.GetCells().GetConnectivityArray()),
    }
    for data in (grid.GetPointData(), grid.GetCellData()):
        for i in range(data.GetNumberOfArrays()):
            found[data.GetArrayName(i)] = vtk_to_numpy(data.GetArray(i))
    np.savez(out, **found)


{"write": lambda a, b, c, d, e: write(a, b, c, int(d), e), "read": read, "vtk": vtk}[sys.argv[1]](*sys.argv[2:])
