"""Programs that test_device.py runs under mpirun, on the stand-in for CUDA's driver (OCTAVO_CUDA_DRIVER):

mpirun -n 2 python -m mpi4py device_cases.py CASE STORE
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from engine_cases import everyone, header, octree, told

import octavo

standin = ctypes.CDLL(os.environ["OCTAVO_CUDA_DRIVER"])
for function in (standin.standin_poke, standin.standin_kernel, standin.cuMemAlloc_v2):
    function.argtypes = None


class OnDevice:
    """A copy of a NumPy array in device memory, with its strides. Its values come late: by a kernel on a stream."""

    def __init__(self, values: np.ndarray, stream: int = 0) -> None:
        first, last = np.lib.array_utils.byte_bounds(values)
        pointer = ctypes.c_ulonglong()
        assert standin.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(last - first)) == 0
        self.memory, self.bytes, self.stream = pointer.value, last - first, stream
        self.address = pointer.value + values.ctypes.data - first
        self.shape, self.strides, self.dtype = values.shape, values.strides, values.dtype
        arguments = [ctypes.c_void_p(self.memory), ctypes.c_void_p(first), ctypes.c_size_t(last - first)]
        assert standin.standin_kernel(ctypes.c_void_p(stream), *arguments) == 0

    def spoil(self) -> None:
        """What a program may do as soon as the step is taken."""
        other = np.full(self.bytes, 0x5A, np.uint8)
        arguments = [ctypes.c_void_p(pointer) for pointer in (self.memory, other.ctypes.data)]
        assert standin.standin_poke(*arguments, ctypes.c_size_t(self.bytes)) == 0


class Interface(OnDevice):
    """As CuPy, Numba and PyTorch hand arrays over."""

    @property
    def __cuda_array_interface__(self) -> dict:
        told = {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3}
        return {**told, "strides": self.strides, "stream": self.stream or 1}


class Capsule(OnDevice):
    """As DLPack hands arrays over: JAX, and most others."""

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
            ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ]  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int | None = None) -> object:
        assert stream in (None, 1), "the default stream"
        self.kept = (
            (ctypes.c_int64 * len(self.shape))(*self.shape),
            (ctypes.c_int64 * len(self.shape))(*(s // self.dtype.itemsize for s in self.strides)),
        )
        code = {"i": 0, "u": 1, "f": 2, "b": 6}[self.dtype.kind]
        bits = 8 * self.dtype.itemsize
        self.tensor = self.Tensor(self.address, 2, 0, len(self.shape), code, bits, 1, *self.kept, 0, None, None)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def arrays_of(cells: int, rank: int) -> dict[str, np.ndarray]:
    values = np.random.default_rng(rank).random((cells, 3, 4, 2, 2))
    ghosts = np.pad(values, [(0, 0), (2, 2), (2, 2), (2, 2), (0, 0)], constant_values=np.nan)
    return {
        "packed": values,
        "ghosts": ghosts[:, 2:-2, 2:-2, 2:-2],
        "components_first": np.moveaxis(np.ascontiguousarray(np.moveaxis(values, -1, 0)), 0, -1),
        "backwards": np.ascontiguousarray(values[::-1, :, ::-1])[::-1, :, ::-1],
        "single": values[..., 0].astype("float32"),
        "number": (values[..., 0] * 1000).astype("int32"),
        "mask": values[..., 0] > 0.5,
    }


def write(store: str) -> None:
    """Arrays in device memory give the store of arrays of the host, and may change as soon as end_step returns."""
    comm, block = everyone(), (2, 4, 3)
    tree = octree(comm.rank, comm.size, block)
    stream = ctypes.c_void_p()
    standin.cuStreamCreate(ctypes.byref(stream), 0)
    standin.standin_delay(5000)
    mass = np.arange(5.0) + comm.rank
    order = np.random.default_rng(1).permutation(tree.cells)
    host = arrays_of(tree.cells, comm.rank)
    for mode in ("sync", "background"):
        for kind in (Interface, Capsule):
            path = f"{store}.{mode}.{kind.__name__}"
            given = {name: kind(array, stream.value) for name, array in host.items()}
            shuffled = np.empty_like(host["packed"])
            shuffled[order] = host["packed"]
            given_shuffled, given_mass = kind(shuffled, stream.value), kind(mass, stream.value)
            with octavo.Writer(comm, path, header(block=block), mode=mode) as writer:
                writer.begin_step("checkpoint", 1, 0.0)
                writer.put_mesh(tree)
                for name, array in given.items():
                    writer.put_field(name, array)
                writer.put_field("shuffled", given_shuffled, order=order)
                writer.put_field("on_host", host["packed"])
                places = {f"position_{axis}": kind(mass * 0 + 0.5) for axis in "xyz"}
                writer.put_particles("stars", {**places, "mass": given_mass})
                writer.end_step()
                for array in (*given.values(), given_shuffled, given_mass):
                    array.spoil()
            read = octavo.restart(comm, path, particles=True)
            for name, array in {**host, "shuffled": host["packed"], "on_host": host["packed"]}.items():
                assert np.array_equal(read.fields[name], array), (path, name)
            every = np.concatenate(comm.allgather(read.particles["stars"]["mass"]))
            assert sorted(every) == sorted(np.concatenate(comm.allgather(mass)))


def errors(store: str) -> None:
    """All ranks are told, by name; the writer goes on."""
    comm = everyone()
    tree = octree(comm.rank, comm.size)
    values = np.arange(float(tree.cells))
    with octavo.Writer(comm, store, header()) as writer:

        def step(number: int, array: object) -> None:
            writer.begin_step("checkpoint", number, 0.0)
            writer.put_mesh(tree)
            writer.put_field("density", array if comm.rank == 0 else values)
            writer.end_step()

        class Liar(OnDevice):
            @property
            def __array_interface__(self) -> dict:
                return {"shape": self.shape, "typestr": "<f8", "data": (self.address, True), "version": 3}

        told(comm, octavo.UsageError, "lies in device memory", lambda: step(1, Liar(values)))
        lie = Interface(values)
        lie.address = values.ctypes.data
        told(comm, octavo.UsageError, "lies in host memory", lambda: step(2, lie))
        told(comm, octavo.UsageError, "native, aligned", lambda: step(3, Interface(values.astype(">f8"))))
        step(4, Interface(values))
        writer.wait()
        assert writer.newest_durable().step == 4


def no_driver(store: str) -> None:
    """OCTAVO_CUDA_DRIVER was another library when octavo was loaded; now it names none."""
    comm = everyone()
    given = Interface(np.ones(12))
    os.environ["OCTAVO_CUDA_DRIVER"] = "/nowhere/libcuda.so.1"
    with octavo.Writer(comm, store, header()) as writer:
        writer.begin_step("checkpoint", 1, 0.0)
        writer.put_field("density", given)
        told(comm, octavo.Unsupported, "need CUDA's driver: /nowhere/libcuda.so.1", writer.end_step)


class OnStream(Interface, np.lib.mixins.NDArrayOperatorsMixin):
    """An array on whose values NumPy works, as a device does: each result comes late, by a kernel on the stream."""

    def host(self) -> np.ndarray:
        assert standin.cuStreamSynchronize(ctypes.c_void_p(self.stream)) == 0
        values = np.empty(self.shape, self.dtype)
        arguments = [ctypes.c_void_p(pointer) for pointer in (values.ctypes.data, self.memory)]
        assert standin.standin_peek(*arguments, ctypes.c_size_t(self.bytes)) == 0
        return values

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object) -> OnStream:
        values = [one.host() if isinstance(one, OnStream) else one for one in inputs]
        return OnStream(np.ascontiguousarray(getattr(ufunc, method)(*values)), self.stream)

    def __setitem__(self, where: object, other: OnStream) -> None:
        assert where is ...
        values = other.host()
        arguments = [ctypes.c_void_p(pointer) for pointer in (self.stream, self.memory, values.ctypes.data)]
        assert standin.standin_kernel(*arguments, ctypes.c_size_t(self.bytes)) == 0


class Arrays:
    """The functions of an array library that the examples call."""

    maximum, sqrt = np.maximum, np.sqrt

    def __init__(self) -> None:
        stream = ctypes.c_void_p()
        assert standin.cuStreamCreate(ctypes.byref(stream), 1) == 0
        self.stream = stream.value

    def asarray(self, values: np.ndarray) -> OnStream:
        return OnStream(np.ascontiguousarray(values), self.stream)

    def roll(self, array: OnStream, by: int, axis: int) -> OnStream:
        return self.asarray(np.roll(array.host(), by, axis))


def example(name: str) -> ModuleType:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
    return importlib.import_module(name)


def wave(store: str) -> None:
    """The example on the CPU and on the device, restarted half way: the same values to the bit."""
    comm, main = everyone(), example("sine_wave").main
    standin.standin_delay(3000)
    errors = [main(f"{store}.cpu", 40, np)]
    for last in (20, 40):
        errors.append(main(f"{store}.device", last, Arrays()))
    assert errors[0] == errors[2] < 0.2 and errors[1] < 0.1, errors
    cpu, device = (octavo.restart(comm, f"{store}.{where}") for where in ("cpu", "device"))
    assert (cpu.step, device.step) == (40, 40)
    assert np.array_equal(cpu.fields["intensity"], device.fields["intensity"])


def sod(store: str) -> None:
    """The same on patches. Between contact and shock the density is 0.266, and all mass stays."""
    comm, main = everyone(), example("sod").main
    standin.standin_delay(500)
    cpu = main(f"{store}.cpu", 40, np)
    for last in (20, 40):
        device = main(f"{store}.device", last, Arrays())
    assert (cpu.step, device.step) == (40, 40) and np.array_equal(cpu.mesh.boxes[0], device.mesh.boxes[0])
    for name, boxes in cpu.fields.items():
        for a, b in zip(boxes, device.fields[name], strict=True):
            assert np.array_equal(a, b), name
    mass = comm.allreduce(sum(float(box.mean()) * len(box) for box in cpu.fields["density"]))
    assert abs(mass / 16 - (1 + 0.125) / 2) < 1e-12
    for box in cpu.fields["density"]:
        # x - 0.75: the contact is at 0.927 t, the shock at 1.752 t, t = 0.125
        assert np.abs(box[:, int(128 * (0.75 + 1.4 * 0.125))] - 0.2656).max() < 0.02, box[0]


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
