"""Sequential consistency where a message that finds no buffer waits (`hardware rnr wait`).

The message waits, and with it what is behind it on its queue pair; the thread goes on. Once there is a buffer, what has
waited is done before the next step of the thread. A message of several words waits as a whole: all of its words are read.

Source: docs/deployed.md, "Endless receiver-not-ready".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rdma_robust.language.flow.cfg import Fault, node_of
from rdma_robust.semantics.machines.inboxes import ThreadPlace
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.meeting import commands_in
from rdma_robust.semantics.machines.requests import NOWHERE, CardEvent
from rdma_robust.semantics.machines.sc import InFlight, ScMachine, ScState
from rdma_robust.semantics.machines.threadcode import Command
from rdma_robust.semantics.waits import no_room


class WaitingScMachine(ScMachine):
    """The SC semantics of a program whose messages wait.

    Of the requests that are half done, the first of a queue pair is its head; a thread stands at most at the last of all. A
    thread that has a head which needs not wait does that first. A message that waits, and a request behind one, is posted
    by a move of its own (`issue`): it takes its registers along, and the thread goes on.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pairs = [
            [(node_of(command.step.op), getattr(command.step.op, "lane", "")) for command in code.commands]
            for code in self.codes
        ]

    def moves_of(self, state: ScState, t: int) -> Iterator[Move]:
        """Yield every move of one thread."""
        thread = state.threads[t]
        ready = () if state.meeting.members else self._ready(state, t)
        if ready:
            for place in ready:
                yield from self._next(state, t, thread.carried[place], place)
        elif not self._stands(state, t):
            for command in commands_in(self.codes[t], thread.point, t, state.meeting):
                yield from self._begin(state, t, command)
        elif not state.meeting.members:
            yield from self._issue(state, t, thread.carried[-1], thread.carried[:-1])

    def reduced(self, state: ScState) -> list[Move]:
        """All successors: a thread that comes to a message later may find a buffer."""
        return self.successors(state)

    def is_busy(self, state: ScState, t: int) -> bool:
        return self._stands(state, t) or bool(self._ready(state, t))

    def is_still(self, state: ScState) -> bool:
        return not state.meeting.members and not any(self.is_busy(state, t) for t in range(len(state.threads)))

    def places(self, state: ScState) -> tuple[ThreadPlace, ...]:
        """Return where the threads are in a state that :meth:`is_still`."""
        found = []
        for t, thread in enumerate(state.threads):
            stuck = tuple(sorted({self.codes[t].commands[each.command].qp for each in thread.carried}))
            steps = (self.request(t, thread.carried[place].command).step for place in self._heads(state, t))
            messages = tuple(dict.fromkeys(steps))
            found.append(ThreadPlace(thread.point, thread.registers, thread.unpolled, state.inboxes, stuck, messages))
        return tuple(found)

    def posted(self, state: ScState, t: int, request: InFlight) -> Iterator[Move]:
        """Yield the first move of a request of which the CPU reads nothing: it is issued where it has to wait."""
        carried = state.threads[t].carried
        if self._must_wait(state, t, request) or self._is_behind(t, request, carried):
            yield from self._issue(state, t, request, carried)
        else:
            yield from self._next(state, t, request, len(carried))

    def _begin(self, state: ScState, t: int, command: Command) -> Iterator[Move]:
        """A flush waits for what is under way on its queue pair."""
        pair = self.pairs[t][command.number]
        if not command.flushes or all(self._pair(t, each) != pair for each in state.threads[t].carried):
            yield from super()._begin(state, t, command)

    def _issue(self, state: ScState, t: int, request: InFlight, before: tuple[InFlight, ...]) -> Iterator[Move]:
        command, thread = self.codes[t].commands[request.command], state.threads[t]
        made = self.request(t, request.command)
        value = request.value if made.inline != NOWHERE else 0
        taken = request._replace(registers=made.taken(thread.registers))
        action = Action(t, Verb.ISSUE, command.step)
        yield from self._go(state, action, command, value, thread.unpolled, carried=(*before, taken))

    def _pair(self, t: int, request: InFlight) -> tuple[str | None, str]:
        return self.pairs[t][request.command]

    def _heads(self, state: ScState, t: int) -> tuple[int, ...]:
        """The places of the first requests of each queue pair."""
        found: dict[tuple[str | None, str], int] = {}
        for place, each in enumerate(state.threads[t].carried):
            found.setdefault(self._pair(t, each), place)
        return tuple(found.values())

    def _ready(self, state: ScState, t: int) -> tuple[int, ...]:
        found = enumerate(carried := state.threads[t].carried)
        first = (place for place, each in found if not self._is_behind(t, each, carried[:place]))
        return tuple([place for place in first if not self._must_wait(state, t, carried[place])])

    def _next_part(self, t: int, request: InFlight) -> CardEvent:
        return self.request(t, request.command).ways[max(request.way, 0)].parts[request.event]

    def _word(self, t: int, request: InFlight) -> int:
        """The number of a word of a message, 0 of what is none."""
        return getattr(self.codes[t].commands[request.command].step.op, "word", 0)

    def _is_behind(self, t: int, request: InFlight, waited: tuple[InFlight, ...]) -> bool:
        """Whether a request is held by those before it on its queue pair: a word of a message is read behind the words of
        the same message that wait."""
        before = [each for each in waited if self._pair(t, each) == self._pair(t, request)]
        if not before or self._next_part(t, request).message:
            return bool(before)
        own = self._word(t, request)
        words = [self._word(t, each) for each in before]
        return words != list(range(max(1, own - len(words)), own)) or not all(
            self._next_part(t, each).message for each in before
        )

    def _must_wait(self, state: ScState, t: int, request: InFlight) -> bool:
        """Whether the next event of a request is a message for which, and for its words behind, there is no buffer."""
        part, connection = self._next_part(t, request), self.request(t, request.command).connection
        if not part.message:
            return False
        behind = self.program.words_of(*self.connections[connection]) - self._word(t, request)
        return not state.inboxes[connection].has(behind, part.unfit)

    def _stands(self, state: ScState, t: int) -> bool:
        """Whether the thread stands at the last of the requests that are half done."""
        carried = state.threads[t].carried
        return bool(carried) and carried[-1].registers is None

    def _waiting(self, state: ScState, t: int) -> Iterator[Fault]:
        """Yield what goes wrong where the thread's next event is a receive without room: messages may wait."""
        thread = state.threads[t]
        for command in () if self._stands(state, t) else self.codes[t].visible.get(thread.point, ()):
            receives = command.receives != NOWHERE and command.may_run(thread.registers)
            if receives and state.inboxes[command.receives].room <= 0:
                yield no_room(command.step, self.program.threads[t].name)
