"""Arrays in device memory, as CuPy, Numba, PyTorch and JAX hand them over: docs/devices.md.

Here such an array is a NumPy array whose address is the device's. Shapes and strides can be worked on; a read of its
values would crash. The compiled writer alone reads it, through the device's driver.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from octavo.errors import UsageError

_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's device types


class OnDevice(NamedTuple):
    """An array in device memory, and the CUDA stream whose work its values wait for (0: the default stream)."""

    values: np.ndarray
    stream: int


class _Memory:
    """Says to NumPy where memory is, and keeps its owner alive as long as the array."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner, self.__array_interface__ = owner, interface


def on_device(array: Any) -> OnDevice | None:
    """The array if it is in device memory; None for any other. Reads none of its values."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _from_interface(array, interface)
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__"):
        return None
    if int(array.__dlpack_device__()[0]) not in (_CUDA, _CUDA_MANAGED):
        return None
    from octavo.ranks import engine

    # Without a stream the exporter makes CUDA's default stream wait for the values.
    address, shape, strides, kind, keeper = engine().dlpack_layout(array.__dlpack__())
    itemsize = np.dtype(kind).itemsize
    return OnDevice(_array((array, keeper), address, shape, kind, tuple(s * itemsize for s in strides)), 0)


def _from_interface(array: Any, interface: dict[str, Any]) -> OnDevice:
    if interface.get("mask") is not None:
        raise UsageError("an array with a mask cannot be put")
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    values = _array(array, interface["data"][0], shape, interface["typestr"], strides and tuple(strides))
    return OnDevice(values, int(interface.get("stream") or 0))


def _array(owner: Any, address: int, shape: tuple[int, ...], kind: str, strides: Any) -> np.ndarray:
    if math.prod(shape) == 0:
        return np.empty(shape, kind)
    told = {"version": 3, "shape": shape, "typestr": np.dtype(kind).str, "data": (address, True), "strides": strides}
    return np.asarray(_Memory(owner, told))
