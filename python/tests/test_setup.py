"""scripts/setup and scripts/build on machines that lack something: another user, no dpkg, a sudo that refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BARE = [
    "bash",
    "env",
    "cat",
    "cmp",
    "cp",
    "cut",
    "dirname",
    "grep",
    "head",
    "id",
    "mkdir",
    "mktemp",
    "mv",
    "nproc",
    "rm",
    "sed",
    "sort",
    "tail",
    "tee",
    "touch",
    "tr",
    "true",
    "uname",
    "awk",
    "xargs",
]


@pytest.fixture
def machine(tmp_path):
    """machine(without=[...], stubs={...}) -> run(script, *words): a copy of the scripts, on a PATH of our own."""
    tree = tmp_path / "octavo"
    shutil.copytree(ROOT / "scripts", tree / "scripts")
    shutil.copy(ROOT / "pyproject.toml", tree)
    (tree / ".venv").symlink_to(sys.prefix)
    tools = tmp_path / "bin"
    tools.mkdir()

    def make(tools_there, stubs):
        for name in [*BARE, "python3", *tools_there]:
            found = sys.executable if name == "python3" else shutil.which(name)
            if found and not (tools / name).exists():
                (tools / name).symlink_to(found)
        for name, text in stubs.items():
            (tools / name).unlink(missing_ok=True)
            (tools / name).write_text(f"#!/bin/bash\n{text}\n")
            (tools / name).chmod(0o755)

        def run(script, *words):
            environment = {"PATH": str(tools), "HOME": str(tmp_path), "LC_ALL": "C"}
            return subprocess.run(
                [tools / "bash", tree / "scripts" / script, *words], capture_output=True, text=True, env=environment
            )

        run.tree = tree
        return run

    return make


BUILDERS = ["c++", "g++", "gcc", "cc", "make", "cmake", "pkg-config", "mpicxx", "mpirun"]
PLAIN_USER = {"id": "echo 1000"}


def test_what_is_there_is_taken_without_dpkg(machine):
    """No dpkg, no apt-get, no sudo: compilers, headers and pkg-config say what there is."""
    run = machine(BUILDERS, PLAIN_USER)
    done = run("setup", "run")
    assert done.returncode == 0, done.stderr
    found = (run.tree / "build" / "found").read_text().split()
    assert {"g++", "libzstd-dev", "libxxhash-dev"} <= set(found)


def test_a_sudo_that_refuses_is_no_sudo(machine):
    """The optional compiler is missing: the build goes without, and says so."""
    refusing = {"sudo": "echo 'user is not in the sudoers file' >&2; exit 1", "apt-get": "exit 100"}
    run = machine(BUILDERS, {**PLAIN_USER, **refusing})
    done = run("setup", "run", "test")
    assert done.returncode == 0, done.stderr
    assert "apt-get install" in done.stderr and "gfortran" in done.stderr
    assert "does without" in done.stderr
    assert "gfortran" not in (run.tree / "build" / "found").read_text().split()


@pytest.mark.parametrize("user", ["root", "with sudo"])
def test_what_can_be_installed_is_installed(machine, tmp_path, user):
    """apt-get, as root or through sudo, is asked for exactly what the probes did not find."""
    log = tmp_path / "log"
    gfortran = tmp_path / "bin" / "gfortran"
    apt = f"echo \"$@\" >>{log}; [[ $1 != install ]] || {{ echo '#!/bin/bash' >{gfortran}; }}; chmod +x {gfortran} 2>/dev/null; exit 0"
    stubs = {"apt-get": apt, "chmod": f'exec {shutil.which("chmod")} "$@"', "clang++": f'exec {shutil.which("g++")} "${{@/-fsanitize=fuzzer/-shared}}"'}  # fmt: skip
    stubs |= {"id": "echo 0"} if user == "root" else {**PLAIN_USER, "sudo": 'exec "$@"'}
    run = machine(BUILDERS, stubs)
    done = run("setup", "run", "test")
    assert done.returncode == 0, done.stderr
    calls = log.read_text().splitlines()
    asked = calls[-1].split()
    assert asked[0] == "install" and "gfortran" in asked
    assert "g++" not in asked and "libzstd-dev" not in asked
    assert "gfortran" in (run.tree / "build" / "found").read_text().split()


def test_there_is_no_build_without_a_compiler(machine):
    run = machine(["make", "cmake", "pkg-config"], PLAIN_USER)
    done = run("setup", "run")
    assert done.returncode == 1
    assert "no build without" in done.stderr and "g++" in done.stderr


def test_a_configure_step_that_was_interrupted_is_repeated(machine):
    """A stamp without a cache; and a configure step that fails leaves no stamp."""
    run = machine(["make"], {"cmake": 'echo "$@" >>{log}; [[ $1 == --build ]] || exit 1'.replace("{log}", "cmake.log")})
    run.tree.joinpath("build/release").mkdir(parents=True)
    stamp = run.tree / "build" / "release" / ".options"
    first = run("build", "--preset", "release", "--", "all")
    assert first.returncode == 1 and not stamp.exists()
    (run.tree.parent / "bin" / "cmake").write_text(
        '#!/bin/bash\necho "$@" >>cmake.log\n[[ $1 == --build ]] || touch build/release/CMakeCache.txt build/release/Makefile\n'
    )
    assert run("build", "--preset", "release", "--", "all").returncode == 0 and stamp.exists()
    configures = lambda: sum("--build" not in line for line in (run.tree / "cmake.log").read_text().splitlines())  # noqa: E731
    before = configures()
    run("build", "--preset", "release", "--", "all")
    assert configures() == before
    (run.tree / "build" / "release" / "CMakeCache.txt").unlink()
    assert run("build", "--preset", "release", "--", "all").returncode == 0
    assert configures() == before + 1


def test_a_build_that_fails_gives_a_reason(machine):
    text = "[[ $1 == --build ]] && { echo 'something is amiss with the disk'; exit 2; }; mkdir -p build/release; touch build/release/CMakeCache.txt build/release/Makefile"
    run = machine(["make", "touch"], {"cmake": text})
    done = run("build", "--preset", "release", "--", "all")
    assert done.returncode == 1 and "something is amiss with the disk" in done.stderr


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="no gfortran")
def test_what_cmake_did_not_find_is_looked_for_again(tmp_path):
    """A cache of a configure step without a Fortran compiler: the next step looks again."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\ninclude({ROOT}/cmake/found.cmake)\nproject(try LANGUAGES C)\n"
        "include(CheckLanguage)\ncheck_language(Fortran)\nfind_library(MED_LIBRARY nothing_of_that_name)\n"
        'octavo_without("a thing")\noctavo_write_without()\nmessage(STATUS "Fortran: ${CMAKE_Fortran_COMPILER}")\n'
    )
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "out"]
    subprocess.run([*configure, "-DCMAKE_Fortran_COMPILER=NOTFOUND"], check=True, capture_output=True)
    cache = tmp_path / "out" / "CMakeCache.txt"
    cache.write_text(cache.read_text() + "CMAKE_Fortran_COMPILER:FILEPATH=NOTFOUND\n")
    done = subprocess.run(configure, check=True, capture_output=True, text=True)
    assert "Fortran: NOTFOUND" not in done.stdout and "Fortran: /" in done.stdout
    assert (tmp_path / "out" / "without.txt").read_text() == "a thing\n"


def test_check_only_prints(machine):
    """Nothing is installed, made or written."""
    stubs = {"id": "echo 0", "apt-get": "echo called >>apt.log"}
    run = machine(["make", "cmake", "c++"], stubs)
    before = sorted(run.tree.rglob("*"))
    done = subprocess.run([run.tree.parent / "bin" / "bash", run.tree / "scripts" / "setup", "run", "test"],
                          capture_output=True, text=True, env={"PATH": str(run.tree.parent / "bin"), "SETUP": "check"})  # fmt: skip
    assert done.returncode == 0 and sorted(run.tree.rglob("*")) == before
    assert "missing:" in done.stderr and "libgtest-dev" not in done.stderr.split("missing:")[0].split("found:")[0]
    assert "gfortran" in done.stderr.split("missing:")[1]


@pytest.mark.parametrize("chosen", ["/usr/bin/mpirun.mpich", "/usr/bin/mpirun.openmpi", ""])
def test_another_mpi_is_not_replaced_without_asking(machine, tmp_path, chosen):
    """apt-get says that p4est would bring Open MPI. Nobody can be asked: it is left out where another MPI is chosen."""
    log = tmp_path / "log"
    apt = f'[[ " $* " == *" -s "* ]] || echo "$@" >>{log}; [[ "$* " == *" -s "*libp4est-dev* ]] && echo "Inst libopenmpi-dev (4)"; exit 0'
    link = f"[ -n '{chosen}' ] && echo {chosen}"
    header = 'for word in "$@"; do [[ $word == - ]] && grep -q p4est && exit 1; done; exit 0'
    run = machine(
        [b for b in BUILDERS if b != "c++"], {"id": "echo 0", "apt-get": apt, "readlink": link, "c++": header}
    )
    done = run("setup", "run")
    assert done.returncode == 0, done.stderr
    asked = [line for line in log.read_text().splitlines() if line.startswith("install")]
    assert any("libp4est-dev" in line for line in asked) == ("mpich" not in chosen), done.stderr
    assert ("libp4est-dev is left out" in done.stderr) == ("mpich" in chosen)


def test_a_moved_tree_is_set_up_again(machine, tmp_path):
    run = machine(BUILDERS, PLAIN_USER)
    (run.tree / ".venv").unlink()
    programs = run.tree / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "pip", "mypy"):
        (programs / name).write_text("#!/bin/bash\n" if name == "python" else "#!/gone/octavo/.venv/bin/python3\n")
        (programs / name).chmod(0o755)
    run("setup", "run")
    assert (programs / "mypy").read_text().splitlines()[0] == f"#!{programs}/python3"
    cache = run.tree / "build" / "release" / "CMakeCache.txt"
    cache.parent.mkdir(parents=True)
    cache.write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/gone/octavo\n")
    run("build", "--preset", "release", "--", "all")
    assert not cache.exists() or "/gone" not in cache.read_text()
