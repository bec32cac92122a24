"""The metadata with which a site's DOI is registered: JSON of DataCite's metadata schema 4.5."""

from __future__ import annotations

import datetime
import json
from typing import Any

from octavo.errors import UsageError

#: The schema's word for a fact that nobody knows yet.
UNKNOWN = "(:tba)"
_REQUIRED = ("creators", "publisher")
_KNOWN = {
    "doi", "prefix", "suffix", "url", "types", "creators", "titles", "publisher", "publicationYear", "subjects", "contributors", "dates",
    "language", "alternateIdentifiers", "relatedIdentifiers", "relatedItems", "version", "rightsList", "descriptions", "geoLocations",
    "fundingReferences", "container",
}  # fmt: skip


def read(path: str) -> dict[str, Any]:
    """The words of the schema in a file of JSON. Raises UsageError for what is none, or not of the schema."""
    try:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"no JSON can be read: {error}", [path], "an object with the words of DataCite's schema"
        ) from None
    if not isinstance(given, dict):
        raise UsageError("expected an object of JSON", [path], '{"creators": [{"name": "Doe, Jane"}], ...}')
    if unknown := sorted(set(given) - _KNOWN):
        raise UsageError(
            f"'{unknown[0]}' is no word of DataCite's schema", [path], "there are " + ", ".join(sorted(_KNOWN))
        )
    for name in ("creators", "titles", "rightsList", "descriptions"):
        rows = given.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise UsageError(f"{name}: expected a list of objects", [path], '"creators": [{"name": "Doe, Jane"}]')
    return given


def record(title: str | None, given: dict[str, Any], description: str) -> tuple[dict[str, Any], list[str]]:
    """The registration's JSON, in which `given` counts more than what is known here, and the required words that nobody gave."""
    missing = [name for name in _REQUIRED if not given.get(name)]
    made = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Pictures of simulation data"},
        "creators": [{"name": UNKNOWN}],
        "titles": [{"title": title or UNKNOWN}],
        "publisher": {"name": UNKNOWN},
        "publicationYear": str(datetime.date.today().year),
        "descriptions": [{"description": description, "descriptionType": "TechnicalInfo"}],
        "formats": ["text/html", "application/json", "application/gzip"],
    } | given
    if title is not None:
        made["titles"] = [{"title": title}]
    elif "titles" not in given:
        missing.append("titles")
    return made, missing


def sized(made: dict[str, Any], files: int, size: int) -> dict[str, Any]:
    return made | {"sizes": [f"{files} files", f"{size} bytes"]}


def about(made: dict[str, Any]) -> list[list[str]]:
    """The metadata that the page shows: pairs of a name and a text."""
    rows = [["Creators", "; ".join(str(row.get("name", "")) for row in made["creators"])]]
    publisher = made["publisher"]
    rows.append(["Publisher", str(publisher.get("name", "") if isinstance(publisher, dict) else publisher)])
    rows.append(["Year", str(made["publicationYear"])])
    if made.get("doi"):
        rows.append(["DOI", str(made["doi"])])
    rows += [["Licence", str(row.get("rights", row.get("rightsIdentifier", "")))] for row in made.get("rightsList", [])]
    rows += [["Description", str(row.get("description", ""))] for row in made["descriptions"]]
    return [row for row in rows if row[1] not in ("", UNKNOWN)]
