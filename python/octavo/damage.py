"""Reading on behind damage: damaged domains are named and left out, and results say that they are incomplete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from octavo import _core
from octavo.errors import Damaged, Unreadable, UsageError

T = TypeVar("T")

#: The command's exit code for a result that lacks damaged domains.
INCOMPLETE = 6


def without(data: Any, parts: Mapping[int, str]) -> Any:
    """The data set without some parts."""
    if not parts:
        return data
    return _core.only_parts(data, [part for part in range(data.num_parts) if part not in parts])


def read_past(
    data: Any, known: Mapping[int, str], job: Callable[[Any], T], ranks: Any = None
) -> tuple[T, dict[int, str]]:
    """`job` of a data set without its damaged parts, as it is of one that never had them: those of `known`, and others that
    it meets, each with a sentence that names it. A part that the job does not read is not looked at. Raises NothingLeft
    where that is nothing; else as the job does. Collective over `ranks`, of which each may read any part."""
    found: dict[int, str] = {}
    while True:
        lacking = {**known, **found}
        if len(lacking) == data.num_parts:
            raise NothingLeft("no domain is left", lacking, data.path)
        log = _core.DamageLog()
        result, failure = None, None
        try:
            result = job(_core.past_damage(without(data, lacking), log))
        except UsageError as error:  # of all ranks: it may be that what is asked for is in damaged parts alone
            failure = error
        met = _met(log, ranks)
        if not met and failure is None:
            return result, found  # type: ignore[return-value]
        if not met and failure is not None:
            raise NothingLeft(failure.message, found, data.path) if found else failure
        found.update(met)


def _met(log: Any, ranks: Any) -> dict[int, str]:
    """The damaged parts that any rank met. Collective."""
    from octavo.ranks import gathered

    parts: dict[int, str] = {}
    for some in gathered(ranks, lambda: dict(log.parts)):
        parts.update(some)
    return {part: _sentence(part, parts[part]) for part in sorted(parts)}


def _sentence(part: int, text: str) -> str:
    return f"domain {part + 1} is damaged: {text.replace(chr(10), '')}"


class NothingLeft(Damaged):
    """There is no result without the damaged domains."""

    def __init__(self, why: str, parts: Mapping[int, str], path: str) -> None:
        super().__init__(
            f"{why}, without damaged domains: {next(iter(parts.values()))}", [path],
            f"octavo verify {path} lists all damage",
        )  # fmt: skip
        self.parts = dict(parts)


class Reading:
    """A data set that is read past its damaged domains, if that is asked for. It remembers those that it met."""

    def __init__(self, data: Any, ranks: Any = None, *, skip: bool = True) -> None:
        self._data = data
        self._ranks = ranks
        self._skip = skip and not data.unstructured
        self._asked = skip
        #: Sentences by part, from 0.
        self.met: dict[int, str] = {}

    def do(self, job: Callable[[Any], T]) -> T:
        """`job` of the data set. Collective as read_past() is."""
        if not self._skip:
            return job(self._data)
        result, found = read_past(self._data, self.met, job, self._ranks)
        self.met.update(found)
        return result

    def read(self, job: Callable[[Any, int], T], part: int) -> T | None:
        """`job` of the data set and a part of it; None where that is damaged."""
        if not self._skip:
            return job(self._data, part)
        if part in self.met:
            return None
        try:
            return job(self._data, part)
        except (Damaged, Unreadable) as error:
            self.met[part] = _sentence(part, str(error))
            return None

    def facts(self, region: str | None = None, max_level: int | None = None) -> dict[str, Any]:
        """What a result says of damaged domains that its selection needs: `incomplete`, None where it lacks none. Nothing
        if nobody asked."""
        if not self._asked:
            return {}
        needed = set(self._data.parts_of(region, max_level)) if self.met and region is not None else set(self.met)
        lacking = sorted(needed & set(self.met))
        if not lacking:
            return {"incomplete": None}
        return {
            "incomplete": {
                "domains": [part + 1 for part in lacking],
                "of": self._data.num_parts,
                "damage": [self.met[part] for part in lacking],
            }
        }

    def exit_code(self) -> int:
        return INCOMPLETE if self.met else 0


def replacing(job: Callable[[Any, bool], T], overwrite: bool) -> Callable[[Any], T]:
    """`job`, which writes a file, for do(): asked again, it overwrites what it wrote before."""
    asked: list[Any] = []

    def again(data: Any) -> T:
        asked.append(data)
        return job(data, overwrite or len(asked) > 1)

    return again


def said(facts: Mapping[str, Any]) -> str:
    """What a picture or a line says of a result that lacks domains; empty if it lacks none."""
    lacking = facts.get("incomplete")
    return f"incomplete: {len(lacking['domains'])} of {lacking['of']} domains left out" if lacking else ""
