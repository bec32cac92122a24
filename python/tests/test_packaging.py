"""Recipes of packaging/: they name options, versions and dependencies that are there, and what they do to a build gives a
command. None of their tools is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
BUILD = ROOT / "build" / "release"
#: Options of CMake for developers of Octavo: a package leaves them as they are.
FOR_DEVELOPERS = {"OCTAVO_BENCH", "OCTAVO_FUZZ", "OCTAVO_TOGETHER", "OCTAVO_WERROR"}


def project(path: Path) -> dict:
    return tomllib.loads(path.read_text())["project"]


OWN = project(ROOT / "pyproject.toml")


def cmake_text() -> str:
    files = [
        ROOT / "CMakeLists.txt",
        *(ROOT / "cmake").glob("*.cmake"),
        ROOT / "python" / "bindings" / "CMakeLists.txt",
    ]
    return "".join(file.read_text() for file in files)


def least() -> dict[str, str]:
    """The least version of what a build or the package needs, by name: "numpy" -> "1.26"."""
    text = (ROOT / "pyproject.toml").read_text()
    extras = [line for lines in OWN["optional-dependencies"].values() for line in lines]
    lines = [*tomllib.loads(text)["build-system"]["requires"], *OWN["dependencies"], *extras]
    found = dict(re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", line).groups() for line in lines)
    found["python"] = OWN["requires-python"].removeprefix(">=")
    found["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", cmake_text())[1]
    return found


def test_all_have_the_version_of_the_project():
    version = OWN["version"]
    assert project(PACKAGING / "reader" / "pyproject.toml")["version"] == version
    assert f"version: {version}\n" in (PACKAGING / "conda" / "recipe.yaml").read_text()
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()
    assert f"find_package(Python {least()['python']} " in cmake_text()


# ------------------------------------------------------------------ Spack


class Recipe:
    """packaging/spack/package.py, read with stand-ins for Spack's words that take the arguments which Spack's take."""

    def __init__(self, monkeypatch) -> None:
        self.variants: dict[str, bool] = {}
        self.needs: dict[str, tuple] = {}  # spec -> type, when
        words = types.ModuleType("spack.package")
        words.license = lambda identifier, checked_by=None, when=None: None
        words.version = lambda number, checksum=None, *, branch=None, tag=None, sha256=None, url=None: None
        words.conflicts = lambda spec, when=None, msg=None: None
        words.extends = lambda spec, when=None, type=("build", "run"), patches=None: None
        words.variant = lambda name, default=None, description="", values=None, multi=None, when=None: (
            self.variants.__setitem__(name, default)
        )
        words.depends_on = lambda spec, when=None, type=("build", "link"), patches=None: self.needs.__setitem__(
            spec, (type, when)
        )
        words.join_path = os.path.join
        words.mkdirp = lambda path: os.makedirs(path, exist_ok=True)
        words.install_tree = lambda source, target: shutil.copytree(source, target, dirs_exist_ok=True)
        words.set_executable = lambda path: os.chmod(path, 0o755)
        words.which = lambda name, required=False: (
            lambda *more: subprocess.run([name, *more], check=True, stdout=subprocess.DEVNULL)
        )
        base = types.ModuleType("spack_repo.builtin.build_systems.cmake")
        base.CMakePackage = type("CMakePackage", (), {"define": _define, "define_from_variant": _define})
        for module in (words, base):
            parents = module.__name__.split(".")
            for depth in range(1, len(parents)):
                name = ".".join(parents[:depth])
                monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
            monkeypatch.setitem(sys.modules, module.__name__, module)
        path = PACKAGING / "spack" / "package.py"
        self.names: dict = {}
        exec(compile(path.read_text(), path, "exec"), self.names)

    @property
    def package(self):
        return self.names["Octavo"]()


def _define(_self, option: str, value) -> tuple[str, object]:
    """An option of CMake, and its value or the variant that tells it."""
    return option, value


@pytest.fixture
def spack(monkeypatch) -> Recipe:
    return Recipe(monkeypatch)


def test_spack_s_options_are_all_that_cmake_has_for_users(spack):
    options = set(re.findall(r"option\((OCTAVO_\w+)", cmake_text()))
    defined = dict(spack.package.cmake_args())
    assert defined.keys() == options - FOR_DEVELOPERS
    assert {value for value in defined.values() if isinstance(value, str)} == spack.variants.keys()


def test_spack_s_dependencies_are_those_of_cmake_and_pyproject(spack):
    """What CMake looks for by pkg-config or find_package is named, with the least version that the project names."""
    names = {re.match(r"[\w-]+", spec)[0] for spec in spack.needs}
    required = re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET lib(\w+)\)", cmake_text())
    assert {*required, "hdf5", "metis", "scotch", "mpi", "pkgconfig", "c", "cxx"} <= names
    versions = least()
    for name in ("cmake", "python", "py-numpy", "py-nanobind"):
        assert f"{name}@{versions[name.removeprefix('py-')]}:" in spack.needs
    for _, when in spack.needs.values():
        assert when is None or set(re.findall(r"[+~](\w+)", when)) <= spack.variants.keys()
    assert "run" in spack.needs[f"py-numpy@{versions['numpy']}:"][0]


def test_spack_s_install_gives_a_command_that_runs(spack, tmp_path):
    """It installs the build of this tree, without compiling."""
    if not list(BUILD.glob("python/bindings/_core.*.so")):
        pytest.skip(f"no build in {BUILD}: make builds it")
    prefix = type("Prefix", (str,), {"bin": str(tmp_path / "bin")})(tmp_path)
    site = tmp_path / "lib" / "site-packages"
    package = spack.package
    package.build_directory, package.stage = str(BUILD), types.SimpleNamespace(source_path=str(ROOT))
    spack.names["python_platlib"] = str(site)
    python = types.SimpleNamespace(command=types.SimpleNamespace(path=sys.executable))
    spec = type("Spec", (dict,), {"satisfies": lambda _self, words: words == "+python"})(python=python)
    package.install(spec, prefix)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [tmp_path / "bin" / "octavo", "sample", tmp_path / "output_00001", "--levels", "3-4", "-q"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = "import octavo; print(octavo.__file__)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert Path(done.stdout).is_relative_to(site)
    assert list(tmp_path.rglob("octavo-config.cmake")) and list(tmp_path.rglob("octavo.pc"))


# ------------------------------------------------------------------ conda


@pytest.fixture
def recipe() -> dict:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(re.sub(r"\$\{\{(.*?)\}\}", r"<\1>", (PACKAGING / "conda" / "recipe.yaml").read_text()))


def test_the_conda_recipe_runs_the_command_s_verbs(run, tmp_path):
    """Its test runs as it stands."""
    text = (PACKAGING / "conda" / "recipe.yaml").read_text()
    lines = re.findall(r"^ +- octavo (.*)$", text, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        run(*line.split(), cwd=tmp_path)


def test_the_conda_recipe_is_about_this_project(recipe):
    assert {"package", "source", "build", "requirements", "tests", "about"} <= set(recipe)
    assert recipe["package"]["name"] == OWN["name"]
    assert recipe["about"]["license"] == OWN["license"]["text"]
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert (PACKAGING / "conda" / recipe["source"]["path"]).resolve() == ROOT


def test_the_conda_recipe_s_versions_are_those_of_pyproject(recipe):
    """Its host has what builds a wheel, its run has what the package needs, and the extras that it brings; by PyPI's names."""
    versions = least()
    lines = {part: [line.replace("matplotlib-base", "matplotlib") for line in lines]
             for part, lines in recipe["requirements"].items()}  # fmt: skip
    named = {part: dict(line.split(" >=") for line in lines[part] if " >=" in line) for part in lines}
    for part, names in named.items():
        assert names == {name: versions[name] for name in names}, part
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {line.split(">=")[0] for line in [*build, *OWN["dependencies"]]} <= named["host"].keys()
    extras = OWN["optional-dependencies"]
    assert named["run"].keys() == {
        line.split(">=")[0] for line in [*OWN["dependencies"], *extras["plot"], *extras["tables"], *extras["view"]]
    } | {"python"}
    assert "python" in named["host"]


# ------------------------------------------------------------------ Docker


def test_the_dockerfile_copies_what_make_leaves():
    text = (PACKAGING / "docker" / "Dockerfile").read_text()
    assert "RUN make " in text and "COPY --from=build /octavo/.venv /octavo/.venv" in text
    if shutil.which("hadolint") is None:
        pytest.skip("there is no hadolint to read it")
    done = subprocess.run(["hadolint", PACKAGING / "docker" / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def said_by(*words) -> str:
    return subprocess.run(words, capture_output=True, text=True).stdout


def owner_of(library: str) -> str:
    """The Debian package that has a file. Packages from before the folders were merged name it without /usr."""
    path = os.path.realpath(library)
    return said_by("dpkg", "-S", path, path.removeprefix("/usr")).split(":")[0]


def test_the_image_has_the_libraries_that_the_modules_load():
    """Each library's Debian package is named by the Dockerfile, or is one that a named package needs."""
    release = Path("/etc/os-release")
    if not (shutil.which("dpkg") and release.exists() and "VERSION_CODENAME=bookworm" in release.read_text()):
        pytest.skip("packages have these names in Debian 12 alone")
    import octavo

    folder, loaded = Path(octavo.__file__).parent, set()
    for module in ("_core", "_mpi", "_bench"):
        for file in folder.glob(f"{module}.*.so"):
            loaded |= set(re.findall(r"\(NEEDED\).*\[(.*?)\]", said_by("readelf", "-d", file)))
    loaded |= set(re.findall(rb"libmedC\.so\.\d+", next(folder.glob("_core.*.so")).read_bytes()))
    loaded = {name.decode() if isinstance(name, bytes) else name for name in loaded}
    lines = re.findall(r"^\t(\S+) .* => (\S+)$", said_by("/sbin/ldconfig", "-p"), re.MULTILINE)
    known = dict(reversed(lines))  # the first one counts: later ones are of other machine types
    if not set(loaded) <= known.keys():
        pytest.skip("built with libraries that are no Debian packages")
    image = (PACKAGING / "docker" / "Dockerfile").read_text().split("FROM ")[-1]
    named = set(re.findall(r"[\w.+-]+", image))
    there = named | {"libc6", "libstdc++6", "libgcc-s1", "zlib1g"}
    for name in sorted(named & {"openmpi-bin"}):
        there |= set(re.findall(r"[\w.+-]+", said_by("dpkg-query", "-W", "-f", "${Depends}", name)))
    lacking = {}
    for name in sorted(loaded):
        if (owner := owner_of(known[name])) not in there:
            lacking[name] = owner
    assert lacking == {}
