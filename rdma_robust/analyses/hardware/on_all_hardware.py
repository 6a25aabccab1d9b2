"""Verdicts of one program on all hardware, and final states of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from rdma_robust.language.flow.cfg import Get, Program, Recv, RemoteRmw, Write, steps
from rdma_robust.language.flow.copies import without_memories, without_regions
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import CARDS, RDMA, Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders import SHIPPED, order_name
from rdma_robust.orders.order_strength import ranks
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.event_table import is_remote
from rdma_robust.semantics.like_orders import like_orders
from rdma_robust.semantics.machines.machine import FinalState
from rdma_robust.semantics.machines.outcomes import OutcomesReport
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.semantics.wording import Words, torn

WORDS: Final[dict[str, tuple[Any, ...]]] = {
    "cpu": ("sc", "tso"),
    "atomics": ("glob", "hca"),
    "order": CARDS,
    "ordered_reads": (True, False),
}
"""What the hardware can be, word by word, from that which keeps most to that which keeps least; of the orders those that are
looked at where none are named."""


@dataclass(frozen=True, slots=True)
class HardwareSettings:
    """The settings, by how many steps they are weaker than the strongest one; `left_out` says which were, and why.

    `values` are those of each word that make a difference, and `like_order` is for each order the one that is like it to
    the program. `ranks` are by how many steps orders are weaker than the strongest.
    """

    models: tuple[Model, ...]
    left_out: tuple[str, ...]
    values: Mapping[str, tuple[Any, ...]]
    like_order: Mapping[str, str]
    ranks: Mapping[str, int]

    def like(self, model: Model) -> Model:
        """Return the one of these settings that makes no difference to `model`."""
        words = {word: getattr(model, word) for word in WORDS} | {"order": self.like_order.get(model.order, model.order)}
        kept = {w: v if v in self.values[w] else getattr(RDMA, w) for w, v in words.items()}
        return replace(RDMA, **kept)

    def weakness(self, model: Model) -> int:
        """Return by how many steps, of one word each, a setting is weaker than the strongest."""
        others = ((word, values) for word, values in WORDS.items() if word != "order")
        return self.ranks[model.order] + sum(values.index(getattr(model, word)) for word, values in others)


def settings_of(program: Program, orders: Sequence[str] = CARDS) -> HardwareSettings:
    """Return the settings under which the events of `program`, or the order that is kept of them, are not the same.

    The orders are those of `orders`, and what the program says itself: only if asked, what standards promise. A word that
    makes no difference has its usual value: only stores and receives wait in store buffers, only remote read-modify-writes
    are atomic against something, of orders that say the same of the program's events one is enough, and the order of reads
    is about two gets of one queue pair. Raises UsageError for an order that has no table.
    """
    asked = tuple(dict.fromkeys((*orders, program.hardware.model.order)))
    rank = ranks(asked)
    asked = tuple(sorted(asked, key=lambda order: (rank[order], SHIPPED.index(order) if order in SHIPPED else len(SHIPPED))))
    used = {type(step.op) for thread in program.threads for _, _, step in thread.edges}
    values, left_out = {**WORDS, "order": asked}, []
    like_order = {order: order for order in asked}
    if not used & {Write, Recv}:
        values["cpu"] = (RDMA.cpu,)
        left_out.append("cpu: no thread stores to a variable, or posts a receive")
    if RemoteRmw not in used:
        values["atomics"] = (RDMA.atomics,)
        left_out.append("atomics: there are no remote atomics")
    if not any(is_remote(step.op) for thread in program.threads for _, _, step in thread.edges):
        values["order"] = (RDMA.order,)
        like_order = dict.fromkeys(asked, RDMA.order)
        left_out.append("order: nothing is handed to a NIC")
    else:
        like_order = like_orders(program, asked)
        values["order"] = tuple(dict.fromkeys(like_order.values()))
        alike = ((order_name(order), order_name(other)) for order, other in like_order.items() if order != other)
        left_out += [f"order {order}: to this program it is as {other}" for order, other in alike]
    if not _reads_twice(program):
        values["ordered_reads"] = (RDMA.ordered_reads,)
        left_out.append("reads: no queue pair has two gets")
    rank = {RDMA.order: 0, **rank}
    made = (replace(RDMA, **dict(zip(values, each, strict=True))) for each in product(*values.values()))
    found = HardwareSettings((), tuple(left_out), values, like_order, rank)
    return replace(found, models=tuple(sorted(made, key=found.weakness)))


def _reads_twice(program: Program) -> bool:
    """Whether a queue pair may have two gets under way."""
    gets = Counter(_gets(program))
    return bool(gets) and (not is_loop_free(program) or max(gets.values()) > 1)


def _gets(program: Program) -> Iterator[tuple[str, str]]:
    for thread in program.threads:
        for _, _, step in steps(thread):
            if isinstance(step.op, Get):
                yield thread.name, step.op.source.node


@dataclass(frozen=True, slots=True)
class StateOnHardware:
    """A final state: whether SC reaches it, the numbers of the settings that do, and of those the ones with the fewest steps
    away from the strongest."""

    values: FinalState
    sc: bool
    allowed_by: tuple[int, ...]
    first: tuple[int, ...]


@dataclass(frozen=True)
class StatesOnHardware:
    """The final states of a program under all settings, sorted by their values, and the searches, the strongest first."""

    program: Program
    names: tuple[str, ...]
    models: tuple[Model, ...]
    searches: tuple[OutcomesReport, ...]
    left_out: tuple[str, ...]
    states: tuple[StateOnHardware, ...]

    @property
    def complete(self) -> bool:
        """Whether no search was cut, so that these are all."""
        return all(search.complete for search in self.searches)


def states_on_hardware(
    program: Program, limits: Limits, search: Callable[[Model, Limits], OutcomesReport]
) -> StatesOnHardware:
    """Explore the final states under every setting that can make a difference.

    `search` is given a model and its share of what is left of `limits`, which are those of all together.
    """
    settings = settings_of(program)
    parts = range(len(settings.models), 0, -1)
    searches = [search(model, limits.share(1 / part)) for model, part in zip(settings.models, parts, strict=True)]
    found = sorted({state.values for each in searches for state in each.states})
    states = tuple(_state(values, settings, searches) for values in found)
    return StatesOnHardware(program, searches[0].names, settings.models, tuple(searches), settings.left_out, states)


def _state(values: FinalState, settings: HardwareSettings, searches: list[OutcomesReport]) -> StateOnHardware:
    allowed = tuple(k for k, each in enumerate(searches) if any(s.rdma and s.values == values for s in each.states))
    weak = {k: settings.weakness(settings.models[k]) for k in allowed}
    sc = any(s.sc and s.values == values for s in searches[0].states)
    return StateOnHardware(values, sc, allowed, tuple(k for k in allowed if weak[k] == min(weak.values())))


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
