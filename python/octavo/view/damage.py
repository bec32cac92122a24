"""Damaged parts: named, and left out of a picture, which shows nothing where they would be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from octavo.damage import read_past

T = TypeVar("T")

#: Fields and conditions of which damage is remembered.
REMEMBERED = 64


class Damage:
    """The damaged parts that were met so far in one data set, by what was read of it. It is forgotten with the data set, when
    its files change."""

    def __init__(self) -> None:
        self._met: OrderedDict[Hashable, dict[int, str]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._met)

    def of(self, key: Hashable) -> dict[int, str]:
        return self._met.get(key, {})

    def add(self, key: Hashable, parts: dict[int, str]) -> None:
        self._met[key] = self.of(key) | parts
        self._met.move_to_end(key)
        while len(self._met) > REMEMBERED:
            self._met.popitem(last=False)

    def read(self, key: Hashable, data: Any, job: Callable[[Any], T]) -> T:
        """`job` of the data set without damaged domains; those that it meets are remembered."""
        result, found = read_past(data, self.of(key), job)
        if found:
            self.add(key, found)
        return result


def gaps(covered: Any) -> np.ndarray:
    """The pixels whose line of sight is not covered by cells all the way. `covered` is the map of the integral of 1 along it."""
    facts = covered.facts()
    deep = 1.0 if facts["flat"] else facts["depth"][1] - facts["depth"][0]
    return ~(covered.values > deep * (1 - 1e-6))
