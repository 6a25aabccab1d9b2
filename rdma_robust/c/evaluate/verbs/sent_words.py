"""Messages: the words that they have, the buffers that take them, and what receivers know of those that come.

`.rdma` has messages of one word, or of words of an array. A message of several words is here one for each word, of which the
last is signaled, and one more for a number beside data; a receive is as many, and so is the poll that takes it. The words of
a long message are read, and land, as those of sends one behind the other, so that this is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rdma_robust.c.evaluate.c_values import Object, Scalar, UnknownValue
from rdma_robust.c.evaluate.operations import Word
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import WIDEST, End, World
from rdma_robust.c.evaluate.state import Receive, Segment

Piece = tuple[int, Object, int, int]
"""A word of a message: where it begins in the message; object, offset and size of what it is taken from or goes to."""


@dataclass(frozen=True, slots=True)
class ArrivingMessages:
    """The messages that one end sends: kinds, bytes of data in a buffer, bytes of writes with a number, where all have so
    many, the numbers that they carry, and how many messages of `.rdma` each is."""

    kinds: frozenset[str]
    length: int
    written: Scalar
    numbers: frozenset[Scalar]
    words: int


def messages_of(world: World, sender: End) -> ArrivingMessages:
    """Return what comes from an end. Raises RR847 for messages that cannot be told apart before they are taken."""
    kinds, lengths = frozenset(world.known.kinds.get(sender, ())), world.known.lengths.get(sender, set())
    numbers = frozenset(world.known.immediates.get(sender, ()))
    length = max(lengths, default=0)
    words = len(_cut_points(world, sender, length)) - 1 if length else 0
    total = max(words + ("send imm" in kinds), 1)
    if len(lengths) > 1 or (len(kinds) > 1 and (total > 1 or ("send" in kinds and 0 in numbers))):
        world.count_messages(sender)
        what = "of several lengths" if len(lengths) > 1 else "with and without a number, or data,"
        raise several_lengths(sender.connection, "and not always the same as the same one in turn", what)
    written = world.known.written.get(sender, set())
    one = max(written) if len(written) == 1 else UnknownValue("the length of a write with a number, of several")
    return ArrivingMessages(kinds, length, one, numbers, total)


def several_lengths(connection: str, why: str, what: str = "of several lengths") -> Refusal:
    """Return the refusal of messages that cannot be told apart before they are taken."""
    message = f"messages {what} come on connection `{connection}`, {why}"
    return Refusal("RR847", message, "one length and kind for each connection, or an order in which they come")


def _cut_points(world: World, sender: End, length: int) -> list[int]:
    return sorted({0, length, *(cut for cut in world.known.message_cuts.get(sender, ()) if 0 < cut < length)})


def is_touched(world: World, name: Object, offset: int, size: int) -> bool:
    """Whether a processor accesses bytes of a range."""
    seen = world.known.by_processor.get(name, ())
    return any(offset < word.offset + word.size and word.offset < offset + size for word in seen)


def pieces_of(world: World, sender: End, segments: Iterable[Segment], most: int | None = None) -> list[Piece]:
    """Return the words of a message, or of the first `most` bytes of the buffers for one, and say where both are cut."""
    found: list[Piece] = []
    start = 0
    for name, offset, whole in segments:
        size = whole if most is None else min(whole, most - start)
        if size <= 0:
            break
        cuts = {offset + cut - start for cut in world.known.message_cuts.get(sender, ()) if start < cut < start + size}
        if size > WIDEST:
            cuts |= (world.field_cuts if is_touched(world, name, offset, size) else world.block_cuts)(name, offset, size)
        words = world.words(name, offset, size, cuts)
        found += [(start + word.offset - offset, name, word.offset, word.size) for word in words]
        start += size
    world.found.message_cuts[sender] |= {at for at, *_ in found} | {start}
    return found


def arriving(world: World, end: End, number: int) -> End:
    """Return the sender of what an end receives; with a number, that of the message, if those are counted."""
    sender = End(end.connection, world.peer(end.connection, end.process) or "")
    return End(sender.connection, sender.process, number) if world.counts_messages(sender) else sender


def buffer_words(world: World, end: End, receive: Receive, number: int) -> list[Word | None]:
    """Return the words of a receive, of a number, that messages go to, with what they bring; None where none has data.

    Raises RR813 for messages that do not fit.
    """
    sender = arriving(world, end, number)
    messages = messages_of(world, sender)
    if not messages.length:
        return [None]
    room = sum(size for _, _, size in receive.buffers)
    if messages.length > room:
        where = f" in `{receive.buffers[0][0].name}`" if receive.buffers else ""
        message = f"messages of {messages.length} bytes come for a buffer of {room}{where}"
        raise Refusal("RR813", message, "a larger buffer")
    found: list[Word | None] = []
    for at, name, offset, size in pieces_of(world, sender, receive.buffers, messages.length):
        word = Word(name, offset, size)
        for place, source in world.known.message_words.get(sender, ()):
            if place == at:
                world.flow(source, word)
        world.add_values(word, (value for place, value in world.known.message_values.get(sender, ()) if place == at))
        found.append(word)
    return [*found, None] if "send imm" in messages.kinds else found
