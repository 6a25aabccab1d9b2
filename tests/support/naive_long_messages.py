"""Messages of several words as the design says them: one receive for all words of a message, one completion for all of them.

The words are events as the language writes them out. But every word of a message takes the first receive of its group, and
is before the last poll of it; the other receives and polls of the group are events that nothing is matched with.
"""

from __future__ import annotations

from rdma_robust.language.flow.cfg import NAMELESS
from tests.support.naive_axioms import Link, Naive
from tests.support.naive_runs import Ev


class NaiveLongMessages(Naive):
    """What the axioms say of a program with such messages."""

    def matched(self, threads: list[list[Ev]]) -> tuple[list[list[Ev]], list[Link], list[Link]] | None:
        found = super().matched(threads)
        if found is None:
            return None
        placed, sm, rpf = found
        return placed, [self._at_first(link, placed) for link in sm], self._at_last(rpf, placed)

    def _at_first(self, link: Link, threads: list[list[Ev]]) -> Link:
        """The link from the receive that is the first of its group."""
        (u, at), message = link
        length = self.program.words_of(self.names[message[0]], self.names[u], NAMELESS)
        mine = [e.position for e in threads[u] if e.kind == "V" and e.peer == message[0]]
        posted = sum(sender == self.names[message[0]] for sender, _, _ in self.program.threads[u].posted)
        place = mine.index(at)
        return (u, mine[place - (posted + place) % length]), message

    def _at_last(self, links: list[Link], threads: list[list[Ev]]) -> list[Link]:
        """The links to the polls that are the last of their groups; those of a group that is not whole say nothing."""
        found: list[Link] = []
        for message, (u, at) in links:
            length = self.program.words_of(self.names[message[0]], self.names[u], NAMELESS)
            mine = [e.position for e in threads[u] if e.kind == "RP" and e.peer == message[0]]
            last = mine.index(at) // length * length + length - 1
            found += [(message, (u, mine[last]))] if last < len(mine) else []
        return found
