"""The command in a process forked from one that has imported the package: a test then waits for the command's own work, and not for
an interpreter that starts and imports NumPy and Matplotlib, which is most of the time of a short verb. The process has its own
arguments, folder, environment, output and exit code, as the installed script has; tests of how a command starts, what it imports
and what memory it takes run that script."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    ["numpy", "matplotlib.pyplot", "rich.console", "rich.progress", "rich.table", "octavo.cli"]
)


def _command(words, folder, environment, outputs):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(outputs, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.argv = list(words)
    from octavo.cli import main

    try:
        sys.exit(main())
    finally:
        atexit._run_exitfuncs()


def run(words, timeout, cwd=None) -> subprocess.CompletedProcess:
    """Runs the command with these words; the first is its own path. Exit code and texts are those of subprocess.run."""
    with tempfile.TemporaryDirectory(prefix="octavo-command-") as folder:
        outputs = [Path(folder) / "out", Path(folder) / "err"]
        process = _context.Process(target=_command, args=(words, str(cwd or Path.cwd()), dict(os.environ), outputs))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, process.exitcode, *(path.read_text() for path in outputs))
