"""Kinds of the numbers in a message program: processes, numbers that matter as such, or nothing that matters.

Every register, constant and message is a node; what flows from one to the other or is compared with it is of one kind. A
sender, a destination and a source are processes; what is calculated with, ordered, tested or used as a tag or index is a
number. What is none of both and in no comparison is `idle`: nothing that happens depends on it, but for values that nobody
looks at. What is only compared may be called a process or a number, as fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    CollectiveCall,
    Completion,
    IssueReceive,
    IssueSend,
    Place,
    Probe,
    Requests,
)
from rdma_robust.messages.language.message_terms import Element, Length, Operation, Term, Zeros
from rdma_robust.messages.machine.flat_code import (
    BranchChoice,
    FlatProcess,
    Instruction,
    Jump,
    LoopBounds,
    Round,
    Test,
    WaitFor,
)

Kind = Literal["process", "number", "compared", "idle"]

Node = tuple[object, ...]
"""A register of a family of processes, the messages of a port, or a constant where it stands."""

Template = tuple[object, ...]
"""Code without its constants."""

_ARITHMETIC = ("+", "-", "*")

_NUMBER: Node = ("number",)


class KindsError(Exception):
    """Numbers of processes are calculated with, procedures called, or messages looked for: no kinds are known then."""


@dataclass(slots=True)
class Kinds:
    """The kinds of all nodes of a program; with arrays nothing is idle, since their lengths matter."""

    families: list[object]
    has_arrays: bool = False
    constants: list[list[tuple[int, Node]]] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    _above: dict[Node, Node] = field(default_factory=dict)
    _marks: dict[Node, set[Kind]] = field(default_factory=dict)
    _pending: list[tuple[Node, list[Node]]] = field(default_factory=list)
    _me: int = 0
    _made: int = 0

    def register(self, me: int, name: str) -> Node:
        return ("register", self.families[me], name)

    def message(self, port: int) -> Node:
        return ("message", port)

    def kind(self, node: Node) -> Kind:
        """Return the kind of a node."""
        marks = self._marks.get(self._find(node), set())
        for kind in ("process", "number", "compared"):
            if kind in marks:
                return kind
        return "compared" if self.has_arrays else "idle"

    def read(self, codes: Iterable[FlatProcess]) -> None:
        """Read all processes. Raises KindsError if anything is a process and a number."""
        self._number(_NUMBER)
        for me, code in enumerate(codes):
            self._me = me
            self.constants.append([])
            self.templates.append(tuple(self._instruction(each) for each in code.code))
        self._settle()
        if self.are_mixed():
            raise KindsError

    def are_mixed(self) -> bool:
        return any({"process", "number"} <= marks for marks in self._marks.values())

    def _settle(self) -> None:
        """What is calculated for something that matters are numbers; with arrays all must be, or it is a fault."""
        changed = True
        while changed:
            changed = False
            for target, operands in list(self._pending):
                if self.has_arrays or self._marks.get(self._find(target)):
                    self._pending.remove((target, operands))
                    self._number(target, *operands)
                    changed = True

    def _find(self, node: Node) -> Node:
        while (above := self._above.get(node)) is not None:
            further = self._above.get(above)
            if further is not None:
                self._above[node] = further
            node = above
        return node

    def _same(self, one: Node, other: Node) -> Node:
        one, other = self._find(one), self._find(other)
        if one != other:
            self._above[one] = other
            self._marks.setdefault(other, set()).update(self._marks.pop(one, set()))
        return other

    def _mark(self, kind: Kind, *nodes: Node) -> None:
        for node in nodes:
            self._marks.setdefault(self._find(node), set()).add(kind)

    def _number(self, *nodes: Node) -> None:
        self._mark("number", *nodes)

    def _instruction(self, instruction: Instruction) -> Template:
        head = (type(instruction).__name__, getattr(instruction, "span", None))
        match instruction:
            case Assign(target, value):
                node, template = self._term(value)
                self._same(self.register(self._me, target.name), node)
                return (*head, self._place(target), template)
            case IssueSend(request, value, to, port, tag, of_type=of_type, size=size):
                node, template = self._term(value)
                self._same(self.message(port), node)
                said = [None if each is None else self._num(each) for each in (of_type, size)]
                return (*head, self._place(request), template, self._process(to), port, self._num(tag), *said)
            case Probe() | IssueReceive(of=Place()):
                raise KindsError
            case IssueReceive():
                return (*head, *self._receive(instruction))
            case Requests(name, size):
                return (*head, name, None if size is None else self._num(size))
            case Test(condition, otherwise, again):
                return (*head, self._num(condition), otherwise, again)
            case Assume(condition) | Assert(condition):
                return (*head, self._num(condition))
            case LoopBounds(low, high, following, last):
                self._number(self.register(self._me, following), self.register(self._me, last))
                return (*head, self._num(low), self._num(high), following, last)
            case Round(counter, following, last, otherwise):
                self._number(*(self.register(self._me, name) for name in (counter, following, last)))
                return (*head, counter, following, last, otherwise)
            case WaitFor(place):
                return (*head, self._place(place))
            case Completion(requests, how, tests, flag, which, places):
                stored = [each for each in (flag, which, places) if each is not None]
                self._number(*(self.register(self._me, each.name) for each in stored))
                return (*head, how, tests, *map(self._place, requests), None, *map(self._place, stored))
            case Abort(error):
                return (*head, self._num(error))
            case BranchChoice(targets):
                return (*head, targets)
            case Jump(target):
                return (*head, target)
            case CollectiveCall():
                raise KindsError
            case _:
                return head

    def _receive(self, receive: IssueReceive) -> Template:
        self._same(self.message(receive.port), self.register(self._me, receive.target.name))
        source = None if receive.source is None else self._process(receive.source)
        tag = None if receive.tag is None else self._num(receive.tag)
        if receive.sender is not None:
            self._mark("process", self.register(self._me, receive.sender.name))
        if receive.which is not None:
            self._number(self.register(self._me, receive.which.name))
        places = (receive.request, receive.target, receive.sender, receive.which)
        said = [None if each is None else self._num(each) for each in (receive.of_type, receive.room)]
        return (*(None if each is None else self._place(each) for each in places), source, receive.port, tag, *said)

    def _place(self, place: Place) -> Template:
        return (place.name, *(self._num(each) for each in place.indices))

    def _num(self, term: Term) -> Template:
        node, template = self._term(term)
        self._number(node)
        return template

    def _process(self, term: Term) -> Template:
        node, template = self._term(term)
        self._mark("process", node)
        return template

    def _term(self, term: Term) -> tuple[Node, Template]:
        match term:
            case Const(value):
                node: Node = ("constant", self._me, len(self.constants[self._me]))
                self.constants[self._me].append((value, node))
                return node, ("constant",)
            case Name(name):
                return self.register(self._me, name), (name,)
            case Element(of, index):
                node, template = self._term(of)
                return node, ("element", template, self._num(index))
            case Length(of):
                return _NUMBER, ("length", self._term(of)[1])
            case Zeros(size):
                self.has_arrays = True
                return self._new(), ("zeros", self._num(size))
            case Operation(op, operands):
                return self._operation(op, operands)

    def _operation(self, op: str, operands: tuple[Term, ...]) -> tuple[Node, Template]:
        found = [self._term(each) for each in operands]
        nodes, template = [node for node, _ in found], (op, *(each for _, each in found))
        if op == "?":
            self._number(nodes[0])
            return self._same(nodes[1], nodes[2]), template
        if op in ("==", "!="):
            self._mark("compared", self._same(nodes[0], nodes[1]))
            return _NUMBER, template
        if op in _ARITHMETIC:
            result = self._new()
            self._pending.append((result, nodes))
            return result, template
        self._number(*nodes)
        return _NUMBER, template

    def _new(self) -> Node:
        self._made += 1
        return ("new", self._made)
