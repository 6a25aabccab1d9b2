"""A verdict for any number of copies, compared with other ways to it (`--self-check`)."""

from __future__ import annotations

from typing import Final

from rdma_robust.counting.omega_search import OmegaResult, omega_search
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.crowds import numbers_said
from rdma_robust.robustness.crowds.decide_any import MOST_EXPLICIT, numbers_up_to
from rdma_robust.robustness.crowds.instance import Local, TwoCopyInstance
from rdma_robust.robustness.crowds.own_counters import HeroFromStart
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel, InstanceSteps

SECOND: Final = "hero from the start"
EXPLICIT: Final = "few copies"
"""The names of the other ways: a second counting system without reductions, and P(n) for small n."""


def confirming_ways(outcome: Outcome, options: CheckOptions, until: Limits) -> tuple[str, ...]:
    """Return the names of the ways that confirmed the verdict `until` a limit; one that reaches it is left out.

    Raises InternalError on a disagreement.
    """
    agreed = []
    instance = TwoCopyInstance.of(outcome.program, options.model, recv_depth=options.recv_depth)
    limits = until.share(0.5)
    found: OmegaResult[Control, Local, CrowdLabel] = omega_search(
        HeroFromStart(InstanceSteps(instance, active=False)), limits
    )
    if not found.cut and not (found.target >= 0 and instance.uncounted):
        _same(outcome, Verdict.ROBUST if found.target < 0 else Verdict.NOT_ROBUST, SECOND)
        agreed.append(SECOND)
    if _explicitly(outcome, options, until):
        agreed.append(EXPLICIT)
    return tuple(agreed)


def _explicitly(outcome: Outcome, options: CheckOptions, until: Limits) -> bool:
    """Compare with P(n) for few copies; return whether all were decided."""
    from rdma_robust.robustness.decide import decide  # noqa: PLC0415 - which decides by this room

    names = [thread.name for thread in outcome.program.crowds]
    numbers = outcome.copies.numbers if outcome.copies else ()
    fewest = sum(n for _, n in numbers) if outcome.copies and outcome.copies.least else 0
    complete = True
    for each in numbers_up_to(names, MOST_EXPLICIT):
        verdict = decide(copies_of(outcome.program, each), options, limits=until.share(0.5)).verdict
        complete = complete and verdict is not Verdict.UNKNOWN
        must_be = outcome.verdict is Verdict.ROBUST or sum(each.values()) < fewest
        if must_be and verdict is Verdict.NOT_ROBUST:
            _same(outcome, verdict, f"that with {numbers_said.with_numbers(tuple(each.items()))}")
        if each == dict(numbers) and verdict is Verdict.ROBUST:
            _same(outcome, verdict, f"that with {numbers_said.with_numbers(numbers)}")
    return complete


def _same(outcome: Outcome, verdict: Verdict, way: str) -> None:
    if verdict is not outcome.verdict:
        said = f"{outcome.engine} says {outcome.verdict.value} ({outcome.reason}), {way} says {verdict.value}"
        raise InternalError(f"{outcome.program.file}: {said}; please report this program")
