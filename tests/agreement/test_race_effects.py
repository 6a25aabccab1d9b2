"""What a race can change, by normal form and by all interleavings, and runs that show it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import MatchMove, OperationId
from rdma_robust.messages.races.race_effects import RaceEffects, race_effects
from rdma_robust.messages.races.race_outcomes import remembering
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.messages.replay.world import ReplayState
from tests.support.random_messages import CROWDED, RACY, TAGGED, Taste, random_messages
from tests.support.shares import chunks

WORLDS = 2_000


def naive_effects(program: MessageProgram, buffer: Buffer) -> dict[OperationId, bool] | None:
    """Say by all interleavings which receives have a choice, and whether one changes an outcome; None if there are too many.

    An outcome is all that a process is like at its end, assertions that were false included.
    """
    rules = Interpreter(remembering(program).program, buffer)
    after: dict[ReplayState, list[tuple[object, ReplayState]]] = {}
    todo = [rules.start()]
    while todo:
        world = todo.pop()
        if world not in after:
            after[world] = [(move, rules.after(world, move)[0]) for move in rules.moves(world)]
            todo += [new for _, new in after[world]]
            if len(after) > WORLDS:
                return None
    ends = {world: set() if moves else {final(rules, world)} for world, moves in after.items()}
    changed = True
    while changed:
        changed = False
        for world, moves in reversed(after.items()):
            before = len(ends[world])
            ends[world].update(*(ends[new] for _, new in moves))
            changed = changed or len(ends[world]) > before
    found: dict[OperationId, bool] = {}
    for moves in after.values():
        taken: dict[OperationId, list[set[object]]] = {}
        for move, new in moves:
            if isinstance(move, MatchMove):
                taken.setdefault(move.pair.receive, []).append(ends[new])
        for receive, sets in taken.items():
            if len(sets) > 1:
                found[receive] = found.get(receive, False) or any(each != sets[0] for each in sets)
    return found


def final(rules: Interpreter, world: ReplayState) -> object:
    """What counts of an end: how each process ended, and the registers of its own that are final."""
    found: list[object] = []
    for me, (process, at_end) in enumerate(zip(rules.program.processes, world.processes, strict=True)):
        waits = at_end.status == "runs"
        own = [name for name in process.registers if "." not in name]
        false = [name for name in process.registers if name.startswith("$false.")]
        kept = false if process.daemon and at_end.status != "ended" else [*own, *false]
        registers = rules.performer.opened(me, at_end).registers
        place = (at_end.status, at_end.point if waits or at_end.status == "stopped" else None)
        found.append((place, tuple((name, registers[name]) for name in kept)))
    return tuple(found)


def values(rules: Interpreter, world: ReplayState) -> Iterator[tuple[str, object]]:
    """Yield the final values of all processes, by their names."""
    for me, (process, at_end) in enumerate(zip(rules.program.processes, world.processes, strict=True)):
        registers = rules.performer.opened(me, at_end).registers
        yield from ((f"{process.name}.{name}", registers[name]) for name in process.registers)


def shown(effects: RaceEffects) -> dict[OperationId, bool]:
    """Return what is said of each receive with a choice."""
    return {receive: receive in each.changing for each in effects.effects for receive in each.receives}


def unshown(program: MessageProgram, effects: RaceEffects) -> Iterator[str]:
    """Yield the places whose two runs do not show what is said of them."""
    rules = Interpreter(remembering(program).program, effects.buffer)
    for each in effects.effects:
        if (each.contrast is None) != (each.effect == "none"):
            yield f"{each.span}: runs are missing, or show nothing"
        if each.contrast is None:
            continue
        ends = []
        for run in each.contrast.runs:
            replay_schedule(program, effects.buffer, run)
            world = rules.start()
            for move in run:
                world, _ = rules.after(world, move)
            ends.append(world)
        one, other = (next(p.send for p in end.pairs if p.receive == each.contrast.receive) for end in ends)
        if (one, other) != each.contrast.sends or one == other:
            yield f"{each.span}: the runs do not differ in the choice"
        if final(rules, ends[0]) == final(rules, ends[1]) or not each.contrast.differs:
            yield f"{each.span}: the runs end alike"
        for what, said in zip(each.contrast.differs, each.contrast.ends, strict=True):
            known = tuple(dict(values(rules, end)).get(what) for end in ends)
            if said[0] == said[1] or (not isinstance(said[0], str) and said != known):
                yield f"{each.span}: {what} is {known} at the ends, and not {said}"


def disagreements(seeds: range, taste: Taste) -> tuple[list[str], int]:
    """Return where the two differ on random programs, and how many choices were compared."""
    found, compared = [], 0
    for seed in seeds:
        program = random_messages(seed, taste)
        for buffer in ("zero", "infinite"):
            effects = race_effects(program, buffer, Limits.of(20))
            naive = None if effects.reason else naive_effects(program, buffer)
            if naive is None:
                continue
            compared += len(naive)
            if shown(effects) != naive:
                found.append(f"{seed} {buffer}: {shown(effects)} is not {naive}")
            found += [f"{seed} {buffer}: {wrong}" for wrong in unshown(program, effects)]
    return found, compared


@pytest.mark.ci
def test_a_choice_changes_what_all_interleavings_say() -> None:
    for taste in (RACY, TAGGED):
        found, compared = disagreements(range(12), taste)
        assert not found
        assert compared


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_long_a_choice_changes_what_all_interleavings_say(chunk: int) -> None:
    for taste in (RACY, TAGGED, CROWDED):
        found, compared = disagreements(range(100 + 20 * chunk, 120 + 20 * chunk), taste)
        assert not found
        assert compared
