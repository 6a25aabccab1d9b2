"""Event graphs: control-flow graphs whose edges make exactly one event each, ready for instrumentation.

A put or get becomes two edges with a program point between them, a compare-and-swap one edge per outcome, a message one
edge for each buffer that its receiver can have posted for it; register-only
steps are folded into the event that follows them, so that one event is one atomic step; registers are set to 0 where
they are dead. Silent edges remain only where a thread can loop without events, and in front of faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count

from rdma_robust.digraph import by_key, components, reachable
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Name, conj, is_value, names, size, substitute
from rdma_robust.language.flow.cfg import Op, Program, RemoteRmw, Section, Thread, named_lane, steps
from rdma_robust.limits import NEVER, Poll
from rdma_robust.model import RDMA, Model
from rdma_robust.robustness.event_edge import EdgeTouch, EventEdge, section_stores, with_touches
from rdma_robust.semantics.connections import Connection, buffers_of
from rdma_robust.semantics.event_table import Act, cases_of, placed, remote_of
from rdma_robust.semantics.trace import EventType

_MAX_FOLDED = 64
"""Silent paths from one program point that are folded; beyond it silent edges stay, which is correct and larger."""

_MAX_SIZE = 150
"""Size of the expressions that folding may build; a silent edge whose successor would get larger ones stays."""


def edges_from(edges: Iterable[EventEdge]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for edge in edges:
        found.setdefault(edge.source, set()).add(edge.target)
    return found


def fold_silent(edges: list[EventEdge], thread: Thread, to_end: bool, poll: Poll) -> list[EventEdge]:
    """Fold silent edges into the events after them; points that only silent edges reached disappear.

    With `to_end`, what leads to the end of the thread without an event stays as one silent edge.
    """
    out = by_key((edge.source, edge) for edge in edges)
    kept = _silent_loop_heads(edges) | ({thread.exit} if to_end else set())
    folded: list[EventEdge] = []
    todo, seen = [thread.entry], {thread.entry}
    while todo:
        point = todo.pop()
        paths = list(poll.each(_silent_paths(point, out, kept, thread.exit)))
        for edge in paths if len(paths) <= _MAX_FOLDED else out.get(point, []):
            folded.append(edge)
            if edge.target not in seen:
                seen.add(edge.target)
                todo.append(edge.target)
    return sorted(folded, key=lambda e: (e.source, e.target))


def _silent_loop_heads(edges: list[EventEdge]) -> set[int]:
    """Return program points that together lie on every cycle of silent edges."""
    silent = edges_from(e for e in edges if e.type is None and not _idle(e))
    heads: set[int] = set()
    for component in components(silent):
        if len(component) > 1 or component[0] in silent.get(component[0], ()):
            heads.update(component)
    return heads


def _idle(edge: EventEdge) -> bool:
    return edge.type is None and edge.source == edge.target and not edge.assigns and edge.fault is None


def _silent_paths(point: int, out: dict[int, list[EventEdge]], kept: set[int], end: int) -> Iterator[EventEdge]:
    """Yield what can happen first at `point`: each event after any silent prefix, folded into one edge.

    A path stops at an event, at a fault, at a point in `kept` and, for a purely silent path, is dropped at the end of
    the thread, where nothing can follow.
    """
    stack = [e for e in reversed(out.get(point, [])) if not _idle(e) and e.guard != FALSE]
    found = 0
    while stack:
        edge = stack.pop()
        if edge.type is not None or edge.fault is not None or edge.target in kept:
            found += 1
            yield edge
            if found > _MAX_FOLDED:
                return
        elif edge.target != end:
            following = [e for e in out.get(edge.target, []) if not _idle(e)]
            if any(_folded_size(edge, e) > _MAX_SIZE for e in following):
                found += 1
                yield edge
            else:
                after = [_after(edge, e) for e in reversed(following)]
                stack += [e for e in after if e.guard != FALSE]


def _folded_size(silent: EventEdge, edge: EventEdge) -> int:
    """The size of all expressions of `edge` preceded by `silent`, without building them."""
    grows = {register: size(value) for register, value in silent.assigns}
    written = () if edge.written is None else (edge.written,)
    parts = (edge.guard, *(value for _, value in edge.assigns), *written, *(edge.rmw or ()), *section_stores(edge))
    substituted = sum(size(part) + sum(grows.get(name, 0) for name in names(part)) for part in parts)
    return size(silent.guard) + sum(grows.values()) + substituted


def _after(silent: EventEdge, edge: EventEdge) -> EventEdge:
    """Return `edge` preceded by `silent` in the same atomic step."""
    by = dict(silent.assigns)
    assigns = {**by, **{r: substitute(e, by) for r, e in edge.assigns}}
    return replace(
        edge,
        source=silent.source,
        guard=conj(silent.guard, substitute(edge.guard, by)),
        assigns=tuple(assigns.items()),
        written=None if edge.written is None else substitute(edge.written, by),
        rmw=None if edge.rmw is None else (substitute(edge.rmw[0], by), substitute(edge.rmw[1], by)),
        section=with_touches(edge, by),
    )


@dataclass(frozen=True, slots=True)
class EventGraph:
    """The event edges of one thread, in a fixed order, and its reachable program points."""

    name: str
    thread: int
    entry: int
    edges: tuple[EventEdge, ...]
    registers: tuple[tuple[str, int], ...]
    points: frozenset[int]

    def leading_to(self, goals: Iterable[int]) -> frozenset[int]:
        """Return the program points from which one of `goals` can be reached, `goals` included."""
        before = by_key((edge.target, edge.source) for edge in self.edges)
        return frozenset(reachable(goals, before))


class GraphDetail(Enum):
    """The detail that an event graph keeps of a thread: what events need, also its end with the registers there, all.

    With STEPS and ALL every edge of the control-flow graph is there, so that the thread is seen at every program point; with
    ALL also its registers where nothing reads them any more.
    """

    EVENTS = "events"
    END = "end"
    STEPS = "steps"
    ALL = "all"


def register_names(program: Program, index: int) -> dict[str, str]:
    """Return the name `Thread.register` of every register of a thread, marked where a cell `Node.variable` has it."""
    thread = program.threads[index]
    cells = {str(cell) for cell in program.cells}
    return {r: f"{name}'" if name in cells else name for r, _ in thread.registers for name in (f"{thread.name}.{r}",)}


def event_graph(
    program: Program, index: int, kept: GraphDetail = GraphDetail.EVENTS, poll: Poll = NEVER, model: Model = RDMA
) -> EventGraph:
    """Return the event graph of thread `index` of `program`, with the events that `model` has. Program points keep their
    numbers."""
    thread = program.threads[index]
    rename = {r: Name(name) for r, name in register_names(program, index).items()}
    fresh = count(max([thread.entry, thread.exit, *thread.points]) + 1)
    bare = (EventEdge(index, u, v, None, TRUE, (), step) for u, v, step in steps(thread))
    split = [e for each in bare for e in _split(each, program, rename, fresh, model)]
    folded = (
        split if kept in (GraphDetail.STEPS, GraphDetail.ALL) else fold_silent(split, thread, kept is GraphDetail.END, poll)
    )
    after = edges_from(folded)
    points = dict.fromkeys([*(point for e in folded for point in (e.source, e.target)), thread.entry])
    every = {name.name for name in rename.values()}
    at_end = every if kept is GraphDetail.END else set()
    live = dict.fromkeys(points, every) if kept is GraphDetail.ALL else _live(folded, thread.exit, at_end, poll)
    ever_live = {r for point in live.values() for r in point}
    at_entry = live.get(thread.entry, set())
    registers = tuple(
        (name, v if name in at_entry else 0) for r, v in thread.registers if (name := rename[r].name) in ever_live
    )
    reached = reachable([thread.entry], after)
    edges = tuple(_reset_dead(e, registers, live) for e in poll.each(folded) if e.source in reached)
    return EventGraph(thread.name, index, thread.entry, edges, registers, frozenset(reached))


def _split(
    bare: EventEdge, program: Program, rename: dict[str, Name], fresh: Iterator[int], model: Model
) -> Iterator[EventEdge]:
    """Yield the event edges of one control-flow edge, with qualified registers; `fresh` numbers new program points. What a
    condition says of the value that is read stands at the event that reads it."""
    step = bare.step
    if isinstance(step.op, Section):
        yield _section(bare, step.op, rename, model)
        return
    assigns = tuple((rename[r].name, substitute(e, rename)) for r, e in step.assigns)
    own = substitute(step.guard, rename)
    first, cases = replace(bare, guard=own, remote=remote_of(step.op)), cases_of(step.op, model)
    taken = _operands(bare, cases[0].acts, first, fresh)
    yield from taken
    for case in cases:
        guard = own if case.when == TRUE else conj(substitute(case.when, rename), own)
        acts = case.acts[len(taken) :]
        if not acts:
            yield replace(bare, guard=guard, assigns=assigns)
        at_once, when_read = (guard, TRUE) if not acts or acts[0].reads else _of_value(guard)
        reading = next((number for number, act in enumerate(acts, 1) if act.reads), len(acts) + 1)
        source = taken[-1].target if taken else bare.source
        also = next((later for later in acts if later.type is EventType.NAW), None)
        for number, act in ((number, act) for number, act in enumerate(acts, 1) if act.type is not EventType.NAW):
            wrote = also if act.type is EventType.NAR and also is not None else act
            more = number < len(acts) and acts[number:] != (also,)
            target = next(fresh) if more else bare.target
            edge = replace(
                first,
                source=source,
                target=target,
                type=act.type,
                guard=at_once if number == 1 else when_read if number == reading else TRUE,
                assigns=() if more else assigns,
                carries=any(_takes_value(later) for later in acts[number:] if later is not also),
                completes=wrote.completes,
                completing=wrote.completing,
                peer=act.peer,
                wraps=None if more else case.fault,
                connection=_connection(program, bare.thread, act, named_lane(step.op)),
                members=tuple(i for i, each in enumerate(program.threads) if each.name in act.members),
                also=wrote.type if wrote is not act else None,
                rmw=_rmw(step.op, rename) if act.reads else None,
                operands=tuple(read.cell for read in taken if read.cell is not None) if act.reads else (),
                fills=act.fills,
            )
            for each in _placements(program, bare.thread, act, named_lane(step.op)):
                written = _written(wrote if edge.also else each, rename)
                yield replace(edge, cell=None if each is act and act.message else each.cell, written=written)
            source = target


def _operands(bare: EventEdge, acts: Iterable[Act], first: EventEdge, fresh: Iterator[int]) -> list[EventEdge]:
    """Return the edges by which the card reads the operands of an operation, of all its cases together."""
    found: list[EventEdge] = []
    for number, act in enumerate(act for act in acts if act.operand):
        guard = TRUE if found else _of_value(first.guard)[0]
        source = found[-1].target if found else bare.source
        read = replace(first, source=source, target=next(fresh), type=act.type, guard=guard, cell=act.cell, operand=number)
        found.append(read)
    return found


def _section(bare: EventEdge, op: Section, rename: dict[str, Name], model: Model) -> EventEdge:
    """Return the one edge of a locked section."""
    assigns = tuple((rename[r].name, substitute(e, rename)) for r, e in bare.step.assigns)
    guard, touches = substitute(bare.step.guard, rename), _touches(op, rename, model)
    return replace(bare, type=EventType.CAS, guard=guard, assigns=assigns, section=touches)


def _touches(op: Section, rename: dict[str, Name], model: Model) -> tuple[EdgeTouch, ...]:
    (case,) = cases_of(op, model)
    numbers = {cell: k for k, cell in enumerate(op.cells)}
    return tuple(
        EdgeTouch(act.type, act.cell, numbers[act.cell] if act.cell is not None else -1, _written(act, rename))
        for act in case.acts
    )


def _written(act: Act, rename: dict[str, Name]) -> Expr | None:
    """What the event writes; of a message without data that is its immediate."""
    if act.message is not None and act.message.data is None:
        return substitute(act.message.imm, rename)
    return None if act.written is None or act.copies else substitute(act.written, rename)


def _rmw(op: Op, rename: dict[str, Name]) -> tuple[Expr, Expr] | None:
    """The condition and the new value of a remote read-modify-write."""
    return (substitute(op.when, rename), substitute(op.new, rename)) if isinstance(op, RemoteRmw) else None


def _of_value(guard: Expr) -> tuple[Expr, Expr]:
    """Return what of a condition can be known before the value is read, and the rest."""
    if isinstance(guard, Binary) and guard.op == "&&":
        halves = _of_value(guard.left), _of_value(guard.right)
        return conj(*(early for early, _ in halves)), conj(*(late for _, late in halves))
    return (TRUE, guard) if any(map(is_value, names(guard))) else (guard, TRUE)


def _takes_value(act: Act) -> bool:
    """Whether the event stores something made of what an earlier one of its operation has read."""
    stored = [value for _, value in act.writes]
    if act.message is not None and act.message.data is not None:
        stored.append(act.message.data)
    return not act.reads and any(VALUE.name in names(value) for value in stored)


def _connection(program: Program, thread: int, act: Act, lane: str) -> Connection | None:
    if act.peer is None:
        return None
    peer = next(i for i, t in enumerate(program.threads) if t.name == act.peer)
    return (thread, peer, lane) if act.type is EventType.NRW else (peer, thread, lane)


def _placements(program: Program, thread: int, act: Act, lane: str) -> Iterable[Act]:
    """The act, or a message with each buffer that its receiver can post for it; as it is if that posts none."""
    connection = _connection(program, thread, act, lane) if act.fills else None
    buffers = () if connection is None else buffers_of(program, connection)
    return [placed(act, buffer) for buffer in buffers] or [act]


def _live(edges: list[EventEdge], end: int, at_end: set[str], poll: Poll) -> dict[int, set[str]]:
    """Return for every program point the registers read on some path from it before being assigned; those of `at_end`
    are read at the thread's end."""
    live: dict[int, set[str]] = {e.source: set() for e in edges} | {end: set(at_end)}
    into = by_key((edge.target, edge) for edge in edges)
    todo = list(edges)
    while todo:
        poll()
        edge = todo.pop()
        wanted = live.get(edge.target, set())
        assigned = dict(edge.assigns)
        uses = set(names(edge.guard)) | ({*names(edge.written)} if edge.written is not None else set())
        uses |= {n for r, e in assigned.items() if r in wanted for n in names(e)}
        uses |= {n for e in (*(edge.rmw or ()), *section_stores(edge)) for n in names(e)}
        new = {name for name in uses | (wanted - set(assigned)) if not is_value(name)}
        if not new <= live[edge.source]:
            live[edge.source] |= new
            todo += into.get(edge.source, [])
    return live


def _reset_dead(edge: EventEdge, registers: tuple[tuple[str, int], ...], live: dict[int, set[str]]) -> EventEdge:
    """Keep only assignments to registers that are live afterwards and set those that have just died to 0."""
    wanted = live.get(edge.target, set())
    before = live.get(edge.source, set())
    kept = tuple((r, e) for r, e in edge.assigns if r in wanted)
    died = tuple((r, Const(0)) for r, _ in registers if r in before and r not in wanted)
    return edge if edge.assigns == kept + died else replace(edge, assigns=kept + died)
