"""capi/octavo.h as a reader and a C compiler take it, and the Fortran module beside it."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import octavo
from octavo.ranks import engine

ROOT = Path(__file__).parents[2]
HEADER = (ROOT / "capi/octavo.h").read_text()

# Arrays of boxes that lie anywhere: in C a member of octavo_array. found: whether the restart is not NULL.
ONLY_IN_FORTRAN = {"octavo_writer_put_arrays", "octavo_writer_is_open", "octavo_restart_found"}


def exported() -> list[str]:
    return re.findall(r"^OCTAVO_API [^;(]*?\b(octavo_\w+)\(", HEADER, re.M)


def defaults() -> list[str]:
    return re.findall(r"^static inline \w+ (octavo_\w+)\(", HEADER, re.M)


def test_there_are_few_functions():
    assert len(exported()) == len(set(exported())) >= 30
    assert len(exported()) + len(defaults()) <= 55


def test_every_function_has_a_comment_above_it_or_its_arguments_have():
    lines = HEADER.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith(("OCTAVO_API", "static inline")):
            continue
        end = next(i for i in range(number, len(lines)) if ";" in lines[i] or "{" in lines[i])
        above = number - 1
        while lines[above].startswith(("OCTAVO_API", "static inline")):  # one comment for several
            above -= 1
        assert lines[above].endswith("*/") or any("/*" in part for part in lines[number : end + 1]), line


def test_every_struct_that_may_grow_begins_with_its_size():
    structs = dict(re.findall(r"typedef struct (octavo_\w+) \{(.*?)\n\} \1;", HEADER, re.S))
    assert len(structs) >= 11
    for name, body in structs.items():
        if name == "octavo_error":  # of one size for ever
            continue
        assert re.match(rf"\s*size_t size; +/\* sizeof\({name}\) \*/", body), name
        assert f"{name} octavo_" in HEADER.split("---- defaults")[1], f"{name} has no default"


def test_enums_are_types():
    assert re.findall(r"\benum (?!octavo_\w+ OCTAVO_INT)", HEADER) == []


@pytest.mark.parametrize("standard", ["c99", "c11", "c17"])
def test_it_is_strict_c(tmp_path, standard):
    compiler = shutil.which("mpicc")
    if compiler is None:
        pytest.skip("there is no mpicc")
    program = tmp_path / "program.c"
    calls = "\n".join(f"  octavo_{name} {name} = octavo_{name}_default();" for name in ("domain", "tree", "boxes"))
    used = "(int)(domain.size + tree.size + boxes.size + target.size)"
    program.write_text(
        f"#include <octavo.h>\nint main(void) {{\n{calls}\n"
        f"  octavo_target target = octavo_target_default(OCTAVO_MED);\n  return {used};\n}}\n"
    )
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
    done = subprocess.run([compiler, *flags, "-I", ROOT / "capi", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_macro_is_the_projects_version():
    project = re.search(r"project\(octavo VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert re.search(r'#define OCTAVO_VERSION "(.*)"', HEADER)[1] == project


def fortran_names() -> set[str]:
    names = set()
    for path in (ROOT / "capi/fortran").glob("*.f90"):
        text = path.read_text()
        for kind, body in re.findall(r"type :: (octavo_writer|octavo_restart)\n(.*?)\n  end type", text, re.S):
            bound = re.findall(r"^    (?:procedure|generic) :: (\w+)", body, re.M)
            names |= {f"{kind}_{name}" for name in bound if "private" not in name}
    module = (ROOT / "capi/fortran/octavo.f90").read_text()
    return names | set(
        re.findall(r"\b(octavo_(?:version|read_box|read_points|list_steps|forget_failed_restarts))\b", module)
    )


def test_fortran_has_the_same_names():
    assert fortran_names() - ONLY_IN_FORTRAN == set(exported())


# Python's names that differ, as attributes of the package or of its Restart, and the reason.
PYTHON = {
    "octavo_version": "__version__",
    "octavo_writer_open": "Writer",
    "octavo_writer_put_tree": "Writer.put_mesh",  # takes either kind of mesh
    "octavo_writer_put_boxes": "Writer.put_mesh",
    "octavo_writer_get_steps": "Writer.steps",  # Python has properties in place of get_
    "octavo_writer_get_statistics": "Writer.statistics",
    "octavo_restart_open": "restart",
    "octavo_restart_get_neighbours": "neighbours",
    "octavo_list_steps": "steps",
    "octavo_read_box": "Dataset.read_box",  # an opened Dataset reads more than one box
    "octavo_read_points": "Dataset.points_in_box",
    "octavo_restart_get_info": "Restart.header",
    "octavo_restart_get_field_info": "Restart.header",
    "octavo_restart_get_attribute": "Restart.attributes",
    "octavo_restart_get_attribute_count": "Restart.attributes",
    "octavo_restart_get_tree": "Restart.mesh",
    "octavo_restart_get_boxes": "Restart.mesh",
    "octavo_restart_get_triangles": "Restart.triangles",
    "octavo_restart_get_field": "Restart.fields",
    "octavo_restart_get_particles": "Restart.particles",
    "octavo_restart_get_particle_count": "Restart.particles",
    "octavo_restart_get_bytes": "Restart.opaque",
    "octavo_restart_free": "Restart",  # Python frees it
}
# Several attributes at once; sums over ranks and modes, which C has in its JSON; two safeties by name.
ONLY_IN_PYTHON = {"put_attributes", "put_mesh", "statistics", "steps", "total_statistics", "mode_of",
                  "newest_durable", "newest_drained"}  # fmt: skip


def python_name(name: str) -> str:
    """The name that Python has for a function of C: octavo_writer_put_field is Writer.put_field."""
    return PYTHON.get(name) or name.removeprefix("octavo_").replace("writer_", "Writer.", 1)


def test_python_has_the_same_names():
    restart_class = engine().Restart
    for name in exported():
        at, *rest = python_name(name).split(".")
        found = restart_class if at == "Restart" else getattr(octavo, at)
        assert all(hasattr(found, attribute) for attribute in rest), name
    assert set(PYTHON) <= set(exported())
    in_c = {python_name(name).removeprefix("Writer.") for name in exported() if name.startswith("octavo_writer_")}
    public = {name for name in vars(octavo.Writer) if not name.startswith("_")}
    assert public - in_c <= ONLY_IN_PYTHON and public >= ONLY_IN_PYTHON


# Members of octavo_restart_options that Python says otherwise: lists have their length, `fill` has "constant", a mesh
# always holds the roots that the rank has, a field is a view of the restart's memory, and the size is C's own.
RESTART_OPTIONS = {"boxes": "as_patches", "constant": "fill"}
ONLY_IN_C = {"size", "num_fields", "num_per_mass", "num_points", "held_roots", "once"}


def test_python_has_the_same_restart_options():
    body = re.search(r"typedef struct octavo_restart_options \{(.*?)\n\}", HEADER, re.S)[1]
    members = set(re.findall(r"\b(\w+)(?:\[3\])?;", re.sub(r"/\*.*?\*/", "", body, flags=re.S))) - ONLY_IN_C
    assert len(members) > 12
    words = set(inspect.signature(octavo.restart).parameters) - {"comm", "path", "settings"}
    assert {RESTART_OPTIONS.get(member, member) for member in members} == words


def test_fortran_has_the_same_structs_and_numbers():
    arguments = "".join(path.read_text() for path in (ROOT / "capi/fortran").glob("*.f90"))
    for name, number in re.findall(r"^ *OCTAVO_(\w+) = (\d+)", HEADER, re.M):
        found = re.search(rf"\boctavo_{name.lower()} = (\d+)", arguments)
        assert found is None or found[1] == number, name
    for name in re.findall(r"\} (octavo_\w+);", HEADER):
        if f"typedef struct {name}" in HEADER and name not in ("octavo_array",):
            assert f"type :: {name}\n" in arguments, name
