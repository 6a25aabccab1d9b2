"""Every prefix of every path of a loop-free thread, with guessed values: what `naive_axioms` judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import VALUE, evaluate, value_of
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Flush,
    Get,
    ImmPut,
    InlinePut,
    MFence,
    OrderFence,
    Payload,
    Poll,
    Program,
    Put,
    Read,
    Recv,
    RecvPoll,
    RemoteRmw,
    RFence,
    Rmw,
    Send,
    Silent,
    Write,
)
from rdma_robust.model import Model

MOST = 5_000


@dataclass(frozen=True)
class Ev:
    """An event; `op` is the position of the first one of its operation, `torn` that the naW of an naR is missing."""

    kind: str
    thread: int = -1
    position: int = -1
    op: int = -1
    cell: Cell | None = None
    remote: str | None = None
    read: int | None = None
    written: int | None = None
    completing: bool = False
    signaled: bool = True
    peer: int = -1
    data: bool = False
    torn: bool = False
    lane: str = ""
    word: int = 1

    def on(self, lane: str) -> Ev:
        """The same event of a request, poll or fence on a lane."""
        return replace(self, remote=self.remote and (lane or self.remote), lane=lane)


@dataclass(frozen=True)
class Run:
    """A prefix of a path: its events, and the registers if the thread is at its end."""

    events: tuple[Ev, ...]
    registers: tuple[int, ...] | None


class Runs:
    """`of[t]` are the prefixes of thread number t; every value that is read is written by one or is there at first.

    Raises SizeLimitError where a thread has too many: values that go round and grow on their way have no end.
    """

    def __init__(self, program: Program, model: Model) -> None:
        self.program = program
        self.model = model
        self.names = [thread.name for thread in program.threads]
        self.values: dict[Cell | tuple[int, int], set[int]] = {cell: {cell.init} for cell in program.cells}
        size = -1
        while size != sum(map(len, self.values.values())):
            size = sum(map(len, self.values.values()))
            self.of = [self.few_prefixes(t) for t in range(len(self.names))]

    def few_prefixes(self, t: int) -> list[Run]:
        found: dict[Run, None] = {}
        for number, run in enumerate(self.prefixes(t)):
            if number > MOST:
                raise SizeLimitError(f"{self.names[t]}: more than {MOST} prefixes of paths")
            found[run] = None
        return list(found)

    def prefixes(self, t: int) -> Iterator[Run]:
        thread = self.program.threads[t]
        names = [name for name, _ in thread.registers]
        todo: list[tuple[int, dict[str, int], tuple[Ev, ...]]] = [(thread.entry, dict(thread.registers), ())]
        yield Run((), None)
        while todo:
            point, registers, events = todo.pop()
            if point == thread.exit:
                yield Run(events, tuple(registers[name] for name in names))
            for source, target, step in thread.edges:
                if source != point:
                    continue
                for made, value in self.events(t, step.op, registers):
                    env = registers if value is None else {**registers, VALUE.name: value}
                    if not evaluate(step.guard, env):
                        continue
                    new = [replace(e, thread=t, position=len(events) + i, op=len(events)) for i, e in enumerate(made)]
                    for kept in range(1, len(new) + 1):
                        torn = kept < len(new) and new[kept].kind == "naW"
                        last = replace(new[kept - 1], torn=torn)
                        yield Run((*events, *new[: kept - 1], last), None)
                    after = {**registers, **{name: evaluate(e, env) for name, e in step.assigns}}
                    todo.append((target, after, (*events, *new)))

    def events(self, t: int, op: object, registers: dict[str, int]) -> Iterator[tuple[list[Ev], int | None]]:
        """Yield the events of an operation with the values it may read, and what the CPU has read."""
        tso = self.model.cpu == "tso"
        match op:
            case Silent():
                yield [], None
            case MFence():
                yield [Ev("F")] if tso else [], None
            case Read(cell):
                for v in list(self.values[cell]):
                    yield [Ev("lR", cell=cell, read=v)], v
            case Write(cell, value):
                yield [Ev("lW", cell=cell, written=self.write(cell, evaluate(value, registers)))], None
            case Cas(cell, expected, new):
                for v in list(self.values[cell]):
                    swaps = v == evaluate(expected, registers)
                    yield self.local(cell, v, evaluate(new, registers) if swaps else None, tso), v
            case Rmw(cell, new, when):
                for v in list(self.values[cell]):
                    env = {**registers, VALUE.name: v}
                    yield self.local(cell, v, evaluate(new, env) if evaluate(when, env) else None, tso), v
            case Poll(node, lane):
                yield [Ev("P", remote=node).on(lane)], None
            case RFence(node, lane):
                yield [Ev("nF", remote=node).on(lane)], None
            case Flush(node, lane):
                yield [Ev("FL", remote=node).on(lane)], None
            case OrderFence(node, lane):
                yield [Ev("nO", remote=node).on(lane)], None
            case Put() | Get() | RemoteRmw() | InlinePut() | Send() | ImmPut():
                for made in self.requested(t, op, registers):
                    number = op.word if isinstance(op, Send | ImmPut) else 1
                    yield [replace(event.on(op.lane), word=number) for event in made], None
            case Recv(cell, sender, lane):
                yield [Ev("V", cell=cell, peer=self.names.index(sender), lane=lane)], None
            case RecvPoll(sender, lane):
                s = self.names.index(sender)
                for v in [None, *self.values.get((s, t), ())]:
                    yield [Ev("RP", peer=s, read=v, lane=lane)], v or 0
            case _:
                raise AssertionError(op)

    def requested(
        self, t: int, op: Put | Get | RemoteRmw | InlinePut | Send | ImmPut, registers: dict[str, int]
    ) -> Iterator[list[Ev]]:
        """Yield the events of what is handed to the card."""
        match op:
            case Put(target, source, signaled):
                for v in list(self.values[source]):
                    read = Ev("nlR", cell=source, remote=target.node, read=v)
                    yield [read, self.far("nrW", target, v, target.node, signaled)]
            case Get(target, source, signaled):
                for v in list(self.values[source]):
                    read = Ev("nrR", cell=source, remote=source.node, read=v)
                    yield [read, self.far("nlW", target, v, source.node, signaled)]
            case RemoteRmw(target, source, new, when, signaled, _, _, operands):
                for v, *taken in product(*[sorted(self.values[cell]) for cell in (source, *operands)]):
                    env = {**registers, VALUE.name: v, **{value_of(k).name: w for k, w in enumerate(taken)}}
                    before = [Ev("nlR", cell=c, remote=source.node, read=w) for c, w in zip(operands, taken, strict=True)]
                    back = [] if target is None else [self.far("nlW", target, v, source.node, signaled)]
                    read = Ev("naR", cell=source, remote=source.node, read=v)
                    made = [read]
                    if evaluate(when, env):
                        w = self.write(source, evaluate(new, env))
                        naw = Ev("naW", cell=source, remote=source.node, written=w)
                        made = [replace(read, kind="nA", written=w)] if self.model.atomics == "glob" else [read, naw]
                    *first, last = [*before, *made, *back]
                    yield [*first, replace(last, completing=True, signaled=signaled)]
            case InlinePut(target, data, signaled):
                for first, w in self.payload(data, target.node, registers):
                    yield [*first, self.far("nrW", target, w, target.node, signaled)]
            case Send(to, node, None, signaled):
                u = self.names.index(to)
                self.values.setdefault((t, u), set()).add(0)
                yield [self.message(node, 0, signaled, u, False)]
            case Send(to, node, Payload() as data, signaled):
                u = self.names.index(to)
                for first, w in self.payload(data, node, registers):
                    for buffer in self.buffers(t, u):
                        self.write(buffer, w)
                    yield [*first, self.message(node, w, signaled, u, True)]
            case ImmPut(target, data, imm, to, signaled):
                u = self.names.index(to)
                value = evaluate(imm, registers)
                self.values.setdefault((t, u), set()).add(value)
                for first, w in self.payload(data, target.node, registers):
                    put = replace(self.far("nrW", target, w, target.node, True), completing=False)
                    yield [*first, put, self.message(target.node, value, signaled, u, False)]

    def write(self, cell: Cell, value: int) -> int:
        self.values[cell].add(value)
        return value

    def far(self, kind: str, cell: Cell, value: int, node: str, signaled: bool) -> Ev:
        self.write(cell, value)
        return Ev(kind, cell=cell, remote=node, written=value, completing=True, signaled=signaled)

    def message(self, node: str, value: int, signaled: bool, to: int, data: bool) -> Ev:
        return Ev("nrW", remote=node, written=value, completing=True, signaled=signaled, peer=to, data=data)

    def local(self, cell: Cell, read: int, written: int | None, tso: bool) -> list[Ev]:
        if written is None:
            return [*([Ev("F")] if tso else []), Ev("lR", cell=cell, read=read)]
        return [Ev("CAS", cell=cell, read=read, written=self.write(cell, written))]

    def payload(self, data: Payload, node: str, registers: dict[str, int]) -> list[tuple[list[Ev], int]]:
        if data.source is None:
            return [([], evaluate(data.value, registers))]
        found = []
        for v in list(self.values[data.source]):
            kind, remote = ("lR", None) if data.inline else ("nlR", node)
            w = evaluate(data.value, {**registers, VALUE.name: v})
            found.append(([Ev(kind, cell=data.source, remote=remote, read=v)], w))
        return found

    def buffers(self, t: int, u: int) -> list[Cell]:
        receiver = self.program.threads[u]
        found = [cell for sender, cell, _ in receiver.posted if sender == self.names[t]]
        ops = [step.op for _, _, step in receiver.edges]
        return found + [op.cell for op in ops if isinstance(op, Recv) and op.sender == self.names[t]]
