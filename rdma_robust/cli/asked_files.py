"""Steps that commands with questions share before they ask: limits of each input, what is explained, where certificates
go, which inputs are passed over and which warnings shown; and the options with which they do something else instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence, Sized
from functools import partial

import typer

from rdma_robust import KERNEL
from rdma_robust.cli.options.arguments import memory_limit
from rdma_robust.diagnose import did_you_mean
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.frame.shell.inputs import EVERYTHING, Item, Source, UnreadableError, WarningChoice, read_source
from rdma_robust.limits import executor_of, processors
from rdma_robust.text import one_line


def memory_each(memory: int | None, jobs: int | None, items: Sized) -> int | None:
    """Return the mebibytes of one of the inputs, as many of which are answered at a time as there are `jobs`."""
    return memory_limit(memory, min(jobs or processors(), len(items)))


def threads_each(threads: int | None, jobs: int | None, items: Sequence[Item]) -> tuple[int, int | None]:
    """Return how many threads the search of one of the inputs has, and how many inputs are answered at a time: together, if
    only one of the numbers is given or none, as many as there are processors.

    Raises UsageError for threads without the compiled kernel.
    """
    if threads is None:
        return max(1, processors() // max(1, min(jobs or processors(), len(items)))), jobs
    if threads > 1 and KERNEL == "python":
        raise UsageError("--threads: the search in Python has one thread; the compiled kernel is not installed")
    return threads, max(1, processors() // threads) if jobs is None and threads > 1 else jobs


def searchers_each(
    threads: int | None, jobs: int | None, executor: str | None, items: Sequence[Item]
) -> tuple[int, int | None, str]:
    """Return what :func:`threads_each` does, and who shares large searches, '' for nobody: then each has one thread, and
    inputs are answered one by one if nothing is said of that.

    Raises UsageError for processes that there cannot be, a cluster that is not there, and both threads and processes.
    """
    if executor is None:
        return (*threads_each(threads, jobs, items), "")
    if KERNEL == "python":
        raise UsageError("--executor: the search in Python is not shared; the compiled kernel is not installed")
    if threads is not None and threads > 1:
        raise UsageError("--executor: each of its processes has one thread: leave out --threads")
    kind, where = executor_of(executor)
    if kind == "dask":
        from rdma_robust.batch.cluster import look_at_cluster  # noqa: PLC0415 - few need it

        look_at_cluster(where)
    return 1, 1 if jobs is None else jobs, executor


def checkpoints_of(place: str | None, executor: str, items: Sequence[Item]) -> str:
    """Return the folder for checkpoints, '' for none. Raises UsageError where there can be none."""
    if place is None:
        return ""
    if not executor:
        raise UsageError("--checkpoint: only what processes share is kept: add --executor local")
    if len(items) != 1:
        raise UsageError(f"--checkpoint is for one program, these are {len(items)}")
    if not place:
        raise UsageError("--checkpoint: the name of a folder is needed")
    return place if "://" in place else os.path.abspath(place)


def explains(items: Sequence[Item], explain: bool | None) -> bool:
    """Return whether answers are explained: if nothing is said about it, that of an only input is."""
    return len(items) == 1 if explain is None else explain


def certified(items: list[Item], folder: str | None) -> list[Item]:
    """Return the inputs with files in a folder, if there is one, for their certificates. Raises UsageError if it is none."""
    if folder is None:
        return items
    from rdma_robust.questions.certificate_files import with_certificates  # noqa: PLC0415 - slow, and seldom wanted

    return with_certificates(items, folder)


def watch_instead(context: typer.Context, files: Sequence[str], define: Sequence[str] | None = None) -> None:
    """Note in the context that the command is run again whenever a file changes, of those that are read with `define`."""
    from rdma_robust.cli.watching import run_watching  # noqa: PLC0415 - few need it

    context.obj.append(partial(run_watching, sys.argv[1:], files, tuple(define or ())))


def prints_alone(dump_after: object, certificate: object, places: tuple[object, object]) -> None:
    """Raise UsageError if `--dump-after` is given with an output, a format or `--certificate`."""
    if dump_after is None:
        return
    if places != (None, None):
        raise UsageError("--dump-after prints, and takes neither --output nor --format")
    if certificate is not None:
        raise UsageError("--certificate and --dump-after exclude one another")


def without_proofs(items: Sequence[Item]) -> tuple[list[Item], int]:
    """Return the items without the files of folders that expect only `safe` and `unsafe`, and how many those were.

    A file that was named stays, and so does one that cannot be read: who decides it says what is wrong.
    """
    kept = [item for item in items if not (isinstance(item, Source) and item.in_folder and _is_for_proofs(item))]
    return kept, len(items) - len(kept)


def _is_for_proofs(source: Source) -> bool:
    try:
        text = read_source(source)
    except (UnreadableError, UsageError, ProgramError):
        return False
    if "safe" not in text:
        return False
    from rdma_robust.language.load import parse_program  # noqa: PLC0415 - slow, and few files come here
    from rdma_robust.language.syntax import ast  # noqa: PLC0415

    try:
        tree = parse_program(text, source.name)
    except (ProgramError, UsageError):
        return False
    kinds = {each.kind for item in tree.items if isinstance(item, ast.Expect) for each in item.expectations}
    return kinds == {"safe"}


def chosen(enable: Sequence[str] | None, disable: Sequence[str] | None) -> WarningChoice:
    """Return the choice of the options. Raises UsageError for what is no code of a warning."""
    if not enable and not disable:
        return EVERYTHING
    return WarningChoice(_codes("--enable", enable), _codes("--disable", disable))


def _codes(option: str, names: Sequence[str] | None) -> frozenset[str]:
    from rdma_robust.codes.known_codes import codes  # noqa: PLC0415 - only where something is chosen

    known = [name for name, code in codes().items() if name.startswith("RR7") and code.severity == "warning"]
    found = [name.strip().upper() for each in names or () for name in each.split(",")]
    for name in found:
        if name not in known:
            hint = did_you_mean(name, known) or "`rdma-robust explain-code` lists them"
            raise UsageError(f"{option}: no warning has the code {one_line(name)!r}; {hint}")
    return frozenset(found)
