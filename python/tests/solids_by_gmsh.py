"""Files of solids written by gmsh, and read by it or by meshio, in a process of its own: gmsh and libmedC bring an HDF5 of
their own. Words:

write IN.npz OUT.msh|OUT.med VERSION BINARY
read IN OUT.npz
meshio IN OUT.npz
"""

import sys

import numpy as np

TYPES = {4: 4, 5: 7, 6: 6, 8: 5}  # gmsh's, by corners


def write(source, path, version, binary):
    import gmsh

    given = np.load(source)
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.add("mesh")
    points, number = given["points"], 1
    for name, corners in (("left", given["left"]), ("right", given["right"])):
        entity = gmsh.model.addDiscreteEntity(3)
        if name == "left":
            gmsh.model.mesh.addNodes(3, entity, np.arange(1, len(points) + 1), points.ravel())
        for size, kind in TYPES.items():
            rows = corners[(corners >= 0).sum(axis=1) == size][:, :size] + 1
            if len(rows):
                gmsh.model.mesh.addElementsByType(entity, kind, np.arange(number, number + len(rows)), rows.ravel())
                number += len(rows)
        gmsh.model.addPhysicalGroup(3, [entity], name=name)
    for kind, corners in ((2, [1, 2, 4]), (3, [1, 2, 5, 4])):
        surface = gmsh.model.addDiscreteEntity(2)
        gmsh.model.mesh.addElementsByType(surface, kind, [number], corners)
        number += 1
    gmsh.model.addPhysicalGroup(2, [surface], name="inlet")
    gmsh.option.setNumber("Mesh.MshFileVersion", float(version))
    gmsh.option.setNumber("Mesh.Binary", int(binary))
    gmsh.option.setNumber("Mesh.SaveAll", 1)
    gmsh.write(path)


def read(path, out):
    import gmsh

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.open(path)
    tags, places, _ = gmsh.model.mesh.getNodes()
    order = np.argsort(tags)
    found = {"points": places.reshape(-1, 3)[order]}
    tags = tags[order]
    for size, kind in TYPES.items():
        rows = gmsh.model.mesh.getElementsByType(kind)[1].reshape(-1, size)
        found[f"cells{size}"] = np.searchsorted(tags, rows)
    for dim, tag in gmsh.model.getPhysicalGroups():
        count = 0
        for entity in gmsh.model.getEntitiesForPhysicalGroup(dim, tag):
            count += sum(len(numbers) for numbers in gmsh.model.mesh.getElements(dim, entity)[1])
        found["group " + gmsh.model.getPhysicalName(dim, tag).strip()] = np.array(count)
    qualities = gmsh.model.mesh.getElementQualities(np.concatenate(gmsh.model.mesh.getElements(3)[1]), "minSJ")
    found["least_quality"] = np.array(qualities.min())
    np.savez(out, **found)


def read_by_meshio(path, out):
    import meshio

    mesh = meshio.read(path)
    found = {"points": mesh.points}
    sizes = {"tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
    for kind, size in sizes.items():
        blocks = [block.data for block in mesh.cells if block.type == kind]
        found[f"cells{size}"] = np.concatenate(blocks) if blocks else np.zeros((0, size), int)
    for name, values in mesh.point_data.items():
        found[f"point:{name}"] = np.asarray(values)
    for name, blocks in mesh.cell_data.items():
        found[f"cell:{name}"] = np.concatenate([np.asarray(block) for block in blocks])
    np.savez(out, **found)


{"write": write, "read": read, "meshio": read_by_meshio}[sys.argv[1]](*sys.argv[2:])
