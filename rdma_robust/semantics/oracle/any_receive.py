"""Messages that may take any posted receive (`receives-match = "any"`): every way in which those of a candidate can.

Source: docs/deployed.md, "Any posted receive".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import perm, prod
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.semantics.connections import connection_ends, has_long_messages
from rdma_robust.semantics.oracle.candidate import PathOrder
from rdma_robust.semantics.waits import messages_wait

MOST: Final = 5_040
"""Ways to take receives that are looked at for one path of each thread."""


def in_any_order(program: Program, blocks: Sequence[PathOrder]) -> Iterator[list[PathOrder]]:
    """Yield the paths with every choice of a receive for each message but the one in which each takes that of its turn.

    Every message needs one: there is nothing where a connection has fewer receives. Raises SizeLimitError beyond `MOST`, and
    for what is not argued: messages of several words, and those that wait (`rnr wait`).
    """
    ends = connection_ends(program, [block.path.events for block in blocks])
    sent = [(messages, len(ends.receives.get(each, ()))) for each, messages in ends.messages.items()]
    if all(receives < 2 for _, receives in sent):
        return
    if has_long_messages(program):
        raise SizeLimitError("a message of several words may take any posted receive")
    if messages_wait(program):
        raise SizeLimitError("a message that waits (rnr wait) may take any posted receive")
    if prod(perm(receives, len(messages)) for messages, receives in sent) > MOST:
        raise SizeLimitError(f"the messages can take receives in more than {MOST} ways, too many for the oracle")
    ways = [permutations(range(receives), len(messages)) for messages, receives in sent]
    for way in product(*ways):
        if any(taken != tuple(range(len(taken))) for taken in way):
            places = [place for messages, _ in sent for place in messages]
            yield _taking(blocks, dict(zip(places, (number for taken in way for number in taken), strict=True)))


def _taking(blocks: Sequence[PathOrder], takes: dict[tuple[int, int], int]) -> list[PathOrder]:
    found = []
    for thread, block in enumerate(blocks):
        events = [replace(e, takes=takes.get((thread, place))) for place, e in enumerate(block.path.events)]
        found.append(replace(block, path=replace(block.path, events=tuple(events))))
    return found
