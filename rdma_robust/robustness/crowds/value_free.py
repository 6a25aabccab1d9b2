"""Programs in which nothing depends on values: max(1, 2V) copies of each template decide all numbers.

V is the number of words that several threads can access. Take a violating trace, and a shortest cycle of program order
and conflicts. It meets a thread in at most two events and a word in at most three (a read, a write, a read), adjacent
ones, so it has at most 2V threads, or one. Remove all others. A read of a removed write reads the last remaining write
before it in mo; as nothing depends on values, the trace is still one of the program. New edges from a write to its read
replace mo;rf, so ob gains nothing, and rb only shrinks; the cycle stays. That holds under every order of the network
and with store buffers.

Source: docs/theory-crowds.md, "A cut-off without values" (Theorem 7, `cut_off` in proofs/crowds); Shasha and
Snir 1988 for cycles.
"""

from __future__ import annotations

from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import (
    Cell,
    Get,
    MFence,
    Op,
    Poll,
    Program,
    Put,
    Read,
    RFence,
    Silent,
    Step,
    Thread,
    Write,
)
from rdma_robust.model import Model
from rdma_robust.robustness.searched_orders import not_searched
from rdma_robust.semantics.event_table import cases_of

_PLAIN = (Silent, Read, Write, Put, Get, Poll, RFence, MFence)


def is_value_free(program: Program) -> bool:
    """Whether no step depends on a value, and none can fail: what a thread does next is its own free choice."""
    return all(_is_free(step) for thread in program.threads for _, _, step in thread.edges)


def _is_free(step: Step) -> bool:
    return isinstance(step.op, _PLAIN) and step.guard == TRUE and step.fault is None


def cut_off(program: Program, model: Model) -> int | None:
    """Return how many copies of each template decide every number of copies, None where no such number is proven."""
    if not_searched(program, model) or not is_value_free(program):
        return None
    return max(1, 2 * len(shared_words(program, model)))


def shared_words(program: Program, model: Model) -> frozenset[Cell]:
    """The words that several threads, or several copies of one, can access."""
    users: dict[Cell, set[str]] = {}
    for thread in program.threads:
        for cell in _accessed(thread, model):
            users.setdefault(cell, set()).add(thread.name)
    crowds = {thread.name for thread in program.crowds}
    private = set(program.many_nodes)
    return frozenset(c for c, names in users.items() if c.node not in private and (len(names) > 1 or names & crowds))


def _accessed(thread: Thread, model: Model) -> set[Cell]:
    return {cell for _, _, step in thread.edges for cell in _words(step.op, model)}


def _words(op: Op, model: Model) -> set[Cell]:
    acts = (act for case in cases_of(op, model) for act in case.acts)
    return {cell for act in acts for cell in (*act.reads, *(cell for cell, _ in act.writes))}
