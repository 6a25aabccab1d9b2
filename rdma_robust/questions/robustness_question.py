"""The question of `check`: is a program robust?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rdma_robust.errors import Diagnostic
from rdma_robust.frame.answer import Answer, Failure
from rdma_robust.frame.question import Question
from rdma_robust.frame.shell.inputs import EVERYTHING, Source, WarningChoice, read_source
from rdma_robust.frame.shell.stderr import no_certificate, warning_texts
from rdma_robust.guard import NONE
from rdma_robust.limits import Limits, Progress
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.questions.checkpoint_claim import claim_checkpoints
from rdma_robust.reports.check.result import Result, result_of, unanswered_result
from rdma_robust.text import one_line

if TYPE_CHECKING:
    from rdma_robust.reports.check.robustness_view import RobustnessView
    from rdma_robust.robustness.passes import DecisionPass


@dataclass(frozen=True, slots=True)
class RobustnessAsking:
    """How programs are decided. `matters` asks besides whether it matters that one is not robust.

    `explain` asks for what is beneath the rows, `full` for all of long runs.
    """

    options: CheckOptions
    expect: bool = False
    explain: bool = False
    full: bool = False
    matters: bool = False

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        from rdma_robust.reports.check.robustness_view import described  # noqa: PLC0415 - slow

        return described(self.options, self.expect)

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return self.options.limits()


def _answer(
    source: Source, asking: RobustnessAsking, limits: Limits, progress: Progress, keep: Callable[[Answer[Result]], None]
) -> Answer[Result]:
    from rdma_robust.pipeline import check_text  # noqa: PLC0415 - slow

    more: tuple[DecisionPass[Outcome, Outcome], ...] = ()
    if asking.matters:
        from rdma_robust.analyses.safety.matters import MATTERS  # noqa: PLC0415

        more = (MATTERS,)
    text, options = read_source(source), asking.options
    claim_checkpoints(text, source, asking, limits)

    def answered(outcome: Outcome) -> Answer[Result]:
        if source.warnings != EVERYTHING:
            outcome = _warned(outcome, text, source.name, source.warnings)
        messages = warning_texts(outcome.warnings, source.name, text)
        return Answer(result_of(outcome, source.name), messages, int(source.certificate is not None), text)

    tell = partial(_tell, keep, answered)
    outcome = check_text(text, source.name, options, progress, crowds=True, keep=tell, more=more)
    answer = answered(outcome)
    complaint = _certify(outcome, source, replace(options, timeout=limits.seconds_left()))
    missing = (no_certificate(source.name, complaint),) if complaint else ()
    return replace(answer, messages=(*answer.messages, *missing), uncertified=len(missing))


def _tell(keep: Callable[[Answer[Result]], None], answered: Callable[[Outcome], Answer[Result]], first: Outcome) -> None:
    keep(answered(first))


def kept_answer(known: Answer[Result], failure: Failure, asking: RobustnessAsking) -> Answer[Result] | None:
    """Return an answer that was known before what came beside it failed, and say so; None for none, and if methods
    contradict each other, which is no matter of what came beside."""
    contradicted = failure.error_kind == "internal" and asking.options.self_check
    if known.record.verdict == "unknown" or contradicted or failure.error_kind not in (None, "internal"):
        return None
    why = f"what comes beside the verdict: {one_line(failure.reason, 300)}"
    result = replace(known.record, left_out=(*known.record.left_out, why))
    missing = (no_certificate(known.record.file, failure.reason),) if known.uncertified else ()
    return replace(known, record=result, messages=(*known.messages, *failure.messages, *missing))


def load_deciding() -> None:
    """Load what decides, once for all processes that will be started; no limit counts it."""
    from rdma_robust import pipeline  # noqa: F401, PLC0415


def _certify(outcome: Outcome, source: Source, options: CheckOptions) -> str:
    """Write the certificate that `source` wants, if it wants one; return why that was not possible."""
    if source.certificate is None:
        return ""
    from rdma_robust.questions.certificate_files import certify  # noqa: PLC0415 - only where it is wanted

    return certify(outcome, source, options)


def _warned(outcome: Outcome, text: str, name: str, choice: WarningChoice) -> Outcome:
    """Return an outcome with the warnings of its program that are chosen, those of lints that are enabled too."""
    found: Collection[Diagnostic] = outcome.program.warnings
    if choice.enabled:
        from rdma_robust.analyses.lints.lint import CODES, linted  # noqa: PLC0415 - only where they are asked for

        if choice.enabled & CODES:
            own = frozenset(found)
            wanted = choice.enabled | {"RR791"}
            found = [each for each in linted(text, name).found if each in own or each.code in wanted]
    return replace(outcome, program=replace(outcome.program, warnings=choice.shown(found)))


def _unanswered(failure: Failure, _: RobustnessAsking) -> Result:
    return unanswered_result(failure)


def _view(asking: RobustnessAsking) -> RobustnessView:
    from rdma_robust.reports.check.robustness_view import RobustnessView  # noqa: PLC0415 - slow

    return RobustnessView(asking, asking.full)


CHECK: Final[Question[RobustnessAsking, Result]] = Question(
    "check",
    ("rdma-robust/check", 1),
    "program",
    _answer,
    _unanswered,
    _view,
    load_deciding,
    slack=NONE,
    kept=kept_answer,
)
