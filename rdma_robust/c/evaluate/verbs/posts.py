"""Requests to the card, as statements of `.rdma`: what each moves, word by word, and what others learn of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.atomics import possible_sums
from rdma_robust.c.evaluate.c_values import Object, Scalar, UnknownValue
from rdma_robust.c.evaluate.calls import CallContext, encoded
from rdma_robust.c.evaluate.operations import (
    FAILED,
    OnLane,
    Part,
    Receiver,
    RegisterUse,
    Scratch,
    ThreadStatement,
    ThreadStep,
    Word,
    operand_of,
    written_constants,
    written_operand,
)  # fmt: skip
from rdma_robust.c.evaluate.refused_code import Refusal, RunEnds
from rdma_robust.c.evaluate.round_facts import WIDEST, End
from rdma_robust.c.evaluate.state import ConnectedPair, Request, WaitingCompletion
from rdma_robust.c.evaluate.verbs.records import other_end
from rdma_robust.c.evaluate.verbs.sent_words import is_touched, pieces_of, several_lengths

COMPLETED = {"send": 0, "write": 1, "read": 2, "cas": 3, "faa": 4}
"""What a work completion says of a request (`enum ibv_wc_opcode`)."""
_ATOMIC = CType("int", 8)
_NUMBER = CType("int", 4)
Source = Word | RegisterUse | Scalar
"""What a word of a request is taken from: memory, or what the processor has in hand."""


@dataclass(frozen=True, slots=True)
class PostedWork:
    """A request that is posted: the call, the queue pair's object, its connection and the process at the other end."""

    call: CallContext
    connection: str
    peer: str
    request: Request
    number: int | None = None
    """Which message of its end it is, where that is counted."""

    @property
    def end(self) -> End:
        """This end of the connection."""
        return End(self.connection, self.call.run.process)

    @property
    def message(self) -> End:
        """This end, and the message that it sends."""
        return End(self.connection, self.call.run.process, self.number)

    def flags(self, is_first: bool, is_last: bool) -> str:
        """The words behind a statement of this request."""
        request = self.request
        words = [
            "inline" * request.is_inline,
            "unsignaled" * (not request.is_signaled or not is_last),
            "fenced" * (request.is_fenced and is_first),
        ]
        return "".join(f" {word}" for word in words if word)


def posted(call: CallContext, name: Object, requests: Iterable[Request]) -> list[ThreadStep]:
    """Return the step of requests that are posted one after the other; their completions wait from now on."""
    run = call.run
    run.world.end_set_up(run.process, call.state)
    found: list[ThreadStatement] = []
    for each in requests:
        pair = call.state.queue_pairs[name]
        if pair.send_room and sum(waiting.places for waiting in pair.waiting) + pair.unsignaled >= pair.send_room:
            return full_queue(call, "requests", pair.send_room, found)
        request = replace(each, is_signaled=each.is_signaled or pair.all_signaled)
        post = PostedWork(call, pair.connection, other_end(call, pair.connection), request, _number(call, pair, request))
        used_by(post)
        found += _STATEMENTS[request.kind](post)
        call.state.queue_pairs[name] = _waiting(post, pair if post.number is None else replace(pair, sent=pair.sent + 1))
    return call.step(found)


def _number(call: CallContext, pair: ConnectedPair, request: Request) -> int | None:
    """Return the number of a message, where those are counted. Raises RR847 for too many."""
    is_message = request.kind == "send" or request.immediate is not None
    if not is_message or not call.run.world.counts_messages(End(pair.connection, call.run.process)):
        return None
    if pair.sent >= call.run.world.options.waiting:
        raise several_lengths(pair.connection, f"and more than {pair.sent} of them are sent here")
    return pair.sent


def full_queue(call: CallContext, what: str, room: int, before: Sequence[ThreadStatement]) -> list[ThreadStep]:
    """Return the step of a post that finds no room: the call fails, which is a claim that is violated, and the way ends."""
    message = f"`{call.name}` may find {room} {what} in a queue that has room for {room}"
    call.run.world.remark("RR849", message, call.chain, "poll completions before, or a larger queue where it is made")
    return [ThreadStep((*before, FAILED), call.chain, None)]


def used_by(post: PostedWork) -> None:
    """Say that a thread posts on a queue pair. Raises RR812 if several do."""
    users = post.call.run.world.found.posters[post.end]
    users.add(post.call.run.thread)
    if len(users) > 1:
        raise Refusal(
            "RR812",
            f"queue pair `{post.connection}` is used by several threads: {', '.join(sorted(users))}",
            "a queue pair for each thread",
        )


def _waiting(post: PostedWork, pair: ConnectedPair) -> ConnectedPair:
    request, limit = post.request, post.call.run.world.options.waiting
    if not request.is_signaled:
        return replace(pair, unsignaled=pair.unsignaled + 1) if pair.send_room else pair
    if len(pair.waiting) >= limit:
        raise Refusal(
            "RR817", f"more than {limit} completions wait for a poll here, and their number has no bound", "poll them"
        )
    length = sum(segment[2] for segment in request.segments)
    waiting = WaitingCompletion(request.identity, COMPLETED[request.kind], length, pair.unsignaled + 1)
    return replace(pair, waiting=(*pair.waiting, waiting), unsignaled=0)


# words


def _remote(post: PostedWork, total: int) -> tuple[Object, int]:
    """Return where a request goes to. Raises RR813 for memory that is not at the other end."""
    name, offset = post.call.run.address(post.request.remote, "`remote_addr`")
    if name.process != post.peer:
        raise Refusal(
            "RR813",
            f"`remote_addr` is in `{name.name}` of {name.process}, and connection `{post.connection}` leads to {post.peer}",
            "RR_EXPORT the address in the other process, and RR_IMPORT it here",
        )
    post.call.run.world.share(name, offset, total)
    post.call.run.world.words(name, offset, total)
    return name, offset


def _cuts(post: PostedWork, local: tuple[Object, int], remote: tuple[Object, int], size: int) -> list[int]:
    """Return where a transfer is cut, from 0 to its size: where either side is, and at fields if processors look at it."""
    world = post.call.run.world
    element = post.request.element
    found = {0, size, *(range(element, size, element) if element else ())}
    is_looked_at = any(is_touched(world, *side, size) for side in (local, remote))
    for name, offset in (local, remote):
        cuts = set(world.known.cuts.get(name, ()))
        if size > WIDEST and (is_looked_at or not element):
            cuts |= world.field_cuts(name, offset, size) if is_looked_at else world.block_cuts(name, offset, size)
        found |= {cut - offset for cut in cuts if offset < cut < offset + size}
    return sorted(found)


def _pairs(post: PostedWork) -> list[tuple[tuple[Object, int], Word]]:
    """Return the words of a transfer, in the order of remote addresses: where each is here, and the word there."""
    total = sum(segment[2] for segment in post.request.segments)
    name, at = _remote(post, total)
    found: list[tuple[tuple[Object, int], Word]] = []
    for local, offset, size in post.request.segments:
        cuts = _cuts(post, (local, offset), (name, at), size)
        words = post.call.run.world.words(name, at, size, {at + cut for cut in cuts})
        found += [((local, offset + word.offset - at), word) for word in words]
        at += size
    return found


def _shared_word(post: PostedWork, name: Object, offset: int, size: int) -> Word:
    """Return the word of a buffer that the card reads or writes."""
    run = post.call.run
    run.own(name, "give to its NIC")
    run.world.share(name, offset, size)
    words = run.world.words(name, offset, size)
    if len(words) > 1:
        raise Refusal("RR815", f"this request covers {len(words)} words of `{name.name}` at once, where it has to be one")
    return words[0]


def _source(post: PostedWork, local: tuple[Object, int], size: int) -> Source:
    """Return what a word is taken from: memory that the card reads, or what the processor reads at the post."""
    run, (name, offset) = post.call.run, local
    if not post.request.is_inline:
        return _shared_word(post, name, offset, size)
    run.own(name, "give to its NIC")
    run.note(post.call.state, name, offset, size, is_write=False)
    if run.is_visible(post.call.state, name, offset, size):
        word = run.one_word(name, offset, size, "inline read")
        run.kind_of_access(word, _NUMBER)
        return word
    run.world.found.cuts[name] |= {offset, offset + size}
    if size > WIDEST:
        return 0
    operand, _ = written_operand(run.raw_read(post.call.state, name, offset, size), f"what is sent of `{name.name}`")
    return operand


def _flow(post: PostedWork, source: Source, target: Word) -> tuple[tuple[Word, Scalar], ...]:
    """Say what a word takes; return what of that was computed."""
    world = post.call.run.world
    if isinstance(source, Word):
        world.flow(source, target)
        return ()
    if isinstance(source, RegisterUse):
        world.add_values(target, _values_of(post, source))
    else:
        world.computed(target, (source,))
    return written_constants(target, source)


def _values_of(post: PostedWork, source: RegisterUse | Scalar) -> tuple[Scalar, ...]:
    """Return what an operand may be."""
    if not isinstance(source, RegisterUse):
        return (source,)
    cases = (each.cases for each in post.call.state.symbols() if each.register == source.name)
    return tuple(dict.fromkeys(raw for found in cases for raw, _ in found))


# statements


def write_statements(post: PostedWork) -> list[ThreadStatement]:
    """Return the puts of a request, one for each word."""
    request, call = post.request, post.call
    immediate = _immediate(post)
    if immediate is not None:
        call.run.world.found.written[post.message].add(sum(segment[2] for segment in request.segments))
    if not request.segments:
        return [_empty_put(post, immediate)] if immediate is not None else []
    pairs = _pairs(post)
    found: list[ThreadStatement] = []
    for index, (local, target) in enumerate(pairs):
        source = _source(post, local, target.size)
        writes = _flow(post, source, target)
        is_last = index == len(pairs) - 1
        form = f"put {{0}} = {{1}}{{2}}{post.flags(index == 0, is_last)}"
        parts: tuple[Part, ...] = (target, source, OnLane(post.connection))
        if is_last and immediate is not None:
            parts = (*parts, immediate, Receiver(post.connection))
            found.append(ThreadStatement(f"{form} imm {{3}} to {{4}}", parts, writes, sends=post.connection))
        else:
            found.append(ThreadStatement(form, parts, writes))
    if len(pairs) > 1:
        call.run.world.remark(
            "RR846", "a write of several words is taken as one for each word, in address order", call.chain
        )
    return found


def _immediate(post: PostedWork) -> RegisterUse | Scalar | None:
    """Return the number that a request carries, and say so to the other end."""
    if post.request.immediate is None:
        return None
    operand, values = operand_of(encoded(post.request.immediate, _NUMBER), "the immediate")
    found = post.call.run.world.found
    found.immediates[post.message].update(values)
    found.kinds[post.message].add("write imm" if post.request.kind == "write" else "send imm")
    return operand


def _empty_put(post: PostedWork, immediate: RegisterUse | Scalar, *, is_first: bool = True) -> ThreadStatement:
    """A message of nothing but its number: `.rdma` has it behind a put, of a word that nobody reads."""
    flags = post.flags(is_first, True).replace(" inline", "")
    form = f"put {{0}} = 0{{1}} inline{flags} imm {{2}} to {{3}}"
    parts = (Scratch(post.connection), OnLane(post.connection), immediate, Receiver(post.connection))
    return ThreadStatement(form, parts, sends=post.connection)


def read_statements(post: PostedWork) -> list[ThreadStatement]:
    """Return the gets of a request, one for each word."""
    found: list[ThreadStatement] = []
    pairs = _pairs(post) if post.request.segments else []
    for index, ((name, offset), source) in enumerate(pairs):
        target = _shared_word(post, name, offset, source.size)
        post.call.run.world.flow(source, target)
        flags = post.flags(index == 0, index == len(pairs) - 1).replace(" inline", "")
        found.append(ThreadStatement(f"get {{0}} = {{1}}{{2}}{flags}", (target, source, OnLane(post.connection))))
    return found


def _atomic(post: PostedWork) -> list[ThreadStatement]:
    request, world = post.request, post.call.run.world
    total = sum(segment[2] for segment in request.segments)
    if total != WIDEST or len(request.segments) != 1:
        raise Refusal("RR815", f"an atomic has 8 bytes, and its buffer {total}", "one buffer of 8 bytes")
    name, offset = _remote(post, total)
    words = world.words(name, offset, total)
    if len(words) > 1:
        raise Refusal("RR815", f"this atomic covers {len(words)} words of `{name.name}` that others touch one by one")
    target = _shared_word(post, *request.segments[0])
    operands = [operand_of(encoded(value, _ATOMIC), "an operand of this atomic") for value in request.operands]
    if request.kind == "cas":
        world.followed(words[0], "this compare-and-swap")
    if request.kind == "faa":
        written = possible_sums(world, words[0], operands[0][1])
    else:
        is_possible = set(operands[0][1]) & set(world.values_of(words[0]))
        written = list(operands[1][1]) if is_possible else []
    world.computed(words[0], written)
    world.flow(words[0], target)
    flags = post.flags(True, True).replace(" inline", "")
    form = f"get {{0}} = {request.kind}({{1}}, {', '.join(f'{{{index + 2}}}' for index in range(len(operands)))})"
    parts: tuple[Part, ...] = (target, words[0], *(operand for operand, _ in operands))
    changed = tuple((words[0], value) for value in written)
    return [ThreadStatement(f"{form}{{{len(parts)}}}{flags}", (*parts, OnLane(post.connection)), changed)]


def _send(post: PostedWork) -> list[ThreadStatement]:
    """A message: its words one behind the other, then its number, of which the last is signaled."""
    request, world = post.request, post.call.run.world
    world.found.kinds[post.message].add("send imm" if request.immediate is not None else "send")
    world.found.lengths[post.message].add(sum(segment[2] for segment in request.segments))
    sources = [_sent(post, *piece) for piece in pieces_of(world, post.message, request.segments)]
    if request.immediate is None and not sources:
        sources = [0]
    count = len(sources) + (request.immediate is not None)
    found: list[ThreadStatement] = []
    for index, source in enumerate(sources):
        flags = post.flags(index == 0, index == count - 1)
        flags = flags if isinstance(source, Word) or " inline" in flags else f" inline{flags}"
        parts = (source, Receiver(post.connection), OnLane(post.connection))
        found.append(ThreadStatement(f"send {{0}} to {{1}}{{2}}{flags}", parts))
    immediate = _immediate(post)
    if immediate is not None:
        return [*found, _empty_put(post, immediate, is_first=not found)]
    return [*found[:-1], replace(found[-1], sends=post.connection)]


def _sent(post: PostedWork, at: int, name: Object, offset: int, size: int) -> Source:
    """Return what a word of a message is taken from, and say what may come of it."""
    found, source = post.call.run.world.found, _source(post, (name, offset), size)
    if isinstance(source, Word):
        found.message_words[post.message].add((at, source))
        return source
    if isinstance(source, UnknownValue):
        operand_of(source, f"what is sent of `{name.name}`")
    values = _values_of(post, source)
    if not isinstance(source, RegisterUse) and not all(map(post.call.run.world.is_within, values)):
        raise RunEnds
    found.message_values[post.message].update((at, value) for value in values)
    return source


_STATEMENTS = {"write": write_statements, "read": read_statements, "cas": _atomic, "faa": _atomic, "send": _send}
