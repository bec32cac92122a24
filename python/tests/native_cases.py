"""Programs that test_native.py runs under mpirun:     mpirun -n 3 python native_cases.py CASE DIRECTORY

Boxes of two levels in two or three dimensions; every value follows from its level and place.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np

import octavo

EDGE = 16  # cells of level 0 along an axis
BOX = 8


def value_at(level, x, y, z=0):
    """Different in every cell; exact in a float32."""
    return level * 2.0**18 + z * 2.0**12 + y * 2.0**6 + x


def all_boxes(dim: int) -> list[list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Level 0 whole, the middle half along each axis refined."""
    spans = [(range(0, EDGE, BOX)), (range(EDGE // 2, 3 * EDGE // 2, BOX))]
    return [
        [(corner[::-1], tuple(c + BOX for c in corner[::-1])) for corner in itertools.product(span, repeat=dim)]
        for span in spans
    ]


def values_of(level: int, lo, hi) -> np.ndarray:
    """The values of a box, axes (z, y, x) as far as there are dimensions."""
    axes = np.meshgrid(*(np.arange(a, b) for a, b in zip(lo[::-1], hi[::-1], strict=True)), indexing="ij")
    return value_at(level, *axes[::-1])


def whole(dim: int) -> list[np.ndarray]:
    """Per level, the values of the whole domain, NaN where the level has no box."""
    out = []
    for level, boxes in enumerate(all_boxes(dim)):
        values = np.full((EDGE << level,) * dim, np.nan)
        for lo, hi in boxes:
            values[tuple(slice(a, b) for a, b in zip(lo[::-1], hi[::-1], strict=True))] = values_of(level, lo, hi)
        out.append(values)
    return out


def leaves(dim: int) -> np.ndarray:
    """The values of all cells that are not refined, sorted."""
    coarse, fine = whole(dim)
    covered = np.zeros(coarse.shape, bool)
    covered[(slice(EDGE // 4, 3 * EDGE // 4),) * dim] = True
    return np.sort(np.concatenate([coarse[~covered], fine[~np.isnan(fine)]]))


def share(dim: int, rank: int, size: int) -> tuple[octavo.Patches, list[np.ndarray]]:
    """The n-th box of all is one of rank n % size; arrays are views into ones with ghost cells."""
    boxes, arrays, number = [], [], itertools.count()
    for level, of_level in enumerate(all_boxes(dim)):
        boxes.append([box for box in of_level if next(number) % size == rank])
        for lo, hi in boxes[-1]:
            array = np.full((BOX + 4,) * dim, np.nan)
            inner = array[(slice(2, -2),) * dim]
            inner[...] = values_of(level, lo, hi)
            arrays.append(inner)
    domain = [((0,) * dim, (EDGE << level,) * dim) for level in range(2)]
    return octavo.Patches(domain, boxes, dim=dim), arrays


def header(dim: int, block: int = BOX // 2) -> octavo.Header:
    """Boxes of BOX cells are cut into FLASH's blocks of half of that: the refined region is whole parents then."""
    return octavo.Header(code="test", dim=dim, roots=(EDGE // block,) * dim, block=(block,) * dim, hi=(2.0,) * dim)


def everyone():
    from mpi4py import MPI

    return MPI.COMM_WORLD


def write_patches(writer, path, dim: int, comm, *, flat: bool = False, particles: bool = False) -> None:
    patches, arrays = share(dim, comm.rank, comm.size)
    packed = [np.concatenate([[], *(a.ravel() for a in arrays)])] if flat else None
    writer.begin_step(path, 7, 0.5)
    writer.put_attribute("level_dt", [0.125, 0.0625])
    writer.put_mesh(patches)
    writer.put_field("dens", packed[0] if flat else arrays)
    writer.put_field("temp", -packed[0].astype("float32") if flat else [(-a).astype("float32") for a in arrays])
    if particles:
        x = np.linspace(0.01, 1.99, 30)[comm.rank :: comm.size]
        axes = ("position_x", "position_y", "position_z")[:dim]
        writer.put_particles("stars", {**dict.fromkeys(axes, x), "mass": x**2})
    writer.end_step()


def expect_boxes(start, comm, step: int | None = None) -> None:
    """A run goes on from the output, whatever its format: every cell is on one rank, with its value."""
    assert start.time == 0.5 and isinstance(start.mesh, octavo.Patches)
    assert (step or start.attributes.get("step", start.attributes.get("integer scalars/nstep"))) == 7
    arrays = iter(start.fields["dens"])
    mine = 0
    for level, boxes in enumerate(start.mesh.boxes):
        for lo, hi in boxes:
            array = next(arrays)
            assert np.array_equal(array, values_of(level, lo, hi)), (level, lo, hi)
            mine += array.size
    assert next(arrays, None) is None
    dim = start.mesh.dim
    assert comm.allreduce(mine) == sum(map(len, all_boxes(dim))) * BOX**dim


# ----------------------------------------------------------------------------------------------------------- cases


def store(directory: str) -> None:
    """A store from boxes, by arrays of boxes and flat, read on fewer ranks as boxes and as blocks."""
    comm = everyone()
    for dim, unfolded in ((2, 0), (2, 1), (3, 0)):
        path = Path(directory) / f"{dim}d_{unfolded}.octavo"
        roots = (EDGE // (BOX // 2) >> unfolded,) * dim
        described = octavo.Header(dim=dim, roots=roots, block=(BOX // 2,) * dim, hi=(2.0,) * dim, unfolded=unfolded)
        patches, arrays = share(dim, comm.rank, comm.size)
        with octavo.Writer(comm, path, described, staging_bytes="4M") as writer:
            writer.begin_step("checkpoint", 7, 0.5)
            writer.put_mesh(patches)
            writer.put_field("dens", arrays)
            writer.put_field("temp", np.concatenate([[], *(-a.ravel() for a in arrays)]).astype("float32"))
            writer.end_step()
        fewer = comm.Split(0 if comm.rank < max(1, comm.size - 1) else 1)
        start = octavo.restart(fewer, path, as_patches=True, max_box=BOX)
        for dens, temp in zip(start.fields["dens"], start.fields["temp"], strict=True):
            assert np.array_equal(temp, -dens.astype("float32"))
        expect_boxes(start, fewer, step=7)
        tree = octavo.restart(fewer, path)
        leaf = np.concatenate(tree.mesh.owned) & ~np.concatenate(tree.mesh.refined)
        found = np.concatenate([[], *fewer.allgather(tree.fields["dens"][leaf].ravel())])
        assert np.array_equal(np.sort(found), leaves(dim))


def patches(directory: str) -> None:
    """Every format from boxes, in 2-D and 3-D, in the background and inside the call, from arrays of boxes and flat."""
    comm, at = everyone(), Path(directory)
    for dim, format in itertools.product((2, 3), ("flash", "amrex_plotfile", "amrex_checkpoint")):
        flat, mode = dim == 3, "background" if dim == 2 else "sync"
        with octavo.Writer(comm, octavo.Target(format, mode=mode, sync=False), header(dim)) as writer:
            for name in ("a", "b"):
                path = at / f"{format}_{dim}d_{name}"
                write_patches(writer, path, dim, comm, flat=flat, particles=format != "flash")
            while not writer.finished():
                pass
            assert path.exists() and not path.with_name(path.name + ".partial").exists()
            assert writer.statistics()["steps"] == 2
        expect_boxes(octavo.restart(comm, path, as_patches=True, max_box=BOX), comm)


def tree(directory: str) -> None:
    """Blocks of a tree as a FLASH file with its lists and particles, and as a plotfile; ghosts sliced away."""
    comm, at = everyone(), Path(directory)
    refined = [np.array([True, False, False, False]), np.zeros(4, bool)]
    owned = [np.arange(4) % comm.size == comm.rank, np.arange(4) % comm.size == comm.rank]
    octree = octavo.Octree(refined, owned, dim=2, roots=(2, 2), block=(BOX, BOX))
    wide = np.zeros((8, BOX + 2, BOX + 2))
    for cell, (level, x, y) in enumerate(
        [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)]
    ):
        lo = (x * BOX, y * BOX)
        wide[cell, 1:-1, 1:-1] = values_of(level, lo, (lo[0] + BOX, lo[1] + BOX))
    # A particle in the middle of every root that is a leaf, on the rank that owns it.
    middle = np.array([(1.5, 0.5), (0.5, 1.5), (1.5, 1.5)])[owned[0][1:]]
    for format, mode in (("flash", "background"), ("flash", "sync"), ("amrex_plotfile", "background")):
        own = {"names": {"density": "dens"}} if format == "flash" else {}
        target = octavo.Target(format, mode=mode, sync=False, **own)
        with octavo.Writer(comm, target, header(2, BOX)) as writer:
            writer.begin_step(at / f"{format}_{mode}", 3, 0.25)
            writer.put_attributes({"real scalars/dt": 0.125, "real scalars": ["dt"]})
            writer.put_mesh(octree)
            writer.put_field("density", wide[:, 1:-1, 1:-1])
            writer.put_particles("particles", {"position_x": middle[:, 0], "position_y": middle[:, 1]})
            writer.end_step()


def faces(directory: str) -> None:
    """Face variables of blocks of 3 x 2 x 4, ghosts sliced away: all of one array, and halves."""
    comm, at, shape = everyone(), Path(directory), (2, 4, 2, 3)
    octree = octavo.Octree(
        [np.zeros(2, bool)], [np.arange(2) % comm.size == comm.rank], roots=(2, 1, 1), block=(3, 2, 4)
    )
    box = octavo.Header(code="test", dim=3, roots=(2, 1, 1), block=(3, 2, 4), hi=(2.0, 1.0, 1.0))
    with octavo.Writer(comm, octavo.Target("flash", sync=False), box) as writer:
        writer.begin_step(at / "chk", 1, 0.0)
        writer.put_mesh(octree)
        writer.put_field("dens", np.zeros(shape))
        for number, axis in enumerate("xyz"):
            longer = tuple(n + (a == 3 - number) for a, n in enumerate(shape))
            wide = np.zeros((2, *(n + 2 for n in longer[1:])), "float32")
            inner = wide[:, 1:-1, 1:-1, 1:-1]
            inner[...] = np.arange(inner.size).reshape(longer)
            if axis == "z":
                writer.put_field("bz_left", inner[:, :-1], centring="face_z")
                writer.put_field("bz_right", inner[:, 1:], centring="face_z")
            else:
                writer.put_field(f"b{axis}", inner, centring=f"face_{axis}")
        writer.end_step()
        writer.begin_step(at / "wrong", 1, 0.0)
        writer.put_mesh(octree)
        writer.put_field("bx", np.zeros(shape), centring="face_x")
        try:
            writer.end_step()
        except octavo.UsageError as error:
            assert "expected shape (cells, 4, 2, 4" in str(error), error
        else:
            raise AssertionError("not refused")


def replace(directory: str) -> None:
    """A FLASH file takes the place of one with the same name, with `replace` alone."""
    comm, at = everyone(), Path(directory)
    owned = [np.arange(2) % comm.size == comm.rank]
    octree = octavo.Octree([np.zeros(2, bool)], owned, dim=2, roots=(2, 1), block=(BOX, BOX))
    box = octavo.Header(code="test", dim=2, roots=(2, 1), block=(BOX, BOX), hi=(2.0, 1.0))

    def write(value: float, **words: bool) -> None:
        with octavo.Writer(comm, octavo.Target("flash", sync=False, **words), box) as writer:
            writer.begin_step(at / "chk", 1, 0.0)
            writer.put_mesh(octree)
            writer.put_field("dens", np.full((2, BOX, BOX), value))
            writer.end_step()

    write(1.0)
    write(2.0, replace=True)
    try:
        write(3.0)
    except octavo.Error as error:
        assert "chk" in str(error), error
    else:
        raise AssertionError("not refused")
    if comm.rank == 0:
        assert set(octavo.open(at / "chk").arrays()["dens"]) == {2.0}


def large(directory: str) -> None:
    """Boxes of more bytes than one write has, doubles and floats in one plotfile, inside the call and staged."""
    comm, at, edge = everyone(), Path(directory), 48
    lo = (edge * comm.rank, 0, 0)
    patches = octavo.Patches([((0, 0, 0), (edge * comm.size, edge, edge))], [[(lo, (lo[0] + edge, edge, edge))]])
    values = values_of(0, lo, (lo[0] + edge, edge, edge)).ravel()
    whole = octavo.Header(roots=(edge * comm.size, edge, edge), hi=(float(comm.size), 1.0, 1.0))
    for mode in ("sync", "background"):
        with octavo.Writer(comm, octavo.Target("amrex_plotfile", mode=mode, sync=False), whole) as writer:
            writer.begin_step(at / mode, 1, 0.0)
            writer.put_mesh(patches)
            writer.put_field("first", values)
            writer.put_field("single", values.astype("float32"))
            writer.put_field("last", -values)
            writer.end_step()
        cells = octavo.open(at / mode).arrays()
        expected = value_at(0, *(np.floor(cells[axis] * edge) for axis in "xyz"))
        for name, sign in (("first", 1), ("single", 1), ("last", -1)):
            assert np.array_equal(sign * cells[name], expected), (mode, name)


def errors(directory: str) -> None:
    """The collective call raises an error of one rank on all; the writer can be used further."""
    comm, at = everyone(), Path(directory)

    def refused(text: str, call, *words, **options) -> None:
        try:
            call(*words, **options)
        except octavo.UsageError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"not refused: {text}")

    def open_writer(*target, **words) -> octavo.Writer:
        return octavo.Writer(comm, octavo.Target(*target, **words), header(2))

    refused("no target 'hdf'", open_writer, "hdf")
    refused("no mode 'auto'", open_writer, "flash", mode="auto")
    refused("no word 'colour'", open_writer, "flash", colour="red")
    refused("files", open_writer, "amrex_plotfile", files="many" if comm.rank == 0 else 1)
    refused("are a store's", octavo.Writer, comm, octavo.Target("flash"), header(2), mode="sync")
    refused("expected a Header", octavo.Writer, comm, octavo.Target("flash"))
    open_writer("amrex_plotfile", bound_thread=True, checksums=False).close()
    refused("no word 'collect' of a target 'amrex_plotfile'", open_writer, "amrex_plotfile", collect=True)
    refused("no word 'files' of a target 'flash'", open_writer, "flash", files=2)
    open_writer("flash", staging_bytes=1 << 20).close()
    writer = open_writer("amrex_plotfile", sync=False)
    assert writer.total_statistics()["steps"] == 0
    refused("there is no step to end", writer.end_step)
    refused("put outside of a step", lambda: (writer.put_attribute("dt", 1.0), writer.end_step()))
    patches, arrays = share(2, comm.rank, comm.size)
    last = comm.rank == comm.size - 1
    for wrong, text in (
        (arrays[:-1], "expected one view for box"),
        ([a[1:] for a in arrays], "expected one view for box"),
        ([a[0] for a in arrays], "expected a box of 2 axes"),
        ([a.astype(complex) for a in arrays], "no values of type complex128"),
        ([None], "no values of type object"),
    ):
        writer.begin_step(at / "plt", 1, 0.0)
        writer.put_mesh(patches)
        writer.put_field("dens", wrong if last else arrays)
        refused(text, writer.end_step)
    writer.begin_step(at / "plt", 1, 0.0)
    writer.put_mesh("no mesh" if last else patches)
    refused("expected an Octree or Patches, found str", writer.end_step)
    for words in ((5, 1, 0.0), (at / "plt", "x", 0.0), (at / "plt", 1, "x")):
        writer.begin_step(*words if last else (at / "plt", 1, 0.0))
        writer.put_mesh(patches)
        writer.put_particles("stars", {"mass": np.zeros(3)})
        refused("begin_step", writer.end_step)
    for put in (lambda: writer.put_attributes(5), lambda: writer.put_particles("stars", 5)):
        writer.begin_step(at / "plt", 1, 0.0)
        writer.put_mesh(patches)
        if last:
            put()
        refused("items", writer.end_step)
    write_patches(writer, at / "plt", 2, comm)
    writer.close()
    refused("closed", writer.begin_step, at / "more", 2, 0.0)
    comm.barrier()
    assert [path.name for path in at.iterdir()] == ["plt"]


def leaving(directory: str) -> None:
    """A block that an exception ends on one rank calls nothing collective."""
    comm = everyone()
    writer = octavo.Writer(comm, octavo.Target("flash", sync=False), header(2))
    write_patches(writer, Path(directory) / "chk", 2, comm)
    if comm.rank == 0:
        try:
            with writer:
                raise KeyError("mine alone")
        except KeyError:
            pass
        try:
            writer.put_attribute("a", 1)
            writer.statistics()
        except octavo.UsageError:
            pass
        else:
            raise AssertionError("the writer is still there")
    comm.barrier()


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
