"""What the commands that decide many files share: answers reported in order as they come, and the report's place."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TypeVar

from rdma_robust.cli.processes.meter import Meter, wanted
from rdma_robust.cli.processes.stop import Stopped, released
from rdma_robust.reports.share.exits import Exit

Answer = TypeVar("Answer")


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
