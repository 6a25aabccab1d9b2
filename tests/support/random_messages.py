"""Random message programs: few processes that do all that the language has, so small that all interleavings can be had.

More than 400 lines: one writer, whose kinds of statements are drawn by the same weights.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.collective_kinds import COLLECTIVES, FOLDS, FoldName
from rdma_robust.messages.language.message_program import (
    SEND_MODES,
    Abort,
    Assert,
    Assign,
    Assume,
    Block,
    Choose,
    CollectiveCall,
    Completion,
    CompletionKind,
    For,
    Halt,
    If,
    InlinedCall,
    IssueCollective,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Place,
    Probe,
    Process,
    ProcessGroup,
    Requests,
    Return,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import Element, Length, Operation, Term, Zeros

_REGISTERS = ("a", "b", "c", "s", "i", "j")
_REQUESTS = ("h", "k", "g", "$send", "$recv", "$collective")


@dataclass(frozen=True)
class Taste:
    """How much there is of what: chances out of 100, and sizes."""

    processes: tuple[int, int] = (2, 3)
    statements: tuple[int, int] = (1, 4)
    operations: int = 7
    structure: int = 18
    nonblocking: int = 35
    wild: int = 55
    tags: int = 35
    ports: int = 12
    faults: int = 5
    daemons: int = 12
    loops: int = 12
    planned: int = 75
    waits: int = 60
    gathered: int = 10
    swapped: int = 25
    lost: int = 10
    stray: int = 10
    computed: int = 0
    arrays: int = 0
    modes: int = 0
    looks: int = 0
    held: int = 0
    completions: int = 0
    typed: int = 0
    collectives: int = 0
    wrong: int = 8


MIXED = Taste()
RACY = Taste((3, 3), (0, 1), 8, 8, wild=85, tags=15, ports=3, faults=1, daemons=20, loops=4, planned=100, gathered=60)
TAGGED = Taste((2, 3), (0, 1), 8, 5, 70, wild=70, tags=70, ports=0, faults=1, loops=4, planned=100, gathered=50)
CROWDED = Taste((4, 4), (0, 1), 8, 8, 20, wild=80, tags=10, ports=0, faults=1, loops=2, planned=100, gathered=50)
BLOCKING = Taste((3, 4), (0, 0), 12, 0, 0, 70, 0, 0, 0, 0, 0, gathered=5, swapped=5, lost=5, stray=0)
"""Nearly all sends and receives go together in some order, and all block: what deadlocks often needs a buffer for it."""
TASTES = (MIXED, RACY, TAGGED, CROWDED)
LARGER = Taste((3, 5), (0, 1), 16, 6, 25, wild=65, ports=3, tags=15, faults=0, daemons=5, loops=0, planned=100, gathered=25)
BRANCHED = Taste((2, 4), (0, 2), 14, 22, 60, wild=55, ports=3, tags=15, faults=0, loops=0, planned=100, gathered=25)
"""With so many operations circles go through several processes and matches; with branches, what is sent is often not."""

MODES = replace(MIXED, modes=60, loops=4)
BLOCKING_MODES = replace(BLOCKING, operations=8, modes=50)
"""Sends that only a match completes, and sends that are buffered, among others."""

ARRAYS = Taste((2, 3), (0, 2), 8, 12, 50, wild=60, ports=0, faults=2, daemons=5, loops=3, computed=50, arrays=45)
"""Messages are often arrays, and which request of an array is meant is often computed."""


class _Planned(NamedTuple):
    """A send or a receive that a process is to have; peer and tag are None for `any`."""

    sends: bool
    peer: int | None
    port: int
    tag: int | None


class _PlannedCall(NamedTuple):
    """A collective operation that a process is to enter."""

    name: str
    group: int
    root: int
    fold: FoldName | Literal[""]
    op: int | None
    sig: int | None
    blocking: bool
    sends: bool = True


class _Writer:
    def __init__(self, seed: int, taste: Taste) -> None:
        self.chance = random.Random(seed)
        self.taste = taste
        self.line = 0
        self.left = taste.operations
        self.count = 0
        self.plan: list[_Planned | _PlannedCall] = []
        self.groups: tuple[tuple[int, ...], ...] = ()

    def odds(self, percent: int) -> bool:
        return self.chance.randrange(100) < percent

    def span(self) -> Span:
        self.line += 1
        return Span(self.line, 1, self.line, 2, 2 * self.line, 2 * self.line + 1)

    def program(self, name: str) -> MessageProgram:
        self.count = self.chance.randint(*self.taste.processes)
        if self.taste.collectives:
            self.groups = tuple([tuple(self.chance.sample(range(self.count), self.count - at)) for at in (0, 1)])
            self.groups = (tuple(range(self.count)), *self.groups[1:])
        plans = self.plans() if self.odds(self.taste.planned) else [[] for _ in range(self.count)]
        processes = []
        for me in range(self.count):
            self.plan = plans[me]
            self.left = 1 if self.plan else max(2, self.taste.operations // self.count + self.chance.randint(-1, 1))
            body = self.start() + self.block(2, self.chance.randint(*self.taste.statements))
            while self.plan:
                body += self.communication()
            body += self.finish()
            daemon = self.odds(self.taste.daemons)
            processes.append(Process(f"P{me}", body, _REGISTERS, _REQUESTS, daemon, self.span()))
        declared = tuple([ProcessGroup("g2", each) for each in self.groups[1:]])
        return MessageProgram(name, f"{name}.mp", "", tuple(processes), ("", "ctl"), declared=declared)

    def plan_calls(self, plans: list[list[_Planned | _PlannedCall]]) -> None:
        """Put collective operations into the plans of their members, in the same order but for a few, some changed."""
        at = [0] * self.count
        for _ in range(self.chance.randint(1, 3)):
            group = int(self.odds(35))
            call = self.call(group)
            for member in self.groups[group] if not self.odds(4) else range(self.count):
                mine = call
                if self.odds(self.taste.wrong):
                    other = self.call(group)
                    changed = self.chance.choice([("name", "root"), ("root",), ("fold", "op"), ("sig",), ("blocking",)])
                    mine = mine._replace(**{name: getattr(other, name) for name in changed})
                if not self.odds(self.taste.wrong // 2):
                    at[member] = self.chance.randint(at[member], len(plans[member])) + 1
                    plans[member].insert(at[member] - 1, mine)

    def call(self, group: int) -> _PlannedCall:
        name = self.chance.choice([*COLLECTIVES][:16] if self.odds(85) else ["barrier", "win_fence"])
        fold: FoldName | Literal[""] = self.chance.choice(FOLDS) if self.odds(70) else ""
        root = self.chance.choice(self.groups[group]) if self.odds(95) else self.chance.randrange(self.count)
        op, sig = (self.chance.randint(1, 2) if self.odds(30) else None for _ in range(2))
        return _PlannedCall(name, group, root, fold, None if fold else op, sig, self.odds(60))

    def entered(self, call: _PlannedCall) -> Block:
        request = Place("$collective") if call.blocking else self.request()
        kind = COLLECTIVES[call.name]
        gives = (
            self.chance.choice([Name("c")] * 19 + [Name("a")]) if "element" in kind.gets or "column" in kind.gets else None
        )
        op, sig = (None if each is None else Const(each) for each in (call.op, call.sig))
        gets = self.odds(85) and kind.gets != "nothing" and ("fold" not in kind.gets or op is None)
        root = Const(call.root) if kind.is_rooted else None
        said = root, op, sig, gives or (self.value() if self.odds(85) else None), self.place() if gets else None
        issue = IssueCollective(request, call.name, call.group, *said, call.fold, call.blocking, self.span())
        if call.blocking or self.odds(self.taste.waits // 2):
            return (issue, Wait((request,), self.span()))
        return (issue, self.completion()) if self.odds(30) else (issue,)

    def plans(self) -> list[list[_Planned | _PlannedCall]]:
        """Return sends and receives of each process that go together, but for a few that change places or are lost."""
        plans: list[list[_Planned | _PlannedCall]] = [[] for _ in range(self.count)]
        for _ in range(self.taste.operations // 2):
            sender, receiver = self.chance.sample(range(self.count), 2) if self.odds(92) else (0, 0)
            receiver = 0 if self.odds(self.taste.gathered) else receiver
            port, tag = self.port(), self.chance.randint(1, 2) if self.odds(self.taste.tags) else 0
            source = None if self.odds(self.taste.wild) else sender
            plans[sender].append(_Planned(True, receiver, port, tag))
            plans[receiver].append(_Planned(False, source, port, tag if self.odds(60) else None))
        for plan in plans:
            if len(plan) > 1 and self.odds(self.taste.swapped):
                at = self.chance.randrange(len(plan) - 1)
                plan[at], plan[at + 1] = plan[at + 1], plan[at]
            if plan and self.odds(self.taste.lost):
                plan.pop(self.chance.randrange(len(plan)))
        if self.taste.collectives:
            self.plan_calls(plans)
        return plans

    def start(self) -> Block:
        made: list[Statement] = []
        if self.odds(30 + self.taste.arrays + self.taste.collectives):
            made.append(Assign(Place("c"), Zeros(Const(2 + bool(self.taste.collectives))), self.span()))
        if self.odds(40 + self.taste.computed):
            made.append(Requests("g", Const(2), self.span()))
        return tuple(made)

    def finish(self) -> Block:
        """Often wait for what is open, and often claim something of what was received."""
        made: list[Statement] = []
        if self.odds(40):
            made.append(Wait(tuple(Place(each) for each in ("h", "k", "g") if self.odds(70)), self.span()))
        if self.odds(60):
            made.append(Assert(self.condition(), self.span()))
        return tuple(made)

    def block(self, depth: int, length: int) -> Block:
        return tuple(each for _ in range(length) for each in self.statement(depth))

    def statement(self, depth: int) -> Block:
        if depth and self.odds(self.taste.structure):
            return (self.structure(depth - 1),)
        if (self.left or self.plan) and self.odds(75):
            self.left -= 0 if self.plan else 1
            return self.communication()
        return self.local()

    def communication(self) -> Block:
        if self.taste.looks and self.odds(self.taste.looks):
            return self.look()
        planned = self.plan.pop(0) if self.plan and self.odds(100 - self.taste.stray) else self.unplanned()
        if isinstance(planned, _PlannedCall):
            return self.entered(planned)
        nonblocking = self.odds(self.taste.nonblocking)
        request = self.request() if nonblocking else Place("$send" if planned.sends else "$recv")
        issue = self.issue_send(request, planned) if planned.sends else self.issue_receive(request, planned)
        if not nonblocking:
            return (issue, Wait((request,), self.span()))
        if self.taste.completions and self.odds(self.taste.completions):
            return (issue, self.completion())
        return (issue, Wait((request,), self.span())) if self.odds(self.taste.waits // 2) else (issue,)

    def completion(self) -> Statement:
        """Return a statement that completes some of the requests, one or more of which are often active."""
        if self.odds(3):
            return Abort(self.value(), self.span())
        requests = tuple([self.request() if self.odds(40) else Place(each) for each in "hkg" if self.odds(60)])
        how: CompletionKind = self.chance.choice(("any", "any", "some", "all"))
        tests = how == "all" or self.odds(45)
        flag = self.place() if tests and how != "some" else None
        which = None if how == "all" else Place(self.chance.choice("abs")) if self.odds(80) else self.place()
        places = None if how != "some" else Place("c" if self.odds(85) else "a")
        return Completion(requests or (Place("h"),), how, tests, flag, which, places, self.span())

    def look(self) -> Block:
        """Return a look, often for what the next receive takes; often it takes that, which often is received then."""
        near = next((each for each in self.plan if not each.sends), None)
        some = near if isinstance(near, _Planned) and self.odds(70) else self.unplanned()
        source = None if some.peer is None or self.odds(40) else self.peer(some.peer)
        tag = None if some.tag is None or self.odds(40) else Const(some.tag)
        sender = Place("s") if source is None and self.odds(50) else None
        which = Place("b") if tag is None and self.odds(30) else None
        flag = self.place() if self.odds(55) else None
        look = Probe(source, some.port, tag, sender, which, flag, self.span())
        if not self.odds(self.taste.held):
            return (look,)
        if some is near and self.odds(80):
            self.plan.remove(near)
        look = replace(look, taken=self.request())
        received = self.held(look.taken if self.odds(92) else self.request())
        if flag is not None and self.odds(92):
            received = (If(Name(flag.name), received, (), self.span()),) if not flag.indices else ()
        between = self.communication() if self.odds(25) and (self.plan or self.odds(30)) else ()
        return (look, *between, *(received if self.odds(85) else ()))

    def held(self, held: Place | None) -> Block:
        """Return a receive of a message that is held, mostly with its wait."""
        request = self.request() if self.odds(40) else Place("$recv")
        issue = IssueReceive(request, self.place(), None, 0, None, span=self.span(), of=held)
        return (issue, Wait((request,), self.span())) if self.odds(85) or request.name == "$recv" else (issue,)

    def unplanned(self) -> _Planned:
        sends = self.odds(50)
        some = sends or not self.odds(self.taste.wild)
        tag = self.chance.randint(0, 2) if self.odds(self.taste.tags) else 0 if sends else None
        return _Planned(sends, self.chance.randrange(self.count) if some else None, self.port(), tag)

    def issue_send(self, request: Place, planned: _Planned) -> Statement:
        assert planned.peer is not None
        tag: Term = Const(planned.tag or 0)
        if self.odds(self.taste.faults):
            tag = Operation("-", (Name("a"), Const(1)))
        issue = IssueSend(request, self.value(), self.peer(planned.peer), planned.port, tag, self.span())
        if self.taste.typed:
            issue = replace(issue, of_type=self.said(), size=self.said())
        return (
            replace(issue, mode=self.chance.choice(SEND_MODES[1 : 4 if self.taste.looks else 3]))
            if self.taste.modes and self.odds(self.taste.modes)
            else issue
        )

    def issue_receive(self, request: Place, planned: _Planned) -> Statement:
        source = None if planned.peer is None else self.peer(planned.peer)
        tag = None if planned.tag is None else Const(planned.tag)
        sender = Place("s") if self.odds(15) else None
        which = Place(self.chance.choice("sb")) if self.odds(10) else None
        issue = IssueReceive(request, self.place(), source, planned.port, tag, sender, which, self.span())
        return replace(issue, of_type=self.said(), room=self.said()) if self.taste.typed else issue

    def said(self) -> Term | None:
        """Return a type or a length, or nothing."""
        if not self.odds(self.taste.typed):
            return None
        return self.chance.choice([Const(1), Const(1), Const(1), Const(2), Name("a"), Name("s")])

    def port(self) -> int:
        return int(self.odds(self.taste.ports))

    def request(self) -> Place:
        if self.taste.computed and self.odds(self.taste.computed):
            return Place("g", (self.chance.choice([Name("a"), Name("b"), Name("s"), Const(1)]),))
        if self.odds(15):
            return Place("g", (Const(self.chance.randint(0, 1)),))
        return Place(self.chance.choice("hk"))

    def place(self) -> Place:
        if self.odds(8):
            return Place("c", (self.value(),))
        return Place(self.chance.choice("ab"))

    def peer(self, number: int) -> Term:
        if self.odds(self.taste.faults):
            return self.chance.choice([Name("a"), Name("s"), Const(self.count)])
        return Const(number)

    def value(self) -> Term:
        if self.taste.arrays and self.odds(self.taste.arrays):
            of = Name(self.chance.choice("ccca"))
            return self.chance.choice([of, of, Element(of, Const(1)), Element(of, Name("b")), Length(of)])
        if self.odds(self.taste.faults):
            return self.chance.choice([Element(Name("c"), Const(1)), Length(Name("c")), Name("c")])
        return self.chance.choice([Const(0), Const(1), Const(2), Name("a"), Operation("+", (Name("b"), Const(1)))])

    def condition(self) -> Term:
        if self.odds(self.taste.faults):
            return Operation("/", (Const(2), Name(self.chance.choice("ab"))))
        op = self.chance.choice(["==", "!=", "<=", ">"])
        return Operation(op, (Name(self.chance.choice("abs")), Const(self.chance.randint(0, 2))))

    def local(self) -> Block:
        match self.chance.randrange(8):
            case 0 | 1:
                return (Assign(self.place(), self.value(), self.span()),)
            case 2 | 3:
                return (Assert(self.condition(), self.span()),)
            case 4:
                return (Assume(self.condition(), self.span()),)
            case 5:
                return (Halt(self.span()),) if self.odds(20) else (Assign(Place("b"), Const(1), self.span()),)
            case 6:
                root = self.value() if self.odds(50) else None
                return (CollectiveCall(self.chance.choice(["barrier", "bcast"]), root, self.span()),)
            case _:
                return (Wait((self.request(), Place(self.chance.choice("hkg"))), self.span()),)

    def structure(self, depth: int) -> Statement:
        length = self.chance.randint(1, 2)
        kind = self.chance.randrange(100)
        if kind < self.taste.loops:
            return Loop(self.block(depth, 1), self.span())
        if kind < 2 * self.taste.loops:
            counted = Assign(Place("b"), Operation("+", (Name("b"), Const(1))), self.span())
            return While(Operation("<", (Name("b"), Const(2))), (*self.block(depth, 1), counted), self.span())
        match kind % 4:
            case 0:
                return If(self.condition(), self.block(depth, length), self.block(depth, length - 1), self.span())
            case 1:
                return Choose((self.block(depth, length), self.block(depth, length - 1)), self.span())
            case 2:
                high = self.value() if self.odds(30) else Const(1)
                return For(self.chance.choice("ij"), Const(0), high, self.block(depth, 1), self.span())
            case _:
                early = If(self.condition(), (Return(self.span()),), (), self.span())
                return InlinedCall("f", (*self.block(depth, 1), early, *self.block(depth, 1)), self.span())


def random_completions(seed: int) -> MessageProgram:
    """Return a program in which processes complete one of several requests, or test whether some are complete."""
    mixed = replace(MIXED, operations=6, loops=3, structure=12, nonblocking=85, completions=60, daemons=8)
    racy = replace(RACY, operations=6, nonblocking=85, completions=55)
    tagged = replace(TAGGED, operations=6, nonblocking=85, completions=50, modes=30, daemons=8)
    taste = (mixed, racy, replace(mixed, modes=40), tagged)[seed % 4]
    return replace(random_messages(seed, taste), eager=(None, 0, 1)[seed // 4 % 3])


def random_collectives(seed: int) -> MessageProgram:
    """Return a program whose processes enter collective operations, most of them together, besides sends and receives."""
    tastes = (
        replace(MIXED, operations=3, loops=4, structure=15),
        replace(RACY, operations=3, structure=10),
        replace(BLOCKING, processes=(2, 3), operations=3, nonblocking=20),
        replace(MIXED, operations=3, loops=3, completions=40, arrays=20, computed=10),
        replace(MIXED, operations=0, processes=(2, 4), structure=20, arrays=30),
    )
    taste = replace(tastes[seed % 5], collectives=50, planned=100, wrong=(0, 8, 25)[seed // 5 % 3])
    return replace(random_messages(seed, taste), eager=(None, 0, 1)[seed // 4 % 3])


def random_types(seed: int) -> MessageProgram:
    """Return a program in which sends and receives say something of the type and the length of their messages."""
    taste = (MIXED, RACY, TAGGED, replace(MIXED, looks=15, modes=30), BLOCKING)[seed % 5]
    return random_messages(seed, replace(taste, operations=min(taste.operations, 7), typed=50))


def random_looks(seed: int) -> MessageProgram:
    """Return a program in which processes look for messages, with modes of sends and limits."""
    mixed = replace(MIXED, operations=6, loops=3, structure=12, tags=40, daemons=8)
    taste = replace(
        (mixed, TAGGED, mixed, RACY)[seed % 4], operations=6, looks=22, modes=30 * (seed % 2), held=60 * (seed // 2 % 2)
    )
    return replace(random_messages(seed, taste), eager=(None, 0, 1)[seed // 4 % 3])


def random_modes(seed: int) -> MessageProgram:
    """Return a program some of whose sends have modes, and in which few elements are 0, 1 or 2; often with arrays."""
    taste = (MODES, BLOCKING_MODES, replace(ARRAYS, modes=40))[seed % 3]
    return replace(random_messages(seed, taste), eager=seed // 3 % 3)


def random_messages(seed: int, taste: Taste | None = None) -> MessageProgram:
    """Return a program; the same seed gives the same, of one of TASTES in turn. Every statement has a place of its own."""
    return _Writer(seed, taste or TASTES[seed % len(TASTES)]).program(f"random-{seed}")
