"""The automaton of a thread as blocks of statements with one way on: a jump, a question, or the end.

A step of an automaton is made of one place; the language has statements and branches. Where several steps leave a place,
statements of the language ask which one it is: `if` for guards, `r = poll A or B` and `r = trypoll A` for completions,
`choose` for what nothing decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.automaton import EvaluatedThread, ThreadEdge
from rdma_robust.c.text.simplified import guard_condition, is_silent
from rdma_robust.errors import UsageError

_POLL: Final = re.compile(r"poll (\w+)")
_BLOCKS: Final = re.compile(r"(?:poll|rpoll|await|barrier|join|flush|recv) |\w+ = (?:rpoll|poll) ")
"""Statements at which a thread may wait."""

WHICH: Final = "which"
"""The register that says which completion was taken."""


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A statement, and the step that it comes from."""

    text: str
    edge: ThreadEdge | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """The way on: to one of `arms`, each of which has the condition under which it is taken; the last one needs none.

    Without conditions anything may be chosen. There is one arm for a jump, and none at the end.
    """

    arms: tuple[tuple[str, int], ...] = ()
    free: bool = False

    @property
    def targets(self) -> tuple[int, ...]:
        """The blocks that may follow."""
        return tuple(to for _, to in self.arms)


@dataclass(slots=True)
class BasicBlock:
    """Statements one after the other, and the way on."""

    lines: list[BlockLine] = field(default_factory=list)
    ways: Ways = Ways()


def basic_blocks(thread: EvaluatedThread, fresh: Callable[[str], str]) -> tuple[dict[int, BasicBlock], tuple[str, ...]]:
    """Return the blocks of a thread, 0 the first, and the registers that they have besides; `fresh` makes a name.

    Raises UsageError for steps that no statement tells apart.
    """
    made = _Blocks(thread.edges, fresh)
    for place in thread.edges:
        made.block(place)
    return made.joined(), tuple(made.registers)


class _Blocks:
    def __init__(self, edges: Mapping[int, Sequence[ThreadEdge]], fresh: Callable[[str], str]) -> None:
        self.edges, self.fresh = edges, fresh
        self.blocks: dict[int, BasicBlock] = {}
        self.registers: dict[str, None] = {}
        self._which = ""
        self._next = len(edges)

    def which(self) -> str:
        """Return the register that says which completion was taken."""
        self._which = self._which or self.fresh(WHICH)
        self.registers[self._which] = None
        return self._which

    def add(self, lines: Sequence[BlockLine], ways: Ways) -> int:
        """Add a block besides; return its number."""
        number, self._next = self._next, self._next + 1
        self.blocks[number] = BasicBlock(list(lines), ways)
        return number

    def behind(self, edge: ThreadEdge) -> int:
        """Return the block that does a step and goes to its end."""
        return edge.to if is_silent(edge) else self.add([BlockLine(edge.statement, edge)], Ways((("", edge.to),)))

    def block(self, place: int) -> None:
        """Add the block of a place."""
        steps = list(self.edges[place])
        silent = [each for each in steps if is_silent(each)]
        guards = [each for each in steps if each.guard is not None]
        done = [each for each in steps if each.guard is None and each.statement]
        if guards and len(guards) == len(steps):
            arms = [(guard_condition(each.guard), each.to) for each in guards if each.guard is not None]
            self.blocks[place] = BasicBlock([], Ways(tuple(arms)))
        elif len(done) == 1 and len(steps) == 1:
            self.blocks[place] = BasicBlock([BlockLine(done[0].statement, done[0])], Ways((("", done[0].to),)))
        elif not guards and not done:
            self.blocks[place] = BasicBlock([], Ways(tuple(("", each.to) for each in silent), len(silent) > 1))
        elif not guards and all(_POLL.fullmatch(each.statement) for each in done):
            self.blocks[place] = self._poll(done, silent)
        elif not any(_BLOCKS.match(each.statement) for each in done):
            self.blocks[place] = BasicBlock([], Ways(tuple(("", self.behind(each)) for each in steps), True))
        else:
            said = " or ".join(f"`{each.statement}`" if each.statement else "going on" for each in steps)
            raise UsageError(f"no statement of the language waits for one of these and tells which: {said}")

    def _poll(self, done: Sequence[ThreadEdge], silent: Sequence[ThreadEdge]) -> BasicBlock:
        """Return the block of a place where one of several completions is taken, or none."""
        queues = list(dict.fromkeys(each.statement.removeprefix("poll ") for each in done))
        behind = [self._choice([each for each in done if each.statement == f"poll {queue}"]) for queue in queues]
        first = {queue: next(each for each in done if each.statement == f"poll {queue}") for queue in queues}
        which = self.which()
        if not silent:
            arms = [(f"{which} == {number}", to) for number, to in enumerate(behind)]
            return BasicBlock([BlockLine(f"{which} = poll {' or '.join(queues)}", done[0])], Ways(tuple(arms)))
        to = self._choice(silent)
        for queue, taken in list(zip(queues, behind, strict=True))[:0:-1]:
            lines = [BlockLine(f"{which} = trypoll {queue}", first[queue])]
            to = self.add(lines, Ways(((f"{which} == 1", taken), (f"{which} == 0", to))))
        lines = [BlockLine(f"{which} = trypoll {queues[0]}", first[queues[0]])]
        return BasicBlock(lines, Ways(((f"{which} == 1", behind[0]), (f"{which} == 0", to))))

    def _choice(self, steps: Sequence[ThreadEdge]) -> int:
        """Return where steps go that are alike, or unseen."""
        targets = list(dict.fromkeys(each.to for each in steps))
        return targets[0] if len(targets) == 1 else self.add([], Ways(tuple(("", to) for to in targets), True))

    def joined(self) -> dict[int, BasicBlock]:
        """Return the blocks, those one behind the other as one."""
        coming: dict[int, int] = {0: 1}
        for each in self.blocks.values():
            for to in each.ways.targets:
                coming[to] = coming.get(to, 0) + 1
        for number in list(self.blocks):
            block: BasicBlock | None = self.blocks.get(number)
            while block is not None and len(block.ways.arms) == 1:
                to = block.ways.targets[0]
                if coming[to] > 1 or to == number:
                    break
                following = self.blocks.pop(to)
                block.lines += following.lines
                block.ways = following.ways
        return self.blocks
