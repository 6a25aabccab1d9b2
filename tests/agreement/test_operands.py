"""Operands of remote atomics in memory: machines and axioms, and each rule of them switched off, on named programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rdma_robust import Verdict, check
from rdma_robust.certify import invariants, thread_reading
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.invariants import check_robust
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import Marks
from rdma_robust.certify.search_steps import SearchSteps
from rdma_robust.certify.thread_events import ThreadMove
from rdma_robust.errors import InternalError
from rdma_robust.evidence.produce import checkers_evidence
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.robustness import rules
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import compared_with_changes
from rdma_robust.robustness.taint import Poison
from rdma_robust.semantics import axioms, event_table, order_table, values
from rdma_robust.semantics.event_table import operands_read
from rdma_robust.semantics.machines import queues
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.requests import CardRequest
from rdma_robust.semantics.oracle import candidate, thread_paths
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, EventType
from rdma_robust.semantics.vertices import read_and_writes
from tests.agreement.test_deployed import agreeing, decided, truth
from tests.conftest import ROOT, Cli
from tests.support.checker_search import Search, platform_of
from tests.support.memory_programs import taking_memories
from tests.support.patches import Patch, mutated
from tests.support.random_deployed import model_of, random_deployed
from tests.unit.semantics.test_deployed_machine import compared

PROGRAMS = sorted((ROOT / "litmus").glob("*/operand-*.rdma"))
SEARCHED = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "litmus").glob("*/operand*.rdma")}
NAMED = {path.stem: path.read_text(encoding="utf-8") for path in PROGRAMS}


def answers(text: str) -> tuple[object, ...]:
    """What brute force and the machine say of a program."""
    program = load_program(text, "p.rdma")
    model = model_of(program)
    found = explore(DeployedMachine(program, model), Limits())
    return oracle_robust(program, model) is None, axiomatic_outcomes(program, model).rdma, found.finals


_REMOTE_RMW, _WITH_OPERAND, _OF_OPERANDS = event_table._remote_rmw, CardRequest.with_operand, thread_paths._of_operands


def _only_writes(events: Any) -> Iterator[tuple[int, int]]:
    return ((read, write) for read, write in read_and_writes(events) if events[write].type in NIC_WRITE_TYPES)


def _as_by_a_get(op: Any, written: Any) -> Any:
    """Operands are read in the order in which gets read."""
    cases = _REMOTE_RMW(op, written)
    return tuple(replace(c, acts=tuple(replace(a, type=EventType.NRR) if a.operand else a for a in c.acts)) for c in cases)


def _exchanged(self: CardRequest, env: Any, number: int, value: int) -> Any:
    return _WITH_OPERAND(self, env, self.operands - 1 - number, value)


def _as_it_was(self: CardRequest, env: Any, number: int, _value: int) -> Any:
    return _WITH_OPERAND(self, env, number, 0)


def _of_the_word(op: Any) -> Any:
    names = operands_read(op)
    return dict.fromkeys(names, op.source) if names else {}


def _first_only(acts: Any, first: int) -> Any:
    found = _OF_OPERANDS(acts, first)
    return dict.fromkeys(found, next(iter(found.values()), None))


MUTANTS: dict[str, tuple[tuple[Patch, ...], str]] = {
    "no order between an operand and its word": (
        ((candidate, "read_and_writes", _only_writes), (axioms, "read_and_writes", _only_writes)),
        "operand-of-no-order",
    ),
    "operands are read as by a get": (((event_table, "_remote_rmw", _as_by_a_get),), "operand-overtakes-a-put"),
    "the machine's atomics wait for no operand": (
        ((queues, "waits_for_own_reads", lambda part: part.buffered),),
        "operand-of-no-order-old",
    ),
    "the machine takes one operand for the other": (((CardRequest, "with_operand", _exchanged),), "operand-of-no-order-old"),
    "the machine's operands are 0": (((CardRequest, "with_operand", _as_it_was),), "operand-origin-flushed"),
    "brute force takes one operand for the other": (
        ((thread_paths, "_of_operands", _first_only),),
        "operand-of-no-order-old",
    ),
    "operands have the values of the word": (((values, "operands_read", _of_the_word),), "operand-origin-reused"),
}
"""What is wrong, to what is replaced by what, and the program that notices it."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_rule_that_is_switched_off_is_noticed_by_a_named_program(name: str) -> None:
    patches, program = MUTANTS[name]
    right = answers(NAMED[program])
    with mutated(patches):
        assert answers(NAMED[program]) != right


def searched(text: str) -> tuple[str, str]:
    """What the search says of a program, or how it ends, and what the checker's rules say."""
    program = load_program(text, "p.rdma")
    try:
        by_search = decided(program, model_of(program), "all").verdict.value
    except InternalError as error:
        by_search = type(error).__name__
    return by_search, Search.of(program, platform_of(model_of(program))).verdict(20_000)


_AT_ONCE = SearchSteps._at_once


def _like_others(self: SearchSteps, read: Any, write: Any, around: Any) -> Any:
    """The checker lets other events between the read and the write of one that fails."""
    move = ThreadMove(replace(read, at_once=False), None, write.after, write.line)
    later = around.marks is not None
    yield from (
        self._later_atomic(move, write, write, around, around.marks)
        if later
        else self._first_atomic(move, write, write, around)
    )


def _taken_for_clean(_self: NormalFormRules, marks: Marks, event: Any) -> Marks:
    return replace(marks, poison_taken=marks.poison_taken - {event.thread})


_FORCED_BY_QUEUE, _REQUEST_OF = NormalFormRules._forced_by_queue, thread_reading.request_of


def _apart_from_atomics(model: Any) -> frozenset[tuple[EventType, EventType]]:
    return frozenset(pair for pair in order_table.apart(model) if pair[1] in NIC_WRITE_TYPES)


def _without_operands(op: Any) -> Any:
    request = _REQUEST_OF(op)
    return None if request is None else replace(request, operands=())


SEARCH_MUTANTS: dict[str, tuple[tuple[Patch, ...], str]] = {
    "M8: something comes between the read and the write of one that fails": (
        ((EventEdge, "may_tear", property(lambda edge: edge.also is not None)),),
        "operands-loop-handed",
    ),
    "the checker lets something come between": (((SearchSteps, "_at_once", _like_others),), "operands-loop-handed"),
    "M7: no operand poisons a word": (((Poison, "_by_operands", lambda *_: []),), "operands-poisoned"),
    "an operand forces no atomic": (((rules, "apart", _apart_from_atomics),), "operands-own-read"),
    "the checker's operand forces no atomic": (
        ((NormalFormRules, "_forced_by_queue", lambda s, m, e: _FORCED_BY_QUEUE(s, m, replace(e, takes=False))),),
        "operands-own-read-glob",
    ),
    "the checker's M7: no operand poisons a word": (((NormalFormRules, "_taking", _taken_for_clean),), "operand-told-of"),
    "the checker sees no fence before an operand": (
        ((invariants, "request_of", _without_operands),),
        "operand-behind-a-get-fenced",
    ),
}


@pytest.mark.parametrize("name", SEARCH_MUTANTS)
def test_a_rule_of_a_search_that_is_left_out_is_noticed_by_a_named_program(name: str) -> None:
    patches, program = SEARCH_MUTANTS[name]
    right = searched(SEARCHED[program])
    with mutated(patches):
        assert searched(SEARCHED[program]) != right


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_named_programs_end_as_the_axioms_say(path: Path) -> None:
    _, by_axioms, by_machine = answers(NAMED[path.stem])
    assert by_axioms == by_machine


def has_operands(program: Program) -> bool:
    return any(getattr(step.op, "operands", ()) for thread in program.threads for _, _, step in steps(thread))


def writes_back(program: Program) -> bool:
    """Whether some compare-and-swap compares with what a card or another thread writes."""
    return any(compared_with_changes(program, thread) for thread in range(len(program.threads)))


@pytest.mark.parametrize(
    ("first", "last"), [pytest.param(0, 60, marks=pytest.mark.ci), pytest.param(60, 3_000, marks=pytest.mark.long)]
)
def test_random_programs_end_as_the_axioms_say(first: int, last: int) -> None:
    cases = [case for case in random_deployed("operands", range(first, last)) if has_operands(case[0])]
    assert sum(1 for _ in compared(cases, Limits(states=3_000), whole=last < 100)) > (last - first) // 2


@pytest.mark.parametrize(
    ("first", "last"), [pytest.param(0, 120, marks=pytest.mark.ci), pytest.param(120, 12_000, marks=pytest.mark.long)]
)
def test_the_search_decides_random_programs_as_the_axioms_do(first: int, last: int) -> None:
    programs = random_deployed("operands", range(first, last))
    cases = [case for case in programs if has_operands(case[0])]
    assert agreeing(cases, kinds=1, enough=len(cases)) > 0.8 * len(cases) > 0.3 * (last - first)


@pytest.mark.parametrize(
    ("first", "last"), [pytest.param(0, 20, marks=pytest.mark.ci), pytest.param(20, 4_000, marks=pytest.mark.long)]
)
def test_the_search_decides_random_programs_with_memory_behind_cards(first: int, last: int) -> None:
    cases = [case for case in taking_memories(range(first, last)) if has_operands(case[0])]
    assert agreeing(cases, kinds=1, enough=len(cases)) > 0.6 * len(cases) > 0.3 * (last - first)


@pytest.mark.parametrize(
    ("first", "last"), [pytest.param(0, 80, marks=pytest.mark.ci), pytest.param(80, 8_000, marks=pytest.mark.long)]
)
def test_the_checker_decides_random_programs_as_the_axioms_do(first: int, last: int) -> None:
    programs = random_deployed("operands", range(first, last))
    cases = [case for case in programs if has_operands(case[0])]
    compared = 0
    for program, model in cases:
        found = Search.of(program, platform_of(model)).verdict(20_000)
        if found in ("robust", "not-robust") and (wanted := truth(program, model)) is not None:
            taken_for_more = found == "not-robust" and writes_back(program)
            assert found == wanted.value or taken_for_more, program.source
            compared += found == wanted.value
    assert compared > 0.7 * len(cases)


LOOP = """domain 0..3
node A { one = 1 }
node B { x }
thread T on A {
  loop { faa(B.x, one) }
}
"""


def test_loops_and_any_number_of_threads_are_decided() -> None:
    assert check(LOOP).verdict is Verdict.ROBUST
    assert check(LOOP.replace("thread T on", "thread T[*] on")).verdict is Verdict.ROBUST


@pytest.mark.parametrize("name", [name for name, text in NAMED.items() if "expect robust" in text])
def test_what_a_thread_has_taken_is_checked(name: str) -> None:
    """A certificate in which an operand had another value, or was not taken, is rejected."""
    program = load_program(NAMED[name], name)
    model = model_of(program)
    told = json.dumps(checkers_evidence(program, model, 8, Limits()))
    assert check_robust(program, platform_of(model), json.loads(told))
    for thread, listed in enumerate(json.loads(told)["threads"]):
        for place, state in enumerate(listed["states"]):
            if isinstance(state[1], list) and state[1][1] == "operands":
                for wrong in ([*state[1][:-1], state[1][-1] + 1], state[1][:2], [*state[1], 0, 0]):
                    forged = json.loads(told)
                    forged["threads"][thread]["states"][place][1] = wrong
                    with pytest.raises(InvalidCertificate):
                        check_robust(program, platform_of(model), forged)


def test_what_has_no_rules_refuses(cli: Cli, tmp_path: Path) -> None:
    reused, quiet = (NAMED[f"operand-{name}"] for name in ("origin-reused", "origin-quiet"))
    (tmp_path / "p.rdma").write_text(reused)
    (tmp_path / "q.rdma").write_text(quiet.replace("domain 0..3\n", "").replace("faa", "swap"))
    assert "a remote atomic with an operand in memory" in " ".join(cli("prove", "--model", "rma", "q.rdma").stderr.split())
    assert "RR722" in cli("lint", "p.rdma").stdout + cli("lint", "p.rdma").stderr
    (tmp_path / "c.rdma").write_text(NAMED["operand-compare-reused"])
    assert "no cheaper repair exists" in cli("repair", "c.rdma").stdout
