"""How many C files of public suites are read unchanged: `python -m bench.public_suites FOLDER [PATTERN...]`.

FOLDER is a checkout of tests that use OpenSHMEM or MPI, which are not part of this project; with patterns only files whose
path has one of them. Options: `-I DIRECTORY` as a compiler has it, `-s SECONDS` of processor time for each file (10). A file
is read with two processes; if it names a process that is not there, or nobody does anything, with three, then with four. A
file counts as read where all its threads are evaluated, as `races` and `check` do before they decide. What is refused is
counted by its codes.
`--mpich` is for `test/mpi/rma` of MPICH: it has functions of its own, which we give short bodies.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.round_facts import EvaluationOptions
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.errors import ProgramError

_MPICH: Final = """
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HAVE_UNISTD_H 1
#define HAVE_STDINT_H 1
#define MTest_Init(a, b) MPI_Init(a, b)
#define MTest_Init_thread(a, b, c, d) MPI_Init_thread(a, b, c, d)
#define MTest_Finalize(errors) MPI_Finalize()
#define MTestReturnValue(errors) ((errors) != 0)
#define MTestPrintError(error) ((void)(error))
#define MTestPrintfMsg(...) ((void)0)
#define MTestSleep(seconds) ((void)0)
#define MTestGetStressLevel() 0
#define MTestPrintErrorMsg(text, error) ((void)(error))
#define MTestError(text) ((void)0)
#define MTEST_VG_MEM_INIT(at, size) memset(at, 0, size)
#define MTEST_HAVE_MIN_MPI_VERSION(major, minor) 1
#define MTestFreeComm(at) ((void)0)
#define MTestGetWinName() "win"
#define MTestFreeWin(at) MPI_Win_free(at)
#define MTestArgListCreate(a, b) ((MTestArgList *)0)
#define MTestArgListDestroy(list) ((void)0)
#define MTestArgListGetInt_with_default(list, name, value) (value)
typedef struct MTestArgList MTestArgList;
static int MTestGetIntracommGeneral(MPI_Comm *comm, int least, int fewer)
{
	static int given = 0;
	*comm = MPI_COMM_WORLD;
	return given++ == 0;
}
static int MTestGetWin(MPI_Win *win, int fewer)
{
	static int given = 0;
	static char memory[64];
	if (given++)
		return 0;
	MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
	return 1;
}
"""
_NO_PROCESS: Final = "there is no process"


class _OutOfTimeError(Exception):
    """The processor time for a file is used up."""


def _out_of_time(_number: int, _frame: FrameType | None) -> None:
    raise _OutOfTimeError


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a file: `read`, `refused`, `silent` (nothing that others see) or `too long`; the codes, and the first
    message."""

    word: str
    codes: frozenset[str] = frozenset()
    said: str = ""


def reading_of(path: Path, folders: tuple[str, ...], processes: int) -> Reading:
    """Read and evaluate a file with a number of processes."""
    try:
        units = read_units(str(path), COptions(processes=processes, folders=folders))
        evaluated_program(evaluate_units(units, EvaluationOptions(is_of_standard=True), "c"), str(path))
    except _OutOfTimeError:
        return Reading("too long")
    except ProgramError as error:
        first = error.diagnostics[0]
        is_silent = "no process does anything" in first.message
        codes = frozenset(each.code for each in error.diagnostics)
        return Reading("silent" if is_silent else "refused", codes, f"line {first.span.line}: {first.message}")
    return Reading("read")


def reading(path: Path, folders: tuple[str, ...], seconds: float) -> Reading:
    """Read a file with as many processes as it needs, from two to four."""
    found = Reading("")
    for processes in (2, 3, 4):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            found = reading_of(path, folders, processes)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if _NO_PROCESS not in found.said and found.word != "silent":
            break
    return found


def main(arguments: list[str]) -> int:
    """Print what became of each file, and counts of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("-I", dest="folders", action="append", default=[])
    parser.add_argument("-s", dest="seconds", type=float, default=10.0)
    parser.add_argument("--mpich", action="store_true")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGVTALRM, _out_of_time)
    words: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        if given.mpich:
            Path(folder, "mpitest.h").write_text(_MPICH, encoding="utf-8")
            Path(folder, "mpitestconf.h").write_text("", encoding="utf-8")
        folders = (folder, *given.folders)
        for path in sorted(given.folder.glob("**/*.c")):
            if given.patterns and not any(each in str(path) for each in given.patterns):
                continue
            found = reading(path, folders, given.seconds)
            words[found.word] += 1
            codes.update(found.codes)
            print(f"{found.word:9} {path.relative_to(given.folder)} {found.said}", flush=True)
    print(f"{words.total()} files: {', '.join(f'{count} {word}' for word, count in words.most_common())}")
    print("  ".join(f"{code} {count}" for code, count in codes.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
