"""TELEMAC's ranks write one file a result, by adapters/telemac: `make try-telemac-adapter TELEMAC=TREE`.

A TREE holds TELEMAC's sources, its examples and what its own compile_telemac.py left in builds/CONFIGURATION, with static libraries;
SYSTELCFG names the configuration's file, as for TELEMAC. Programs are linked from these twice, as they are and with the adapter; the tree stays as it is. Each example runs on 1 to 4 ranks.
The adapter's files are compared with those that gretel merges of the pieces of the program without it. Then TELEMAC continues
from both. SETUPS="gouttedo canal" takes only these examples. MEASURE=1 compares times, bytes, files and memory.
"""

from __future__ import annotations

import configparser
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import judge
from ramses_adapter import library

THROTTLED = 2  # MB/s of each rank
ADAPTER = judge.ROOT / "adapters/telemac"
METHODS = {2: "metis", 3: "hilbert", 4: "metis"}  # ranks: how the mesh is cut


@dataclass
class Setup:
    """An example of TELEMAC, made short. Files have TELEMAC's names in the folder of a run."""

    name: str
    example: str
    steering: str
    inputs: dict[str, str]  # T2DGEO: a file of the example
    results: list[str]
    restart: str  # the result from which a run continues
    changes: list[tuple[str, str]]  # of lines of the steering file
    continued: list[tuple[str, str]] = field(default_factory=list)  # in a run that continues
    cut: list[str] = field(default_factory=list)  # inputs that are cut with the mesh
    goes_on: tuple[int, ...] = (1, 3)  # numbers of ranks that continue
    form: str = "SERAFIN"  # of results
    geometry: str = "SERAFIN"  # its format; partel cuts one in MED

    @property
    def code(self) -> str:
        return self.example.partition("/")[0]

    @property
    def prefix(self) -> str:
        return "T2D" if self.code == "telemac2d" else "T3D"


PREVIOUS = "COMPUTATION CONTINUED = YES\nPREVIOUS COMPUTATION FILE = previous.slf"
SETUPS = [
    Setup(
        "gouttedo",
        "telemac2d/gouttedo",
        "t2d_gouttedo.cas",
        {"T2DGEO": "geo_gouttedo.slf", "T2DCLI": "geo_gouttedo.cli"},
        ["T2DRES"],
        "T2DRES",
        [(r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 20")],
        [(r"INITIAL CONDITIONS : .*", PREVIOUS)],
    ),
    Setup(
        "malpasset",
        "telemac2d/malpasset",
        "t2d_malpasset-char.cas",
        {"T2DGEO": "geo_malpasset-small.slf", "T2DCLI": "geo_malpasset-small.cli"},
        ["T2DRES"],
        "T2DRES",
        [
            (r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 20"),
            (r"GRAPHIC PRINTOUT PERIOD = \d+", "GRAPHIC PRINTOUT PERIOD = 10"),
        ],
        [(r"INITIAL CONDITIONS = .*", PREVIOUS)],
    ),
    Setup(
        "canal",  # three results of one run, 2-D and 3-D, single and double precision
        "telemac3d/canal",
        "t3d_canal-hydro_restart.cas",
        {
            "T3DGEO": "geo_canal.slf",
            "T3DCLI": "geo_canal.cli",
            "T3DIMP": "t3d_canal.qsl",
            "T3DS2D": "f2d_canal.slf",
        },
        ["T3DRES", "T3DHYD", "T3DRST"],
        "T3DRST",
        [
            (r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 10"),
            (r"GRAPHIC PRINTOUT PERIOD = \d+", "GRAPHIC PRINTOUT PERIOD = 5"),
        ],
        [
            (r"FILE FOR 2D CONTINUATION.*", ""),
            (r"2D CONTINUATION = YES", f"{PREVIOUS}\nPREVIOUS COMPUTATION FILE FORMAT = 'SERAFIND'"),
        ],
        ["S2D"],
    ),
    Setup(
        "stratification",  # the run moves the points of its mesh
        "telemac3d/stratification",
        "t3d_stratification.cas",
        {"T3DGEO": "geo_stratification.slf", "T3DCLI": "geo_stratification.cli"},
        ["T3DRES", "T3DHYD"],
        "T3DRES",
        [
            (r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 4"),
            (r"GRAPHIC PRINTOUT PERIOD = \d+", "GRAPHIC PRINTOUT PERIOD = 2"),
        ],
        [(r"INITIAL CONDITIONS : .*", PREVIOUS)],
        goes_on=(1,),  # octavo partition refuses a result whose points lie elsewhere than those of the mesh
    ),
    Setup(
        "gouttedo-med",
        "telemac2d/gouttedo",
        "t2d_gouttedo.cas",
        {"T2DGEO": "geo_gouttedo.slf", "T2DCLI": "geo_gouttedo.cli"},
        ["T2DRES"],
        "T2DRES",
        [
            (r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 20"),
            (r"RESULTS FILE +: .*", "RESULTS FILE : r2d.med\nRESULTS FILE FORMAT : MED"),
        ],
        goes_on=(),  # TELEMAC looks for the boundary in MED, too
        form="MED",
    ),
    Setup(
        "gouttedo-geometry-med",
        "telemac2d/gouttedo",
        "t2d_gouttedo_med.cas",
        {"T2DGEO": "geo_gouttedo.med", "T2DCLI": "geo_gouttedo.bnd"},
        ["T2DRES"],
        "T2DRES",
        [(r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 20")],
        [(r"INITIAL CONDITIONS : .*", f"{PREVIOUS}\nPREVIOUS COMPUTATION FILE FORMAT = MED")],
        goes_on=(1,),
        form="MED",
        geometry="MED",
    ),
    Setup(
        "gouttedo-3d-med",
        "telemac3d/gouttedo",
        "t3d_gouttedo_med.cas",
        {"T3DGEO": "geo_gouttedo.med", "T3DCLI": "geo_gouttedo.bnd"},
        ["T3DRES", "T3DHYD"],
        "T3DRES",
        [
            (r"NUMBER OF TIME STEPS = \d+", "NUMBER OF TIME STEPS = 10"),
            (r"GRAPHIC PRINTOUT PERIOD : \d+", "GRAPHIC PRINTOUT PERIOD : 5"),
        ],
        [(r"INITIAL CONDITIONS : .*", f"{PREVIOUS}\nPREVIOUS COMPUTATION FILE FORMAT = MED")],
        goes_on=(1,),
        form="MED",
        geometry="MED",
    ),
]


# ------------------------------------------------------------------------------------------------------------- programs


@dataclass
class Tree:
    """TELEMAC's sources and one configuration that was built of them."""

    root: Path
    build: Path
    words: str  # of the linker, for the adapter

    def command(self, file: Path) -> str:
        """A command that compile_telemac.py left, with the values of the configuration in place of their [keys]."""
        values = configparser.ConfigParser(interpolation=None)
        values.read(os.environ.get("SYSTELCFG", self.root / "configs/systel.cfg"))
        given = {"root": str(self.root)}
        for section in ("general", self.build.name):
            if values.has_section(section):
                given |= {key: value.replace("\n", " ") for key, value in values.items(section)}
        return re.sub(r"\[(\w+)\]", lambda found: given.get(found[1], found[0]), file.read_text().strip())

    def compile(self, code: str, sources: Path, folder: Path) -> list[Path]:
        """Compiles a user's Fortran, as TELEMAC's launcher does."""
        command = self.command(next((self.build / "obj").rglob(f"{code}.cmdo")))
        folder.mkdir(parents=True, exist_ok=True)
        objects = []
        for source in sorted(sources.glob("*.[fF]*")) if sources.is_dir() else []:
            judge.run(["sh", "-c", command.replace("<f95name>", str(source))], folder, f"{source.stem}.log")
            objects.append(folder / f"{source.stem}.o")
        return objects

    def link(self, code: str, objects: list[Path], out: Path, adapted: bool) -> Path:
        before, _, behind = self.words.partition("<libs>") if adapted else ("", "", "")
        given = " ".join(map(str, [*objects, before]))
        command = self.command(self.build / f"lib/{code}.cmdx") + behind
        command = command.replace("<objs>", given).replace("<exename>", str(out))
        judge.run(["sh", "-c", command], out.parent, f"{out.name}.log")
        return out


def words_of(tree: Path, folder: Path) -> str:
    """Returns what the adapter's Makefile tells the linker."""
    command = ["make", "-s", "-C", ADAPTER, f"TELEMAC={tree}", f"OUT={folder}", "--no-print-directory"]
    return judge.run(command, folder, "words.log").strip().splitlines()[-1]


@dataclass
class Programs:
    plain: Path
    adapted: Path
    gretel: Path
    adapted_gretel: Path
    partel: Path  # with the adapter


def programs_of(tree: Tree, setup: Setup, folder: Path) -> Programs:
    objects = tree.compile(setup.code, tree.root / "examples" / setup.example / "user_fortran", folder / "user")
    return Programs(
        *(tree.link(setup.code, objects, folder / name, name == "adapted") for name in ("plain", "adapted")),
        *(tree.link("gretel", [], folder / name, name != "gretel") for name in ("gretel", "adapted-gretel")),
        tree.link("partel", [], folder / "partel", True),
    )


# ----------------------------------------------------------------------------------------------------------------- runs


@dataclass
class Run:
    trial: judge.Trial
    tree: Tree
    setup: Setup
    folder: Path
    programs: Programs

    def name(self, words: str) -> str:
        return f"telemac-adapter {self.setup.name}, {words}"

    def check(self, words: str, good: bool, figure: str) -> None:
        self.trial.check(self.name(words), good, figure)

    def prepare(self, folder: Path, ranks: int, previous: Path | None = None, layout: str = "files") -> Path:
        """Makes the folder of a run, with the mesh cut by Octavo, or by partel if it is in MED."""
        setup, prefix = self.setup, self.setup.prefix
        folder.mkdir(parents=True)
        example = self.tree.root / "examples" / setup.example
        for name, file in setup.inputs.items():
            shutil.copy(example / file, folder / name)
        if previous:
            shutil.copy(previous, folder / f"{prefix}PRE")
        shutil.copy(self.tree.root / f"sources/{setup.code}/{setup.code}.dico", folder / f"{prefix}DICO")
        text = (example / setup.steering).read_text(errors="replace")
        for old, new in setup.changes + (setup.continued if previous else []):
            text, count = re.subn(old, new, text)
            if not count:
                raise judge.Stopped(f"{setup.steering} has no line {old}")
        if layout == "concat":
            text += "\nCONCATENATE PARTEL OUTPUT = YES\n"
        (folder / f"{prefix}CAS").write_text(text)
        if ranks > 1 and setup.geometry == "MED":
            self.cut_by_partel(folder, ranks)
        elif ranks > 1:
            names = [
                name for name in [*setup.cut, *(["PRE"] if previous else [])] if (folder / (prefix + name)).exists()
            ]
            also = [word for name in names for word in ("--also", f"{name}={prefix}{name}")]
            words = ["partition", f"{prefix}GEO", "-o", prefix, "--boundary", f"{prefix}CLI", "--parts", ranks]
            judge.octavo(folder, *words, "--method", METHODS[ranks], "--layout", layout, *also)
        return folder

    def cut_by_partel(self, folder: Path, ranks: int) -> None:
        """Cuts the mesh as TELEMAC's launcher does before a run."""
        geo, form = f"{self.setup.prefix}GEO", self.setup.geometry
        answers = [geo, form, f"{self.setup.prefix}CLI", str(ranks), "1", "", "", "", geo, form, "NO"]
        (folder / "partel.par").write_text("\n".join(answers) + "\n")
        command = ["sh", "-c", '"$@" < partel.par', "sh", "env", "OCTAVO_TELEMAC=all", self.programs.partel]
        judge.run(command, folder, "partel.log")

    def start(self, program: Path, folder: Path, ranks: int, chosen: str = "", **options: object) -> str:
        before = ["env", f"OCTAVO_TELEMAC={chosen}", "OCTAVO_TELEMAC_TIMES=1"]
        return judge.run([*before, program], folder, "telemac.log", ranks, **options)  # type: ignore[arg-type]

    def merge(
        self,
        gretel: list[object],
        folder: Path,
        result: str,
        ranks: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> float:
        """Lets gretel merge a result's pieces. Returns the seconds."""
        prefix = self.setup.prefix
        double = result.endswith("RST") and "RESTART FILE FORMAT = 'SERAFIND'" in (folder / f"{prefix}CAS").read_text()
        form = "SERAFIND" if double else self.setup.form
        answers = [f"{prefix}GEO", self.setup.geometry, f"{prefix}CLI", result, form, str(ranks), "0", "1"]
        (folder / "gretel.par").write_text("\n".join(answers) + "\n")
        begin = clock()
        judge.run(["sh", "-c", '"$@" < gretel.par', "sh", *gretel], folder, f"gretel-{result}.log")
        return clock() - begin


# ------------------------------------------------------------------------------------------------------- what files hold


def records(path: Path) -> dict[str, bytes]:
    """The records of a SERAFIN file by name, in order."""
    data = path.read_bytes()
    found, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        found.append(data[at + 4 : at + 4 + size])
        if data[at + 4 + size : at + 8 + size] != data[at : at + 4]:
            raise judge.Stopped(f"{path}: no record at byte {at}")
        at += 8 + size
    variables = int.from_bytes(found[1][:4], "big")
    head = ["title", "counts", *(f"variable {v}" for v in range(variables)), "IPARAM"]
    dated = found[len(head) - 1][-1] == 1
    head += [*(["date"] if dated else []), "sizes", "IKLE", "IPOBO", "x", "y"]
    steps = [f"step {n // (variables + 1)}, record {n % (variables + 1)}" for n in range(len(found) - len(head))]
    return dict(zip(head + steps, found, strict=True))


def med_contents(path: Path) -> dict[str, bytes]:
    """The arrays and times of a MED file by name: TELEMAC's mesh, fields, parameters and groups."""
    found: dict[str, bytes] = {}
    with h5py.File(path) as file:
        mesh = file["ENS_MAA/MESH"]
        step = mesh[next(iter(mesh))]
        places = step["NOE/COO"][:].reshape(mesh.attrs["DIM"], -1)
        found |= {axis: values.tobytes() for axis, values in zip("xyz", places, strict=False)}
        for shape in step["MAI"]:
            for name in ("NOD", "FAM"):
                if name in step["MAI"][shape]:
                    found[f"{shape} {name}"] = step["MAI"][shape][name][:].tobytes()
        for family in file.get("FAS/MESH/ELEME", {}):
            group = file[f"FAS/MESH/ELEME/{family}"]
            found[f"family {group.attrs['NUM']}"] = group["GRO/NOM"][:].tobytes() if "GRO" in group else b""
        for name in ("NPLAN", "X_ORIG", "Y_ORIG", "DATE", "TIME"):
            (value,) = file[f"NUM_DATA/{name}"].values()
            found[name] = bytes(value.attrs["VAL"].tobytes())
        for field, steps in file["CHA"].items():
            for number, step in steps.items():
                found[f"{field}, time of step {int(number[:20])}"] = step.attrs["PDT"].tobytes()
                found[f"{field}, step {int(number[:20])}"] = step["NOE/MED_NO_PROFILE_INTERNAL/CO"][:].tobytes()
    return found


def contents(path: Path) -> dict[str, bytes]:
    return med_contents(path) if h5py.is_hdf5(path) else records(path)


def other_records(a: Path, b: Path) -> list[str]:
    """The names of records, or of arrays in MED, that are not the same in two files."""
    left, right = contents(a), contents(b)
    return [name for name in dict.fromkeys([*left, *right]) if left.get(name) != right.get(name)]


def change_bit(path: Path, out: Path) -> None:
    """Changes the first variable of the last step, in the middle of the uppermost plane; in MED that of the first by name."""
    if h5py.is_hdf5(path):
        shutil.copy(path, out)
        with h5py.File(out, "r+") as file:
            field = file["CHA"][sorted(file["CHA"])[0]]
            values = field[sorted(field)[-1]]["NOE/MED_NO_PROFILE_INTERNAL/CO"]
            (planes,) = (max(1, int(entry.attrs["VAL"])) for entry in file["NUM_DATA/NPLAN"].values())
            values[-len(values) // (2 * planes)] *= 1.25
        return
    found, data = records(path), bytearray(path.read_bytes())
    variables = int.from_bytes(found["counts"][:4], "big")
    record = len(list(found.values())[-1])
    width = record // int.from_bytes(found["sizes"][4:8], "big")
    at = len(data) - (variables - 1) * (record + 8) - 4 - record // (2 * planes_of(found)) // width * width
    data[at + 1] ^= 16
    out.write_bytes(data)


# gretel writes 3-D results without date and boundary; the adapter keeps what a run of one process writes. IPARAM(8) counts the
# boundary points of one plane, as Octavo always does; TELEMAC-3D counts those of all planes.
LEFT_OUT_BY_GRETEL = {"IPARAM", "date", "IPOBO"}
BOUNDARY = slice(28, 32)  # IPARAM(8)
# In MED the adapter's planes have their numbers as heights, gretel's those of the first step.


def planes_of(file: dict[str, bytes]) -> int:
    return max(1, int.from_bytes(file["IPARAM"][24:28], "big"))


def compare(run: Run, mine: Path, gretels: Path, alone: Path, words: str) -> None:
    """Byte for byte gretel's, but for what gretel leaves out in 3-D: there it is the file of one process."""
    other = other_records(mine, gretels)
    if h5py.is_hdf5(mine):
        written, by_one = contents(mine), contents(alone)
        left_out = [n for n in other if n == "z" or (n == "DATE" and written[n] == by_one[n] and any(written["NPLAN"]))]
        wrong = [name for name in other if name not in left_out]
        figure = f"gretel's {len(written)} arrays, differing: {', '.join(wrong[:6]) or 'none'}"
        run.check(words, not wrong, figure + (f" but for {', '.join(left_out)}" if left_out else ""))
        return
    if not other:
        same = mine.read_bytes() == gretels.read_bytes()
        run.check(words, same, f"gretel's bytes ({mine.stat().st_size})")
        return
    written, by_one = records(mine), records(alone)
    if int.from_bytes(written["IPARAM"][BOUNDARY], "big") * planes_of(by_one) == int.from_bytes(
        by_one["IPARAM"][BOUNDARY], "big"
    ):
        by_one["IPARAM"] = (
            by_one["IPARAM"][: BOUNDARY.start] + written["IPARAM"][BOUNDARY] + by_one["IPARAM"][BOUNDARY.stop :]
        )
    wrong = [name for name in other if name not in LEFT_OUT_BY_GRETEL or written.get(name) != by_one.get(name)]
    steps = any(name.startswith("step") for name in written)
    figure = (
        f"differs in {', '.join(wrong[:6])}" if wrong else f"gretel's but for {', '.join(other)}: as one process writes"
    )
    run.check(words, steps and not wrong, figure)


def differs(a: Path, b: Path) -> bool:
    """MED files have the time at which they were made."""
    return bool(other_records(a, b)) if h5py.is_hdf5(a) else a.read_bytes() != b.read_bytes()


def beside_gretel(run: Run) -> None:
    """The same runs with and without the adapter, on 1 to 4 ranks."""
    setup = run.setup
    for ranks in (1, 2, 3, 4):
        plain, native, mine = (
            run.prepare(run.folder / f"{kind}-{ranks}", ranks) for kind in ("plain", "native", "octavo")
        )
        run.start(run.programs.plain, plain, ranks)
        run.start(run.programs.adapted, native, ranks)
        run.start(run.programs.adapted, mine, ranks, "all")
        names = [path.name for path in sorted(plain.iterdir()) if re.match("|".join(setup.results), path.name)]
        other = [name for name in names if differs(plain / name, native / name)]
        run.check(f"not chosen, {ranks} ranks", bool(names) and not other, f"{len(names)} files, {len(other)} differ")
        left = [path.name for path in mine.glob("T?D*-0*") if path.name[:6] in setup.results]
        run.check(
            f"files of {len(setup.results)} results, {ranks} ranks",
            not left,
            f"{len(setup.results)}, native {len(names)}",
        )
        for result in setup.results:
            if ranks > 1:
                run.merge([run.programs.gretel], plain, result, ranks)
            compare(run, mine / result, plain / result, run.folder / "plain-1" / result, f"{result}, {ranks} ranks")


def continues(run: Run) -> None:
    """TELEMAC continues from the adapter's file as it does from gretel's."""
    setup = run.setup
    for ranks in setup.goes_on:
        ends = []
        for kind in ("plain", "octavo"):
            folder = run.folder / f"on-{ranks}-{kind}"
            run.prepare(folder, ranks, run.folder / f"{kind}-2" / setup.restart)
            run.start(run.programs.adapted, folder, ranks, setup.results[0])
            ends.append(folder / setup.results[0])
        other = other_records(*ends)
        run.check(f"continued from {setup.restart} on {ranks} ranks", not other, f"{len(other)} records differ")
    changed = run.folder / "changed.slf"
    change_bit(run.folder / "octavo-2" / setup.restart, changed)
    seen = other_records(changed, run.folder / "plain-2" / setup.restart)
    folder = run.prepare(run.folder / "on-1-changed", 1, changed)
    run.start(run.programs.adapted, folder, 1, setup.results[0])
    other = other_records(folder / setup.results[0], run.folder / "on-1-octavo" / setup.results[0])
    run.check(
        "one changed bit is seen, in the file and in the continued run", bool(seen and other), f"{len(other)} records"
    )


def from_concat(run: Run) -> None:
    """Runs start from concatenated pieces, of the mesh and of a previous computation: two files each."""
    setup = run.setup
    for previous in (None, run.folder / f"octavo-2/{setup.restart}"):
        ends = []
        for layout in ("files", "concat"):
            folder = run.folder / f"from-{layout}-{'previous' if previous else 'mesh'}"
            run.prepare(folder, 3, previous, layout)
            run.start(run.programs.adapted, folder, 3, "all")
            ends.append(folder / setup.results[0])
        pieces = sorted(path.name for path in ends[1].parent.glob("T?D*-CONCAT"))
        other = other_records(*ends)
        words = "a previous computation" if previous else "the mesh"
        run.check(
            f"from CONCAT pieces of {words}, 3 ranks",
            len(pieces) >= 3 and not other,
            f"{', '.join(pieces)}; {len(other)} records differ from those of a run from single pieces",
        )


def launcher_tools(run: Run) -> None:
    """TELEMAC's launcher calls partel before each run and gretel after it, linked with the adapter as all programs are."""
    prefix, chosen = run.setup.prefix, ["env", "OCTAVO_TELEMAC=all"]
    cut = run.prepare(run.folder / "partel", 1)
    run.cut_by_partel(cut, 2)
    pieces = [path.name for path in sorted(cut.glob(f"{prefix}GEO0*"))]
    same = [(cut / name).read_bytes() == (run.folder / "plain-2" / name).read_bytes() for name in pieces]
    run.check(
        "partel of the launcher before it", len(same) == 2 and all(same), f"{sum(same)} pieces as Octavo cuts them"
    )
    folder, result = run.folder / "native-2", run.setup.results[0]
    run.start(run.programs.adapted, folder, 2, "all")
    before = (folder / result).read_bytes()
    run.merge([*chosen, run.programs.adapted_gretel], folder, result, 2)
    same = [(folder / result).read_bytes() == before, before == (run.folder / "octavo-2" / result).read_bytes()]
    run.check("gretel of the launcher after it, where older pieces lay", all(same), "the file stays")


def refusals(run: Run) -> None:
    """An unknown version of TELEMAC, and runs that cannot be written, are errors that name it."""
    tree = run.folder / "other-version"
    shutil.copytree(run.tree.root / "sources/utils", tree / "sources/utils")
    with (tree / "sources/utils/hermes/add_data.f").open("a") as out:
        out.write("! another version\n")
    text = judge.run(["make", "-s", "-C", ADAPTER, f"TELEMAC={tree}"], run.folder, "version.log", any_code=True)
    run.check("refused: an unknown version", "was not tried with" in text and "sum" in text, "it names version and sum")
    prefix = run.setup.prefix
    folder = run.prepare(run.folder / "no-mesh", 2)
    (folder / f"{prefix}GEO").unlink()
    text = run.start(run.programs.adapted, folder, 2, "all", any_code=True)
    said = text.count(f"{prefix}GEO")
    run.check(
        "refused: no whole mesh, on both ranks",
        said >= 2 and "No such file" in text,
        f"{prefix}GEO is named {said} times",
    )


# ------------------------------------------------------------------------------------------------------------- measured


def prepare_larger(run: Run, folder: Path, ranks: int) -> Path:
    """16 times as many triangles; results of 5 steps."""
    example = run.tree.root / "examples" / run.setup.example
    geometry, boundary = (example / run.setup.inputs[f"T2D{name}"] for name in ("GEO", "CLI"))
    run.prepare(folder, 1)
    words = ["refine", geometry, "-o", "fine.slf", "--times", 2, "--boundary", boundary, "--boundary-out", "fine.cli"]
    judge.octavo(folder, *words)
    for name, made in (("GEO", "slf"), ("CLI", "cli")):
        (folder / f"fine.{made}").rename(folder / f"T2D{name}")
    words = ["partition", "T2DGEO", "-o", "T2D", "--boundary", "T2DCLI", "--parts", ranks, "--layout", "files"]
    if ranks > 1:
        judge.octavo(folder, *words)
    return folder


@dataclass
class Figures:
    visible: float  # seconds that the slowest rank spent in writing results
    merging: float  # seconds of gretel
    files: int
    size: int  # bytes
    memory: int  # bytes, of the largest rank

    def text(self) -> str:
        size, memory = self.size / 1e6, self.memory / 1e6
        seconds = f"{self.visible:.2f} s + {self.merging:.2f} s of gretel"
        return f"{seconds}, {self.files} files, {size:.1f} MB, {memory:.0f} MB of memory"


# Whether the adapter writes, and by how many ranks; 0: one a host.
WAYS = {"native": ("", 0), "octavo": ("all", 0), "octavo, two writers": ("all", 2)}


def figures_of(run: Run, folder: Path, ranks: int, way: str, store: judge.Store) -> Figures:
    """Runs TELEMAC once, and gretel if there are pieces."""
    prepare_larger(run, folder, ranks)
    chosen, writers = WAYS[way]
    settings = [f"OCTAVO_TELEMAC={chosen}", f"OCTAVO_TELEMAC_WRITERS={writers}", "OCTAVO_TELEMAC_TIMES=1"]
    program = judge.measured([*store.words, run.programs.adapted])
    text = judge.run(["env", *settings, *program], folder, "telemac.log", ranks)
    visible = re.findall(r"octavo: results took +([\d.]+) s", text)
    merging = 0.0
    if ranks > 1 and not chosen:
        merging = run.merge([*store.words, run.programs.gretel], folder, "T2DRES", ranks, store.clock)
    files = [path.stat().st_size for path in folder.glob("T2DRES*")]
    return Figures(float(visible[0]), merging, len(files), sum(files), judge.memory_of(text))


def measure(run: Run) -> None:
    """Results of 5 steps: TELEMAC's own with gretel, and the adapter's, in turn; the best of the runs on each store. The
    throttled store has a bandwidth for each process, of which TELEMAC itself uses all."""
    ranks = judge.RANKS
    for store in judge.stores(run.folder, THROTTLED):
        found: dict[str, list[Figures]] = {way: [] for way in WAYS}
        ends: dict[str, bytes] = {}
        for way in [*WAYS] * judge.REPETITIONS:
            folder = run.folder / "measured"
            shutil.rmtree(folder, ignore_errors=True)
            found[way].append(figures_of(run, folder, ranks, way, store))
            ends[way] = (folder / "T2DRES").read_bytes()
            print(f"     {way}, {store.key}: {found[way][-1].text()}", flush=True)
        visible = {way: min(one.visible for one in ones) for way, ones in found.items()}
        whole = min(one.visible + one.merging for one in found["native"])
        for way in [*WAYS][1:]:
            same = ends[way] == ends["native"]
            figure = (
                f"{visible[way]:.3f} s ({visible[way] / whole:.2f}); native {visible['native']:.3f} s, with gretel "
            )
            figure += f"{whole:.3f} s; {'the same' if same else 'other'} bytes"
            # One writer of two can use half of the store's bandwidth.
            bar = store.bar if WAYS[way][1] >= ranks else 1
            run.check(f"{store.figure}, {way}, {ranks} ranks", same and visible[way] <= whole * bar, figure)


def try_setup(trial: judge.Trial, tree: Tree, setup: Setup) -> None:
    folder = trial.folder / tree.build.name / setup.name
    run = Run(trial, tree, setup, folder, programs_of(tree, setup, folder / "programs"))
    others = [from_concat, launcher_tools, refusals] if setup.name in ("gouttedo", "canal") else []
    for work in (
        beside_gretel,
        *([continues] if setup.goes_on else []),
        *others,
        *([measure] if setup.name == "gouttedo" and os.environ.get("MEASURE") else []),
    ):
        trial.attempt(run.name(work.__name__), lambda w=work: w(run))


def main() -> int:
    trial = judge.Trial(judge.folder_of("telemac-adapter"))
    trees = [Path(tree).resolve() for tree in os.environ.get("TELEMAC", "").split(":") if tree]
    found = [(tree, path.parents[1]) for tree in trees for path in sorted(tree.glob("builds/*/lib/telemac2d.cmdx"))]
    if not found:
        trial.skip(
            "telemac-adapter", "TELEMAC=TREE[:TREE...] names no tree with builds/CONFIGURATION/lib/telemac2d.cmdx"
        )
        return judge.close(trial)
    wanted = os.environ.get("SETUPS", " ".join(setup.name for setup in SETUPS)).split()
    os.environ["PKG_CONFIG_PATH"] = f"{library()}/lib/pkgconfig:{os.environ.get('PKG_CONFIG_PATH', '')}"
    for root, build in found:
        tree = Tree(root, build, words_of(root, trial.folder))
        for setup in (setup for setup in SETUPS if setup.name in wanted):
            if not (build / f"lib/{setup.code}.cmdx").exists():
                trial.skip(f"telemac-adapter {setup.name}", f"{build} has no {setup.code}, built")
                continue
            trial.attempt(f"telemac-adapter {setup.name}", lambda t=tree, s=setup: try_setup(trial, t, s))
    return judge.close(trial)


if __name__ == "__main__":
    sys.exit(main())
