"""Verdicts of one program on all hardware, and final states of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rdma_robust.analyses.hardware.hardware_settings import HardwareSettings, settings_of
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.regions import without_memories, without_regions
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import CARDS, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.wording import Words, torn


@dataclass(frozen=True)
class OnAllHardware:
    """The outcomes of a program, the strongest hardware first; `left_out` are settings that make no difference.

    `own` is the setting of the program itself, or one that makes no difference to it. `firsts` are the numbers of those
    that are not robust with the fewest steps away from the strongest, each with what makes it so. `without_regions` is the
    outcome under `own` if all words were strict, and `without_memories` if none lay behind a card; None if that is so.
    """

    program: Program
    outcomes: tuple[Outcome, ...]
    left_out: tuple[str, ...]
    own: Model
    firsts: Mapping[int, tuple[str, ...]]
    time_s: float
    without_regions: Outcome | None = None
    without_memories: Outcome | None = None


def on_all_hardware(
    program: Program,
    options: CheckOptions,
    progress: Progress = ignore,
    limits: Limits | None = None,
    orders: Sequence[str] = CARDS,
) -> OnAllHardware:
    """Decide `program` under every setting that can make a difference, whatever is said about its hardware; `orders` are the
    orders to look at.

    The time of `limits`, else of `options`, is that of all together: each has an equal share of what is left, and those that
    were cut by theirs what the others leave. Raises what `decide` raises.
    """
    limits = Limits.of(options.timeout, options.max_states, options.memory) if limits is None else limits
    started = time.monotonic()
    settings = settings_of(program, orders)
    options = replace(options, cpu=None, atomics=None, order=None, ordered_reads=False)

    def on(case: tuple[Program, Model], part: Limits) -> Outcome:
        return decide(case[0], replace(options, hardware=case[1]), progress, limits=part)

    own = settings.like(program.hardware.model)
    plainer = {
        **({"without_regions": without_regions(program)} if program.has_regions else {}),
        **({"without_memories": without_memories(program)} if program.memories else {}),
    }
    cases = [*((program, model) for model in settings.models), *((each, own) for each in plainer.values())]
    found = limits.in_shares(cases, on, lambda outcome: outcome.verdict is Verdict.UNKNOWN)
    outcomes, others = tuple(found[: len(settings.models)]), found[len(settings.models) :]
    firsts, time_s = _firsts(outcomes, settings), time.monotonic() - started
    return OnAllHardware(
        program, outcomes, settings.left_out, own, firsts, time_s, **dict(zip(plainer, others, strict=True))
    )


def _firsts(outcomes: Sequence[Outcome], settings: HardwareSettings) -> dict[int, tuple[str, ...]]:
    broken = {k: settings.weakness(each.model) for k, each in enumerate(outcomes) if each.verdict is Verdict.NOT_ROBUST}
    least = [k for k, weakness in broken.items() if weakness == min(broken.values())]
    return {k: reasons(outcomes[k].shown, outcomes[k]) for k in least}


def reasons(program: Program, outcome: Outcome) -> tuple[str, ...]:
    """Return what a counterexample of `program` reorders, in words, or else what is no single step in it."""
    witness = outcome.witness
    if witness is None:
        return ()
    words = Words(program, outcome.model.order)
    told = [words.reordering(earlier, later) for earlier, later in witness.relaxed]
    return tuple(dict.fromkeys(told)) or _torn(witness, outcome.model)


def _torn(witness: Witness, model: Model) -> tuple[str, ...]:
    atomics = [edge.source.step for edge in witness.cycle.edges if edge.relation == "rmw" and model.atomics == "hca"]
    told = dict.fromkeys(torn(f"of line {step.span.where}") for step in atomics if step is not None)
    return tuple(told) or ("the counterexample has a cycle that no single reordering explains: see `explain`",)
