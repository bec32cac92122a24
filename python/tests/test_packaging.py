"""Recipes of packaging/: they name options, versions and dependencies that are there. None of their tools is needed."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


def project(path: Path) -> dict:
    return tomllib.loads(path.read_text())["project"]


def test_all_have_the_version_of_the_project():
    version = project(ROOT / "pyproject.toml")["version"]
    assert project(PACKAGING / "reader" / "pyproject.toml")["version"] == version
    assert f"version: {version}\n" in (PACKAGING / "conda" / "recipe.yaml").read_text()
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()


def test_spack_s_options_are_cmake_s():
    text = (PACKAGING / "spack" / "package.py").read_text()
    body = ast.parse(text).body[-1]
    assert isinstance(body, ast.ClassDef) and {"cmake_args", "install"} <= {
        f.name for f in body.body if isinstance(f, ast.FunctionDef)
    }
    cmake = (ROOT / "CMakeLists.txt").read_text() + "".join(
        file.read_text() for file in (ROOT / "cmake").glob("*.cmake")
    )
    options = set(re.findall(r"option\((OCTAVO_\w+)", cmake))
    named = set(re.findall(r'"(OCTAVO_\w+)"', text))
    assert named and named <= options
    variants = set(re.findall(r"^    variant\(\"(\w+)\"", text, re.MULTILINE))
    assert set(re.findall(r'define_from_variant\("\w+", "(\w+)"\)', text)) == variants
    assert set(re.findall(r"[+~](\w+)", " ".join(re.findall(r'when="([^"]*)"', text)))) <= variants


def test_the_conda_recipe_runs_the_command_s_verbs(run, tmp_path):
    """Its test runs as it stands."""
    text = (PACKAGING / "conda" / "recipe.yaml").read_text()
    lines = re.findall(r"^ +- octavo (.*)$", text, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        run(*line.split(), cwd=tmp_path)
    for requirement in project(ROOT / "pyproject.toml")["dependencies"]:
        name, least = requirement.split(">=")
        assert f"- {name} >={least}\n" in text


def test_the_recipe_is_yaml():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(re.sub(r"\$\{\{.*?\}\}", "x", (PACKAGING / "conda" / "recipe.yaml").read_text()))
    assert {"package", "source", "build", "requirements", "tests", "about"} <= set(recipe)
    assert (PACKAGING / "conda" / recipe["source"]["path"]).resolve() == ROOT


def test_the_dockerfile_copies_what_make_leaves():
    text = (PACKAGING / "docker" / "Dockerfile").read_text()
    assert "RUN make " in text and "COPY --from=build /octavo/.venv /octavo/.venv" in text
    if shutil.which("hadolint") is None:
        pytest.skip("there is no hadolint to read it")
    done = subprocess.run(["hadolint", PACKAGING / "docker" / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
