"""The fewest waits against trying every set, each judged by all states of the model's machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, count, islice
from random import Random

import pytest

from rdma_robust.analyses.repair.repairs import COUNTING, RepairOptions
from rdma_robust.analyses.repair.repairs import WaitOptions as Wanted
from rdma_robust.analyses.repair.safe.placement import make_safe
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import FinalState
from tests.support.naive_waits import MOST_STATES, Waits, behind, everywhere, finals, forbidding, having, program_of, subsets
from tests.support.shares import share


@dataclass(frozen=True)
class Repairable:
    """A program that can end in the state `bad`, and with waits behind all its operations cannot."""

    seed: int
    text: str
    model: AnyModelName
    bad: FinalState

    @property
    def claiming(self) -> str:
        """The program with the claim that it does not."""
        return forbidding(self.text, self.bad, self.model)

    def safe(self, chosen: Waits) -> bool:
        ends = finals(having(self.text, chosen), self.model, 10 * MOST_STATES)
        assert ends is not None
        return self.bad not in ends


MODELS: tuple[AnyModelName, ...] = ("tso", "pso", "rma")


def repairable(model: AnyModelName, most: int) -> Iterator[Repairable]:
    """Yield random programs that forbid a final state which waits behind operations can exclude."""
    for seed in count():
        text = program_of(Random(seed), model)
        waits = behind(text, model)
        if not 1 <= len(waits) <= most:
            continue
        before, after = finals(text, model), finals(having(text, frozenset(waits)), model)
        if before is not None and after is not None and before - after:
            yield Repairable(seed, text, model, Random(seed).choice(sorted(before - after)))


@pytest.mark.parametrize("model", share(MODELS))
@pytest.mark.parametrize("wanted", [2, pytest.param(150, marks=pytest.mark.long)])
def test_all_irreducible_sets_are_found_and_no_other(wanted: int, model: AnyModelName) -> None:
    several = 0
    for program in islice(repairable(model, 6), wanted):
        expected: list[Waits] = []
        for chosen in subsets(behind(program.text, model)):
            if not any(each <= chosen for each in expected) and program.safe(chosen):
                expected.append(chosen)
        answer = make_safe(program.claiming, "random.rdma", Wanted(model), RepairOptions(COUNTING, all_minimal=True))
        assert (answer.status, answer.optimal, answer.complete) == ("repaired", True, True), program.seed
        texts = {squeezed(having(program.claiming, chosen)) for chosen in expected}
        assert {squeezed(solution.patched) for solution in answer.solutions} == texts, program.seed
        assert [s.cost for s in answer.solutions] == [len(chosen) for chosen in expected], program.seed
        several += len(expected) > 1
    assert several or wanted < 10


@pytest.mark.parametrize("model", share(MODELS))
@pytest.mark.parametrize("wanted", [1, pytest.param(60, marks=pytest.mark.long)])
def test_no_smaller_set_is_safe_wherever_waits_stand(wanted: int, model: AnyModelName) -> None:
    for program in islice(repairable(model, 5), wanted):
        answer = make_safe(program.claiming, "random.rdma", Wanted(model, "all"))
        assert (answer.status, answer.optimal) == ("repaired", True), program.seed
        places = everywhere(program.text, model)
        smaller = (frozenset(s) for size in range(answer.cost) for s in combinations(places, size))
        assert not any(program.safe(s) for s in smaller), program.seed


def squeezed(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))
