"""Receives and completions: what a poll of a completion queue may find, one way for each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rdma_robust.c.evaluate.c_values import Object, Pointer, Scalar, UnknownValue, Value, known_scalar, symbolic
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number, further
from rdma_robust.c.evaluate.operations import HALT, NoBuffer, Part, Queue, RegisterUse, Sender, ThreadStatement, ThreadStep
from rdma_robust.c.evaluate.raw_automaton import UNBOUNDED
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import End, World
from rdma_robust.c.evaluate.state import ConnectedPair, Receive, WaitingCompletion
from rdma_robust.c.evaluate.verbs.posts import full_queue
from rdma_robust.c.evaluate.verbs.records import (
    field_value,
    optional,
    other_end,
    queue_pair_at,
    set_field,
)  # fmt: skip
from rdma_robust.c.evaluate.verbs.sent_words import ArrivingMessages, arriving, buffer_words, messages_of, several_lengths
from rdma_robust.c.evaluate.verbs.set_up import is_queue
from rdma_robust.c.evaluate.verbs.work_requests import list_of, segments_of

_RECEIVED, _RECEIVED_WITH_NUMBER = 128, 129
_WITH_IMMEDIATE = 2
_RECORD = "struct ibv_wc"


def _post_recv(call: CallContext) -> Result:
    receives = [_receive(call, each) for each in list_of(call, "ibv_recv_wr", call.arguments[1])]
    return _posted(call, call.arguments[0], receives)


def _posted(call: CallContext, queue_pair: Value, receives: list[Receive]) -> Result:
    name, pair = queue_pair_at(call, queue_pair)
    if pair.receive_room and len(pair.receives) + len(receives) > pair.receive_room:
        return full_queue(call, "receives", pair.receive_room, ())
    call.state.queue_pairs[name] = replace(pair, receives=(*pair.receives, *receives))
    limit = call.run.world.options.waiting
    if len(pair.receives) + len(receives) > limit:
        raise Refusal("RR817", f"more than {limit} receives are posted here", "fewer receives, a smaller depth")
    for each in receives:
        for buffer, offset, size in each.buffers:
            call.run.own(buffer, "give to its NIC")
            call.run.world.share(buffer, offset, size)
    if not call.state.is_set_up or not pair.connection:
        return 0
    end = End(pair.connection, call.run.process)
    _received_by(call, end)
    first = pair.taken + len(pair.receives)
    posts = (_post(call.run.world, end, each, number) for number, each in enumerate(receives, first))
    operations = [statement for found in posts for statement in found]
    return call.step(operations) if operations else 0


def _receive(call: CallContext, address: Value) -> Receive:
    identity = optional(call, "ibv_recv_wr", address, "wr_id")
    return Receive(identity, segments_of(call, "ibv_recv_wr", address))


def _post(world: World, end: End, receive: Receive, number: int) -> list[ThreadStatement]:
    words = buffer_words(world, end, receive, number)
    return [ThreadStatement("recv {0} from {1}", (word or NoBuffer(), Sender(end.connection))) for word in words]


def _received_by(call: CallContext, end: End) -> None:
    users = call.run.world.found.receivers[end]
    users.add(call.run.thread)
    if len(users) > 1:
        raise Refusal(
            "RR818",
            f"several threads of {end.process} receive on connection `{end.connection}`: {', '.join(sorted(users))}",
            "one thread posts receives and takes messages",
        )


# polls


@dataclass(frozen=True, slots=True)
class QueuePoll:
    """A poll of a completion queue: the call, the queue, where the completions go, and how many there is room for."""

    call: CallContext
    queue: Value
    address: Value
    room: int

    def results(self, least: int) -> list[ThreadStep]:
        """Return the steps of a call that finds at least so many completions: it ends, or takes one more and goes on.

        So nothing is chosen before it is seen; how many were taken already is what is pending.
        """
        count = as_number(self.call.frame.pending, "the number of completions") if self.call.frame.pending is not None else 0
        found: list[ThreadStep] = self.call.branch(self.call.state).step((), count) if count >= least else []
        for name, pair in sorted(self.call.state.queue_pairs.items(), key=lambda each: repr(each[0])):
            if pair.send_queue == self.queue and pair.waiting and pair.connection:
                at = self.call.branch(self.call.state)
                found += self._taken(at, self._completed(at, name, pair, count), count + 1)
            if pair.receive_queue == self.queue and pair.receives and pair.connection and self._may_receive(pair):
                at = self.call.branch(self.call.state)
                found += self._taken(at, self._received(at, name, pair, count), count + 1)
        if self.call.run.world.options.with_errors and len(found) > (count >= least):
            found.append(ThreadStep((HALT,), self.call.chain, None))
        return found

    def _taken(self, at: CallContext, operations: list[ThreadStatement], count: int) -> list[ThreadStep]:
        if isinstance(self.queue, Pointer) and self.queue.object in at.state.events:
            at.state.events[self.queue.object] = at.state.events[self.queue.object].polled()
        return at.step(operations, count) if count >= self.room else at.stay(operations, count)

    def _may_receive(self, pair: ConnectedPair) -> bool:
        """Whether another message may come: no more than the other end can send."""
        process = self.call.run.process
        _received_by(self.call, End(pair.connection, process))
        other = End(pair.connection, other_end(self.call, pair.connection))
        bound = self.call.run.world.known.sends.get(other, 0)
        return bound >= UNBOUNDED or pair.taken < bound

    def _completed(self, at: CallContext, name: Object, pair: ConnectedPair, index: int) -> list[ThreadStatement]:
        """Take the completion of a request."""
        first, *rest = pair.waiting
        at.state.queue_pairs[name] = replace(pair, waiting=tuple(rest))
        self._fill(at, name, index, first)
        return [ThreadStatement("poll {0}", (Queue(pair.connection),))]

    def _received(self, at: CallContext, name: Object, pair: ConnectedPair, index: int) -> list[ThreadStatement]:
        """Take the completion of a receive, with the number that its message carries."""
        run = at.run
        other = End(pair.connection, other_end(at, pair.connection))
        messages = messages_of(run.world, arriving(run.world, End(pair.connection, run.process), pair.taken))
        bound = run.world.known.sends.get(other, 0)
        if bound >= UNBOUNDED and run.world.counts_messages(other):
            raise several_lengths(pair.connection, "and there is no bound for how many")
        first, *rest = pair.receives
        taken = pair.taken if bound >= UNBOUNDED else pair.taken + 1
        at.state.queue_pairs[name] = replace(pair, receives=tuple(rest), taken=taken)
        opcode = _RECEIVED_WITH_NUMBER if messages.kinds == {"write imm"} else _RECEIVED
        length = messages.written if messages.kinds == {"write imm"} else messages.length
        self._fill(at, name, index, WaitingCompletion(first.identity, opcode, length))
        parts: tuple[Part, ...] = (Sender(pair.connection),)
        if not messages.numbers:
            return [ThreadStatement("rpoll {0}", parts)] * messages.words
        register = run.new_register(at.state, "imm")
        numbers = sorted(messages.numbers, key=repr)
        said: dict[str, tuple[Scalar | None, Scalar]] = {
            "imm_data": (None, UnknownValue("the number of a message without one")),
            "wc_flags": (_WITH_IMMEDIATE, 0),
        }
        if len(messages.kinds) > 1:
            said |= self._told_apart(messages)
        for field, (with_number, without) in said.items():
            cases: list[tuple[Scalar, Scalar]] = [(each, each if with_number is None else with_number) for each in numbers]
            cases += [(0, without)] if "send" in messages.kinds else []
            set_field(at, "ibv_wc", self._nth(index), field, symbolic(register, cases))
        last = ThreadStatement("{1} = rpoll {0}", (*parts, RegisterUse(register)), register=register)
        return [*[ThreadStatement("rpoll {0}", parts)] * (messages.words - 1), last]

    def _told_apart(self, messages: ArrivingMessages) -> dict[str, tuple[Scalar, Scalar]]:
        """Return what completions say of messages of several kinds: with a number, and without."""
        if {"send imm", "write imm"} <= messages.kinds:
            unknown = UnknownValue("which of two kinds of messages this is")
            return {"opcode": (unknown, _RECEIVED), "byte_len": (unknown, messages.length)}
        if "write imm" in messages.kinds:
            return {"opcode": (_RECEIVED_WITH_NUMBER, _RECEIVED), "byte_len": (messages.written, messages.length)}
        return {"opcode": (_RECEIVED, _RECEIVED), "byte_len": (0, messages.length)}

    def _nth(self, index: int) -> Value:
        return further(self.address, index * self.call.run.world.size_of(_RECORD))

    def _fill(self, at: CallContext, name: Object, index: int, completion: WaitingCompletion) -> None:
        number = name.key[0]
        assert isinstance(number, int)
        at.set_private(
            self._nth(index), at.run.world.size_of(_RECORD), UnknownValue("a field that is not set"), "a completion"
        )
        values = {
            "wr_id": completion.identity,
            "status": 0,
            "opcode": completion.opcode,
            "byte_len": completion.length,
            "qp_num": 100 + number,
            "wc_flags": 0,
            "vendor_err": 0,
        }
        for path, value in values.items():
            set_field(at, "ibv_wc", self._nth(index), path, value)


def _poll(call: CallContext) -> Result:
    queue = known_scalar(call.arguments[0])
    if not is_queue(queue):
        what = f"is {queue.reason}, which is not known here" if isinstance(queue, UnknownValue) else "is not known here"
        raise Refusal("RR812", f"this completion queue {what}", "RR_CQ(lvalue) where set-up ends")
    call.run.world.end_set_up(call.run.process, call.state)
    _not_others(call, queue)
    room = call.number(1, "the number of completions")
    if room <= 0:
        return 0
    events = call.state.events.get(queue.object) if isinstance(queue, Pointer) else None
    return QueuePoll(call, queue, call.arguments[2], room).results(int(events is not None and events.is_certain))


def _not_others(call: CallContext, queue: Value) -> None:
    """Raises RR812 where a thread polls the completions of what another one has posted."""
    run = call.run
    for pair in call.state.queue_pairs.values():
        users = run.world.known.posters.get(End(pair.connection, run.process), set()) - {run.thread}
        if pair.connection and pair.send_queue == queue and users:
            raise Refusal(
                "RR812",
                f"thread `{run.thread}` polls what `{min(users)}` has posted on connection `{pair.connection}`",
                "a queue pair and a completion queue for each thread",
            )


def _wait_for(is_send: bool) -> Handler:
    """`rdma_get_send_comp` and `rdma_get_recv_comp`: wait for one completion."""

    def handler(call: CallContext) -> Result:
        queue = known_scalar(field_value(call, "rdma_cm_id", call.arguments[0], "send_cq" if is_send else "recv_cq"))
        call.run.world.end_set_up(call.run.process, call.state)
        _not_others(call, queue)
        return QueuePoll(call, queue, call.arguments[1], 1).results(1)

    return handler


def _short_recv(call: CallContext) -> Result:
    """`rdma_post_recv`: identifier, context, address, length, region."""
    pair = field_value(call, "rdma_cm_id", call.arguments[0], "qp")
    size = call.number(3, "the length of this receive")
    buffers = ((*call.address(2, "the buffer of this receive"), size),) if size else ()
    return _posted(call, pair, [Receive(call.arguments[1], buffers)])


POLLS: dict[str, Handler] = {
    "ibv_post_recv": _post_recv,
    "ibv_poll_cq": _poll,
    "rdma_post_recv": _short_recv,
    "rdma_get_send_comp": _wait_for(is_send=True),
    "rdma_get_recv_comp": _wait_for(is_send=False),
}
