"""Random programs whose messages find several posted receives, and which of them can take one that is not of its turn."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

HEAD = "node A { ack }\nnode B { b, c, d }\n"


class Exchange(NamedTuple):
    """What a sender and a receiver do, one after the other: `send` to the other one, `rpoll`, and for the receiver the name
    of a buffer that it posts; and the buffers that are `posted` before."""

    sender: tuple[str, ...]
    receiver: tuple[str, ...]
    posted: tuple[str, ...]


def random_exchange(rng: Random) -> Exchange:
    """Return an exchange of at most three messages, which may wait for an answer."""
    buffers = rng.choice(["bc", "bcd", "bbc", "b"])
    count = rng.randint(1, 3)
    posted = tuple(rng.choice(buffers) for _ in range(rng.randint(0, count)))
    receiver = [rng.choice(buffers) for _ in range(count - len(posted) + rng.randint(0, 1))] + ["rpoll"] * rng.randint(
        0, count
    )
    sender = ["send"] * count
    answers = rng.randint(0, 2)
    for _ in range(answers):
        receiver.insert(rng.randint(0, len(receiver)), "send")
        sender.insert(rng.randint(0, len(sender)), "rpoll")
    rng.shuffle(receiver)
    return Exchange(tuple(sender), tuple(receiver), posted)


def text_of(exchange: Exchange, rng: Random) -> str:
    """Return a program that does it, and reads and polls between."""
    lines = [HEAD + "thread S on A {", *("  posted ack from R" for _ in range(exchange.receiver.count("send")))]
    for number, action in enumerate(exchange.sender, 1):
        lines.append(f"  send {number} to R" if action == "send" else "  rpoll R")
        if action == "send" and rng.random() < 0.2:
            lines.append("  poll B")
    lines += ["}", "thread R on B {", "  reg r", *(f"  posted {buffer} from S" for buffer in exchange.posted)]
    for action in exchange.receiver:
        lines.append({"rpoll": "  rpoll S", "send": "  send 1 to S"}.get(action, f"  recv {action} from S"))
        if rng.random() < 0.3:
            lines.append(f"  r = {rng.choice('bcd')}")
    return "\n".join([*lines, "}", ""])


class _Point(NamedTuple):
    """How far the sender, the receiver, the messages of the first and those of the second have come."""

    sender: int = 0
    receiver: int = 0
    arrived: int = 0
    answered: int = 0


def has_a_choice(exchange: Exchange) -> bool:
    """Return whether some message can be done where, beside the receive of its turn, one of another buffer is posted.

    All runs where messages are done in the order of sending, whenever there is a receive for them, by the actions alone.
    """
    seen, left = {_Point()}, [_Point()]
    while left:
        point = left.pop()
        done, tasks = exchange.receiver[: point.receiver], exchange.sender[: point.sender]
        receives = [*exchange.posted, *(each for each in done if each not in ("rpoll", "send"))]
        if tasks.count("send") > point.arrived and len(set(receives[point.arrived :])) > 1:
            return True
        for after in _following(exchange, point, receives, tasks.count("send"), done.count("send")):
            if after not in seen:
                seen.add(after)
                left.append(after)
    return False


def _following(exchange: Exchange, point: _Point, receives: list[str], sent: int, answers: int) -> Iterator[_Point]:
    if sent > point.arrived and len(receives) > point.arrived:
        yield point._replace(arrived=point.arrived + 1)
    if answers > point.answered:
        yield point._replace(answered=point.answered + 1)
    for who, actions, place, there in (
        ("sender", exchange.sender, point.sender, point.answered),
        ("receiver", exchange.receiver, point.receiver, point.arrived),
    ):
        if place < len(actions) and (actions[place] != "rpoll" or actions[:place].count("rpoll") < there):
            yield point._replace(**{who: place + 1})
