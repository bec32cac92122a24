"""Programs that test_engine.py runs under mpirun:     mpirun -n 3 python engine_cases.py CASE STORE

Every cell's values follow from its place, so that any rank can tell whether they came back.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from pathlib import Path

import numpy as np

import octavo

ROOTS = (2, 3, 2)


def whole_tree() -> list[np.ndarray]:
    """Three levels: every third root is refined, and every fifth cell below."""
    roots = np.arange(12) % 3 == 0
    below = np.arange(8 * roots.sum()) % 5 == 1
    return [roots, below, np.zeros(8 * below.sum(), bool)]


def octree(rank: int, size: int, block=(1, 1, 1)) -> octavo.Octree:
    """The whole tree, of which each rank owns a stretch of every level."""
    refined = whole_tree()
    owned = [np.arange(len(level)) * size // len(level) == rank for level in refined]
    return octavo.Octree(refined, owned, roots=ROOTS, block=block)


def places(tree: octavo.Octree) -> np.ndarray:
    """(level, x, y, z) of every cell, breadth first: shape (cells, 4)."""
    x, y, z = np.meshgrid(*(np.arange(n) for n in tree.roots), indexing="ij")
    level = np.stack([a.transpose(2, 1, 0).ravel() for a in (x, y, z)], axis=1)
    level = np.concatenate([level[:0], *(level[begin:end] for begin, end in tree.held)])
    out = []
    for number, refined in enumerate(tree.refined):
        out.append(np.column_stack([np.full(len(level), number), level]))
        child = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
        level = (2 * level[refined][:, None, :] + child).reshape(-1, 3)
    return np.concatenate(out)


def density_of(tree: octavo.Octree, step: int = 0) -> np.ndarray:
    return np.sqrt(2.0 + places(tree) @ np.array([1000, 1, 30, 900]) + 0.125 * step)


def owned_of(tree: octavo.Octree) -> np.ndarray:
    return np.concatenate(tree.owned)


def header(**words) -> octavo.Header:
    return octavo.Header(code="test", roots=ROOTS, hi=(2, 3, 2), unit_length=3e18, **words)


def everyone():
    from mpi4py import MPI

    return MPI.COMM_WORLD


def told(comm, kind: type[Exception], text: str, work) -> None:
    """Every rank gets the same error, which has the text."""
    try:
        work()
    except kind as error:
        assert len(set(comm.allgather(str(error)))) == 1 and text in str(error), str(error)
    else:
        raise AssertionError(f"nothing was raised: {text}")


def write_step(writer: octavo.Writer, tree: octavo.Octree, step: int, flow: str = "checkpoint") -> None:
    writer.begin_step(flow, step, 0.5 * step)
    writer.put_mesh(tree)
    writer.put_field("density", density_of(tree, step), "g/cm^3")
    writer.end_step()


def expect_whole(comm, tree: octavo.Octree) -> None:
    """Together the ranks own every cell of the tree once."""
    mine = places(tree)[owned_of(tree)]
    everything = np.concatenate(comm.allgather(mine))
    expected = places(octree(0, 1))
    assert sorted(map(tuple, everything)) == sorted(map(tuple, expected))


# ----------------------------------------------------------------------------------------------------------- cases


def write(store: str) -> None:
    """Two checkpoints with all that can be put, for `read` on another number of ranks."""
    comm = everyone()
    tree = octree(comm.rank, comm.size)
    with octavo.Writer(comm, store, header(), contributors_per_file=2, analysis={"single_precision": True}) as writer:
        for step in (1, 2):
            density = density_of(tree, step)
            writer.begin_step("checkpoint", step, 0.5 * step)
            writer.put_attributes(
                {"count": np.int64(7), "dt": np.float32(0.5), "name": "café", "sizes": np.arange(3), "on": True,
                 "reals": (1, 2.5), "names": ["a", "b"]}
            )  # fmt: skip
            writer.put_mesh(tree)
            writer.put_field("density", density, "g/cm^3")
            writer.put_field("velocity", np.stack([density, -density, 2 * density], axis=1))
            writer.put_field("level", places(tree)[:, 0].astype("int8"))
            x = np.linspace(0.01, 1.99, 20)[comm.rank :: comm.size]
            writer.put_particles(
                "stars",
                {"position_x": x, "position_y": 1.5 * x, "position_z": x, "id": np.round(x * 1e6).astype("int64"),
                 "spin": np.stack([x, -x], axis=1)},
                {"position_x": "cm"},
            )  # fmt: skip
            writer.end_step()
        write_step(writer, tree, 2, "analysis")
        writer.wait()
        assert writer.newest_durable("checkpoint").step == 2 and writer.newest_durable("analysis").step == 2
        assert writer.newest_drained("checkpoint").step == 2
        for safety in ("local", "partner", "xor", "rs", "store"):
            assert writer.newest_safe("checkpoint", safety).step == 2
        mine, total = writer.statistics(), writer.total_statistics()
        assert mine["steps"] == 3 and total["steps"] == 3 * comm.size and total["bytes_put"] >= mine["bytes_put"]
        assert writer.mode_of("checkpoint") == "background"


def read(store: str) -> None:
    comm = everyone()
    assert octavo.restart(comm, store + ".not") is None
    for keep_parts in (True, False):
        start = octavo.restart(comm, store, keep_parts=keep_parts)
        assert (start.step, start.time, start.header.code, start.header.roots) == (2, 1.0, "test", ROOTS)
        assert start.attributes == {
            "count": 7, "dt": 0.5, "name": "café", "sizes": [0, 1, 2], "on": 1, "reals": [1.0, 2.5], "names": ["a", "b"],
        }  # fmt: skip
        expect_whole(comm, start.mesh)
        owned, density = owned_of(start.mesh), density_of(start.mesh, 2)
        assert np.array_equal(start.fields["density"][owned], density[owned])
        assert np.array_equal(start.fields["velocity"][owned, 1], -density[owned])
        assert start.fields["level"].dtype == "int8"
        stars = start.particles["stars"]
        assert np.array_equal(stars["id"], np.round(stars["position_x"] * 1e6))
        assert np.array_equal(stars["spin"][:, 1], -stars["position_x"])
        assert sum(comm.allgather(len(stars["id"]))) == 20
    view = start.fields["density"]
    del start
    gc.collect()
    view[:] += 1  # the arrays are the program's own, and stay
    assert octavo.restart(comm, store, step=1, fields=["density"], particles=False).particles == {}
    finer = octavo.restart(comm, store, step=1, fields=["density"], particles=False, refine=1)
    assert len(finer.mesh.refined) == 4
    blocks = octavo.restart(comm, store, step=1, fields=["density"], block=(1, 1, 2), fill=True)
    assert blocks.header.block == (1, 1, 2) and blocks.fields["density"].shape[1:] == (2, 1, 1)
    boxes = octavo.restart(comm, store, step=1, fields=["density"], as_patches=True, max_box=2, fill="constant")
    assert len(boxes.fields["density"]) == sum(map(len, boxes.mesh.boxes))
    assert comm.allreduce(sum(box.size for box in boxes.fields["density"])) == sum(map(len, whole_tree()))
    steps = {(row["flow"], row["step"]) for row in octavo.steps(store)}
    assert steps == {("checkpoint", 1), ("checkpoint", 2), ("analysis", 2)}


def strides(store: str) -> None:
    """Every way an array can lie in memory gives the same values; nothing that can be read in place is copied."""
    comm = everyone()
    block = (2, 4, 3)
    tree = octree(comm.rank, comm.size, block)
    cells = tree.cells
    values = np.random.default_rng(comm.rank).random((cells, 3, 4, 2, 2))
    ghosts = np.pad(values, [(0, 0), (2, 2), (2, 2), (2, 2), (0, 0)], constant_values=np.nan)
    order = np.random.default_rng(1).permutation(cells)
    shuffled = np.empty_like(values)
    shuffled[order] = values
    layouts = {
        "packed": values,
        "ghosts": ghosts[:, 2:-2, 2:-2, 2:-2],
        "components_first": np.moveaxis(np.ascontiguousarray(np.moveaxis(values, -1, 0)), 0, -1),
        "cells_last": np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0),
        "fortran": np.asfortranarray(values),
        "backwards": np.ascontiguousarray(values[::-1, :, ::-1])[::-1, :, ::-1],
        "foreign": values.astype(">f8"),
    }
    read_only = values.copy()
    read_only.flags.writeable = False
    layouts["read_only"] = read_only
    from octavo.writer import _readable

    assert [name for name, array in layouts.items() if _readable(array) is not array] == ["foreign"]
    with octavo.Writer(comm, store, header(block=block)) as writer:
        writer.begin_step("checkpoint", 1, 0.0)
        writer.put_mesh(tree)
        for name, array in layouts.items():
            writer.put_field(name, array)
        writer.put_field("one_of_many", values[..., 1])
        writer.put_field("broadcast", np.broadcast_to(np.arange(3)[:, None, None], values.shape[:4]))
        writer.put_field("shuffled", shuffled, order=order)
        writer.put_field("mask", values[..., 0] > 0.5)
        writer.end_step()
    fields = octavo.restart(comm, store).fields
    for name in [*layouts, "shuffled"]:
        assert np.array_equal(fields[name], values), name
    assert np.array_equal(fields["one_of_many"], values[..., 1])
    assert np.array_equal(fields["broadcast"][:, 2], np.full((cells, 4, 2), 2))
    assert np.array_equal(fields["mask"], values[..., 0] > 0.5)


def lend(store: str) -> None:
    """Arrays that the program has let go of are kept until they have been read."""
    comm = everyone()
    tree = octree(comm.rank, comm.size)
    with octavo.Writer(comm, store, header(), lend=True) as writer:
        for step in (1, 2, 3):
            write_step(writer, tree, step)  # its arrays are gone here
            gc.collect()
            garbage = [np.full(tree.cells, -1.0) for _ in range(20)]  # goes where freed arrays were
        writer.wait()
        del garbage
    for step in (1, 2, 3):
        start = octavo.restart(comm, store, step=step)
        assert np.array_equal(start.fields["density"], density_of(tree, step))


def errors(store: str) -> None:
    """An error of the last rank is raised on all, and the writer goes on."""
    comm = everyone()
    tree, last = octree(comm.rank, comm.size), comm.rank == comm.size - 1
    wrong = {
        "shape": lambda w: w.put_field("b", np.ones((tree.cells, 2, 2))),
        "type": lambda w: w.put_field("b", np.ones(tree.cells, complex)),
        "text": lambda w: w.put_attribute("b", object()),
        "order": lambda w: w.put_field("b", np.ones(tree.cells), order=[tree.cells] * tree.cells),
        "centring": lambda w: w.put_field("b", np.ones(tree.cells), centring="edge"),
        "mesh": lambda w: w.put_mesh(None),
    }
    with octavo.Writer(comm, store, header(), mode="sync") as writer:
        for number, put in enumerate(wrong.values()):
            writer.begin_step("checkpoint", number, 0.0)
            writer.put_mesh(tree)
            if last:
                put(writer)
            told(comm, octavo.UsageError, "", writer.end_step)
        for number, words in enumerate((("chekpoint", 20, 0.0), ("checkpoint", "x", 0.0), (None, 20, 0.0), ("checkpoint",
                                       20, None))):  # fmt: skip
            writer.begin_step(*words if last else ("checkpoint", 20 + number, 0.0))
            writer.put_mesh(tree)
            told(comm, octavo.UsageError, "begin_step", writer.end_step)
        for put in (lambda w: w.put_attributes(5), lambda w: w.put_particles("stars", [1.0])):
            writer.begin_step("checkpoint", 30, 0.0)
            writer.put_mesh(tree)
            if last:
                put(writer)
            told(comm, octavo.UsageError, "items", writer.end_step)
        write_step(writer, tree, 10)
    assert octavo.restart(comm, store).step == 10
    try:
        octavo.restart(comm, store, step=0)
    except octavo.UsageError as error:
        assert "no complete checkpoint step 0" in str(error)
    else:
        raise AssertionError("a failed step is there")
    try:
        octavo.Writer(comm, store, header(), colour="red")
    except octavo.UsageError as error:
        assert "colour" in str(error)
    else:
        raise AssertionError("an unknown option was taken")


def options(store: str) -> None:
    """Keywords, then the TOML file, then variables: the later ones win."""
    comm = everyone()
    tree = octree(comm.rank, comm.size)
    file = f"{store}.{comm.rank}.toml"
    Path(file).write_text('mode = "sync"\n[checkpoint.field_codec]\ndensity = "point:1e-2"\n')

    def mode(**words) -> str:
        with octavo.Writer(comm, store, header(), **words) as writer:
            return writer.mode_of("checkpoint")

    assert mode() == "background" and mode(mode="auto") == "auto"
    assert mode(mode="auto", options=file) == "sync"
    os.environ["OCTAVO_MODE"] = "background"
    assert mode(mode="auto", options=file) == "background"
    del os.environ["OCTAVO_MODE"]
    with octavo.Writer(comm, store, header(), options=file, keep_last=1, contributors_per_file=0) as writer:
        for step in (1, 2):
            write_step(writer, tree, step)
    comm.barrier()
    assert [row["step"] for row in octavo.steps(store)] == [1, 2]  # the slot of one more than kept
    density = octavo.restart(comm, store).fields["density"]
    expected = density_of(tree, 2)
    assert not np.array_equal(density, expected) and np.allclose(density, expected, rtol=1e-2)
    os.environ["OCTAVO_OPTIONS"] = store + ".missing"
    try:
        octavo.Writer(comm, store, header())
    except octavo.Unreadable as error:
        assert len(set(comm.allgather(str(error)))) == 1
    else:
        raise AssertionError("a missing file was taken")


def gil(store: str) -> None:
    """Other threads of the interpreter run while a rank waits for the others: rank 1 waits for a file that a thread of
    rank 0 writes while rank 0 waits for rank 1."""
    comm = everyone()
    tree, go, entering = octree(comm.rank, comm.size), Path(store + ".go"), threading.Event()

    def work() -> None:
        entering.wait()
        sum(range(3_000_000))  # long enough for the other thread to be inside wait()
        go.touch()

    with octavo.Writer(comm, store, header()) as writer:
        write_step(writer, tree, 1)
        if comm.rank == 0:
            threading.Thread(target=work).start()
            entering.set()
        else:
            while not go.exists():
                pass
        writer.wait()


def leaving(store: str) -> None:
    """An exception of one rank alone leaves its block without waiting for the others."""
    comm = everyone()
    tree = octree(comm.rank, comm.size)
    writer = octavo.Writer(comm, store, header())
    write_step(writer, tree, 1)
    if comm.rank == 0:
        try:
            with writer:
                raise KeyError("mine alone")
        except KeyError:
            pass
        try:
            writer.begin_step("checkpoint", 2, 0.0)
        except octavo.UsageError:
            pass
        else:
            raise AssertionError("the writer is still there")
    del writer  # waits for this rank's own work
    comm.barrier()
    assert octavo.restart(comm, store).step == 1


def blocks(store: str) -> None:
    """A list of blocks in any order is the tree, and fields follow the list. The step becomes a FLASH file."""
    comm = everyone()
    block = (2, 2, 2)
    roots = whole_tree()[0]
    refined = [roots, np.zeros(8 * roots.sum(), bool)]  # two levels, because FLASH's trees are balanced
    owned = [np.arange(len(level)) * comm.size // len(level) == comm.rank for level in refined]
    tree = octavo.Octree(refined, owned, roots=ROOTS, block=block)
    mine = np.random.default_rng(comm.rank).permutation(np.flatnonzero(owned_of(tree)))
    cells, flags = places(tree)[mine], np.concatenate(refined)[mine]

    def values(tree: octavo.Octree) -> np.ndarray:
        return density_of(tree)[:, None, None, None] + np.arange(8.0).reshape(block)

    with octavo.Writer(comm, store, header(block=block)) as writer:
        writer.begin_step("checkpoint", 1, 0.5)
        writer.put_list("real scalars", {"dt": 0.5, "t": np.float64(2)})
        writer.put_list("integer scalars", {})
        writer.put_blocks(cells[:, 0], cells[:, 1:], flags)
        writer.put_field("dens", values(tree)[mine])
        writer.end_step()
        writer.begin_step("checkpoint", 2, 1.0)
        writer.put_blocks(cells[:, 0], cells[:, 1:3], flags)
        told(comm, octavo.UsageError, "blocks", writer.end_step)
        writer.begin_step("checkpoint", 2, 1.0)
        writer.put_blocks(cells[:, 0], cells[:, 1:], flags)
        writer.put_field("dens", values(tree)[mine], order=np.arange(len(mine)))
        told(comm, octavo.UsageError, "order of put_blocks", writer.end_step)
    start = octavo.restart(comm, store, keep_parts=False)
    owned = owned_of(start.mesh)
    assert comm.allreduce(owned.sum()) == sum(map(len, refined))
    assert np.array_equal(start.fields["dens"][owned], values(start.mesh)[owned])
    assert start.attributes["real scalars"] == ["dt", "t"] and start.attributes["real scalars/t"] == 2.0
    try:
        octavo.restart_write(comm, store, start, "flash", store + ".chk")
    except octavo.Unsupported as error:
        assert "HDF5" in str(error)
        return
    told(comm, octavo.Error, "exists", lambda: octavo.restart_write(comm, store, start, "flash", store + ".chk"))
    flash = octavo.open(store + ".chk")
    total = octavo.open(store).sum("dens", weight="volume")
    assert np.isclose(flash.sum("dens", weight="volume"), total, rtol=1e-12)
    octavo.restart_write(comm, store, start, "amrex", store + ".amrex")
    assert np.isclose(octavo.open(store + ".amrex").sum("dens", weight="volume"), total, rtol=1e-12)
    told(
        comm,
        octavo.UsageError,
        "no format 'hdf'",
        lambda: octavo.restart_write(comm, store, start, "hdf", store + ".x"),
    )
    told(comm, octavo.Unsupported, "SERAFIN", lambda: octavo.restart_write(comm, store, start, "serafin", store + ".x"))


def failed(store: str) -> None:
    """A restart from which the run could not go on is passed over, until it is forgotten."""
    comm = everyone()
    with octavo.Writer(comm, store, header()) as writer:
        for step in (1, 2):
            write_step(writer, octree(comm.rank, comm.size), step)
    start = octavo.restart(comm, store)
    assert (start.step, start.flow) == (2, "checkpoint")
    octavo.restart_failed(comm, store, start)
    assert octavo.restart(comm, store, remember_failed_restarts=True).step == 1
    comm.barrier()
    if comm.rank == 0:
        assert octavo.forget_failed_restarts(store) == 2  # one failed, one started
    comm.barrier()
    assert octavo.restart(comm, store, remember_failed_restarts=True).step == 2
    wrong = {"flow": "chekpoint"} if comm.rank == 0 else {}
    told(comm, octavo.UsageError, "chekpoint", lambda: octavo.restart(comm, store, **wrong))
    wrong = {"fill": "cubic"} if comm.rank == comm.size - 1 else {}
    told(comm, octavo.UsageError, "cubic", lambda: octavo.restart(comm, store, **wrong))
    wrong = {"points": 5} if comm.rank == 0 else {}
    told(comm, octavo.UsageError, "restart", lambda: octavo.restart(comm, store, **wrong))


def without_mpi4py(store: str) -> None:
    """comm=None: mpi4py is not loaded."""
    from octavo.ranks import world

    ranks = world()
    rank, size = (ranks.rank, ranks.size) if ranks else (0, 1)
    tree = octree(rank, size)
    with octavo.Writer(None, store, header()) as writer:
        write_step(writer, tree, 1)
    start = octavo.restart(None, store)
    assert np.array_equal(start.fields["density"], density_of(tree, 1))
    assert not any(name.startswith("mpi4py") for name in sys.modules)
    try:
        octavo.restart("world", store)
    except octavo.UsageError as error:
        assert "communicator" in str(error)
    else:
        raise AssertionError("a text was taken for a communicator")


def strip(comm, points: int):
    """A strip of triangles of which every rank has some, and all their points: places of all points, all triangles, the
    numbers of this rank's triangles and points."""
    x, y = np.arange(points) // 2, np.arange(points) % 2
    whole = np.array([[i, i + 1, i + 2] if i % 2 == 0 else [i + 1, i, i + 2] for i in range(points - 2)])
    mine = np.arange(comm.rank, len(whole), comm.size)
    return x, y, whole, mine, np.unique(whole[mine])


def triangles(store: str) -> None:
    """A strip of triangles, two planes of points."""
    comm = everyone()
    points, planes = 12, 2
    x, y, whole, mine, number = strip(comm, points)
    depth = 100.0 * np.arange(planes)[:, None] + np.arange(points)
    header = octavo.Header(code="test", dim=3)
    with octavo.Writer(comm, store, header) as writer:
        for step in (1, 2):
            writer.begin_step("checkpoint", step, 0.5 * step)
            local = np.searchsorted(number, whole[mine])
            writer.put_triangles(x[number], y[number], local, number, planes=planes, global_triangle=mine)
            writer.put_field("depth", depth[:, number] + step, unit="m")
            writer.end_step()
    part = octavo.open(store).part(0)
    assert np.array_equal(part.triangles, whole) and np.array_equal(part.x, x)
    assert np.array_equal(np.ravel(part.fields["depth"]), np.ravel(depth + 2))
    start = octavo.restart(comm, store)
    assert np.array_equal(start.fields["depth"], depth[:, start.global_point] + 2)
    assert np.array_equal(start.global_point[start.triangles], whole[start.global_triangle])
    assert comm.allreduce(len(start.triangles)) == len(whole) and start.planes == planes
    wanted = octavo.restart(comm, store, points=[5, 0, 5])
    assert np.array_equal(wanted.fields["depth"], depth[:, [5, 0, 5]] + 2) and len(wanted.triangles) == 0
    assert np.array_equal(wanted.x, x[[5, 0, 5]])


def neighbours(store: str) -> None:
    """A cut store tells each rank its shared points, what lies behind its edges, and its boundary."""
    from octavo import pieces

    comm = everyone()
    x, y, whole, *_ = strip(comm, 12)
    octavo.Writer(
        comm, octavo.Target("serafin", store + ".slf", variables=["BOTTOM"], x=x, y=y, triangles=whole, mode="sync")
    ).close()
    line = [*range(0, 12, 2), *range(11, 0, -2)]  # round the strip; its far end is open
    if comm.rank == 0:
        codes = ["5 4 4 1.5" if point >= 10 else "2 2 2 0." for point in line]
        text = "".join(
            f"{c} 0. 0. 0. 2 0. 0. 0. {p + 1} {k + 1}\n" for k, (c, p) in enumerate(zip(codes, line, strict=True))
        )
        Path(store + ".cli").write_text(text)
        pieces.partition(store + ".slf", store, comm.size, method="hilbert", layout="octavo", boundary=store + ".cli")
    comm.barrier()
    start = octavo.restart(comm, store + "GEO.octavo")
    found = octavo.neighbours(comm, start)
    held = comm.allgather(set(start.global_point[start.triangles.ravel()].tolist()))
    triangles = comm.allgather(start.global_point[start.triangles].tolist())
    for i, point in enumerate(found["shared"]):
        others = [r for r, points in enumerate(held) if r != comm.rank and start.global_point[point] in points]
        assert found["ranks"][found["first"][i] : found["first"][i + 1]].tolist() == others
    assert (comm.size > 1) == (len(found["shared"]) > 0)
    for e, ranks, behind in zip(
        *(found[name] for name in ("halo_triangle", "behind_rank", "behind_triangle")), strict=True
    ):
        corners = triangles[comm.rank][e]
        for k in range(3):
            if ranks[k] >= 0:
                assert {corners[k], corners[(k + 1) % 3]} < set(triangles[ranks[k]][behind[k]])
    assert [line[place] for place in found["place"]] == start.global_point[found["boundary_point"]].tolist()
    open_end = start.global_point[found["boundary_point"]] >= 10
    assert np.array_equal(found["liquid"], open_end) and np.array_equal(found["values"][:, 0], 1.5 * open_end)
    assert np.array_equal(found["codes"][:, 0], np.where(open_end, 5, 2))
    assert comm.size > 1 or np.all(found["next"] == -1)
    away = comm.allreduce(int((found["next"] >= 0).sum())) == comm.allreduce(int((found["previous"] >= 0).sum()))
    assert away and comm.allreduce(len(found["place"])) >= len(line)


def open_series(path: str, planes: int = 1, **words):
    """A writer of the strip, and the numbers of this rank's points."""
    comm = everyone()
    x, y, whole, mine, number = strip(comm, 12)
    local = np.searchsorted(number, whole[mine])
    mesh = {"x": x[number], "y": y[number], "triangles": local, "global_point": number, "global_triangle": mine}
    words = {"variables": {"ELEVATION Z": "M", "SPEED": "M/S"}, "planes": planes, "mode": "sync", **mesh, **words}
    return octavo.Writer(comm, octavo.Target("med" if path.endswith(".med") else "serafin", path, **words)), number


def put_step(writer, number, step: int, planes: int = 1) -> None:
    """Values are exact in float32: as float64, as float32, in planes, as one variable of two."""
    values = 100.0 * np.arange(planes)[:, None] + number + 1000 * step
    writer.begin_step(None, step, 0.5 * step)
    writer.put_field("ELEVATION Z", values if planes > 1 else values[0])
    writer.put_field("SPEED", np.repeat(-values.ravel().astype("float32"), 2)[::2])
    writer.end_step()


def series(store: str) -> None:
    """SERAFIN and MED, 2-D and 3-D: written, resumed, read back, the same values in both."""
    for name, planes, words in (
        ("flat.slf", 1, {"title": "MÜHLE", "date": (2026, 1, 2, 3, 4, 5), "mode": "background"}),
        ("layers.slf", 3, {"precision": "double", "little_endian": True, "origin": (100, 200), "writers": 2}),
        ("layers.med", 3, {"precision": "double"}),
    ):
        path = f"{store}.{name}"
        try:
            writer, number = open_series(path, planes, **words)
        except octavo.Unsupported:
            assert name.endswith(".med")
            continue
        with writer:
            for step in range(4):
                put_step(writer, number, step, planes)
            writer.wait()
            assert writer.finished() and writer.steps == 4
            assert writer.statistics()["steps"] == 4 and writer.total_statistics()["bytes_stored"] > 0
        for resume, there in ((0.5, 2), (True, 3)):
            with open_series(path, planes, **words, resume=resume)[0] as writer:
                assert writer.steps == there
                put_step(writer, number, there, planes)
        steps = octavo.steps(path)
        assert [step["time"] for step in steps] == [0, 0.5, 1, 1.5], steps
        part = octavo.open(path, step=3).part(0)
        expected = 100.0 * np.arange(planes)[:, None] + np.arange(12) + 3000
        assert np.array_equal(np.ravel(part.fields["ELEVATION Z"]), expected.ravel())
        assert np.array_equal(np.ravel(part.fields["SPEED"]), -expected.ravel())
        assert np.array_equal(part.triangles, strip(everyone(), 12)[2])
    everyone().barrier()


def series_errors(store: str) -> None:
    """An error of the last rank is raised on all, when the file is opened and in a step, and the writer goes on."""
    comm = everyone()
    last = comm.rank == comm.size - 1

    def raises(kind: type[Exception], text: str, work) -> None:
        told(comm, kind, text, work)

    path = store + ".slf"
    for words, kind, text in (
        ({"precision": "half"}, octavo.UsageError, "there are single and double"),
        ({"mode": "auto"}, octavo.UsageError, "there are background, sync"),
        ({"alignment": "wide"}, octavo.UsageError, "alignment"),
        ({"date": (2026, 1)}, octavo.UsageError, "date"),
        ({"boundary": [1, 2]}, octavo.UsageError, "boundary"),
        ({"title": 5}, octavo.UsageError, "title"),
    ):
        raises(kind, text, lambda words=words: open_series(path, **words if last else {}))
    raises(octavo.UsageError, "the series", lambda: open_series(path, precision="double" if last else "single"))
    raises(octavo.Unreadable, "No such file", lambda: open_series(path, resume=True))
    writer, number = open_series(path)
    for name, array, text in (
        ("SPEED", np.ones(5), "expected shape (" + str(strip(comm, 12)[4].size)),
        ("SPEED", np.ones(len(number), complex), "complex"),
        ("SPEED", np.ones(len(number), int), "expected float64 or float32"),
        ("DEPTH", np.ones(len(number)), "DEPTH"),
    ):
        writer.begin_step(None, 0, 0.0)
        writer.put_field("ELEVATION Z", np.ones(len(number)))
        writer.put_field(*(name, array) if last else ("SPEED", np.ones(len(number))))
        raises(octavo.UsageError, text if last else "", writer.end_step)

    class Failing:
        def __array__(self, *_, **__):
            raise MemoryError("no room for it")

    writer.begin_step(None, 0, 0.0)
    writer.put_field("ELEVATION Z", np.ones(len(number)))
    writer.put_field("SPEED", Failing() if last else np.ones(len(number)))
    raises(octavo.UsageError, "no room for it", writer.end_step)
    writer.begin_step(None, 0, "x" if last else 0.0)
    for name in ("ELEVATION Z", "SPEED"):
        writer.put_field(name, np.ones(len(number)))
    raises(octavo.UsageError, "begin_step", writer.end_step)
    writer.begin_step(None, 0, 0.0)
    if last:
        try:
            writer.begin_step(None, 0, 0.0)
        except octavo.UsageError:
            pass  # end_step() tells the others
        else:
            raise AssertionError("begun twice")
    for name in ("ELEVATION Z", "SPEED"):
        writer.put_field(name, np.ones(len(number)))
    raises(octavo.UsageError, "the step before has not ended", writer.end_step)
    put_step(writer, number, 0)
    writer.close()
    assert [step["time"] for step in octavo.steps(path)] == [0]
    comm.barrier()
    raises(octavo.UsageError, "exists already", lambda: open_series(path))
    # One host, whose first rank writes; or one a rank, and each does.
    for words, writes in (({}, comm.rank == 0), ({"ranks_per_node": 1, "bound_thread": True}, True)):
        with open_series(f"{store}{len(words)}.slf", planes := 8, alignment=4, **words)[0] as writer:
            put_step(writer, number, 0, planes)
            writer.wait()
            assert (writer.statistics()["bytes_stored"] > 0) == writes
    raises(octavo.UsageError, "bound_thread", lambda: open_series(path, bound_thread="no" if last else True))


def counted(store: str, steps: str, options: str) -> None:
    """Checkpoints, one after another, beside `old` analysis steps in files of their own and `old_checkpoints`: for
    test_metadata.py. A file is written behind the sixth, when each slot has been used twice, and before the writer is
    closed; with `wait` each step is durable by then, in any mode."""
    comm = everyone()
    words = json.loads(options)
    waits = words.pop("wait", False)
    tree = octree(comm.rank, comm.size)
    with octavo.Writer(comm, store, header(), mode="sync", analysis={"append": False}) as writer:
        for step in range(words.pop("old", 0)):
            write_step(writer, tree, step, "analysis")
        first = words.pop("old_checkpoints", 0)
        for step in range(first):
            write_step(writer, tree, step)
    with octavo.Writer(comm, store, header(), **{"mode": "sync", **words}) as writer:
        settle = writer.wait if waits else lambda: None
        for step in range(int(steps)):
            if step == 6:
                settle()
                Path(f"{store}.{comm.rank}.mark").write_text("begin")
            write_step(writer, tree, first + step)
        settle()
        Path(f"{store}.{comm.rank}.mark").write_text("end")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
