"""All lints of a program: the list of them, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.lints.in_flight import never_polled, results_overwritten, results_read_early, sources_overwritten
from rdma_robust.analyses.lints.ordering import fences_without_effect, polls_that_prove_less
from rdma_robust.analyses.lints.queue_flow import Others, ThreadFlow, flows
from rdma_robust.analyses.lints.trails import trails
from rdma_robust.analyses.lints.unused_words import impossible_outcomes, never_reached, never_read, points_come_to
from rdma_robust.analyses.lints.waiting_polls import polls_that_find_nothing, windows_of_messages
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic, SizeLimitError, Span
from rdma_robust.language.flow.cfg import Cas, Cell, Program, RemoteRmw, Rmw, Step, steps
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.load import FOUND_BY_READING, decidable, in_source_order, load_with_all_warnings
from rdma_robust.semantics.event_table import cells_written
from rdma_robust.semantics.values import ValueFlow, value_flow

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
    found: dict[tuple[int, int, str], Diagnostic] = {}
    for each in (*program.warnings, *own.found, *more):
        found.setdefault((each.span.line, each.span.column, each.code), each)
    looked_for = FOUND_BY_READING | also | (frozenset() if own.cut else CODES)
    return LintResult(in_source_order(ignored.applied(found.values(), looked_for)), own.cut)


def lints(program: Program, exceeded: Callable[[], str] = lambda: "") -> LintResult:
    """Return likely mistakes in `program`, each place and code once.

    None of it needs a search of states. `exceeded` names a limit that has been reached, as for
    :func:`rdma_robust.semantics.values.possible_values`; what needs values is left out then.
    """
    cut: list[str] = []
    found: dict[tuple[int, int, str], Diagnostic] = {}
    for each in _in_all_copies(program, list(_found(program, exceeded, cut))):
        found.setdefault((each.span.line, each.span.column, each.code), each)
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
    hint = "change the word by remote atomics only, also from its own node, or say `hardware atomics glob`"
    return Diagnostic("warning", "RR728", message, step.span, hint=hint)
