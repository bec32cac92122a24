"""The arrows between rooms run one way: what each may include or import, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from octavo.cli import FOLDERS, VERBS

ROOT = Path(__file__).resolve().parents[2]

# Room -> rooms it may include. The same arrows as in CMakeLists.txt and docs/architecture.md.
ARROWS = {
    "base": set(),
    "mesh": {"base"},
    "codec": {"base"},
    "file": {"base"},
    "partition": {"mesh", "base"},
    "analysis": {"mesh", "base"},
    "store": {"mesh", "codec", "file", "base"},
    "formats": {"mesh", "file", "base"},
    "step": {"formats", "store", "partition", "mesh", "codec", "file", "base"},
    "ranks": {"base"},
}
ARROWS["verbs"] = ARROWS["step"] | {"step", "analysis"}
ARROWS["telemac"] = ARROWS["step"] | {"step", "verbs"}
ARROWS["engine"] = set(ARROWS)
# A folder holds at most this many concepts: a concept is a name with its header and source.
MOST_CONCEPTS = 25
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "core"}


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE)


def sources() -> list[Path]:
    return sorted(p for p in (ROOT / "octavo").rglob("*") if p.suffix in {".hpp", ".cpp"})


def broken_arrows(room: str, included: list[str]) -> list[str]:
    """The includes that a file of this room may not have."""
    rooms = [(name, name.split("/")[1]) for name in included if name.startswith("octavo/") and name.count("/") >= 2]
    return [name for name, other in rooms if other != room and other not in ARROWS[room]]


def test_includes_follow_the_arrows():
    wrong = {}
    for path in sources():
        room = path.relative_to(ROOT / "octavo").parts[0]
        bad = broken_arrows(room, includes(path))
        if bad:
            wrong[str(path.relative_to(ROOT))] = bad
    assert not wrong


def test_the_arrows_have_no_cycle():
    for room, others in ARROWS.items():
        for other in others - {room}:
            assert room not in ARROWS[other], f"{room} <-> {other}"


def test_an_arrow_that_runs_up_is_found():
    assert broken_arrows("mesh", ["octavo/store/store.hpp", "octavo/base/error.hpp"]) == ["octavo/store/store.hpp"]


def foreign_to_adapters(included: list[str]) -> list[str]:
    """The headers of Octavo that an adapter may not include: all but those that each room is presented by."""
    return [
        name for name in included if name.startswith("octavo/") and name not in {f"octavo/{r}/{r}.hpp" for r in ARROWS}
    ]


def test_adapters_include_the_headers_of_rooms_alone_and_nothing_includes_them():
    adapters = [path for path in (ROOT / "adapters").rglob("*") if path.suffix in {".hpp", ".cpp"}]
    assert adapters
    assert {str(path): wrong for path in adapters if (wrong := foreign_to_adapters(includes(path)))} == {}
    headers = {path.name for path in adapters if path.name.startswith("octavo_")}
    for top in ("octavo", "capi", "apps", "python"):
        for path in (ROOT / top).rglob("*.[hc]pp"):
            assert not any(Path(name).name in headers for name in includes(path)), path


def test_an_adapter_that_looks_behind_a_room_is_found():
    assert foreign_to_adapters(["octavo/engine/engine.hpp", "octavo/engine/step/group.hpp", "AMReX.H"]) == [
        "octavo/engine/step/group.hpp"
    ]


def foreign_modules(path: Path) -> list[str]:
    """The modules of Octavo that a Fortran source uses: an adapter may use `octavo`, and modules of its own folder."""
    used = re.findall(r"^\s*use\s*(?:,[^:\n]*::)?\s*(\w+)", path.read_text(), re.MULTILINE | re.IGNORECASE)
    beside = "\n".join(source.read_text() for source in path.parent.glob("*.[fF]90"))
    own = {"octavo", *re.findall(r"^\s*module\s+(octavo_\w+)\s*$", beside, re.MULTILINE | re.IGNORECASE)}
    return sorted({name for name in used if name.startswith("octavo") and name not in own})


def test_adapters_in_fortran_use_the_module_octavo_alone_and_hold_no_code_of_others():
    sources = [path for path in (ROOT / "adapters").rglob("*") if path.suffix in {".f90", ".F90"}]
    assert {"octavo_flashx.F90", "octavo_ramses.f90"} <= {path.name for path in sources}
    assert {str(path): wrong for path in sources if (wrong := foreign_modules(path))} == {}
    for path in (ROOT / "adapters").rglob("*.*"):
        assert not re.search("copyright|robodoc", path.read_text(), re.IGNORECASE), path


def test_a_fortran_adapter_that_looks_behind_the_module_is_found(tmp_path):
    (tmp_path / "calls.f90").write_text("module octavo_calls\nend module\n")
    source = tmp_path / "adapter.F90"
    source.write_text(
        "  use octavo_writing, only: x\n  use octavo\n  use octavo_calls\n  use, intrinsic :: iso_c_binding\n"
    )
    assert foreign_modules(source) == ["octavo_writing"]


def umbrella(room: str) -> Path:
    """The header that a room is presented by."""
    return ROOT / "octavo" / room / f"{room}.hpp"


def gathers_alone(path: Path) -> bool:
    """Whether a header only includes others of its room, for programs outside: nothing in the library includes it."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("///")]
    return path == umbrella(path.parent.name) and all(line.startswith("#") for line in lines)


def folder_arrows() -> dict[str, dict[str, str]]:
    """Folder -> folders whose headers it includes, each with a file that does. Tests may look anywhere."""
    arrows: dict[str, dict[str, str]] = {}
    for path in sources():
        if path.stem.endswith("_test") or gathers_alone(path):
            continue
        folder = str(path.parent.relative_to(ROOT))
        for name in includes(path):
            other = str(Path(name).parent)
            if name.startswith("octavo/") and other != folder:
                arrows.setdefault(folder, {})[other] = str(path.relative_to(ROOT))
    return arrows


def reached(arrows: dict[str, dict[str, str]], start: str) -> set[str]:
    """All folders that one gets to from a folder."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        for other in arrows.get(ahead.pop(), {}):
            if other not in found:
                found.add(other)
                ahead.append(other)
    return found


def circles(arrows: dict[str, dict[str, str]]) -> list[str]:
    return [
        f"{folder} -> {other} (in {file}) and back"
        for folder, others in arrows.items()
        for other, file in others.items()
        if folder in reached(arrows, other)
    ]


def test_folders_inside_a_room_have_no_circle():
    assert circles(folder_arrows()) == []


def test_a_circle_of_folders_is_found():
    there_and_back = {"octavo/a": {"octavo/a/b": "x.hpp"}, "octavo/a/b": {"octavo/a": "y.hpp"}}
    assert len(circles(there_and_back)) == 2


@pytest.mark.parametrize("room", sorted(ARROWS))
def test_a_room_says_what_it_does_may_touch_and_never_does(room):
    text = umbrella(room).read_text()
    comment = re.search(r"((?:^///.*\n)+)", text, re.MULTILINE).group(1).replace("///", " ")
    said = " ".join(comment.split())
    assert re.search(r"\. It may touch .*\. .*\bnever\b", said), said


def test_headers_that_gather_a_room_are_for_programs_outside():
    gathering = {f"octavo/{room}/{room}.hpp" for room in ARROWS if gathers_alone(umbrella(room))}
    assert gathering >= {"octavo/engine/engine.hpp", "octavo/mesh/mesh.hpp"}
    compiled = set()
    for path in sources():
        found = gathering & set(includes(path))
        assert not found or path.stem.endswith("_test"), path
        compiled |= found
    assert compiled == gathering, "a test of each room includes its header, so that it compiles"


def test_no_folder_is_crowded():
    concepts: dict[Path, set[str]] = {}
    for top in ("octavo", "capi", "python/bindings"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in {".h", ".hpp", ".cpp", ".f90"} and not path.stem.endswith("_test"):
                concepts.setdefault(path.parent, set()).add(path.stem)
    assert {str(folder): len(names) for folder, names in concepts.items() if len(names) > MOST_CONCEPTS} == {}


def installed_headers() -> set[str]:
    """The public headers, and all that they include: cmake/install_headers.cmake.in copies the same."""
    found: set[str] = set()
    ahead = [f"octavo/{room}/{room}.hpp" for room in ARROWS]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += [other for other in includes(ROOT / name) if other.startswith("octavo/")]
    return found


def test_no_more_headers_are_installed():
    assert len(installed_headers()) <= 142  # docs/decisions/0055-installed-headers.md


def test_a_folder_of_the_package_holds_few_modules():
    modules: dict[str, int] = {}
    for path in (ROOT / "python/octavo").rglob("*.py"):
        if path.name != "__init__.py":
            folder = str(path.parent.relative_to(ROOT))
            modules[folder] = modules.get(folder, 0) + 1
    assert {folder: count for folder, count in modules.items() if count > MOST_CONCEPTS} == {}


def test_every_verb_is_a_module_of_one_folder():
    verbs = [verb for names in FOLDERS.values() for verb in names]
    assert sorted(verbs) == sorted(VERBS)
    for folder, names in FOLDERS.items():
        assert all((ROOT / f"python/octavo/cli/{folder}/{verb}.py").exists() for verb in names)


FORMATS = sorted(p.name for p in (ROOT / "octavo/formats").iterdir() if (p / "row.cpp").exists())
ROWS = "\n".join((ROOT / f"octavo/formats/{name}/row.cpp").read_text() for name in FORMATS)
CODES = {"TELEMAC", *re.findall(r'\.(?:title|code) = "(\w+)"', ROWS)}
ENDINGS = re.findall(r'"(\.\w+)"', "".join(re.findall(r"string_view, \d> endings\{.*", ROWS)))
TARGETS = [name for p in (ROOT / "octavo/engine/targets").glob("*.hpp")
           for name in re.findall(r"^struct (\w+Target) \{", p.read_text(), re.MULTILINE)
           if name not in {"StoreTarget", "FileTarget"}]  # fmt: skip


def compared_names(text: str) -> list[str]:
    """The lines that compare or choose by a code's or format's name, ending, attribute, target or member."""
    names, formats = "|".join([*CODES, *FORMATS, *map(re.escape, ENDINGS)]), "|".join(FORMATS)
    patterns = (
        rf'[=!]= "({names})[/"]|"({names})" [=!]=|\w+_with\("({names})/?"\)',
        rf'[=?:] "({formats})"',
        rf"(get|get_if|holds_alternative)<[\w:]*({'|'.join(TARGETS)})>",
        rf"\b({formats})::recognise\(",
        rf'^[^"]*\b(request|options|asked)\.({formats})\b',
        r"kind [=!]= OCTAVO_(?!STORE)|case OCTAVO_(?!STORE)",
    )
    return [line for line in text.splitlines() if any(re.search(pattern, line) for pattern in patterns)]


def test_only_formats_and_targets_know_one_code_from_another():
    assert FORMATS and ENDINGS and TARGETS
    found = {}
    for top in ("octavo", "capi", "python/bindings"):
        for path in (ROOT / top).rglob("*.[hc]pp"):
            name = str(path.relative_to(ROOT))
            if name.startswith(("octavo/formats/", "octavo/engine/targets/")) or path.stem.endswith("_test"):
                continue
            if lines := compared_names(path.read_text()):
                found[name] = lines
    assert found == {}


def test_a_comparison_with_a_code_is_found():
    for line in (
        'if (header.code != "FLASH") return;',
        "case OCTAVO_FLASH: break;",
        'const bool med = out.extension() == ".med";',
        'request.to = med ? "med" : "serafin";',
        "if (request.med.boundary) return;",
        "if (const auto* flash = std::get_if<FlashTarget>(&to)) return;",
        "if (formats::med::recognise(one)) return;",
        'return name == "amrex/kind";',
        "const bool flash = from.kind == OCTAVO_FLASH;",
    ):
        assert compared_names(line) == [line]
    assert not compared_names('throw Error("a FLASH file");\nformats::flash::row.open(path, {});')


# Lines of the package that name a format and stay: file -> how many, and why.
STILL_NAMED = {
    # Files for other programs that the verb export makes; no row of the table of formats does.
    "python/octavo/exports/cube.py": 1,
    "python/octavo/exports/files.py": 6,
    "python/octavo/exports/over_time.py": 1,
    # Layouts of TELEMAC's pieces, of which one is called med.
    "python/octavo/cli/triangles/partition.py": 1,
    "python/octavo/cli/triangles/split.py": 1,
}
KINDS = re.findall(r'\{"(\w+)", "an? [\w ]+"', ROWS)  # OutputKind


def named_in(node: ast.AST) -> list[ast.expr]:
    """The expressions of a node that choose by a name: operands, elements, keys, the ends of texts."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("with"):
        return node.args
    return [node.value] if isinstance(node, ast.MatchValue) else []


def names_of_formats(text: str) -> list[str]:
    """The lines of a Python source that choose by a code's or format's name, ending, attribute or target."""
    names = {*CODES, *FORMATS, *ENDINGS, *KINDS}
    lines = {
        one.lineno
        for node in ast.walk(ast.parse(text))
        for one in named_in(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.split("/")[0] in names
    }
    return [text.splitlines()[line - 1] for line in sorted(lines)]


def test_the_package_chooses_by_no_format():
    found = {
        str(path.relative_to(ROOT)): names_of_formats(path.read_text())
        for path in (ROOT / "python/octavo").rglob("*.py")
    }
    assert {name: len(lines) for name, lines in found.items() if lines} == STILL_NAMED, found


def test_a_choice_by_a_format_in_the_package_is_found():
    assert {"flash", "amrex_checkpoint", "serafin", "med"} <= set(KINDS)
    for line in (
        'CELLS = ("ramses", "flash")',
        'OUTPUTS = {"amrex_checkpoint": ()}',
        'if target.kind in ("serafin", "med"): pass',
        'unit = "parts" if arguments.to == "ramses" else "bytes"',
        'ends = ["", ".slf"]',
        'if name.startswith("amrex/"): pass',
        'if out.endswith(".med"): pass',
    ):
        assert names_of_formats(line) == [line]
    assert not names_of_formats(
        'parser.add_argument("--to", default="ramses", help="FLASH: blocks")\nends_of("serafin")'
    )


def test_the_table_has_a_row_of_each_folder():
    text = (ROOT / "octavo/formats/formats.cpp").read_text()
    folders = {p.name for p in (ROOT / "octavo/formats").iterdir() if p.is_dir()} - {"row"}
    assert set(FORMATS) == folders == set(re.findall(r"&(\w+)::row\b", text))


def test_mpi_is_known_to_ranks_and_engine_alone():
    for path in sources():
        if path.relative_to(ROOT / "octavo").parts[0] not in {"ranks", "engine"}:
            assert "mpi.h" not in includes(path), path


def mpi_names(text: str) -> set[str]:
    return set(re.findall(r"\bMPI_\w+", re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", text)))


def test_the_build_without_mpi_has_every_name():
    """The wheel is such a build, and `make test` compiles none."""
    rooms = [ROOT / "octavo" / "ranks", ROOT / "octavo" / "engine", ROOT / "capi", ROOT / "python" / "bindings"]
    paths = [
        p
        for room in rooms
        for p in room.rglob("*.[ch]pp")
        if not p.name.endswith("_test.cpp") and "serial" not in p.parts
    ]
    used = {name: path.relative_to(ROOT) for path in paths for name in mpi_names(path.read_text())}
    serial = mpi_names((ROOT / "octavo" / "ranks" / "serial" / "mpi.h").read_text())
    assert len(used) > 40
    assert not {f"{path}: {name}" for name, path in used.items() if name not in serial}
    assert mpi_names('MPI_Scan(a); // MPI_Exscan\n f("MPI_Bcast")') == {"MPI_Scan"}


def test_json_is_for_tests_alone():
    for path in sources():
        if not path.stem.endswith("_test"):
            assert not any(name.startswith("nlohmann/") for name in includes(path)), path


def test_rooms_are_named_for_what_they_hold():
    folders = [p for top in ("octavo", "python/octavo", "tests", "bench") for p in (ROOT / top).rglob("*")]
    for path in folders:
        assert path.stem not in FORBIDDEN_NAMES or "__pycache__" in path.parts, path


def test_cmake_has_the_same_arrows():
    text = (ROOT / "CMakeLists.txt").read_text()
    rooms = dict(re.findall(r"octavo_room\((\w+)([^)]*)\)", text))
    for room, rest in rooms.items():
        enters = re.search(r"ENTERS ([a-z ]+)", rest)
        entered = set(enters.group(1).split()) if enters else set()
        assert entered <= ARROWS[room], room


# A verb's heavy imports are inside its functions: `octavo info` must cost no more than the interpreter.
@pytest.mark.parametrize("path", sorted((ROOT / "python" / "octavo" / "cli").rglob("*.py")), ids=lambda p: p.stem)
def test_the_command_line_imports_lazily(path):
    heavy = ("numpy", "matplotlib", "rich", "h5py", "mpi4py")
    for line in path.read_text().splitlines():
        found = re.match(r"(?:import|from) (\w+)", line)
        assert not found or found.group(1) not in heavy, line


# An adapter lives in a code of its own: it takes the public faces of the library, and nothing in the library knows it.
INNER_MODULES = {"octavo_arguments", "octavo_reading", "octavo_writing"}


def inner_faces(path: Path) -> list[str]:
    """The headers and modules that a file of an adapter takes and that no installed library offers."""
    text = path.read_text()
    modules = re.findall(r"^\s*use\b[ ,:\w]*?(\w+)\s*(?:,|$)", text, re.MULTILINE | re.IGNORECASE)
    headers = [name for name in includes(path) if name.startswith(("capi/", "tests/", "apps/"))]
    return headers + sorted(INNER_MODULES & {name.lower() for name in modules})


def test_adapters_use_public_faces_and_nobody_uses_them():
    adapters = [p for p in (ROOT / "adapters").rglob("*") if p.suffix in {".f90", ".H", ".h", ".hpp", ".cpp"}]
    assert adapters
    assert {str(path): inner_faces(path) for path in adapters if inner_faces(path)} == {}
    for path in sources():
        assert not any(name.startswith("adapters/") for name in includes(path)), path


def test_an_adapter_that_reaches_inside_is_found(tmp_path):
    (tmp_path / "a.f90").write_text("  use octavo, only: octavo_writer\n  use octavo_writing, only: x\n")
    (tmp_path / "a.hpp").write_text('#include <octavo.h>\n#include "capi/objects.hpp"\n')
    assert inner_faces(tmp_path / "a.f90") == ["octavo_writing"]
    assert inner_faces(tmp_path / "a.hpp") == ["capi/objects.hpp"]


def test_each_adapter_has_a_short_page_for_its_users():
    folders = [path for path in (ROOT / "adapters").iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert len((folder / "README.md").read_text().splitlines()) <= 60, folder


# Types that have a name in common, and why they keep it: name -> files.
SAME_NAME = {
    # An open file, of the system or of HDF5, behind the same calls.
    "File": ["octavo/file/hdf5/hdf5.hpp", "octavo/file/posix.hpp"],
    # The options of a format's write().
    "WriteOptions": [f"octavo/formats/{name}.hpp" for name in ("amrex/writer", "flash/flash", "ramses/writer")],
}
TYPE = re.compile(r"( *)(?:enum class|struct|class|enum|union) (?:alignas\([^)]*\) )?(\w+)(?: final)?(?: : [^;{]*)? \{")


def types_of(text: str) -> list[str]:
    """The types that a file laid out by clang-format defines. A nested one is "Outer::Inner"; one that is defined apart
    (struct Outer::Inner) is left out."""
    found: list[str] = []
    around: list[tuple[int, str]] = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() and not re.match(r" *(public|private|protected|#)", line):
            around = [outer for outer in around if outer[0] < indent]
        if begin := TYPE.match(line):
            found.append("::".join([name for _, name in around] + [begin.group(2)]))
            if not line.endswith("}") and not line.endswith("};"):
                around.append((indent, begin.group(2)))
    return found


def test_a_type_name_means_one_thing():
    files: dict[str, list[str]] = {}
    for top in ("octavo", "capi", "python/bindings"):
        for path in sorted(p for p in (ROOT / top).rglob("*") if p.suffix in {".h", ".hpp", ".cpp"}):
            for name in types_of(path.read_text()) if "test" not in path.name else []:  # tests have words of their own
                files.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in files.items() if len(found) > 1} == SAME_NAME


def test_a_second_type_of_a_name_is_found():
    text = """struct A {
  struct B {
    int x = 0;
  };
 public:
  enum class C : std::uint8_t { one };
};
class B : public A {
};
struct A::D {
};
"""
    assert types_of(text) == ["A", "A::B", "A::C", "B"]
