"""Messages of several words as the design says them: one receive and one completion for all words of a message.

The runs are those of the program as the language writes it out, without the words that only take a buffer. Each message is
matched with a whole receive: its words fill the first ones of that, in order, or it does not fit. The receive is the first V
of its group, its poll the last RP, and the completing event of a message its last word; the other V and RP are matched
with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.model import Model
from tests.support.naive_axioms import Link, Naive
from tests.support.naive_runs import Ev, Run

Place = tuple[int, int]


@dataclass(frozen=True)
class Receive:
    """A whole receive: its V, None if it is there from the start, and the words that it has room for."""

    place: Place | None
    cells: list[Cell]


class NaiveLongMessages(Naive):
    """What the axioms say of a program with such messages."""

    def __init__(self, program: Program, model: Model, most: int = 4_000) -> None:
        super().__init__(program, model, most)
        self.whole: dict[tuple[Ev, ...], tuple[bool, ...]] = {}
        self.runs = [list(dict.fromkeys(self.without_padding(t, run) for run in runs)) for t, runs in enumerate(self.runs)]

    def without_padding(self, t: int, run: Run) -> Run:
        """The run without words that only take a buffer; `torn` marks the words of a message of which all are there."""
        kept: list[Ev] = []
        for e in run.events:
            if e.kind == "nrW" and e.peer >= 0:
                of = self.program.words_of(t, e.peer, e.lane)
                if e.word > 1 and not e.data:
                    kept[-1] = replace(kept[-1], signaled=e.signaled)
                else:
                    kept.append(e)
                if e.word == of:
                    kept = [
                        replace(k, torn=True) if k.peer == e.peer and k.kind == "nrW" and k.lane == e.lane else k
                        for k in kept
                    ]
            else:
                kept.append(e)
        places = {e.position: i for i, e in enumerate(kept)}
        return Run(tuple(replace(e, position=places[e.position], op=places[e.op]) for e in kept), run.registers)

    def matched(self, threads: list[list[Ev]]) -> tuple[list[list[Ev]], list[Link], list[Link]] | None:
        sm: list[Link] = []
        rpf: list[Link] = []
        lanes = {"", *(lane for thread in self.program.threads for lane, _ in thread.lanes)}
        for t, u, lane in product(range(len(threads)), range(len(threads)), sorted(lanes)):
            there = [e for e in threads[u] if e.peer == t and e.lane == lane]
            receives, polls = (
                list(self.receives(t, u, lane, there)),
                self.grouped(t, u, lane, [e for e in there if e.kind == "RP"]),
            )
            messages: list[list[Ev]] = []
            for e in threads[t]:
                if e.kind == "nrW" and e.peer == u and e.lane == lane:
                    messages += [[]] if e.word == 1 else []
                    messages[-1].append(e)
            for k, message in enumerate(messages):
                if k >= len(receives) or (message[0].data and len(message) > len(receives[k].cells)):
                    return None
                for e, cell in zip(message, receives[k].cells, strict=False):
                    threads[t][e.position] = replace(e, torn=False, cell=cell if e.data else None)
                    sm += [] if (place := receives[k].place) is None else [(place, (t, e.position))]
            for k, group in enumerate(polls):
                if k >= len(messages) or not messages[k][-1].torn or any(e.read is not None for e in group[1:]):
                    return None
                first = messages[k][0]
                if group[0].read != (None if first.data else first.written):
                    return None
                rpf += [((t, e.position), (u, group[-1].position)) for e in messages[k]]
        return threads, sm, rpf

    def receives(self, t: int, u: int, lane: str, there: list[Ev]) -> Iterator[Receive]:
        """The receives of a connection of which all words are there."""
        posted = [cell for sender, cell, on in self.program.threads[u].posted if (sender, on) == (self.names[t], lane)]
        length = self.program.words_of(t, u, lane)
        for k in range(0, len(posted), length):
            yield Receive(None, [cell for cell in posted[k : k + length] if not cell.void])
        for group in self.grouped(t, u, lane, [e for e in there if e.kind == "V"]):
            yield Receive((u, group[0].position), [e.cell for e in group if e.cell is not None and not e.cell.void])

    def grouped(self, t: int, u: int, lane: str, events: list[Ev]) -> list[list[Ev]]:
        """The groups of a connection that are whole: as many events as the longest message has words."""
        length = self.program.words_of(t, u, lane)
        return [events[k : k + length] for k in range(0, len(events) - length + 1, length)]
