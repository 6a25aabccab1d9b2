"""Repairs for what programs claim under RDMA, against trying every cheaper set.

A set counts if no state of the hardware's machine violates a claim, no thread hangs if none did, and the program does the
same under sequential consistency, by whole graphs of states: nothing is reduced, and traces, paths and runs side by side,
which repair argues with, have no part in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any, Final

import pytest

from rdma_robust.analyses.repair.repairs import Costs, Repair, RepairOptions
from rdma_robust.analyses.repair.safe.placement import keep_claims
from rdma_robust.analyses.safety.goals import HangMet, SafeGoal, met_by, watched_by_goals
from rdma_robust.analyses.safety.verify import claims
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.machine import state_names
from tests.agreement.test_repair_deployed import does
from tests.support.naive_repair import Inserts, Prices, all_inserts, patched, sets
from tests.support.random_repairs import KINDS, repair_text
from tests.support.shares import share

LIMITS: Final = CheckOptions(max_states=4000)
COSTS: Final = Costs(poll=2, rfence=2, flush=3, loop_weight=2, mfence=2)
"""Prices at which gets and loops are within what can be tried."""

MOST_SETS: Final = 150
MOST_STATES: Final = 1500
CLAIMS: Final = ("outcome", "outcome", "assert", "assert", "invariant")


class Seen:
    """All states of a machine: the final ones, whether some thread hangs, and whether a claim is violated. `whole` unless
    there are more than are looked at."""

    def __init__(self, program: Program, model: Model | None) -> None:
        found = [c for c in claims(program, hangs=False) if c.model != "sc" and not c.allowed]
        goals = [c.goal for c in found if not isinstance(c.goal, SafeGoal)]
        look = watched_by_goals(program, goals)
        machine: Any = sc_machine_of(program, look) if model is None else machine_of(program, model, look)
        met, hangs = [met_by(goal, machine) for goal in goals], HangMet(machine)
        self.finals: set[tuple[int, ...]] = set()
        self.violated = self.hangs = False
        self.whole = True
        moves = list(machine.initial())
        seen = {move.state for move in moves}
        for move in moves:
            self.violated |= any(test(move) for test in met)
            self.hangs |= bool(hangs(move))
            if machine.is_final(move.state):
                self.finals.add(machine.final(move.state))
            for after in machine.successors(move.state):
                self.violated |= any(test(after) for test in met)
                if after.state not in seen:
                    seen.add(after.state)
                    moves.append(after)
            if len(seen) > MOST_STATES:
                self.whole = False
                return


def claiming(kind: str, seed: int) -> str | None:
    """Return a random program with a claim that fails only on the hardware; None where there is none."""
    rng = Random(f"claims {kind} {seed}")
    text = repair_text(kind, seed)
    if text is None:
        return None
    program = load_program(text, "random.rdma")
    model = CheckOptions().on(program.hardware).model
    plain, more = Seen(program, None), Seen(program, model)
    new = sorted(more.finals - plain.finals)
    if not (plain.whole and more.whole and new):
        return None
    made = _with_claim(text, program, rng.choice(new), rng)
    try:
        program = load_program(made, "random.rdma")
    except ProgramError:
        return None
    some = Seen(program, model)
    if program.undecided or not some.whole or not some.violated or (Seen(program, None).violated and rng.random() < 0.9):
        return None
    return made


def _with_claim(text: str, program: Program, bad: tuple[int, ...], rng: Random) -> str:
    """Return a program that claims that something of a final state does not happen."""
    values = dict(zip(state_names(program), bad, strict=True))
    shown = {name: value for name, value in values.items() if "const " not in name and "$" not in name}
    asked = rng.sample(sorted(shown), min(len(shown), rng.choice([1, 2, 2, 3])))
    condition = " && ".join(f"{name} == {shown[name]}" for name in asked)
    kind = rng.choice(CLAIMS)
    registers = [name for thread in program.threads for name in shown if name.startswith(f"{thread.name}.")]
    if kind == "assert" and registers:
        name = rng.choice(registers)
        thread, _, register = name.partition(".")
        lines = text.splitlines()
        start = next(k for k, line in enumerate(lines) if line.startswith(f"thread {thread} "))
        end = next(k for k in range(start, len(lines)) if lines[k] == "}")
        return "\n".join([*lines[:end], f"assert {register} != {shown[name]}", *lines[end:]]) + "\n"
    if kind == "invariant":
        return f"{text}invariant !({condition})\n"
    return f"{text}outcome {condition} : forbidden under rdma\n"


def keeps(text: str, own: Seen) -> bool | None:
    """Whether a program keeps its claims and has no hang that is new; None if there is too much to look at."""
    program = load_program(text, "random.rdma")
    found = Seen(program, CheckOptions().on(program.hardware).model)
    if found.violated:
        return False
    return (own.hangs or not found.hangs) if found.whole else None


def cheaper(text: str, own: Seen, below: int) -> Iterator[Inserts]:
    """Yield the sets that cost less and will do; nothing if there are too many to try."""
    prices = Prices(poll=2, rfence=2, get=3, loop=2, mfence=2 if "cpu tso" in text else None)
    tried = list(islice(sets(all_inserts(text, prices), below), MOST_SETS + 1))
    plain = does(text)
    for some in tried if len(tried) <= MOST_SETS and plain is not None else ():
        made = patched(text, some)
        if keeps(made, own):
            found = does(made)
            if found is not None and plain is not None and found.keeps(plain):
                yield some


def agrees(text: str) -> Repair:
    """Assert that the answer for a program is right."""
    answer = keep_claims(text, "random.rdma", RepairOptions(COSTS, timeout=4), LIMITS)
    assert answer.status != "safe", "a claim is violated"
    program = load_program(text, "random.rdma")
    own = Seen(program, CheckOptions().on(program.hardware).model)
    if answer.solutions:
        assert keeps(answer.patched, own) is not False
        plain = does(text)
        flags = any(each.kind in ("signaled", "inline") for each in answer.insertions)
        found = None if flags or plain is None else does(answer.patched)
        assert found is None or plain is None or found.keeps(plain), "the repaired program does something else"
    if answer.optimal or answer.status == "impossible":
        below = answer.cost if answer.solutions else 5
        assert next(cheaper(text, own, below), None) is None, "a cheaper set will do"
    return answer


@pytest.mark.parametrize(
    "seeds",
    [range(2), pytest.param(range(2, 40), marks=pytest.mark.ci), pytest.param(range(40, 600), marks=pytest.mark.long)],
)
@pytest.mark.parametrize("kind", share(KINDS))
def test_no_cheaper_set_keeps_the_claims(kind: str, seeds: range) -> None:
    for seed in seeds:
        text = claiming(kind, seed)
        if text is not None:
            try:
                agrees(text)
            except AssertionError as wrong:
                raise AssertionError(f"{kind} {seed}: {wrong}\n{text}") from wrong


@pytest.mark.ci
def test_most_answers_are_proven_and_some_are_impossible() -> None:
    """What is compared above is something."""
    texts = [text for kind in KINDS for seed in range(12) if (text := claiming(kind, seed)) is not None]
    answers = Counter(agrees(text).status for text in texts)
    assert len(texts) >= 4
    assert answers["repaired"] >= 5
