"""Contracts between the passes of the decision procedure: in words, and as tests of the artefacts.

The passes do not run them: the tests do, on every litmus program and on random ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from rdma_robust.counters.program import Add, Assign, Body, Choose, CounterProgram, Forget, Require, Zero, pc
from rdma_robust.errors import InternalError
from rdma_robust.expr import Expr, is_value, names
from rdma_robust.language.flow.cfg import Program
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.messages import takes_buffer
from rdma_robust.robustness.passes import Attempt, CounterArtefact, CoverArtefact, FilterArtefact, PassContract, VassArtefact
from rdma_robust.robustness.pivot_classes import opens
from rdma_robust.semantics.axioms import sc_violation
from rdma_robust.semantics.trace import FENCE_TYPES, NIC_WRITE_TYPES, EventType
from rdma_robust.semantics.wellformed import check_well_formed

_NIC_READS: Final = {EventType.NLR: EventType.NRW, EventType.NRR: EventType.NLW}
_WITHOUT_CELL: Final = (EventType.P, EventType.F, EventType.V, EventType.RP, EventType.FL, EventType.BAR, *FENCE_TYPES)


def _program(program: Program) -> Iterator[str]:
    from rdma_robust.language.flow.valid import complaints  # noqa: PLC0415 - few ask for it

    return map(str, complaints(program))


def _events(frame: InstrumentationFrame) -> Iterator[str]:
    if [g.name for g in frame.graphs] != [t.name for t in frame.program.threads]:
        yield "not one event graph for each thread"
    for thread, graph in enumerate(frame.graphs):
        yield from _graph(thread, graph)


def _graph(thread: int, graph: EventGraph) -> Iterator[str]:
    registers = {name for name, _ in graph.registers}
    after: dict[int, set[EventType | None]] = {}
    for edge in graph.edges:
        after.setdefault(edge.source, set()).add(edge.type)
    for edge in graph.edges:
        if edge.thread != thread or not {edge.source, edge.target} <= graph.points:
            yield f"{edge} is not between points of its thread"
        if (
            not edge.section
            and (edge.cell is None) != (edge.type is None or edge.type in _WITHOUT_CELL)
            and not takes_buffer(edge)
        ):
            yield f"{edge} has a cell that its type does not touch, or none"
        if edge.type in _NIC_READS and after.get(edge.target, set()) - {None} != {_NIC_READS[edge.type]}:
            yield f"{edge} is not followed by the write of its operation"
        if edge.type in NIC_WRITE_TYPES and edge.assigns:
            yield f"{edge} is an event of the NIC and assigns registers"
        used = {n for n in chain.from_iterable(map(names, _expressions(edge))) if not is_value(n)}
        if not used | {r for r, _ in edge.assigns} <= registers:
            yield f"{edge} uses registers that the graph does not have"


def _expressions(edge: EventEdge) -> Iterator[Expr]:
    yield edge.guard
    yield from (value for _, value in edge.assigns)
    if edge.written is not None:
        yield edge.written
    yield from (touch.written for touch in edge.section if touch.written is not None)


def _filtered(left: FilterArtefact) -> Iterator[str]:
    yield from _events(left.frame)
    if left.pivots is None:
        return
    classes = left.pivots.classes
    for c in classes.tried:
        if not classes.sites(c):
            yield f"no event is in the class {c}"
        edges = [e for g in left.frame.graphs for e in g.edges]
        if not any(classes.may_start(e, c) or opens(e, c, left.frame) for e in edges):
            yield f"nothing can come first after a pivot of the class {c}"


def _instrumented(made: CounterArtefact) -> Iterator[str]:
    program = made.counters
    fields = [*(pc(i) for i in range(len(program.processes))), *(name for name, _ in program.variables), *program.counters]
    yield from (f"the name {name} stands for {n} things" for name, n in Counter(fields).items() if n > 1)
    for process in program.processes:
        for command in process.commands:
            yield from _body(program, command.body, set(fields))
    for target in program.targets:
        if not set(names(target.condition)) <= set(fields):
            yield f"the target of {target.label} uses unknown names"


def _body(program: CounterProgram[Any], body: Body[Any], known: set[str]) -> Iterator[str]:
    for statement in body.statements:
        made: set[str] = set()
        match statement:
            case Require(condition):
                used: Iterable[str] = names(condition)
            case Assign(updates):
                used = chain.from_iterable(names(value) for _, value in updates)
                made = {n for n, _ in updates}
            case Choose(name, options):
                used = chain.from_iterable(names(test) for _, test in options)
                made = {name}
            case Add(counter) | Zero(counter) | Forget(counter):
                used = () if counter in program.counters else (counter,)
        yield from (f"a command uses the unknown name {name}" for name in used if name not in known)
        known = known | made
    if not body.labels and not body.then:
        yield "an alternative of a command has no label"
    for branch in body.then:
        yield from _body(program, branch, known)


def _lowered(lowered: VassArtefact) -> Iterator[str]:
    program, vass = lowered.vass.program, lowered.vass
    if len(vass.fields) != len(vass.initial):
        yield "the initial state has not one value for each field"
    if len(vass.targets) != len(program.targets):
        yield "targets were lost"
    if sorted(vass.unbounded) != sorted(c for c, bound in vass.bounds.items() if bound is None):
        yield "the counters of the VASS are not those without a proven bound"
    if set(program.counters) - set(vass.unbounded) - set(vass.fields):
        yield "a counter was lost"


def _covered(covered: CoverArtefact) -> Iterator[str]:
    found, shortest = covered.found.result, covered.shortest.result
    if found.target >= 0 and found.cut:
        yield "a search that found something was cut"
    if (found.target < 0) != (shortest.target < 0):
        yield "the shortest run is of another answer"
    at = [process.entry for process in covered.lowered.vass.program.processes]
    for label in covered.shortest.run:
        edge = label.edge
        if at[edge.thread] != edge.source:
            yield f"the run goes on with {edge} where its thread is not"
        at[edge.thread] = edge.target


def _lifted(attempt: Attempt) -> Iterator[str]:
    if (attempt.covered.shortest.result.target < 0) != (attempt.lifted is None):
        yield "a trace without a reached target, or none with one"
    if attempt.lifted is not None:
        try:
            check_well_formed(attempt.covered.lowered.program, attempt.lifted.trace)
        except InternalError as error:
            yield str(error)


def _decided(outcome: Outcome) -> Iterator[str]:
    if (outcome.witness is not None) != (outcome.verdict is Verdict.NOT_ROBUST):
        yield "a witness of something else than a violation, or a violation without one"
    if outcome.witness is not None and sc_violation(outcome.witness.trace) is None:
        yield "sequential consistency allows the witness"


PROGRAM: Final = PassContract("a checked program: names resolved, one shared access a step, faults explicit", _program)
EVENTS: Final = PassContract("one event an edge: puts and gets split, register steps folded, dead registers 0", _events)
FILTERED: Final = PassContract("of all pivot classes those on a critical cycle, of classes that are alike one", _filtered)
INSTRUMENTED: Final = PassContract("a counter program whose targets are reachable iff not robust", _instrumented)
LOWERED: Final = PassContract("a VASS: finite variables and bounded counters in the control state", _lowered)
COVERED: Final = PassContract("a run to a target, a search without one, or the limit that cut it", _covered)
LIFTED: Final = PassContract("the trace of the run, part 1 before the pivot and part 2", _lifted)
DECIDED: Final = PassContract("a verdict; of a violation the trace, confirmed by the axioms", _decided)
