"""The names of a program, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast

Kind = Literal["constant", "node", "thread"]
Moment = Literal["start", "end"]
_ELEMENT: Final = re.compile(r"(.*)\[\d+\]")


@dataclass(slots=True)
class NamedConstant:
    """A named integer; `value` is None if its declaration was wrong."""

    name: str
    value: int | None
    span: Span
    used: bool = False


@dataclass(slots=True)
class SharedVariable:
    """A variable (`size` None, one cell) or an array of a node.

    `certain` is False if the declaration was wrong, so that nothing should be said about its size.
    """

    name: str
    node: str
    size: int | None
    cells: tuple[cfg.Cell, ...]
    span: Span
    certain: bool = True
    used: bool = False

    @property
    def qualified(self) -> str:
        return f"{self.node}.{self.name}"


@dataclass(slots=True)
class Register:
    name: str
    init: int
    span: Span
    used: bool = False


@dataclass(slots=True)
class NamedLabel:
    """A label of a statement; `point` is the program point before that, None if the thread never comes there."""

    name: str
    point: int | None
    span: Span
    used: bool = False


@dataclass(slots=True)
class NodeNames:
    """A node and its variables. `item` is its declaration, None if it comes from no text. Only the one thread that runs on a
    `private` one names its variables: there are many of it."""

    name: str
    span: Span
    item: ast.NodeDeclaration | None = None
    variables: dict[str, SharedVariable] = field(default_factory=dict)
    private: bool = False


@dataclass(frozen=True, slots=True)
class QueuePairName:
    """The name of a queue pair of a thread: the node at its other end, and the lane, NAMELESS for the one that has no
    name of its own."""

    node: str
    lane: str = cfg.NAMELESS

    @property
    def name(self) -> str:
        return self.lane or self.node


@dataclass(frozen=True, slots=True)
class Group:
    """The nodes or threads of one declaration: a family, or with `many` a crowd, of which one is like the other.

    `numbers` are those that there are: None if that is not known, as of a crowd without a number and after an error.
    """

    name: str
    numbers: range | None
    many: bool
    span: Span

    @property
    def is_open(self) -> bool:
        """Whether it stands for any number of them."""
        return self.many and self.numbers is None

    def member(self, number: int) -> str:
        return f"{self.name}[{number}]"


def declared(world: ProgramNames, kind: Kind, names: Iterable[str]) -> list[str]:
    """Return nodes or threads by the names that their declarations give them."""
    return list(dict.fromkeys([*map(family_name, names), *(name for of, name in world.groups if of == kind)]))


def family_name(name: str) -> str:
    """Return the name of a node or thread without the number that it has in its family."""
    return name.partition("[")[0]


@dataclass(slots=True)
class ThreadNames:
    """A thread, its registers, and where it runs: None if that node does not exist.

    `hidden` are registers that no program text names: what is chosen for a variable goes through one of them. `body`
    are its statements, None if it comes from no text. It has operations on the queue pairs that it `sends_to`, and those
    that a poll can take on what it `completes_to`; `unsignaled` is where the first other one on a queue pair stands. `polls`
    are the queue pairs that it polls, and where; all of these by the name of a lane or else the node. `lanes` are where the
    lanes are declared that were come to, `depths` how many requests those have room for that say so; `messages` and
    `receives` are the connections, lengths and places of what it sends and what it posts; `starts` the threads that it
    starts, and where. It is one of a `crowd` if there is any number of it.
    """

    name: str
    node: NodeNames | None
    span: Span
    registers: dict[str, Register] = field(default_factory=dict)
    labels: dict[str, NamedLabel] = field(default_factory=dict)
    hidden: dict[str, Register] = field(default_factory=dict)
    sends_to: set[str] = field(default_factory=set)
    completes_to: set[str] = field(default_factory=set)
    unsignaled: dict[str, Span] = field(default_factory=dict)
    polls: list[tuple[str, Span]] = field(default_factory=list)
    posted: list[tuple[str, tuple[cfg.Cell, ...], str]] = field(default_factory=list)
    messages: list[tuple[cfg.LaneEnds, int, Span]] = field(default_factory=list)
    receives: list[tuple[cfg.LaneEnds, int, Span]] = field(default_factory=list)
    lanes: dict[str, Span] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    body: ast.Block | None = None
    crowd: bool = False
    starts: dict[str, list[Span]] = field(default_factory=dict)

    def posts(self, pair: QueuePairName, signaled: bool, span: Span) -> None:
        """Note an operation on a queue pair."""
        self.sends_to.add(pair.name)
        if signaled:
            self.completes_to.add(pair.name)
        else:
            self.unsignaled.setdefault(pair.name, span)


@dataclass(slots=True)
class ProgramNames:
    """Everything declared so far, and where the rest will be declared.

    `poisoned` names stood in text skipped after a syntax error, or in a declaration that was wrong: not knowing them is
    no error of its own. `placed` are all threads, also those further down, with the names of their nodes, and `lanes` the
    lanes of these, with theirs (None: unknown), and `vias` the nodes whose memory lies behind the card of another one,
    with that one. `domain_missed` says that a missing domain was reported: one `domain` line
    mends all.
    """

    constants: dict[str, NamedConstant] = field(default_factory=dict)
    nodes: dict[str, NodeNames] = field(default_factory=dict)
    threads: dict[str, ThreadNames] = field(default_factory=dict)
    domain: tuple[int, int] | None = None
    has_domain: bool = False
    loopback: bool = False
    poisoned: set[str] = field(default_factory=set)
    later: dict[tuple[Kind, str], ast.Ident] = field(default_factory=dict)
    domain_missed: bool = False
    groups: dict[tuple[Kind, str], Group] = field(default_factory=dict)
    hidden: dict[tuple[str, str], cfg.Cell] = field(default_factory=dict)
    placed: dict[str, ast.Ident] = field(default_factory=dict)
    lanes: dict[str, dict[str, str | None]] = field(default_factory=dict)
    vias: dict[str, str] = field(default_factory=dict)

    def card(self, node: str) -> str:
        """Return the node whose NIC a node uses: itself, unless its memory lies behind that of another one."""
        return self.vias.get(node, node)

    def constant_cell(self, node: str, value: int) -> cfg.Cell:
        """Return the hidden read-only cell of `node` that holds `value`: it lies beside the card that the node uses."""
        return self._hidden_cell(cfg.Cell(self.card(node), f"const {value}", value, hidden=True))

    def moment_cell(self, what: Moment, thread: str) -> cfg.Cell:
        """Return the hidden cell that tells whether the start, or the end, of a thread has happened."""
        return self._hidden_cell(cfg.Cell(self.placed[thread].text, f"{what} of {thread}", hidden=True, moment=True))

    def void_cell(self, node: str) -> cfg.Cell:
        """Return the hidden cell that stands for words which receive buffers of a node have not."""
        return self._hidden_cell(cfg.Cell(self.card(node), "no room", hidden=True, void=True))

    def _hidden_cell(self, cell: cfg.Cell) -> cfg.Cell:
        return self.hidden.setdefault((cell.node, cell.name), cell)

    def nodes_with(self, variable: str) -> Iterator[NodeNames]:
        """Yield the nodes that have a variable of this name which several threads can name."""
        return (n for n in self.nodes.values() if variable in n.variables and not n.private)

    def threads_with(self, register: str) -> Iterator[ThreadNames]:
        """Yield the threads that have a register of this name."""
        return (t for t in self.threads.values() if register in t.registers)


def world_of(program: cfg.Program) -> ProgramNames:
    """Return the names of a program, as its declarations made them; the cells of an array may stand in any order."""
    world = ProgramNames(domain=program.domain, has_domain=program.domain is not None, loopback=program.allow_loopback)
    world.constants = {name: NamedConstant(name, value, NO_SPAN) for name, value in program.constants}
    world.nodes = {name: NodeNames(name, NO_SPAN) for name in program.nodes}
    world.vias = dict(program.behind)
    declared: dict[tuple[str, str], list[cfg.Cell]] = {}
    arrays = set()
    for cell in program.cells:
        element = _ELEMENT.fullmatch(cell.name)
        key = (cell.node, element[1] if element else cell.name)
        if element:
            arrays.add(key)
        if not cell.hidden:
            declared.setdefault(key, []).append(cell)
    for key, cells in declared.items():
        node, name = key
        size = len(cells) if key in arrays else None
        if size is not None:
            cells.sort(key=lambda cell: int(cell.name[len(name) + 1 : -1]))
        world.nodes[node].variables[name] = SharedVariable(name, node, size, tuple(cells), NO_SPAN)
    for thread in program.threads:
        if thread.many:
            world.groups["thread", thread.name] = Group(thread.name, None, many=True, span=NO_SPAN)
        registers = {name: Register(name, init, NO_SPAN) for name, init in thread.registers}
        labels = {name: NamedLabel(name, point, NO_SPAN) for name, point in thread.labels}
        world.threads[thread.name] = ThreadNames(thread.name, world.nodes.get(thread.node), NO_SPAN, registers, labels)
        world.lanes[thread.name] = dict(thread.lanes)
    world.groups |= _groups("node", program.nodes) | _groups("thread", [thread.name for thread in program.threads])
    world.groups |= {("thread", t.name): Group(t.name, None, True, NO_SPAN) for t in program.crowds}
    world.groups |= {("node", node): Group(node, None, True, NO_SPAN) for node in program.many_nodes}
    for node in program.many_nodes:
        world.nodes[node].private = True
    return world


def _groups(kind: Kind, names: Iterable[str]) -> dict[tuple[Kind, str], Group]:
    numbers: dict[str, list[int]] = {}
    for name in names:
        if element := _ELEMENT.fullmatch(name):
            numbers.setdefault(element[1], []).append(int(name[len(element[1]) + 1 : -1]))
    return {
        (kind, name): Group(name, range(min(found), max(found) + 1), many=False, span=NO_SPAN)
        for name, found in numbers.items()
    }
