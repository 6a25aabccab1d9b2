"""Questions asked without a command line: one item, one answer."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.frame.answer import Answer, ErrorKind, Failure
from rdma_robust.frame.deciding import answer_item
from rdma_robust.frame.shell.inputs import Item
from rdma_robust.limits import ignore
from rdma_robust.options import CheckOptions
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.reports.check.result import Result, unanswered_result


def check_item(item: Item, options: CheckOptions, keep: Callable[[Answer[Result]], None] = lambda _: None) -> Answer[Result]:
    """Return the answer of `check` for one item."""
    return answer_item(CHECK, RobustnessAsking(options), item, ignore, keep)


def failure(file: str, kind: ErrorKind | None, reason: str) -> Result:
    """Return the record of a program without a verdict."""
    return unanswered_result(Failure(file, reason, kind))


def gave_up(file: str, reason: str) -> Result:
    """Return the record of a program that a limit left undecided."""
    return failure(file, None, reason)
