"""What the commands that answer for many programs or nets share: processes that answer, and reports in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from rdma_robust.cli.processes import decide_program
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Missing, Source, all_loaded
from rdma_robust.frame.shell.meter import Meter, wanted
from rdma_robust.frame.shell.stop import Stopped, released
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.processes import can_fork

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Question(Generic[Answer]):
    """What is asked of each of many programs or nets.

    `answer` is given an item, and whom to tell how far it is if somebody wants to know; it raises nothing. `lost` answers
    for an item whose process gave no answer, see :class:`pool.Work`. `limits` are those of one item, from now on. `load`
    is called before several processes are started, for what all of them need. With `families`, `answer` starts processes.
    `kept` is as in :class:`pool.Work`.
    """

    answer: Callable[..., Answer]
    lost: Callable[[str, str, bool, float], Answer]
    limits: Callable[[], Limits]
    load: Callable[[], object] = lambda: None
    families: bool = False
    kept: Callable[[Answer, str], Answer] | None = None


def deciding(options: CheckOptions, *, matters: bool = False) -> Question[decide_program.Answer]:
    """Return the question whether programs are robust, with `matters` also whether it matters that one is not."""
    return Question(
        lambda item, *tell, **keep: decide_program.decide_item(item, options, *tell, **keep, matters=matters),
        decide_program.lost_program,
        partial(decide_program.limits_of, options),
        decide_program.load_deciding,
        kept=decide_program.kept_answer,
    )


def answer_all(
    items: Sequence[Item], question: Question[Answer], jobs: int, report: Callable[[Answer], None], *, quiet: bool
) -> tuple[list[Answer], Exit | None]:
    """Answer `question` for every item, `jobs` at a time, and report the answers in the order of the items as they come.

    Returns them in this order; when stopped by a signal those there are, all reported, and the exit code it means.
    """
    return report_in_order(partial(_answers, items, question, jobs, quiet=quiet), len(items), report, quiet=quiet)


def _answers(
    items: Sequence[Item], question: Question[Answer], jobs: int, meter: Meter, *, quiet: bool
) -> Generator[tuple[int, Answer]]:
    """Yield the numbered answers as they come: first those that need no deciding, then in parallel what is left."""
    work: list[tuple[int, Source]] = []
    for number, item in enumerate(items):
        if isinstance(item, Missing):
            yield number, question.answer(item)
        else:
            work.append((number, item))
    jobs = min(jobs, len(work))
    ready = zip([number for number, _ in work], all_loaded([item for _, item in work], question.limits), strict=True)
    limits = question.limits()
    limited = limits.deadline is not None or limits.memory is not None
    if work and can_fork() and (jobs > 1 or limited or question.families):
        from rdma_robust.frame.shell.outside import overdue  # noqa: PLC0415 - loaded late, as all that decides
        from rdma_robust.frame.shell.pool import Work, in_processes, retirement  # noqa: PLC0415

        given = list(ready)
        if len(work) > 1:
            question.load()
        crew = Work(
            question.answer,
            question.lost,
            partial(overdue, limits),
            question.families,
            meter.search if jobs == 1 and wanted(quiet) else None,
            retirement(limits),
            question.kept,
        )
        yield from in_processes(given, crew, jobs, meter.tick)
        return
    for number, item in ready:
        yield number, question.answer(item, meter.search)


def report_in_order(
    answers: Callable[[Meter], Generator[tuple[int, Answer]]], total: int, report: Callable[[Answer], None], *, quiet: bool
) -> tuple[list[Answer], Exit | None]:
    """Report numbered answers in the order of their numbers, as soon as all before are there, and show a meter meanwhile.

    Returns them in this order; when stopped by a signal those there are, all reported, and the exit code it means.
    """
    found: dict[int, Answer] = {}
    reported = 0

    def report_ready() -> None:
        nonlocal reported
        while reported in found:
            report(found[reported])
            reported += 1

    stopped: Exit | None = None
    meter = Meter(total, wanted(quiet))
    try:
        with meter.running(), closing(answers(meter)) as coming:
            for number, answer in coming:
                found[number] = answer
                meter.printing(report_ready)
                meter.done(len(found))
    except Stopped as stop:
        stopped = stop.exit
        released()
        for number in sorted(n for n in found if n >= reported):
            report(found[number])
    return [found[number] for number in sorted(found)], stopped
