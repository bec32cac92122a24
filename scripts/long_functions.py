"""Lists functions of more than 60 lines in octavo/, capi/ and python/, tests left out. Exits with 1 if there are any.

C++ files are laid out by clang-format: the body of a function ends with the first line that is a brace at the column
where the function begins. Lambdas count as lines of the function around them.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

MOST = 60
ROOT = Path(__file__).resolve().parents[1]
NO_FUNCTION = re.compile(
    r"\s*(?:export |inline )?(?:namespace|struct|class|enum|union|extern|template|if|for|while|switch|try|do|else|return|\}|#|//|case|default)\b"
)


def python_functions(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def cpp_functions(path):
    lines = path.read_text().splitlines()
    in_class = False
    for number, line in enumerate(lines):
        if re.match(r"[A-Za-z}]", line):
            in_class = bool(re.match(r"(class|struct)\b.*\{$", line)) or (in_class and not line.startswith("}"))
        begin = re.match(r"((?:  )?)[A-Za-z~:].*\(", line)
        if not begin or NO_FUNCTION.match(line) or (begin.group(1) and not in_class):
            continue
        # The declarator may go on for some lines, all of them deeper than its first one.
        last = number
        while last + 1 < len(lines) and not lines[last].rstrip().endswith(("{", ";", "}")):
            last += 1
        if not lines[last].rstrip().endswith("{"):
            continue
        close = begin.group(1) + "}"
        end = next((i for i in range(last + 1, len(lines)) if re.match(re.escape(close) + r"(?!\w)", lines[i])), last)
        name = re.search(r"([^\s(]+)\s*\(", line)
        yield name.group(1) if name else line.strip(), number + 1, end - number + 1


def fortran_functions(path):
    begin = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"\s*end (subroutine|function)\b", line) and begin:
            yield begin[0], begin[1], number - begin[1] + 1
            begin = None
        elif found := re.match(r"\s*(?!end\b)(?:[\w()]+ )*(?:subroutine|function) (\w+)", line):
            begin = found.group(1), number


def is_test(path):
    return "test" in path.name or "tests" in path.parts


FUNCTIONS = {".py": python_functions, ".cpp": cpp_functions, ".hpp": cpp_functions, ".f90": fortran_functions}


def main():
    long = []
    for folder in ("octavo", "capi", "python"):
        for path in sorted((ROOT / folder).rglob("*")):
            if is_test(path.relative_to(ROOT)):
                continue
            functions = FUNCTIONS.get(path.suffix)
            for name, line, length in functions(path) if functions else ():
                if length > MOST:
                    long.append(f"{path.relative_to(ROOT)}:{line}: {name} has {length} lines")
    print("\n".join(long))
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
