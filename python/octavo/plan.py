"""Plans: how much a reading will take, before it is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Upper limits of what reading a selection takes, from headers alone. Nothing is read for it."""

    #: The domains that are read, from 0, and the number of domains in all.
    parts: list[int]
    of: int
    #: Cells in these domains; None where headers do not tell.
    cells: int | None
    #: Read from files, without headers.
    bytes: int
    #: Bytes of the domains that are in memory at a time, and of the work on them. Arrays and images come on top.
    memory: int
    #: Region, level and condition as text ("" for everything).
    selection: str

    def __str__(self) -> str:
        from octavo.sizes import text_of

        cells = "" if self.cells is None else f"at most {self.cells} cells, "
        return (
            f"{len(self.parts)} of {self.of} domains, {cells}{text_of(self.bytes)} to read, "
            f"{text_of(self.memory)} of memory"
        )
