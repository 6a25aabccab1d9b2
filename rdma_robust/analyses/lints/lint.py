"""All lints of a program: the list of them, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from rdma_robust.analyses.lints.ordering import (
    fences_without_effect,
    never_polled,
    polls_that_prove_less,
    results_overwritten,
    results_read_early,
    sources_overwritten,
)
from rdma_robust.analyses.lints.trails import Edge, Others, ThreadFlow, flows, outstanding_after, trails
from rdma_robust.diagnose import listing, quote
from rdma_robust.errors import Diagnostic, SizeLimitError, Span
from rdma_robust.expr import VALUE, Const, Expr, evaluate, names
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Get,
    Poll,
    Program,
    Put,
    Read,
    RemoteRmw,
    Rmw,
    Silent,
    Step,
    Write,
    is_unwritten,
    steps,
)
from rdma_robust.language.flow.claims import OutcomeLine
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.flow.exclusive import guard_conjuncts
from rdma_robust.language.load import FOUND_BY_READING, decidable, in_source_order, load_with_all_warnings
from rdma_robust.semantics.event_table import cells_read, cells_written, completes_on, polls_of, requests_to
from rdma_robust.semantics.machines.waiting_points import WAITING
from rdma_robust.semantics.values import ValueFlow, Values, value_flow

MOST_STATES: Final = 2_000
"""States of one thread that are followed to prove that a poll can find nothing."""

_MANY: Final = 1_000_000
"""More completions than are ever outstanding in so many states."""

State = tuple[int, tuple[int | None, ...], tuple[int, ...]]
"""A point, the registers as far as they are known, and what is outstanding on each queue pair."""


def polls_that_find_nothing(flow: ThreadFlow, others: Others) -> Iterator[Diagnostic]:
    """Yield the polls that have nothing to take: those at which the thread waits forever, on every path or on one that is
    sure to be possible (RR702), and those that take nothing and need not be waited for (RR731)."""
    unsure: list[tuple[Step, str]] = []
    for node in flow.nodes:
        at = flow.outstanding(node)
        for span, ways in flow.statements.items():
            edges = [edge for edge in ways if polls_of(edge[2].op) == node]
            have = set().union(*(at.get(source, set()) for source, _, _ in edges))
            if not edges or 0 not in have:
                continue
            step = edges[0][2]
            if have == {0}:
                waits = _alone(flow, edges)
                others_too = {polls_of(other.op) for _, _, other in ways} - {node, None}
                what = "waits forever" if waits else f"never takes one of {node}" if others_too else "never takes anything"
                message = f"{quote(step.text)} {what}: nothing towards {node} is outstanding here"
                if waits:
                    yield Diagnostic("warning", "RR702", message, span, hint=_hint(flow, node))
                else:
                    yield Diagnostic("warning", "RR731", message, span, hint=_hint(flow, node))
            elif _alone(flow, edges):
                unsure.append((step, node))
    if unsure:
        found = _sure_to_wait(flow, others)
        for step, node in unsure:
            if step in found:
                message = (
                    f"{quote(step.text)} can wait forever: the thread can come here with nothing towards {node} outstanding"
                )
                yield Diagnostic("warning", "RR702", message, step.span, hint=_hint(flow, node))


def windows_of_messages(flow: ThreadFlow) -> Iterator[Diagnostic]:
    """Yield the requests of a loop that goes on by messages of the other side, while none of its polls takes a completion of
    their queue pair (RR732): nothing bounds what the send queue holds."""
    for (_, _, request), (_, _, wait) in flow.windows():
        node = requests_to(request.op)
        message = (
            f"{quote(request.text)} waits for {quote(wait.text)} (line {wait.span.where}) only, and no poll of {node} in "
            "this loop takes its completion: the send queue fills up"
        )
        hint = f"a `poll {node}` in the loop for each signaled request"
        yield Diagnostic("warning", "RR732", message, request.span, hint=hint)


def _alone(flow: ThreadFlow, edges: list[Edge]) -> bool:
    """Whether the thread can do nothing else where a poll is next, as it can in a `loop`, a `choose` or a `trypoll`, and
    where another queue pair shares the completion queue."""
    return all(edge in edges for source, _, _ in edges for edge in flow.out[source])


def _hint(flow: ThreadFlow, node: str) -> str:
    ops = [step.op for edges in flow.out.values() for _, _, step in edges]
    if any(completes_on(op) == node for op in ops):
        return "every poll takes one completion; take this poll out, or put it where there is one"
    if any(requests_to(op) == node for op in ops):
        return f"every operation of the thread towards {node} is unsignaled"
    return f"the thread has no operation towards {node}"


def _sure_to_wait(flow: ThreadFlow, others: Others) -> set[Step]:
    """Return the polls to which some execution comes with nothing to take.

    Followed are only steps that can be taken whatever the others do: their guards are true of the registers that are known.
    Registers are known from constants and from words that nobody writes; polls end where there is something to take.
    """
    names_of = [name for name, _ in flow.thread.registers]
    start: State = (flow.thread.entry, tuple(value for _, value in flow.thread.registers), (0,) * len(flow.nodes))
    seen, todo = {start}, [start]
    found: set[Step] = set()
    while todo and len(seen) < MOST_STATES:
        point, registers, have = todo.pop()
        known = {name: value for name, value in zip(names_of, registers, strict=True) if value is not None}
        for _, target, step in flow.out.get(point, ()):
            if isinstance(step.op, WAITING) and not isinstance(step.op, Poll):
                continue
            env = known | _read(step, others)
            if _value(step.guard, env) in (None, 0):
                continue
            after = [
                n
                for node, number in zip(flow.nodes, have, strict=True)
                for n in outstanding_after(number, step, node, _MANY)
            ]
            if len(after) < len(have):
                found.add(step)
                continue
            assigned = {name: _value(expr, env) for name, expr in step.assigns}
            kept = tuple(assigned.get(name, known.get(name)) for name in names_of)
            state = (target, kept, tuple(after))
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return found


def _read(step: Step, others: Others) -> dict[str, int]:
    if isinstance(step.op, Read) and not others.writers.get(step.op.cell):
        return {VALUE.name: step.op.cell.init}
    return {}


def _value(expr: Expr, env: Mapping[str, int]) -> int | None:
    """Return the value of an expression, None if it depends on what is not known."""
    if isinstance(expr, Const):
        return expr.value
    if not set(names(expr)) <= env.keys():
        return None
    try:
        return evaluate(expr, env)
    except ZeroDivisionError:
        return None


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


CODES: Final = frozenset({"RR702", "RR703", *(f"RR{k}" for k in range(721, 732) if k != 727)})
"""What :func:`lints` finds; the other warnings are found as a program is read."""

SUPERFLUOUS: Final = frozenset({"RR703", "RR724"})
"""What says that a statement is there for nothing."""


@dataclass(frozen=True, slots=True)
class LintResult:
    """The warnings, in source order, and why there may be more of some codes; `cut` is empty where these are all."""

    found: tuple[Diagnostic, ...]
    cut: str = ""


def linted(
    text: str,
    file: str,
    exceeded: Callable[[], str] = lambda: "",
    more: tuple[Diagnostic, ...] = (),
    also: frozenset[str] = frozenset(),
) -> LintResult:
    """Return all warnings of the program in `text`, but for those that comments ask not to be shown.

    `more` are warnings of the codes `also`, which were looked for elsewhere. Raises ProgramError.
    """
    program, ignored = load_with_all_warnings(text, file)
    decidable(program, crowds=True)
    two = copies_of(program, dict.fromkeys((t.name for t in program.crowds), 2)) if program.crowds else program
    own = lints(two, exceeded)
    found: dict[tuple[str, int, int, str], Diagnostic] = {}
    for each in (*program.warnings, *own.found, *more):
        found.setdefault((each.span.elsewhere, each.span.line, each.span.column, each.code), each)
    looked_for = FOUND_BY_READING | also | (frozenset() if own.cut else CODES)
    return LintResult(in_source_order(ignored.applied(found.values(), looked_for)), own.cut)


def lints(program: Program, exceeded: Callable[[], str] = lambda: "") -> LintResult:
    """Return likely mistakes in `program`, each place and code once.

    None of it needs a search of states. `exceeded` names a limit that has been reached, as for
    :func:`rdma_robust.semantics.values.possible_values`; what needs values is left out then.
    """
    cut: list[str] = []
    found: dict[tuple[str, int, int, str], Diagnostic] = {}
    for each in _in_all_copies(program, list(_found(program, exceeded, cut))):
        found.setdefault((each.span.elsewhere, each.span.line, each.span.column, each.code), each)
    return LintResult(tuple(sorted(found.values(), key=lambda each: (each.span.start, each.code))), "; ".join(cut))


_Said = tuple[str, Diagnostic]
"""A warning, and the thread of which it is said; no name if it is about the whole program."""


def _in_all_copies(program: Program, found: list[_Said]) -> Iterator[Diagnostic]:
    """Yield warnings; what calls a statement of a `for`, macro or family superfluous only if it is that in all copies."""
    copies: dict[int, set[tuple[str, Span]]] = {}
    for thread in program.threads:
        for _, _, step in thread.edges:
            if step.span.origin is not None or thread.family is not None:
                copies.setdefault(step.span.start, set()).add((thread.name, step.span))
    told: dict[tuple[int, str], set[tuple[str, Span]]] = {}
    for thread_name, each in found:
        told.setdefault((each.span.start, each.code), set()).add((thread_name, each.span))
    for _, each in found:
        if each.code not in SUPERFLUOUS or told[each.span.start, each.code] >= copies.get(each.span.start, set()):
            yield each


def _found(program: Program, exceeded: Callable[[], str], cut: list[str]) -> Iterator[_Said]:
    """Yield the warnings, more than once where several reasons are, and add to `cut` why there may be more."""
    yield from (("", each) for each in mixed_writes(program))
    yield from (("", each) for each in never_read(program))
    values: ValueFlow | None = None
    try:
        values = value_flow(program, exceeded)
        yield from (("", each) for each in impossible_outcomes(program, values))
    except SizeLimitError as error:
        cut.append(str(error))
    others = Others.of(program)
    for flow in flows(program):
        reached = None if values is None else points_come_to(flow, values)
        if values is not None:
            yield from ((flow.thread.name, each) for each in never_reached(flow, values))
        for each in _of_thread(flow, others, cut, program.hardware.order):
            if reached is None or any(source in reached for source, _, _ in flow.statements[each.span]):
                yield flow.thread.name, each


def _of_thread(flow: ThreadFlow, others: Others, cut: list[str], order: str | None) -> Iterator[Diagnostic]:
    """Yield what the paths of a thread show, values ignored, on a network with an `order` if the program names one."""
    yield from polls_that_find_nothing(flow, others)
    yield from windows_of_messages(flow)
    found, complete = trails(flow, others)
    if not complete:
        cut.append(f"thread {flow.thread.name} has too many paths to follow all of its operations")
    yield from results_read_early(flow, found)
    yield from results_overwritten(flow, found)
    yield from sources_overwritten(flow, found)
    yield from never_polled(flow, found)
    if complete:
        yield from polls_that_prove_less(flow, others, found)
        yield from fences_without_effect(flow, found, order)


def mixed_writes(program: Program) -> Iterator[Diagnostic]:
    """Yield the statements that write a word which a remote atomic of another thread changes (RR728).

    The hardware is that which the program names: under `atomics glob` they exclude each other.
    """
    if program.hardware.model.atomics == "glob":
        return
    changed: dict[Cell, dict[str, Span]] = {}
    for thread in program.threads:
        for _, _, step in steps(thread):
            if isinstance(step.op, RemoteRmw):
                changed.setdefault(step.op.source, {}).setdefault(thread.name, step.span)
    for thread in program.threads:
        for _, _, step in steps(thread):
            for cell in sorted(_written(step), key=str):
                other = next((span for name, span in changed.get(cell, {}).items() if name != thread.name), None)
                if other is not None:
                    yield _told(step, cell, other)


def _written(step: Step) -> frozenset[Cell]:
    written = cells_written(step.op) if step.fault is None else frozenset[Cell]()
    return written - {step.op.source} if isinstance(step.op, RemoteRmw) else written


def _told(step: Step, cell: Cell, other: Span) -> Diagnostic:
    what = "the CPU's atomic operation" if isinstance(step.op, Cas | Rmw) else "this write"
    message = f"the NIC's atomic on {quote(str(cell))} (line {other.line}) does not exclude {what}: atomics hca"
    hint = "change the location by remote atomics only, also from its own node, or say `hardware atomics glob`"
    return Diagnostic("warning", "RR728", message, step.span, hint=hint)
