"""Runs of MPI programs that are recorded: the MPI of a program, our library for it, the run, and the trace that it is."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rdma_robust.diagnose import listing
from rdma_robust.errors import UsageError
from rdma_robust.messages.traces.mpi_log import import_mpi_log
from rdma_robust.messages.traces.trace_record import MessageTrace
from rdma_robust.record.code_places import CodePlace, call_places
from rdma_robust.record.recorded_process import FOLDER, run_to_the_end
from rdma_robust.record.recorder_of_mpi import UNRECORDED, recorder_source

_KINDS: Final = ("openmpi", "mpich")
_TIMEOUT_S: Final = 120
_INSTALL: Final = "install one with its headers (Debian: libopenmpi-dev openmpi-bin, or libmpich-dev mpich)"
_LIBRARY: Final = re.compile(r"\blibmp(?:i|ich)\.so\.\d+")
"""The C library of Open MPI or MPICH; those of Fortran have other names, and need it."""
_OF_WINDOWS: Final = re.compile(
    r"R?(?:put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap|Win_(?:un)?lock(?:_all)?|Win_flush\w*",
    re.IGNORECASE,
)
_NOT_FOLLOWED: Final = (
    "what transfers between windows do is not recorded, nor is what waits for locks; `rdma-robust messages check` of the "
    "source looks at epochs and conflicts"
)
_SYMBOL: Final = re.compile(r"\bU (?:MPI_(\w+)|mpi_(\w+?)(?:_f08(?:ts)?)?_+)(?:@.*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mpi:
    """An MPI that is installed: its compiler, and what starts programs."""

    compiler: tuple[str, ...]
    starter: tuple[str, ...]


def mpi_of(program: str | None) -> Mpi:
    """Return the MPI that a program was linked with; of none, or of one of which that is not known, the one that is found.

    Raises UsageError without one.
    """
    named = [os.environ.get("MPICC", ""), os.environ.get("MPIRUN", "")]
    pairs = [("mpicc", "mpirun"), *((f"mpicc.{kind}", f"mpirun.{kind}") for kind in _KINDS)]
    choices = [Mpi(*(tuple(shlex.split(one)) or (other,) for one, other in zip(named, pair, strict=True))) for pair in pairs]
    there = [each for each in choices if shutil.which(each.compiler[0]) and shutil.which(each.starter[0])]
    if not there:
        missing = " and ".join(f"`{each[0]}`" for each in (choices[0].compiler, choices[0].starter))
        raise UsageError(f"there is no MPI: {missing} are not both found; {_INSTALL}, or name them with MPICC and MPIRUN")
    wanted = None if program is None else _LIBRARY.search(_said(["ldd", program]))
    if wanted is None:
        return there[0]
    for each in there:
        if wanted[0] in _linked(each):
            return each
    raise UsageError(
        f"`{program}` is linked with {wanted[0]}, and no compiler of that MPI is found; {_INSTALL}, or name it with MPICC"
    )


def _linked(mpi: Mpi) -> str:
    """Return the libraries that the compiler of an MPI links."""
    with tempfile.TemporaryDirectory(prefix="rdma-robust-record-") as folder:
        source, made = Path(folder, "empty.c"), Path(folder, "empty.so")
        source.write_text("int MPI_Init(int *, char ***);\nint record_any(void) { return MPI_Init(0, 0); }\n")
        _said([*mpi.compiler, "-shared", "-fPIC", "-o", str(made), str(source)])
        return _said(["ldd", str(made)])


def _said(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def build_library(mpi: Mpi, to: Path) -> None:
    """Compile the recorder with the compiler of an MPI. Raises UsageError if that fails."""
    with tempfile.TemporaryDirectory(prefix="rdma-robust-record-") as folder:
        source = Path(folder, "recorder.c")
        source.write_text(recorder_source())
        command = [*mpi.compiler, "-O1", "-w", "-shared", "-fPIC", "-o", str(to), str(source), "-ldl", "-lpthread"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"the compiler `{mpi.compiler[0]}` cannot be called: {error}") from None
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:300])
        raise UsageError(f"`{mpi.compiler[0]}` cannot compile the recorder: {said}")


@dataclass(frozen=True, slots=True)
class RecordedMessages:
    """The trace of a run, and what is to be said of the run."""

    trace: MessageTrace
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordableProgram:
    """A program with its arguments that runs as so many processes of its MPI, each with the library that records."""

    command: tuple[str, ...]
    program: str
    number: int
    mpi: Mpi
    library: Path
    notes: tuple[str, ...] = ()

    def run(self, seconds: float, forced: str = "") -> RecordedMessages:
        """Run it, and return what the processes did, as far as they came in the time; with the receives of some `forced`.

        Raises UsageError if it cannot be run or recorded, and ProgramError if what was recorded cannot be read.
        """
        with tempfile.TemporaryDirectory(prefix="rdma-robust-record-") as made:
            folder = Path(made)
            (folder / "forced").write_text(forced)
            preloaded = ["env", f"LD_PRELOAD={self.library}", f"{FOLDER}={folder.resolve()}"]
            started = [*self.mpi.starter, "-n", str(self.number), *preloaded, self.program, *self.command[1:]]
            end = run_to_the_end(started, 1, folder, seconds)
            logs = sorted(folder.glob("log.*.jsonl"))
            if not logs:
                starter = " ".join(self.mpi.starter)
                raise UsageError(f"nothing was recorded: `{starter}` started no process that called MPI_Init")
            texts = [(path.name, path.read_text()) for path in logs]
        source, placed = _placed(self.program, texts)
        trace = import_mpi_log(placed, f"run of {Path(self.command[0]).name}")
        trace = replace(trace, source=source, notes=(*trace.notes, *self.notes))
        remarks = () if end.in_time else (f"the run was ended after {seconds:g} s (--run-timeout)",)
        return RecordedMessages(
            trace, (*remarks, *(f"the run ended with exit code {each}" for each in end.codes if end.in_time and each))
        )


def recordable(command: Sequence[str], number: int, folder: Path) -> RecordableProgram:
    """Return a program that can be recorded, with the library for that in a folder. Raises UsageError if it cannot."""
    program = shutil.which(command[0])
    if program is None:
        raise UsageError(f"`{command[0]}` cannot be run: there is no such program")
    called = set(_called(program))
    unread = sorted(f"MPI_{name}" for name in called if UNRECORDED.fullmatch(name))
    transfers = sorted(f"MPI_{name}" for name in called if _OF_WINDOWS.fullmatch(name))
    if unread:
        raise UsageError(f"`{command[0]}` calls {', '.join(unread)}: that cannot be recorded")
    mpi, library = mpi_of(program), folder / "recorder.so"
    build_library(mpi, library)
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    notes = (f"{listing(transfers, 'and')}: {_NOT_FOLLOWED}",) if transfers else ()
    return RecordableProgram(tuple(command), program, number, mpi, library.resolve(), notes)


def _called(program: str) -> Iterator[str]:
    """Yield the functions of MPI that a program refers to, without `MPI_`, as C writes them."""
    for of_c, of_fortran in _SYMBOL.findall(_said(["nm", "-D", program])):
        yield of_c or of_fortran.capitalize()


_AT: Final = re.compile(r', "at": (\d+)')


def _placed(program: str, texts: Sequence[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """Return logs with the lines of calls, and the file that these are of; '' if there are several, or no lines."""
    addresses = sorted({int(found[1]) for _, text in texts for found in _AT.finditer(text)})
    places: dict[int, CodePlace] = {
        address: found[0] for address, found in zip(addresses, call_places(program, addresses), strict=True) if found
    }
    files = {each.file for each in places.values()}
    if len(files) != 1:
        return "", list(texts)

    def lined(found: re.Match[str]) -> str:
        place = places.get(int(found[1]))
        return "" if place is None else f', "line": {json.dumps(place.line)}'

    return files.pop(), [(name, _AT.sub(lined, text)) for name, text in texts]
