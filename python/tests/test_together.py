"""The compiler reads several sources of a room as one (cmake/together.cmake). A function in an unnamed namespace must not
take a call that another source of the room means for a function of its own, or of a header."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from itertools import permutations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(p for p in (ROOT / "octavo").iterdir() if p.is_dir())
FOLDERS += [ROOT / name for name in ("capi", "apps", "bench/engine", "bench/scale", "python/bindings")]
# A declaration begins at the margin, because clang-format lays out the sources. Parameters have two levels of brackets.
PARAMETERS = r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
FUNCTION = re.compile(
    rf"^(?:template <(?P<made>[^\n]*)>\n)?(?!using|struct|class|enum|namespace|TEST|return)[A-Za-z][\w:<>,&*\s]*?"
    rf"\b(?P<name>\w+){PARAMETERS}(?=[^;{{}}]*[;{{])",
    re.M,
)
NUMBER = re.compile(r"(unsigned|bool|char|int|long|float|double|size_t|hid_t|u?int\d+_t)+")
TEXT = {"string", "string_view", "path", "char*"}


def cleaned(source: str) -> str:
    """Without comments, and with empty texts."""
    source = re.sub(r"//[^\n]*", "", source)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', source)


def unnamed(source: str) -> str:
    return "\n".join(re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", source, re.M | re.S))


def split(text: str) -> list[str]:
    """At commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([{") - (c in ">)]}")
        parts = [*parts, ""] if c == "," and depth == 0 else [*parts[:-1], parts[-1] + c]
    return [part.strip() for part in parts if part.strip()]


def type_of(parameter: str, made: list[str]) -> str:
    """Without the name, and without what a call does not see. `*`: any type."""
    declared = re.sub(r"\b(const|std::|fs::|filesystem::|mesh::|base::)", "", parameter.split("=")[0]).strip()
    declared = re.sub(r"(?<=[\s&*>])\w+(\[\w*\])?$", "", declared)
    plain = re.sub(r"[\s&]", "", declared)
    return "*" if "auto" in plain or any(re.search(rf"\b{name}\b", plain) for name in made) else plain


@cache  # a header counts in many rooms
def functions(source: str) -> dict[str, list[tuple[list[str], int]]]:
    """By name: types of the parameters, and how many of them a call must give."""
    found = defaultdict(list)
    for match in FUNCTION.finditer(source):
        made = re.findall(r"(?:class|typename)(?:\.\.\.)? (\w+)", match["made"] or "")
        parameters = split(match[3])
        types = [type_of(parameter, made) for parameter in parameters]
        found[match["name"]].append((types, sum("=" not in parameter for parameter in parameters)))
    return found


def may_be_one(a: str, b: str) -> bool:
    """Whether one argument may be taken for either type."""
    lists = [re.fullmatch(r"(?:span|vector|initializer_list)<(.*)>", name) for name in (a, b)]
    if all(lists):
        return may_be_one(lists[0][1], lists[1][1]) if a != b else True
    numbers = bool(NUMBER.fullmatch(a)) and bool(NUMBER.fullmatch(b))
    return a == b or "*" in (a, b) or numbers or {a, b} <= TEXT or "optional<" in a + b or "function<" in a + b


def taken(one, other) -> bool:
    """Whether a call may fit both functions, which are not the same. (Where they are, they do not compile together.)"""
    (a, least_a), (b, least_b) = one, other
    fits = max(least_a, least_b) <= min(len(a), len(b)) and all(map(may_be_one, a, b))
    return fits and a != b


def namespace_of(source: str) -> str:
    """That of a source's functions; those of an outer one are seen in it."""
    return "".join(name + "::" for name in re.findall(r"^namespace (\w[\w:]*) \{", source, re.M)[:1])


def faults(sources: dict[str, str], headers: dict[str, str]) -> list[str]:
    """`sources` of a room, by name. Functions of headers count where a source includes them and calls that name."""
    end = "}  // namespace\n"
    texts = {name: cleaned(text.replace(end, "}@\n")).replace("}@\n", end) for name, text in sources.items()}
    own = {name: functions(unnamed(text)) for name, text in texts.items()}
    declared = {name: functions(cleaned(text)) for name, text in headers.items()}
    place = {name: namespace_of(text) for name, text in texts.items()}
    called = {name: set(re.findall(r"(?<![\w.:>])(\w+)\(", text)) for name, text in texts.items()}
    included = {name: re.findall(r'#include "([^"]+)"', text) for name, text in sources.items()}
    found = []
    for a, b in permutations(sources, 2):
        for name, mine in own[a].items() if place[b].startswith(place[a]) else ():
            others = own[b].get(name, [])
            if not others and name in called[b]:
                others = [one for header in included[b] for one in declared.get(header, {}).get(name, [])]
                others = [one for one in others if "*" not in one[0]]  # a template leaves a type to its own function
            if any(taken(x, y) for x in mine for y in others):
                found.append(f"{name} of {a} may take a call of {b}")
    return found


def test_no_function_takes_a_call_of_another_source():
    headers = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "octavo").rglob("*.hpp")}
    wrong = []
    for folder in FOLDERS:
        paths = [path for path in sorted(folder.rglob("*.cpp")) if "serial" not in path.parts]
        for tests in (False, True):
            room = {str(p.relative_to(ROOT)): p.read_text() for p in paths if p.name.endswith("_test.cpp") == tests}
            wrong += faults(room, headers)
    assert not wrong, "\n".join(["give one of each pair another name:", *wrong])


def test_a_function_that_takes_a_call_of_another_source_is_found():
    def source(function: str, call: str = "", room: str = "octavo::room") -> str:
        unnamed = f"namespace {{\n{function} {{}}\n}}  // namespace\n"
        return f'#include "h"\nnamespace {room} {{\n{unnamed}void work() {{ {call}; }}\n}}\n'

    text = source("int bytes_of(const std::string& text)")
    path = source("int bytes_of(const fs::path& path, bool all = false)")
    both = ["bytes_of of a may take a call of b", "bytes_of of b may take a call of a"]
    assert faults({"a": text, "b": path}, {}) == both
    assert not faults({"a": text, "b": path.replace("octavo::room", "octavo::other")}, {})
    headers = {"h": "int bytes_of(std::string_view text);\n"}
    assert faults({"a": path, "b": source("int x()", 'bytes_of("")')}, headers) == both[:1]
    assert not faults({"a": path, "b": source("int x()", 'base::bytes_of("")')}, headers)
    assert not faults({"a": text, "b": source("int bytes_of(const Part& part)")}, {})
    assert not faults({"a": text, "b": source("int bytes_of(const fs::path& path, int number)")}, {})


#: Headers beside those that are compiled once for all sources (cmake/together.cmake), and names that only they bring for sure.
BROUGHT = {
    "chrono": "chrono",
    "condition_variable": "condition_variable(?:_any)?",
    "csignal": "signal|raise",
    "cstdio": "fprintf|snprintf|printf|fopen|FILE",
    "cstdlib": "getenv|strtod|strtol|abort|exit|_Exit|quick_exit|malloc|free",
    "deque": "deque",
    "exception": "exception_ptr|current_exception|rethrow_exception|make_exception_ptr|terminate|uncaught_exceptions",
    "future": "future|promise|async|packaged_task",
    "iomanip": "setw|setfill|setprecision",
    "iostream": "cout|cerr|cin|clog",
    "iterator": "back_inserter|inserter|ostream_iterator|istream_iterator",
    "list": "list",
    "numbers": "numbers",
    "queue": "queue|priority_queue",
    "regex": "regex|smatch|regex_match|regex_replace",
    "shared_mutex": "shared_mutex|shared_lock",
    "sstream": "[io]?stringstream",
    "stdexcept": "runtime_error|logic_error|invalid_argument|out_of_range",
    "tuple": "tuple|tie|make_tuple|forward_as_tuple|apply",
    "type_traits": r"is_\w+_v|conditional_t|decay_t|remove_\w+_t|remove_cvref_t|invoke_result_t|integral_constant|true_type|false_type",
    "unordered_map": "unordered_(?:multi)?map",
    "unordered_set": "unordered_(?:multi)?set",
    "utility": "exchange|as_const|in_place|index_sequence|make_index_sequence|piecewise_construct|unreachable",
    "variant": "variant|monostate",
}  # fmt: skip


def missing_includes(path: Path) -> list[str]:
    """Headers that a source names something of, without it or the header of its own name including them."""
    text = cleaned(path.read_text())
    included = set(re.findall(r"#include <([^>]+)>", text))
    own = path.with_name(path.name.replace("_test.cpp", ".hpp").replace(".cpp", ".hpp"))
    if own.exists():
        included |= set(re.findall(r"#include <([^>]+)>", own.read_text()))
    return [
        header
        for header, names in BROUGHT.items()
        if header not in included and re.search(rf"\bstd::(?:{names})\b", text)
    ]


def test_a_source_includes_what_it_names():
    """Another source of its group, or mpi.h, may bring a header in one build and not in the next."""
    folders = [*FOLDERS, ROOT / "bench", ROOT / "adapters", ROOT / "tests", ROOT / "examples"]
    sources = sorted({p for folder in folders for p in folder.rglob("*.[ch]pp")})
    wrong = [f"{p.relative_to(ROOT)}: <{header}>" for p in sources for header in missing_includes(p)]
    assert len(sources) > 500 and not wrong, "\n".join(["these lack an include:", *wrong])


def test_a_missing_include_is_found(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text("// std::deque\nint x = std::exchange(y, 0) + std::get<0>(z);\n")
    assert missing_includes(source) == ["utility"]
    (tmp_path / "a.hpp").write_text("#include <utility>\n")
    assert missing_includes(source) == []
