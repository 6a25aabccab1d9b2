"""What message programs can do by all interleavings of single steps: no normal form, no sharing, no order between moves."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import MatchedPair, Matching
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.replaying import state_ending
from rdma_robust.messages.replay.world import ReplayState


@dataclass
class Naive:
    """All that happens: violations, the deadlocks and the leaks each with the fewest matches before; None for none."""

    violations: dict[tuple[Span, str], int] = field(default_factory=dict)
    deadlock: int | None = None
    leak: int | None = None
    pairs: set[MatchedPair] = field(default_factory=set)
    matchings: set[Matching] = field(default_factory=set)
    finals: set[tuple[object, ...]] = field(default_factory=set)
    worlds: int = 0


def naive_messages(
    program: MessageProgram, buffer: Buffer, limit: int, interpreter: Interpreter | None = None
) -> Naive | None:
    """Return what all interleavings of a program do, None if they have more states than the limit."""
    rules = interpreter or Interpreter(program, buffer)
    found = Naive()
    start = rules.start()
    seen, todo = {start}, [start]
    while todo:
        world = todo.pop()
        found.pairs |= world.pairs
        _note_ending(rules, world, found)
        for move in rules.moves(world):
            new, event = rules.after(world, move)
            for each in () if event is None else (event, *event.more):
                place = (rules.performer.statement(each.statement).span, each.kind)
                found.violations[place] = min(len(new.pairs), found.violations.get(place, len(new.pairs)))
            if new not in seen:
                if len(seen) >= limit:
                    return None
                seen.add(new)
                todo.append(new)
    found.worlds = len(seen)
    return found


def _note_ending(rules: Interpreter, world: ReplayState, found: Naive) -> None:
    matches = len(world.pairs)
    match state_ending(rules, world):
        case "deadlock":
            found.deadlock = min(matches, matches if found.deadlock is None else found.deadlock)
        case "complete":
            found.matchings.add(world.pairs)
            found.finals.add(tuple(each.registers for each in world.processes))
            daemons = [each.daemon for each in rules.program.processes]
            if world.sends or any(not daemons[each.name.process] for each in world.receives):
                found.leak = min(matches, matches if found.leak is None else found.leak)
        case _:
            pass
