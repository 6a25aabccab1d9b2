"""Tests that `export` writes, compiled and run on the libraries that are there."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.exports import ExportOptions, Form, export_text
from rdma_robust.record.recorded_process import FOLDER, begin_recording
from rdma_robust.record.toolchain import compile_recorded


@dataclass(frozen=True, slots=True)
class RunLibrary:
    """A library: what is written for it, how that is compiled and run with two processes, and the package that has it."""

    form: Form
    compiler: str
    run: tuple[str, ...]
    package: str


LIBRARIES: Final[Mapping[str, RunLibrary]] = {
    "oshmem": RunLibrary("shmem-test", "oshcc", ("oshrun", "--oversubscribe", "-np"), "openmpi-bin, libopenmpi-dev"),
    "openmpi": RunLibrary(
        "mpi-test", "mpicc.openmpi", ("mpirun.openmpi", "--oversubscribe", "-n"), "openmpi-bin, libopenmpi-dev"
    ),
    "mpich": RunLibrary("mpi-test", "mpicc.mpich", ("mpirun.mpich", "-n"), "mpich, libmpich-dev"),
}
_ROOT: Final = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True, slots=True)
class Seen:
    """How often a test saw final states that sequential consistency has, others that are allowed, and forbidden ones."""

    code: int
    text: str
    counts: dict[str, int] = field(default_factory=dict)


def run_on(
    name: str, text: str, folder: Path, *, rounds: int = 300, block: int = 1, env: Mapping[str, str] | None = None
) -> Seen:
    """Write, compile and run a program. Skips where the library is not there."""
    library = LIBRARIES[name]
    if shutil.which(library.compiler) is None:
        pytest.skip(f"without {library.compiler} (packages {library.package}) nothing is run on {name}")
    (folder / "test.c").write_text(export_text(text, "test.rdma", ExportOptions(library.form)).text)
    compiled = [library.compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-o", "test", "test.c"]
    made = subprocess.run(compiled, cwd=folder, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    command = [*library.run, "2", "./test", str(rounds), str(block)]
    given = {**os.environ, **_ROOT, **(env or {})}
    ran = subprocess.run(command, cwd=folder, env=given, check=False, capture_output=True, text=True, timeout=300)
    assert "rounds, blocks of" in ran.stdout, ran.stdout + ran.stderr
    return Seen(ran.returncode, ran.stdout, _counts(ran.stdout))


def _counts(said: str) -> dict[str, int]:
    counts = {"sc": 0, "allowed": 0, "FORBIDDEN": 0}
    for count, which in re.findall(r"^ *(\d+) (sc|allowed|FORBIDDEN) ", said, re.MULTILINE):
        counts[which] += int(count)
    return counts


def run_on_verbs(text: str, folder: Path, *, rounds: int) -> Seen:
    """Write and compile a test for two cards, and run it on the card of the recorder. Skips without gcc."""
    if shutil.which("gcc") is None:
        pytest.skip("without gcc nothing is run on verbs")
    (folder / "test.c").write_text(export_text(text, "test.rdma", ExportOptions("verbs-test")).text)
    options = ["-O1", "-Wall", "-Wextra", "-Werror", "-o", str(folder / "test"), str(folder / "test.c"), "-libverbs"]
    assert compile_recorded("cc", options) == 0
    begin_recording(folder / "run")
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port = str(made.getsockname()[1])
    started = [
        subprocess.Popen(
            [folder / "test", str(rounds)],
            env={**os.environ, FOLDER: str(folder / "run"), "RANK": rank, "PORT": port},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    said = [each.communicate(timeout=300)[0] for each in started]
    assert "rounds, blocks of" in said[0], said
    return Seen(started[0].returncode, said[0], _counts(said[0]))
