"""Damaged parts: named, and left out of a picture, which shows nothing where they would be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from octavo import _core
from octavo.errors import Damaged, UsageError

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


def search(data: Any, parts: list[int], image_of: Callable[[Any], Any]) -> dict[int, str]:
    """The damaged ones of some parts, each with a sentence that names it. Each is read as the picture needs it."""
    found = {}
    for part in parts:
        try:
            image_of(_core.only_parts(data, [part]))
        except Damaged as error:
            found[part] = f"domain {part + 1} is damaged: {str(error).replace(chr(10), '')}"
        except UsageError:
            pass  # no cell of it is in the picture
    return found


def without(data: Any, parts: dict[int, str]) -> Any:
    """The data set without some parts."""
    return _core.only_parts(data, [part for part in range(data.num_parts) if part not in parts])


def gaps(covered: Any) -> np.ndarray:
    """The pixels whose line of sight is not covered by cells all the way. `covered` is the map of the integral of 1 along it."""
    facts = covered.facts()
    deep = 1.0 if facts["flat"] else facts["depth"][1] - facts["depth"][0]
    return ~(covered.values > deep * (1 - 1e-6))
