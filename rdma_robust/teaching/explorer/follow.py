"""How far sequential consistency can follow a run of the RDMA machine: the same reads and the same order of writes.

A remote atomic is one step of SC, whatever happens between its read and its write, so its two events are one vertex. A
thread reads its own store before that leaves the store buffer. A message comes after the receive that it fills and before
the poll that takes it; where it still waits for a receive, SC goes no further than to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import networkx as nx

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import NAMELESS, Cell, Program, Recv, named_lane
from rdma_robust.semantics.connections import Connection, finds_room
from rdma_robust.semantics.machines.chosen import is_deployed
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.effects import SC_VERBS
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.run_history import RunEvent, RunHistory, history, trace_event, word_of
from rdma_robust.semantics.machines.threadcode import Registers
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event, EventType
from rdma_robust.teaching.explorer.run_tree import Choices, RunPoint, Runs


@dataclass(frozen=True, slots=True)
class Link:
    """`source` must come before `target` under SC, because of `relation`: po, rf, mo, rb, sm, rpf, or `later`: `source` has
    happened and `target`, an access to the same word, is still to come; or `waits`: a message of both has no buffer yet."""

    source: Event
    relation: str
    target: Event


@dataclass(frozen=True, slots=True)
class ScRun:
    """`choices` is a run of the SC machine with the effects of the RDMA run.

    If `broken` is not None, only with those before step `broken`: from then on there is no such run, because of `cycle`.
    """

    choices: Choices
    broken: int | None = None
    cycle: tuple[Link, ...] = ()


@dataclass(slots=True)
class RunEffect:
    """One event. `step` is the move of the run with which it takes effect, None while it is still to come.

    `posted` is the move with which the CPU did it or posted its operation. `landing` is where the thread goes on after it
    under SC: after a CPU event or a fence, and after the last event of an operation.
    """

    event: Event
    posted: int
    step: int | None = None
    landing: tuple[int, Registers] | None = None


@dataclass
class _Past:
    """The past and the future of a run, as vertices: `steps` have the first event of each, `parts` all."""

    steps: list[RunEffect] = field(default_factory=list)
    parts: list[list[RunEvent]] = field(default_factory=list)
    threads: list[list[int]] = field(default_factory=list)


def follow(rdma: Runs, sc: Runs, points: Sequence[RunPoint]) -> ScRun:
    """Return what SC can do of a run, given by the points after each of its steps.

    SC can follow as long as program order and the conflicts between accesses to one word have no cycle: those that have
    happened in their order, and those of posted operations, which nothing can stop, after them. Then an order of the events
    without the cycle is an SC run with the same reads-from and the same order of writes; what is posted and not needed for
    it is left out. With a cycle every completion of the RDMA run is a violating trace, see docs/theory.md,
    "What is decided". Raises InternalError if the SC machine cannot run the order.
    """
    machine = rdma.machine
    assert isinstance(machine, DeployedMachine)
    moves = [point.move for point in (rdma.point(()), *points) if point.move is not None]
    started = len(moves) - len(points)

    def past(number: int) -> _Past:
        return _vertices(machine, history(machine, moves[: started + number])) if started + number else _Past()

    def goes_wrong(number: int) -> bool:
        return not nx.is_directed_acyclic_graph(_graph(machine.program, past(number)))

    # A message that waits is behind all that follows it in its thread, until its buffer is posted.
    whole = not points or not goes_wrong(len(points))
    broken = len(points) if whole else bisect_left(range(1, len(points) + 1), True, key=goes_wrong)
    done = past(broken)
    first = tuple(p.choice for p in points[:1] if p.move is not None and p.move.action.verb is Verb.START)
    choices = (*first, *_schedule(sc, first, done, _graph(machine.program, done)))
    if broken == len(points):
        return ScRun(choices)
    after = past(broken + 1)
    return ScRun(choices, broken + 1, shortest_cycle(_graph(machine.program, after), after.steps))


def _vertices(machine: DeployedMachine, run: RunHistory) -> _Past:
    found = _Past()
    for t in range(len(machine.codes)):
        mine: list[int] = []
        for happened in run.program_order(t):
            kind = happened.act.type
            if kind is EventType.NAW and mine:
                found.parts[mine[-1]].append(happened)
                continue
            if happened.act.joined and mine:
                found.parts[mine[-1]].append(happened)
                found.steps[mine[-1]].landing = happened.landing
                continue
            number = len(found.steps)
            event = replace(trace_event(happened, t, len(mine)), index=number)
            if (
                mine
                and found.parts[mine[-1]][0].act.type is EventType.F
                and found.parts[mine[-1]][0].action is happened.action
            ):
                # A failed atomic waits for the store buffer and reads: one step under SC.
                mine.pop()
                event = replace(event, position=len(mine))
            found.steps.append(RunEffect(event, happened.posted, happened.number, happened.landing))
            found.parts.append([happened])
            mine.append(number)
        found.threads.append(mine)
    return found if is_deployed(machine.program, machine.model) else _in_order_of_posting(found)


def _in_order_of_posting(past: _Past) -> _Past:
    """Return the vertices with other numbers. They decide which of several cycles of one length is shown: it stays the one
    that the explorer has always shown."""
    order = sorted(range(len(past.steps)), key=lambda i: past.steps[i].posted)
    number = {i: n for n, i in enumerate(order)}
    for i, n in number.items():
        past.steps[i].event = replace(past.steps[i].event, index=n)
    return _Past(
        [past.steps[i] for i in order],
        [past.parts[i] for i in order],
        [[number[i] for i in mine] for mine in past.threads],
    )


def _graph(program: Program, past: _Past) -> nx.DiGraph[int]:
    """Return what must come before what under SC, without edges that others imply; with a cycle if nothing can be so."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(past.steps)))
    before = {after: i for mine in past.threads for i, after in pairwise(mine)}
    graph.add_edges_from(((before[i], i) for i in range(len(past.steps)) if i in before), relation="po")
    cells = dict(_messages(program, past, graph))
    return _settled(graph, list(_conflicts(past, graph, cells)))


def _settled(graph: nx.DiGraph[int], between: list[tuple[int, int, int]]) -> nx.DiGraph[int]:
    """Return the graph with every write put on one side of a store and a read that it must not come between.

    `between` are stores that wait in a buffer, reads that have taken their values there, and writes to the same words that
    are to come, too. Where nothing says which of these comes first, both are tried; a graph with a cycle says that none can.
    """
    left: list[tuple[int, int, int]] = []
    for store, read, write in between:
        if nx.has_path(graph, store, write):
            _join(graph, read, write, "later")
        elif nx.has_path(graph, write, read):
            _join(graph, write, store, "later")
        else:
            left.append((store, read, write))
    if len(left) < len(between):
        return _settled(graph, left)
    if not left or not nx.is_directed_acyclic_graph(graph):
        return graph
    (store, read, write), rest = left[0], left[1:]
    behind = graph.copy()
    _join(behind, read, write, "later")
    if nx.is_directed_acyclic_graph(found := _settled(behind, rest)):
        return found
    _join(graph, write, store, "later")
    return _settled(graph, rest)


def _messages(program: Program, past: _Past, graph: nx.DiGraph[int]) -> Iterator[tuple[int, Cell]]:
    """Add what messages come after and before; yield the buffer of each message that has one."""
    numbers = {thread.name: t for t, thread in enumerate(program.threads)}
    for t, mine in enumerate(past.threads):
        sent: dict[tuple[str, str], list[int]] = {}
        for i in mine:
            act = past.parts[i][0].act
            if act.message is not None and act.peer is not None:
                sent.setdefault((act.peer, _lane(past, i)), []).append(i)
        for (name, lane), messages in sent.items():
            yield from _connected(program, past, graph, (t, numbers[name], lane), messages)


def _lane(past: _Past, i: int) -> str:
    """The lane of a message, V or RP."""
    step = past.parts[i][0].action.step
    return NAMELESS if step is None else named_lane(step.op)


def _connected(
    program: Program, past: _Past, graph: nx.DiGraph[int], connection: Connection, messages: Sequence[int]
) -> Iterator[tuple[int, Cell]]:
    t, u, lane = connection
    here = program.threads[t].name, lane
    others = [i for i in past.threads[u] if (past.parts[i][0].act.peer, _lane(past, i)) == here]
    receives = [i for i in others if past.parts[i][0].act.type is EventType.V]
    polls = [i for i in others if past.parts[i][0].act.type is EventType.RP]
    buffers = [cell for name, cell, on in program.threads[u].posted if (name, on) == here]
    first = len(buffers)
    for i in receives:
        step = past.parts[i][0].action.step
        assert step is not None and isinstance(step.op, Recv)
        buffers.append(step.op.cell)
    for k, i in enumerate(messages):
        if k < len(buffers) and finds_room(past.parts[i][0].action.step, buffers[k]):
            yield i, buffers[k]
            if k >= first:
                _join(graph, receives[k - first], i, "sm")
        elif any(past.steps[j].step is not None for j in past.threads[t] if j > i):
            graph.add_edge(i, i, relation="waits")
        if k < len(polls):
            _join(graph, i, polls[k], "rpf")


def _conflicts(past: _Past, graph: nx.DiGraph[int], cells: dict[int, Cell]) -> Iterator[tuple[int, int, int]]:
    """Add what conflicts say; yield the stores in a buffer, with reads of their values and other writes that are to come."""
    done = [(h.number, i, p, h) for i, parts in enumerate(past.parts) for p, h in enumerate(parts) if h.number is not None]
    to_come = [(i, h) for i, parts in enumerate(past.parts) for h in parts if h.number is None]
    writer: dict[Cell, int] = {}
    readers: dict[Cell, list[int]] = {}
    forwarded: dict[int, list[int]] = {}
    for number, i, _, happened in sorted(done, key=lambda each: each[:3]):
        cell = word_of(happened, cells.get(i))
        if cell is None:
            continue
        reads, writes = happened.act.type in READ_TYPES, happened.act.type in WRITE_TYPES
        own = _own_store(past, i, number, cell) if happened.act.type is EventType.LR else None
        if own is not None:
            forwarded.setdefault(own, []).append(i)
            continue
        if cell in writer:
            _join(graph, writer[cell], i, "rf" if reads else "mo")
        if writes:
            for reader in readers.get(cell, ()):
                _join(graph, reader, i, "rb")
            writer[cell] = i
            readers[cell] = list(forwarded.get(i, ()))
        else:
            readers.setdefault(cell, []).append(i)
    for i, happened in to_come:
        cell = word_of(happened, cells.get(i))
        if cell is None:
            continue
        if cell in writer:
            _join(graph, writer[cell], i, "later")
        if happened.act.type in WRITE_TYPES:
            for reader in readers.get(cell, ()):
                _join(graph, reader, i, "later")
            waiting = (j for j, _ in to_come if j != i and j in forwarded and past.parts[j][0].act.cell == cell)
            yield from ((store, read, i) for store in waiting for read in forwarded[store] if read != i)


def _own_store(past: _Past, read: int, number: int, cell: Cell) -> int | None:
    """Return the thread's youngest earlier store to the word, if that was still in the store buffer at move `number`."""
    mine = past.threads[past.steps[read].event.thread]
    for i in reversed(mine[: mine.index(read)]):
        happened = past.parts[i][0]
        if happened.act.type in (EventType.LW, EventType.CAS) and happened.act.cell == cell:
            return i if happened.number is None or happened.number > number else None
    return None


def _join(graph: nx.DiGraph[int], source: int, target: int, relation: str) -> None:
    """Add an edge, unless program order or an earlier reason has it already."""
    if source != target and not graph.has_edge(source, target):
        graph.add_edge(source, target, relation=relation)


def shortest_cycle(graph: nx.DiGraph[int], events: Sequence[RunEffect]) -> tuple[Link, ...]:
    """Return a shortest cycle, neighbouring steps of program order as one. Raises InternalError if there is none."""
    best: list[int] = []
    for component in nx.strongly_connected_components(graph):
        part = graph.subgraph(component)
        for source, target in sorted(part.edges):
            if part.edges[source, target]["relation"] != "po":
                path = nx.shortest_path(part, target, source)
                if not best or len(path) < len(best):
                    best = path
    if not best:
        raise InternalError("there is no cycle where sequential consistency cannot follow")
    pairs = list(zip([best[-1], *best[:-1]], best, strict=True))
    # The conflict about what has just happened comes first.
    conflicts = [k for k, pair in enumerate(pairs) if graph.edges[pair]["relation"] != "po"]
    first = max(conflicts, key=lambda k: events[pairs[k][0]].step or 0)
    links: list[Link] = []
    for source, target in [*pairs[first:], *pairs[:first]]:
        relation = graph.edges[source, target]["relation"]
        if links and relation == "po" == links[-1].relation:
            links[-1] = Link(links[-1].source, "po", events[target].event)
        else:
            links.append(Link(events[source].event, relation, events[target].event))
    return tuple(links)


def _schedule(sc: Runs, first: Choices, past: _Past, graph: nx.DiGraph[int]) -> Choices:
    """Return the choices of the SC machine for what has happened and what must come before it."""
    needed: set[int] = set()
    for mine in past.threads:
        last = max((k for k, i in enumerate(mine) if past.steps[i].step is not None), default=-1)
        needed |= set(mine[: last + 1])
    # A message that has to be done, too, needs its receive, which may still wait in a buffer of its thread.
    firm = nx.subgraph_view(graph, filter_edge=lambda i, j: graph.edges[i, j]["relation"] != "later")
    needed |= {before for i in needed for before in nx.ancestors(firm, i)}
    order = nx.lexicographical_topological_sort(
        graph.subgraph(needed), key=lambda i: (past.steps[i].step or past.steps[i].posted, i)
    )
    point = sc.point(first)
    choices = []
    for i in order:
        choices.append(_choice(sc, point, past.steps[i]))
        point = sc.after(point, choices[-1])
    return tuple(choices)


def _choice(sc: Runs, point: RunPoint, effect: RunEffect) -> int:
    event = effect.event
    for i, move in enumerate(sc.moves(point)):
        action = move.action
        if action.thread != event.thread or action.step != event.step or action.verb is not SC_VERBS[event.type]:
            continue
        read = action.words[0][0] if action.words else action.read
        if effect.step is not None and event.type in READ_TYPES and read != event.read:
            continue
        if effect.landing is None or effect.landing == _landing(move, event.thread):
            return i
    raise InternalError("the SC machine cannot follow although no cycle says so")


def _landing(move: Move, t: int) -> tuple[int, tuple[int, ...]]:
    thread = move.state.threads[t]
    return thread.point, thread.registers
