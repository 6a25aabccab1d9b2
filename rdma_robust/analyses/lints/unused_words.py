"""Values that nothing has, statements that nothing reaches, words that nobody reads: what no execution can do or see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Final

from rdma_robust.analyses.lints.queue_flow import ThreadFlow
from rdma_robust.diagnose import listing, quote
from rdma_robust.errors import Diagnostic
from rdma_robust.expr import Expr, evaluate, names
from rdma_robust.language.flow.cfg import Cas, Cell, Get, Program, Put, Rmw, Silent, Write, is_unwritten
from rdma_robust.language.flow.claims import OutcomeLine
from rdma_robust.language.flow.exclusive import guard_conjuncts
from rdma_robust.semantics.event_table import cells_read
from rdma_robust.semantics.values import ValueFlow, Values

MOST_VALUATIONS: Final = 4_096
"""Combinations of values for which a condition is tried before nothing is claimed."""

MOST_SHOWN: Final = 8
"""Values of a name that a message lists."""


def impossible_outcomes(program: Program, values: ValueFlow) -> Iterator[Diagnostic]:
    """Yield the outcome lines whose condition no final state meets, whatever the order of events (RR725)."""
    stuck = [t.name for number, t in enumerate(program.threads) if (number, t.exit) not in values.points]
    found = {str(cell): held for cell, held in values.cells.items()}
    for number, thread in enumerate(program.threads):
        at_end = values.points.get((number, thread.exit), {})
        found |= {f"{thread.name}.{name}": held for name, held in at_end.items()}
    for line in program.outcomes:
        if stuck:
            message = f"this says nothing: thread {stuck[0]} never ends, so there is no final state"
            yield Diagnostic("warning", "RR725", message, line.span)
            continue
        part = _impossible_part(line, found)
        if part is not None:
            which = listing((f"{quote(name)} can only be {_shown(found[name])}" for name in sorted(set(names(part)))), "and")
            yield Diagnostic("warning", "RR725", f"no execution ends like this: {which}", line.span)


def _impossible_part(line: OutcomeLine, values: dict[str, Values]) -> Expr | None:
    """Return a smallest part of a condition, a conjunct or all of it, that no values meet; None if that is not seen."""
    parts = sorted(guard_conjuncts(line.condition), key=lambda part: len(set(names(part))))
    return next((part for part in parts if names(part) and _never(part, values)), None)


def _never(condition: Expr, values: dict[str, Values]) -> bool:
    used = sorted(set(names(condition)))
    if prod(len(values[name]) for name in used) > MOST_VALUATIONS:
        return False
    for chosen in product(*(values[name] for name in used)):
        try:
            if evaluate(condition, dict(zip(used, chosen, strict=True))):
                return False
        except ZeroDivisionError:
            continue
    return True


def _shown(values: Values) -> str:
    shown = [str(value) for value in sorted(values)]
    return listing(shown if len(shown) <= MOST_SHOWN else [*shown[:MOST_SHOWN], "more"], "or")


def points_come_to(flow: ThreadFlow, values: ValueFlow) -> frozenset[int]:
    """Return a superset of the points that the thread comes to."""
    behind = (target for number, _, target, _ in values.taken if number == flow.number)
    return frozenset((flow.thread.entry, *behind))


def never_reached(flow: ThreadFlow, values: ValueFlow) -> Iterator[Diagnostic]:
    """Yield the statements that the values keep the thread from, each the first of its block (RR703)."""
    come_to = points_come_to(flow, values)
    behind = {target for edges in flow.out.values() for source, target, _ in edges if source in come_to}
    for span, edges in flow.statements.items():
        never = all(source not in come_to and not is_unwritten(step) for source, _, step in edges)
        if never and any(source in behind for source, _, _ in edges):
            yield Diagnostic("warning", "RR703", "this is never reached, whatever the others do", span)


def never_read(program: Program) -> Iterator[Diagnostic]:
    """Yield the variables that are written by a CPU or a put and that nobody reads, nor an outcome or invariant (RR726).

    What is only fetched is left out: a get may be there for its completion. An array counts as one variable.
    """
    read = {_variable(cell) for t in program.threads for _, _, step in t.edges for cell in cells_read(step.op)}
    conditions = [line.condition for line in program.outcomes] + [line.condition for line in program.invariants]
    asked = {name.split("[")[0] for condition in conditions for name in names(condition)}
    told: set[str] = set()
    for thread in program.threads:
        for _, _, step in thread.edges:
            match step.op:
                case Write(cell) | Put(cell) | Cas(cell) | Rmw(cell):
                    variable = _variable(cell)
                case Get() | Silent() | _:
                    continue
            if variable not in read | asked | told:
                told.add(variable)
                yield Diagnostic("warning", "RR726", f"{quote(variable)} is written and never read", step.span)


def _variable(cell: Cell) -> str:
    return str(cell).split("[", maxsplit=1)[0]
