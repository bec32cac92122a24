"""Run verbs over many outputs as a recipe lists them, one process each. A job whose output is there, made by the same words
from inputs that did not change, is not done again; one that fails does not stop the others."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tomllib
from typing import Any

from octavo.cli import options
from octavo.damage import INCOMPLETE
from octavo.errors import Error, UsageError

EXAMPLES = [
    "octavo batch recipe.toml --dry-run",
    "octavo batch recipe.toml",
    "",
    "recipe.toml:",
    '  inputs = ["output_*"]            # beside the recipe; quoted patterns and names',
    '  folder = "pictures"              # of the outputs',
    '  launch = "mpirun -n 8"           # before each command (default: nothing)',
    "  [[job]]",
    '  verb = "map"',
    '  output = "{name}_density.png"    # {name} is the last part of the input\'s path',
    '  options = { field = "density", axis = "x", log = true }',
]

#: How a verb is told where its result goes: an option, a second path, or its standard output.
_BY_OPTION = {"map", "slice", "hist", "phase", "profile", "line", "clumps", "contour", "spectrum"}
_BY_PATH = {"convert", "repack", "export"}
_BY_STDOUT = {"info", "ls", "verify", "stats", "probe"}
_SKIPS_DAMAGED = _BY_OPTION | {"export", "stats"}
_SKIP = "--skip-damaged"
_KEYS = {"inputs", "folder", "launch", "job"}
_JOB_KEYS = {"verb", "output", "options"}
#: In the folder of the outputs: how each was made.
RECORD = ".octavo-batch.json"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", help="a TOML file")
    parser.add_argument("--dry-run", action="store_true", help="list the commands that would run, and run none")
    options.add_force(parser, "do all jobs again")
    parser.add_argument(
        "--skip-damaged",
        action="store_true",
        help="add this option to the jobs of verbs that have it: their outputs may be incomplete (exit code 6)",
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.snapshots import state_of

    options.refuse_ranks("batch")
    recipe = read(arguments.recipe)
    jobs = jobs_of(recipe, arguments.recipe)
    if arguments.skip_damaged:
        _skip_damaged(jobs)
    folder = _beside(arguments.recipe, recipe.get("folder", "."))
    record = _record_of(folder)
    rows = []
    with console.Progress("batch", arguments.quiet or arguments.dry_run, unit="jobs") as progress:
        for number, job in enumerate(jobs):
            made = {"words": job["words"], "input": state_of(job["input"])}
            known = dict(record.get(job["output"], {}))
            lacks = known.pop("incomplete", "")
            if not arguments.force and os.path.exists(job["output"]) and known == made:
                rows.append({**job, "state": "incomplete" if lacks else "there", "error": lacks})
            elif arguments.dry_run:
                rows.append({**job, "state": "to do"})
            else:
                os.makedirs(os.path.dirname(job["output"]) or ".", exist_ok=True)
                state, said = _done(job, shlex.split(recipe.get("launch", "")))
                rows.append({**job, "state": state, "error": said})
                if state != "failed":
                    record[job["output"]] = made | ({"incomplete": said} if said else {})
                    _keep(record, folder)
            progress(number + 1, len(jobs))
    _print(arguments, rows)
    states = {row["state"] for row in rows}
    return 1 if "failed" in states else INCOMPLETE if "incomplete" in states else 0


def _skip_damaged(jobs: list[dict[str, Any]]) -> None:
    for job in jobs:
        if job["words"][0] in _SKIPS_DAMAGED and _SKIP not in job["words"]:
            job["words"].append(_SKIP)


def read(path: str) -> dict[str, Any]:
    """Reads a recipe and refuses keys and kinds of values that are none of one."""
    try:
        with open(path, "rb") as file:
            recipe = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"this is no TOML: {error}", [path], "octavo help batch shows a recipe") from None
    _known(recipe, _KEYS, path)
    inputs, jobs = recipe.get("inputs"), recipe.get("job")
    if not isinstance(inputs, list) or not inputs or not all(isinstance(name, str) for name in inputs):
        raise UsageError("expected inputs, a list of paths", [path], 'inputs = ["output_*"]')
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise UsageError("expected at least one [[job]]", [path], "octavo help batch shows a recipe")
    for key in ("folder", "launch"):
        if not isinstance(recipe.get(key, ""), str):
            raise UsageError(f"expected a text for {key}, found {recipe[key]!r}", [path], "")
    for number, job in enumerate(jobs, 1):
        _check_job(job, [f"job {number}", path])
    return recipe


def _check_job(job: dict[str, Any], places: list[str]) -> None:
    _known(job, _JOB_KEYS, *places)
    verbs = sorted(_BY_OPTION | _BY_PATH | _BY_STDOUT)
    if job.get("verb") not in verbs:
        raise UsageError(f"expected a verb that reads one input, found {job.get('verb')!r}", places, ", ".join(verbs))
    if not isinstance(job.get("output"), str) or "{name}" not in job["output"]:
        raise UsageError("expected an output with {name} in it", places, 'output = "{name}_density.png"')
    if not isinstance(job.get("options", {}), dict):
        raise UsageError("expected a table of options", places, 'options = { field = "density" }')
    if "output" in job.get("options", {}) or "force" in job.get("options", {}):
        raise UsageError(
            "output and force are no options here", places, "output is a key of the job; -f does all again"
        )


def _known(table: dict[str, Any], keys: set[str], *places: str) -> None:
    for key in table:
        if key not in keys:
            raise UsageError(f"no key '{key}'", list(places), "there are " + ", ".join(sorted(keys)))


def jobs_of(recipe: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """Each input with each job: input, output, and the words of the command."""
    from octavo.snapshots import paths_of

    folder = _beside(path, recipe.get("folder", "."))
    jobs, taken = [], {}
    for name in paths_of([_beside(path, pattern) for pattern in recipe["inputs"]]):
        last = os.path.basename(os.path.normpath(name)).removesuffix(".octavo")
        for job in recipe["job"]:
            output = os.path.join(folder, job["output"].replace("{name}", last))
            if output in taken:
                raise UsageError(
                    "two jobs have the same output", [output, path], "another name, or {name} of another input"
                )
            taken[output] = name
            jobs.append({"input": name, "output": output, "words": _words(job, name, output)})
    return jobs


def _words(job: dict[str, Any], name: str, output: str) -> list[str]:
    words = [job["verb"], name]
    if job["verb"] in _BY_PATH:
        words.append(output)
    for key, value in job.get("options", {}).items():
        option = "--" + key.replace("_", "-")
        for item in value if isinstance(value, list) else [value]:
            if item is True:
                words.append(option)
            elif item is not False:
                words.append(f"{option}={item}")
    if job["verb"] in _BY_OPTION:
        words += ["-o", output]
    return words


def _done(job: dict[str, Any], launch: list[str]) -> tuple[str, str]:
    """Runs the command. Returns "failed", "incomplete" or "made", and its messages of the first two. The output appears
    when it is whole."""
    from octavo import _core

    forced = ["-f"] if job["words"][0] not in _BY_STDOUT else []
    if not forced:
        try:
            _core.require_replaceable(job["output"])
        except UsageError as error:
            return "failed", str(error)
    command = [*launch, sys.executable, "-c", "from octavo.cli import main; raise SystemExit(main())"]
    try:
        done = subprocess.run([*command, *job["words"], *forced, "-q"], capture_output=True)
    except OSError as error:
        raise Error(
            f"the command does not start: {error}", [" ".join(launch)], "look at launch in the recipe"
        ) from None
    said = (done.stderr or done.stdout).decode(errors="replace").strip()
    if done.returncode not in (0, INCOMPLETE):
        return "failed", said.removeprefix("error: ") or f"exit code {done.returncode}"
    if not forced:
        _replace(job["output"], done.stdout)
    return ("incomplete", said) if done.returncode == INCOMPLETE else ("made", "")


def _replace(path: str, data: bytes) -> None:
    with open(path + ".partial", "wb") as file:
        file.write(data)
    os.replace(path + ".partial", path)


def _beside(recipe: str, path: str) -> str:
    """A path as the recipe means it: from the folder in which the recipe lies."""
    return os.path.normpath(os.path.join(os.path.dirname(recipe), path))


def _record_of(folder: str) -> dict[str, Any]:
    """How each output was made; empty where that is not known, so that it is made again."""
    try:
        with open(os.path.join(folder, RECORD), encoding="utf-8") as file:
            record = json.load(file)
    except (FileNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _keep(record: dict[str, Any], folder: str) -> None:
    _replace(os.path.join(folder, RECORD), json.dumps(record, indent=1).encode())


def _print(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    from octavo.cli import console

    if arguments.json:
        console.print_json({"jobs": rows})
        return
    console.table(
        "",
        ["output", "state", "command"],
        ([r["output"], r["state"], "octavo " + shlex.join(r["words"])] for r in rows),
    )
    for row in rows:
        if row.get("error"):
            console.say(False, f"{row['output']}: {row['error']}")
