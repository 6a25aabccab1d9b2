"""Facts that `prove` tells are true in every state of the model's machine, at the places that they are told of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rdma_robust.analyses.prove.explicit_search import explicit_search
from rdma_robust.analyses.prove.facts import PlaceKnown, known_facts
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety, SafetyOutcome
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.limits import NO_LIMITS
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.stepping import StepMachine, StepState
from tests.support.claimed_programs import claimed_program

NAME = re.compile(r"[A-Za-z]\w*\.\w+(?:\[\d+\])?")
MODELS: tuple[AnyModelName, ...] = ("sc", "tso", "pso", "rma")


@dataclass(frozen=True)
class Seen:
    """A state of the machine as facts speak of it."""

    program: Program
    machine: StepMachine
    state: StepState

    def values(self) -> dict[str, int]:
        final = {str(cell): value for cell, value in zip(self.program.cells, self.state.memory, strict=True)}
        for thread, at in zip(self.program.threads, self.state.threads, strict=True):
            names = (f"{thread.name}.{name}" for name, _ in thread.registers)
            final |= dict(zip(names, at.registers, strict=True))
        return final

    def at(self, name: str, points: set[int]) -> bool:
        places = {t.name: at.point for t, at in zip(self.program.threads, self.state.threads, strict=True)}
        return places[name] in points

    def idle(self, name: str) -> bool:
        return any(
            t.name == name and self.machine.drained(at.own)
            for t, at in zip(self.program.threads, self.state.threads, strict=True)
        )

    def label(self, name: str) -> int:
        return next(dict(t.labels)["L"] for t in self.program.threads if t.name == name)

    def before(self, name: str) -> set[int]:
        thread = next(t for t in self.program.threads if t.name == name)
        return {source for source, to, _ in thread.edges if to == self.label(name) != source}

    def is_there(self, place: str) -> bool:
        return all(self._part(part) for part in place.split(", "))

    def _part(self, part: str) -> bool:
        match part.split():
            case ["always"]:
                return True
            case [name, "at", "L"]:
                return self.at(name, {self.label(name)})
            case [name, "before", "L"]:
                return self.at(name, self.before(name))
            case ["in", "the", "end"]:
                return self.machine.is_final(self.state)
            case ["if", *_]:
                return self.holds(part.removeprefix("if "))
        raise ValueError(part)

    def holds(self, fact: str) -> bool:
        match fact.split():
            case [name, "not", "at", "L"]:
                return not self.at(name, {self.label(name)})
            case [owner, *_] if owner.endswith("'s"):
                return self.idle(owner.removesuffix("'s"))
        values = self.values()
        numbers = NAME.sub(lambda found: str(values[found[0]]), fact)
        if " in " in numbers:
            value, _, interval = numbers.partition(" in ")
            low, _, high = interval.partition("..")
            return int(low) <= int(value) <= int(high)
        return bool(eval(numbers))  # what facts say is Python too


def _facts(program: Program, model: AnyModelName, claims: tuple[SafetyClaim, ...]) -> tuple[PlaceKnown, ...]:
    """Facts of all states that can be reached, at the places that these claims are about, whether they are true or not."""
    options = ReductionOptions(bound=3, lazy=False)
    system = reduce_program(program, model, (), options)
    if system.wide:
        return ()
    found = explicit_search(system, NO_LIMITS)
    if found.overflowed:
        return ()
    outcome = SafetyOutcome(program, model, Safety.SAFE, "", claims, "explicit", options, system, found.invariant)
    return tuple(each for each in known_facts(outcome) if "line" not in each.place)


def _states(program: Program, model: AnyModelName) -> Iterator[Seen]:
    machine = stepwise_machine(program, model)
    todo = [move.state for move in machine.initial()]
    seen = set(todo)
    while todo:
        state = todo.pop()
        yield Seen(program, machine, state)
        for move in machine.successors(state):
            if move.state not in seen:
                seen.add(move.state)
                todo.append(move.state)


def _agree(seed: int, model: AnyModelName) -> int:
    program, claims = claimed_program(seed, model, loops=False)
    told = _facts(program, model, claims)
    if told:
        for seen in _states(program, model):
            for place in told:
                if seen.is_there(place.place):
                    wrong = [fact for fact in place.facts if not seen.holds(fact)]
                    assert not wrong, (seed, model, place.place, wrong, seen.machine.describe(seen.state))
    return sum(len(place.facts) for place in told)


@pytest.mark.parametrize("model", MODELS)
def test_facts_are_true(model: AnyModelName) -> None:
    assert sum(_agree(seed, model) for seed in range(25)) > 40


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
def test_facts_of_many_programs_are_true(model: AnyModelName) -> None:
    assert sum(_agree(seed, model) for seed in range(25, 600)) > 1000
