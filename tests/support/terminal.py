"""A folder and a command line for the examples of a document: what is typed there leaves the repository alone."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

import pytest

from rdma_robust.__main__ import main
from tests.conftest import keep_command_lines
from tests.support.documents import ROOT

OPERATORS = frozenset("();<>|&")
COPIED = ("litmus", "tests/nets")


class Terminal:
    """Runs commands as a shell would, in a folder with copies of the suites; keeps the last exit code for `echo $?`.

    A plain `rdma-robust ...` is run in this process, which is sooner by the start of one.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.code = 0
        self.patch = patch
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for name, value in (("PATH", path), ("RDMA_ROBUST_CACHE", str(folder / ".cache"))):
            patch.setenv(name, value)
        patch.delenv("COLUMNS", raising=False)
        patch.chdir(folder)
        for module in ("asked_files", "commands.cover"):
            patch.setattr(f"rdma_robust.cli.{module}.processors", lambda: 1)
        keep_command_lines(patch)

    def provide(self, text: str) -> None:
        """Copy the folders that `text` names, unless they are there."""
        for name in COPIED:
            if f"{name}/" in text and not (self.folder / name).exists():
                shutil.copytree(ROOT / name, self.folder / name)

    def run(self, command: str) -> str:
        """Return what `command` prints, on both streams."""
        assert not re.match(r"rdma-robust explore (?!.*--help)", command), f"{command} does not end by itself"
        self.provide(command)
        if command.startswith("rdma-robust ") and not needs_shell(command):
            return self._run_here(shlex.split(command)[1:])
        done = subprocess.run(
            f"(exit {self.code}); {command}",
            shell=True,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        self.code = done.returncode
        return done.stdout

    def _run_here(self, arguments: list[str]) -> str:
        self.patch.setattr(sys, "argv", ["rdma-robust", *arguments])
        self.patch.setattr(sys, "stdin", TextIOWrapper(BytesIO()))
        # A file, not memory: a command may answer in a process that it has forked.
        with TemporaryFile(buffering=0) as printed:
            stream = TextIOWrapper(cast(BinaryIO, printed), encoding="utf-8", write_through=True)
            with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream), _signals_kept():
                self.code = main()
            printed.seek(0)
            return printed.read().decode()


def needs_shell(command: str) -> bool:
    """Tell whether there is more in `command` than a program, plain arguments, and quotes around some of them."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    return any(c in command for c in "$`\\~{}") or any(OPERATORS.issuperset(word) for word in words)


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
