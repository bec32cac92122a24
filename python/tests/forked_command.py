"""The command, or a script, in a process forked from one that has imported the package: a test then waits for its own work, and not
for an interpreter that starts and imports NumPy and Matplotlib, which is most of the time of a short verb. The process has its own
arguments, folder, environment, output and exit code, as the installed script has; tests of how a command starts, what it imports
and what memory it takes run that script."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    ["numpy", "matplotlib.pyplot", "rich.console", "rich.progress", "rich.table", "octavo.cli"]
)


def _work(words):
    if words[0] != sys.executable:
        from octavo.cli import main

        sys.argv = words
        sys.exit(main())
    sys.path[0] = ""
    if words[1] == "-c":
        sys.argv = ["-c", *words[3:]]
        exec(compile(words[2], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = words[1:]
        runpy.run_path(words[1], run_name="__main__")


def _process(words, folder, environment, outputs):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(outputs, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    try:
        _work(words)
    finally:
        atexit._run_exitfuncs()


def run(words, timeout=600, cwd=None) -> subprocess.CompletedProcess:
    """Runs words of which the first is the command's path, or the interpreter's before a file or "-c" and a text. Exit code and
    texts are those of subprocess.run."""
    words = list(map(str, words))
    with tempfile.TemporaryDirectory(prefix="octavo-command-") as folder:
        outputs = [Path(folder) / "out", Path(folder) / "err"]
        process = _context.Process(target=_process, args=(words, str(cwd or Path.cwd()), dict(os.environ), outputs))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, process.exitcode, *(path.read_text() for path in outputs))
