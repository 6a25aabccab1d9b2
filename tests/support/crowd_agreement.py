"""Is a program with templates robust for any number of copies? By both counting systems, and by P(0), P(1), ..."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from rdma_robust.counting.omega_search import ALL, OmegaOptions, omega_search
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.own_counters import HeroFromStart
from rdma_robust.robustness.crowds.steps import InstanceSteps
from rdma_robust.robustness.decide import decide

PLAIN = OmegaOptions(copycats=False, milestones=False, drop_idle=False)


@dataclass(frozen=True)
class Way:
    """One way to decide for any number."""

    system: type[HeroAtStart] | type[HeroFromStart] = HeroAtStart
    reductions: frozenset[str] = ALL_REDUCTIONS
    settled: bool = True
    options: OmegaOptions = ALL


WAYS = {
    "hero at start": Way(),
    "hero at start, plain": Way(HeroAtStart, frozenset(), False),
    "hero from start": Way(HeroFromStart),
    "hero from start, plain": Way(HeroFromStart, frozenset(), False),
    "no copycats": Way(options=PLAIN),
}


def loaded(text: str) -> Program:
    """The program of a text, which may have templates."""
    return load_decidable(text, "crowd.rdma", crowds=True)


def model_of(program: Program) -> Model:
    return CheckOptions().on(program.hardware).model


def robust_for_any(program: Program, way: Way, states: int = 3000, seconds: float = 4) -> bool | None:
    """Whether every P(n) is robust, None if a limit was reached."""
    instance = TwoCopyInstance.of(program, model_of(program), way.reductions)
    system = way.system(InstanceSteps(instance, way.settled))
    found = omega_search(system, Limits.of(seconds, states), options=way.options)
    return None if found.cut else found.target < 0


def exact(program: Program) -> bool:
    """Whether all completions are counted."""
    return not TwoCopyInstance.of(program, model_of(program)).uncounted


def numbers_up_to(program: Program, most: int) -> Iterator[dict[str, int]]:
    """Yield numbers of copies for every template, at most so many in all, small ones first."""
    names = [thread.name for thread in program.crowds]
    for numbers in sorted(product(range(most + 1), repeat=len(names)), key=sum):
        if sum(numbers) <= most:
            yield dict(zip(names, numbers, strict=True))


def first_bad(program: Program, most: int, states: int = 20_000, seconds: float = 3) -> int | None:
    """The smallest number of copies in all with which the program is not robust, `most` + 1 if there is none up to there;
    None if a limit was reached."""
    options = CheckOptions(max_states=states, timeout=seconds)
    for numbers in numbers_up_to(program, most):
        match decide(copies_of(program, numbers), options).verdict:
            case Verdict.NOT_ROBUST:
                return sum(numbers.values())
            case Verdict.UNKNOWN:
                return None
    return most + 1
