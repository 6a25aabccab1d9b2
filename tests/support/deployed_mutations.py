"""The rules for store buffers, completions, weaker orders and standards, each switched off, and programs that see it.

`python -m tests.support.deployed_mutations` looks for a smallest program on which each mutant is wrong, among random ones
and mutations of the named ones, and writes it to tests/agreement/deployed/; the tests then only replay these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rdma_robust.counters.program import Add, Require
from rdma_robust.errors import InternalError, RdmaRobustError, SizeLimitError
from rdma_robust.expr import FALSE, negate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.robustness import frame, pivot_classes, rules
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.forwarding import StoreBuffers, keeps_pivot_out
from rdma_robust.robustness.reductions import outlook, relaxation, relevance
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.robustness.rules import OWN_DATA, ForcingRules, thread_bits
from rdma_robust.semantics.kinds import Kind, type_of
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.order_table import Landing, Scope, nfo_between, observed_scope
from rdma_robust.semantics.trace import STORE_TYPES, EventType
from tests.support.random_deployed import loaded, mutants, named, random_deployed
from tests.support.shrinking import shrink

FOLDER = Path(__file__).parents[1] / "agreement" / "deployed"

Patch = tuple[Any, str, Any]

_FORCES_POLL, _OVERTAKING, _MOVE = ForcingRules.forces_poll, ThreadRelaxation.overtaking, outlook._move
_TOLD = ForcingRules._told
_OWN, _TYPES, _AFTER_NIC = ForcingRules._own, ForcingRules.nic_forcing_types, ThreadRelaxation._after_nic


def _nfo_of_default(one: Kind, other: Kind, _model: Model) -> bool:
    return nfo_between(one, other, RDMA)


def _telling_always(self: ForcingRules, qp: frame.QueuePair, told: Landing) -> Any:
    """Where the second part has such a write, every poll tells of it."""
    first, *others = _TOLD(self, qp, told)
    return ((Require(negate(self._written(qp, told))), *first), *others) if others else (first,)


def _always_ahead(self: ForcingRules, qp: frame.QueuePair, told: Landing) -> Any:
    """Completions that come behind such a write of the second part count as ahead of it."""
    return ((Add(self.ahead(qp, told), 1),),)


def _widened(scope: Scope) -> Scope:
    """As if what is in order on one word was so on all."""
    return "qp" if scope == "word" else scope


def _outstanding(self: ThreadRelaxation, write: Any) -> int:
    """As if the poll of an unsignaled completion was that of the one before it."""
    return max(1, self._most_unpolled(write.remote).get(write.target, 0))


def _as_if_own(self: ThreadRelaxation, now: Any, edge: Any, known: EventType) -> Any:
    """As if the reads of all earlier requests of beta were that of the one under way."""
    after = _AFTER_NIC(self, now, edge, known)
    return None if after is None else replace(after, own=bool({type_of(kind) for _, kind, _ in after.beta} & self.apart))


def _stores_only(mutant: Callable[..., bool]) -> Callable[..., bool]:
    """What keeps the pivot out of alpha, but for stores what `mutant` says."""

    def rule(edge: Any, c: Any, model: Any) -> bool:
        return mutant(edge, c) if edge.type in STORE_TYPES else keeps_pivot_out(edge, c, model)

    return rule


def _kept_out(mutant: Callable[..., bool]) -> tuple[Patch, ...]:
    rule = _stores_only(mutant)
    return (pivot_classes, "keeps_pivot_out", rule), (relevance, "keeps_pivot_out", rule)


def _move_of_stores(**changes: Any) -> Callable[..., Any]:
    def move(cycles: Any, rules: Any, seen: Any, buffers: Any, e: Any) -> Any:
        made = _MOVE(cycles, rules, seen, buffers, e)
        return replace(made, **changes) if e.type in STORE_TYPES else made

    return move


def _barred_reads(cycles: Any, rules: Any, seen: Any, buffers: Any, e: Any) -> Any:
    made = _MOVE(cycles, rules, seen, buffers, e)
    barred = tuple(seen.accessed.parts(seen.marks.conflicting(e)))
    return replace(made, access=barred) if e.type is EventType.LR else made


BARE: dict[str, tuple[Patch, ...]] = {
    "T1-stores-move-like-other-cpu-events": ((ForcingRules, "buffering", frozenset()),),
    "T1-stores-force-nothing": ((ForcingRules, "store_forces", lambda *_: FALSE),),
    "T1-stores-force-reads": (
        (ForcingRules, "forced_by_stores_of", lambda self, e: thread_bits(self.buffering.intersection(e.threads))),
    ),
    "T2-reads-do-not-forward": ((StoreBuffers, "forces", lambda _self, _e, conflict: conflict),),
    "T2-forwarding-reads-come-before-the-pivot": ((StoreBuffers, "is_before_pivot", lambda _self, _e, conflict: conflict),),
    "T2-what-others-write-is-forwarded-too": ((StoreBuffers, "after_beta_write", lambda self, e: [
        frame.set_bit(name, part) for name, part in self.marks.parts(self._pair(e) * (e.type is EventType.LW))]),),
    "T3-stores-never-keep-the-pivot-out": _kept_out(lambda _e, _c: False),
    "T3-stores-of-the-word-do-not-keep-the-pivot-out": _kept_out(lambda _e, c: c.writes),
    "T3-stores-always-keep-the-pivot-out": _kept_out(lambda _e, _c: True),
    "unsignaled-operations-force-nothing": ((ForcingRules, "forces_poll", lambda self, e: _FORCES_POLL(self, e)
                                             if e.completes else FALSE),),
    "stores-do-not-force-polls-of-inline-writes": ((ForcingRules, "inline", frozenset()),),
    "completions-give-no-order": ((ForcingRules, "acknowledged", {}),),
    "every-poll-tells-of-remote-writes": ((ForcingRules, "_told", _telling_always),),
    "every-completion-is-ahead-of-remote-writes": ((ForcingRules, "_ahead_of", _always_ahead),),
    "own-reads-force-nothing": ((ForcingRules, "_own_read", lambda *_: 0),),
    "own-data-is-not-told-of": ((ForcingRules, "_own", lambda self, e: _OWN(self, e) & ~OWN_DATA),),
    "receives-tell-of-other-requests": ((rules, "receives_of_own", lambda _: False),),
    "requests-do-not-end": ((ForcingRules, "_ends", lambda *_: ()),),
    "words-keep-no-order": ((ForcingRules, "word_bits", {}),),
    "words-are-one": ((rules, "observed_scope", lambda a, b, m: _widened(observed_scope(a, b, m))),),
    "weaker-orders-have-nfo": ((rules, "nfo_between", _nfo_of_default),),
}  # fmt: skip
"""Name to what is replaced; looked at without reductions."""

REDUCED: dict[str, tuple[Patch, ...]] = {
    "filter-keeps-loads-behind-stores": ((ThreadRelaxation, "overtaking", lambda self, e: []
                                          if e.type in STORE_TYPES else _OVERTAKING(self, e)),),
    "filter-polls-unsignaled-early": ((ThreadRelaxation, "_outstanding", _outstanding),),
    "filter-polls-tell-at-once": ((ThreadRelaxation, "_outstanding", lambda _self, _write: 1),),
    "filter-has-nfo-under-weaker-orders": ((relaxation, "nfo_between", _nfo_of_default),),
    "filter-takes-words-for-one": ((relaxation, "includes", lambda scope, **_near: scope != "-"),),
    "filter-takes-all-reads-for-own": ((ThreadRelaxation, "_after_nic", _as_if_own),),
    "dead-ends-keep-own-reads": ((ForcingRules, "nic_forcing_types", lambda self, e: _TYPES(self, e) | self._own_read(e)),),
    "dead-ends-stop-at-stores": ((outlook, "_move", _move_of_stores(passes=False)),),
    "dead-ends-bar-forwarding-reads": ((outlook, "_move", _barred_reads),),
}  # fmt: skip
"""The same for reductions."""

MUTATIONS = BARE | REDUCED

REDUNDANT = frozenset({"T3-stores-always-keep-the-pivot-out"})
"""Those for which no program was found: the rule may be redundant, and is kept since its proof is not written out."""


@contextmanager
def mutated(name: str) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, attribute, replacement in MUTATIONS[name]:
            stack.enter_context(patch.object(owner, attribute, replacement, create=True))
        yield


def by_search(name: str, program: Program, model: Model) -> str:
    reductions = frozenset[str]() if name in BARE else ALL_REDUCTIONS
    options = CheckOptions(hardware=model, reductions=reductions, large=0, max_states=30_000, kernel="python")
    try:
        return decide(program, options).verdict.value
    except InternalError as error:
        return str(error)


def by_axioms(program: Program, model: Model) -> str:
    return "robust" if oracle_robust(program, model) is None else "not-robust"


def caught(name: str, program: Program, model: Model) -> bool:
    """Whether the mutated search gives a wrong verdict, or an unconfirmed witness, where the real one is right."""
    right = by_search(name, program, model)
    with mutated(name):
        if by_search(name, program, model) in (right, "unknown"):
            return False
    try:
        return right == by_axioms(program, model)
    except SizeLimitError:
        return False


def _caught_text(name: str, text: str) -> bool:
    try:
        return caught(name, *loaded(text, "mutant.rdma"))
    except RdmaRobustError:
        return False


def find(name: str, seeds: range) -> str | None:
    """Return the smallest shrunk program among the first few that catch the mutant."""
    families = ("stores", "completions", "weaker", "unordered", "accumulated")
    found = []
    for seed in seeds:
        one = [seed]
        first = named() if seed == 0 else ()
        for program, model in chain(first, mutants(one), *(random_deployed(family, one) for family in families)):
            if caught(name, program, model):
                text = re.sub(r"(?m)^(thread .*\{) *(reg .*)$", r"\1\n  \2", program.source)
                found.append(shrink(text, lambda text: _caught_text(name, text)))
                break
        if len(found) == 3:
            break
    return min(found, key=len, default=None)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in MUTATIONS:
        path = FOLDER / f"{name}.rdma"
        if path.exists():
            continue
        text = find(name, range(4_000))
        if text is None:
            print(f"{name}: nothing found", flush=True)
        else:
            path.write_text(f"// wrong when this is so: {name}\n{text}")
            print(f"{name}: {len(text.splitlines())} lines", flush=True)


if __name__ == "__main__":
    main()
