"""Clang 14, which Debian 12 has and the fuzzers use, lets no lambda capture a name of a structured binding (`for (auto& [a, b]
: c)`) unless it is given anew (`[&a = a]`)."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("octavo", "capi", "adapters", "apps", "bench", "examples", "python/bindings", "tests")
BINDING = re.compile(r"\bauto\s*&{0,2}\s*\[([^\]]+)\]\s*([:=])(?!:)")
LAMBDA = re.compile(r"(?<![\w\])])\[([^\[\]]*)\]\s*(\((?:[^()]|\([^()]*\))*\))?\s*(?:mutable |-> [\w:<>&*, ]+)?\{")


def end_of(text: str, at: int, stop: str = "") -> int:
    """Where the brackets that are open at this place close; or before, at one of `stop` outside brackets in between."""
    depth = 0
    while at < len(text) and depth >= 0 and not (depth == 0 and text[at] in stop):
        depth += (text[at] in "({[") - (text[at] in ")}]")
        at += 1
    return at


def captured_bindings(text: str) -> list[str]:
    """The names of structured bindings that lambdas capture."""
    text = re.sub(r"//[^\n]*", "", text)
    found = []
    for binding in BINDING.finditer(text):
        begin = binding.end() if binding[2] == "=" else end_of(text, binding.end())
        body = text[begin:].lstrip()
        block = binding[2] == "=" or body.startswith("{")
        scope = body[: end_of(body, body.startswith("{"), "" if block else ";")]
        until = dict.fromkeys(re.findall(r"\w+", binding[1]), 0)  # a name means a lambda's own up to there
        for made in LAMBDA.finditer(scope):
            end = end_of(scope, made.end())
            for name in until:
                if re.search(rf"\b{name}\b", made[2] or "") or re.search(rf"\b{name} =", made[1]):
                    until[name] = max(until[name], end)
                used = re.search(rf"(?<![.\w:>]){name}\b", scope[made.end() : end])
                if made[1] and used and made.start() >= until[name]:
                    found.append(name)
    return found


def test_no_lambda_captures_a_structured_binding():
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*") if path.suffix in {".hpp", ".cpp"}]
    assert len(paths) > 500
    found = {str(path.relative_to(ROOT)): captured_bindings(path.read_text()) for path in paths}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_captured_binding_is_found():
    texts = {
        "for (const auto& [a, b] : all) f([&] { return a; });\nf([&] { return b; });": ["a"],
        "{ const auto [a, b] = two();\n  f(1);\n  g([=](int c) { return b + c; }); }\nf([&] { return a; });": ["b"],
        "for (auto [a, b] : all) { f([&a = a](int b) { return [&] { return a + b; }; }); g([] {}, a); h(x[a], {b}); }": [],
    }
    assert {text: captured_bindings(text) for text in texts} == texts
