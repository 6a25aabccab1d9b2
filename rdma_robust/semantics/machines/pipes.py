"""The stepwise machine of model rdma: a pipe and two write buffers per queue pair, in the words of docs/model.md.

:class:`RdmaMachine` has the same semantics from the order tables; that both have the same outcomes is a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rdma_robust.language.flow.cfg import Flush, Get, Poll, Put, RFence
from rdma_robust.semantics.machines.machine import Action, Move, Verb, with_value
from rdma_robust.semantics.machines.stepcode import StepCommand
from rdma_robust.semantics.machines.stepping import Passed, StepMachine, StepState, no_such


class PipeEntry(NamedTuple):
    """An operation in the pipe, by the number of its command; `value` is what it has read, None if it is to read."""

    command: int
    value: int | None


class IssuedWrite(NamedTuple):
    """A write that is not in memory yet."""

    command: int
    value: int


class Completion(NamedTuple):
    """A put or get of which no poll has taken the completion."""

    get: bool
    complete: bool


class QueuePair(NamedTuple):
    """Everything oldest first. `right` is wbR, the writes of puts, and `left` wbL, those of gets."""

    pipe: tuple[PipeEntry, ...] = ()
    right: tuple[IssuedWrite, ...] = ()
    left: tuple[IssuedWrite, ...] = ()
    unpolled: tuple[Completion, ...] = ()

    @property
    def drained(self) -> bool:
        return not (self.pipe or self.right or self.left)

    def completed(self, get: bool) -> QueuePair:
        """Return the queue pair after the oldest put or get that is not complete is."""
        for i, each in enumerate(self.unpolled):
            if each == (get, False):
                return self._replace(unpolled=(*self.unpolled[:i], Completion(get, True), *self.unpolled[i + 1 :]))
        return self  # nobody will poll it


Pairs = tuple[QueuePair, ...]


class PipesMachine(StepMachine):
    """Model rdma. `ordered_reads`: the gets of a queue pair read in order."""

    model = "rdma"
    ordered_reads = False

    def nothing(self, t: int) -> Pairs:
        return (QueuePair(),) * len(self.codes[t].peers)

    def passes(self, _t: int, own: Pairs, command: StepCommand) -> Passed | None:
        pair = own[command.qp]
        match command.step.op:
            case Poll():
                if not pair.unpolled or not pair.unpolled[0].complete:
                    return None
                return Verb.POLL, _put_back(own, command.qp, pair._replace(unpolled=pair.unpolled[1:]))
            case Flush():
                return (Verb.ACCESS, own) if pair.drained else None
            case RFence():
                after = pair._replace(pipe=(*pair.pipe, PipeEntry(command.number, None)))
                return Verb.ISSUE, _put_back(own, command.qp, after)
        raise no_such(self.model, command)

    def posts(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        if not isinstance(command.step.op, Put | Get):
            raise no_such(self.model, command)
        own: Pairs = state.threads[t].own
        pair = own[command.qp]
        asked = Completion(isinstance(command.step.op, Get), False)
        after = pair._replace(pipe=(*pair.pipe, PipeEntry(command.number, None)), unpolled=(*pair.unpolled, asked))
        own = _put_back(own, command.qp, after)
        yield self.goes(state, Action(t, Verb.ISSUE, command.step), command, own, state.memory)

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        own: Pairs = state.threads[t].own
        for qp, pair in enumerate(own):
            yield from self._from_pipe(state, t, qp, pair)
            if pair.right:
                yield self._lands(state, t, qp, pair._replace(right=pair.right[1:]), pair.right[0])
            if pair.left:
                yield self._lands(state, t, qp, pair._replace(left=pair.left[1:]).completed(get=True), pair.left[0])

    def _from_pipe(self, state: StepState, t: int, qp: int, pair: QueuePair) -> Iterator[Move]:
        """Yield the moves of what is not issued yet, up to the first remote fence, which leaves if it is first."""
        puts = unread_puts = unread_gets = 0
        for i, (number, value) in enumerate(pair.pipe):
            command = self.codes[t].commands[number]
            if isinstance(command.step.op, RFence):
                if i == 0:
                    yield self._left(state, Action(t, Verb.FENCE, command.step), qp, pair._replace(pipe=pair.pipe[1:]))
                return
            get = isinstance(command.step.op, Get)
            if value is None:
                flushed = not puts and not pair.right if get else not unread_puts and not pair.left
                if flushed and not (get and self.ordered_reads and unread_gets):
                    yield self._reads(state, t, qp, pair, i)
                unread_gets += get
                unread_puts += not get
            elif (i == 0) if get else not puts:
                yield self._issues(state, t, qp, pair, i)
            puts += not get

    def _reads(self, state: StepState, t: int, qp: int, pair: QueuePair, i: int) -> Move:
        command = self.codes[t].commands[pair.pipe[i].command]
        value = state.memory[command.source]
        pipe = (*pair.pipe[:i], PipeEntry(command.number, value), *pair.pipe[i + 1 :])
        return self._left(state, Action(t, Verb.NIC_READ, command.step, value), qp, pair._replace(pipe=pipe))

    def _issues(self, state: StepState, t: int, qp: int, pair: QueuePair, i: int) -> Move:
        number, value = pair.pipe[i]
        assert value is not None
        command = self.codes[t].commands[number]
        write = IssuedWrite(number, value)
        rest = pair._replace(pipe=(*pair.pipe[:i], *pair.pipe[i + 1 :]))
        if isinstance(command.step.op, Get):
            after = rest._replace(left=(*rest.left, write))
        else:
            after = rest._replace(right=(*rest.right, write)).completed(get=False)
        return self._left(state, Action(t, Verb.NIC_WRITE, command.step, None, value), qp, after)

    def _lands(self, state: StepState, t: int, qp: int, after: QueuePair, write: IssuedWrite) -> Move:
        command = self.codes[t].commands[write.command]
        memory = with_value(state.memory, command.target, write.value)
        own = _put_back(state.threads[t].own, qp, after)
        return self.moved(state, Action(t, Verb.FLUSH, command.step, None, write.value), own, memory)

    def _left(self, state: StepState, action: Action, qp: int, after: QueuePair) -> Move:
        own = _put_back(state.threads[action.thread].own, qp, after)
        return self.moved(state, action, own, state.memory)

    def forgotten(self, t: int, point: int, own: Pairs) -> Pairs:
        ahead = self.codes[t].polls_ahead[point]
        return tuple([p if more or not p.unpolled else p._replace(unpolled=()) for p, more in zip(own, ahead, strict=True)])

    def drained(self, own: Pairs) -> bool:
        return all(pair.drained for pair in own)

    def length(self, own: Pairs) -> int:
        return max((max(len(p.pipe) + len(p.right) + len(p.left), len(p.unpolled)) for p in own), default=0)

    def shown(self, t: int, own: Pairs) -> Iterable[str]:
        code = self.codes[t]
        for remote, pair in zip(code.peers, own, strict=True):
            pipe = [code.commands[c].step.text + ("" if v is None else f" (read {v})") for c, v in pair.pipe]
            right, left = (
                [f"{self.cell(code.commands[c].target)} = {v}" for c, v in buffer] for buffer in (pair.right, pair.left)
            )
            parts = {"pipe": pipe, "wbR": right, "wbL": left}
            texts = [f"{name}: [{', '.join(members)}]" for name, members in parts.items() if members]
            texts += [f"unpolled: {len(pair.unpolled)}"] if pair.unpolled else []
            if texts:
                yield f"{code.thread.name} -> {remote}: " + " ".join(texts)


def _put_back(own: Pairs, qp: int, pair: QueuePair) -> Pairs:
    return (*own[:qp], pair, *own[qp + 1 :])
