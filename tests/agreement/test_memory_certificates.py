"""Memory behind a NIC: the rules of the certificate checker, against brute force and with each of them left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import pytest

from rdma_robust.certify import card_memories, hardware, normal_form
from rdma_robust.certify.card_memories import CardMemoryRules
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.hardware import CARD_READS, NIC_WRITES, EventKind, EventWords, Platform
from rdma_robust.certify.invariants import check_robust
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import BESIDE, Marks, Tag, Trail
from rdma_robust.certify.thread_events import Completion, ThreadEvent
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.produce import checkers_evidence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.conftest import ROOT
from tests.support.checker_search import RNR, Search, platform_of
from tests.support.left_out import suite_program
from tests.support.memory_programs import (
    polled_memories,
    relayed_memories,
    small_memories,
    taking_memories,
    with_memories,
)
from tests.support.patches import Patch, mutated
from tests.support.shares import chunks

NAMES: Final = sorted(path.stem for path in (ROOT / "litmus/memories").glob("*.rdma"))


def load(name: str) -> tuple[Program, Model]:
    program = suite_program(f"memories/{name}")
    return program, CheckOptions().on(program.hardware).model


def evidence_of(program: Program, model: Model) -> Any:
    return json.loads(json.dumps(checkers_evidence(program, model, RECV_DEPTH, Limits(states=20_000))))


@pytest.mark.parametrize("name", NAMES)
def test_named_programs_are_certified(name: str) -> None:
    """Those that are robust have an invariant, and no others."""
    program, model = load(name)
    if program.hardware.order == "ooo-dp":
        pytest.skip("decided by neighbouring tables: certified as these are (test_table_certificates)")
    if program.expect_robust:
        assert check_robust(program, platform_of(model), evidence_of(program, model))
    else:
        with pytest.raises(SizeLimitError):
            evidence_of(program, model)


# ---- each rule is needed

_FORCES, _LANDED = NormalFormRules._forces, hardware.landed_in_order


def _no(*_: object) -> bool:
    return False


def _yes(*_: object) -> bool:
    return True


def _nothing_told(*_: object) -> frozenset[str]:
    return frozenset()


def _never_tells(_: CardMemoryRules, trail: Trail, event: ThreadEvent, __: bool) -> tuple[Trail, int]:
    return trail, int(event.completion is Completion.SIGNALED)


def _one_path(earlier: EventKind, _: str, later: EventKind, platform: Platform, words: EventWords) -> bool:
    return hardware.observed_in_order(earlier, later, True, platform, words)


def _apart_at_once(earlier: EventKind, memory: str, later: EventKind, platform: Platform, words: EventWords) -> bool:
    apart = hardware.goes_another_way(earlier, EventWords(memory=memory), later, words)
    return not apart and _LANDED(earlier, memory, later, platform, words)


def _strict(real: Callable[[ThreadEvent, str], bool], types: frozenset[EventKind]) -> Callable[[ThreadEvent, str], bool]:
    return lambda event, memory: real(event, memory) or (event.kind in types and event.regions.memory == memory)


def _answers_shown(self: NormalFormRules, marks: Marks, event: ThreadEvent, tag: Tag) -> bool:
    return event.kind is EventKind.GET_WRITES or _FORCES(self, marks, event, tag)


def _settled_everywhere(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool | None:
    beside = replace(event, cell=event.cell and replace(event.cell, via=""))
    return _SETTLED(self, marks, beside)


def _beside_only(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool | None:
    return _SETTLED(self, marks, event) if not event.regions.memory else False


def _all_but_answers(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool | None:
    return _SETTLED(self, marks, event) if event.kind is not EventKind.GET_WRITES else False


_SETTLED = NormalFormRules._settled_forces

MUTANTS: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "G1": (((CardMemoryRules, "_lands", _no),), "flushed-by-the-host"),
    "G1 and G2 by the order of issue": (((CardMemoryRules, "_issued_behind", _no),), "read-from-afar"),
    "G1 and G2 through words": (((CardMemoryRules, "_through_words", _no),), "flushed-by-the-host"),
    "G1 and G2 through completions": (((CardMemoryRules, "_completed", _never_tells),), "rails-flushed-on-one"),
    "G1 through messages": (((CardMemoryRules, "told", _nothing_told),), "immediate-then-flush"),
    "G2": (((CardMemoryRules, "_held_back", _no),), "read-from-afar"),
    "G2 through messages": (((CardMemoryRules, "held", _no),), "receive-tells-who-reads-from-afar"),
    "reads of relaxed words land nothing": (
        ((card_memories, "_reads", _strict(card_memories._reads, CARD_READS)),),
        "flushed-by-a-relaxed-read",
    ),
    "writes of relaxed words are not landed": (
        ((card_memories, "_writes", _strict(card_memories._writes, NIC_WRITES)),),
        "flushed-relaxed-data-by-a-strict-read",
    ),
    "R1 between memories": (
        tuple((each, "landed_in_order", _one_path) for each in (normal_form, card_memories)),
        "data-behind-flag-beside",
    ),
    "R1 behind what is there when it is issued": (
        ((normal_form, "landed_in_order", _apart_at_once),),
        "counter-behind-whole-atomics",
    ),
    "R2 not by an answer": (((NormalFormRules, "_forces", _answers_shown),), "get-into-the-accelerator"),
    "R2 by what is issued before an answer": (
        ((NormalFormRules, "_issued_after_beta", _no),),
        "get-into-the-accelerator-was-read",
    ),
    "S1 not by a message": (((NormalFormRules, "_shown", _yes),), "message-into-the-accelerator"),
    "polls tell of one memory": (
        ((NormalFormRules, "_settled_forces", _settled_everywhere),),
        "polled-between-flag-and-data-behind",
    ),
    "polls tell of writes into a memory": (((NormalFormRules, "_settled_forces", _beside_only),), "polled-between-two-puts"),
    "polls tell of answers": (((NormalFormRules, "_settled_forces", _all_but_answers),), "polled-between-two-gets"),
    "polls tell of several groups of writes": (
        ((card_memories, "write_groups", lambda _: (BESIDE,)),),
        "polled-between-both",
    ),
}
"""What is wrong with a mutant, what is replaced, and the program that is decided wrongly by it."""


@pytest.mark.parametrize("rule", MUTANTS)
def test_every_rule_is_needed(rule: str) -> None:
    patches, name = MUTANTS[rule]
    program, model = load(name)
    right = "robust" if program.expect_robust else "not-robust"
    assert Search.of(program, platform_of(model)).verdict() == right
    with mutated(patches):
        assert Search.of(program, platform_of(model)).verdict() != right


def test_an_invariant_without_a_rule_is_forged() -> None:
    """Where a poll is taken to tell that an answer is there, the program is robust, and that is no evidence."""
    program, model = load("get-into-the-accelerator")
    with mutated(((NormalFormRules, "_forces", _answers_shown),)):
        forged = evidence_of(program, model)
        assert check_robust(program, platform_of(model), forged)
    with pytest.raises(InvalidCertificate):
        check_robust(program, platform_of(model), forged)


@pytest.mark.parametrize(
    ("field", "name"),
    [("trails", "flushed-by-the-host"), ("behind_cards", "flushed-by-the-host"), ("settled", "polled-between-both")],
)
def test_marks_left_out_are_noticed(field: str, name: str) -> None:
    program, model = load(name)
    evidence = evidence_of(program, model)
    assert any(field in marks for marks in evidence["marks"])
    for marks in evidence["marks"]:
        marks.pop(field, None)
    with pytest.raises(InvalidCertificate):
        check_robust(program, platform_of(model), evidence)


# ---- random programs


def compared(cases: Iterable[tuple[Program, Model]], *, certified: int = 0) -> Counter[str]:
    """Compare the checker's search with brute force: what it calls robust is. Every `certified`-th robust one gets an
    invariant, which is accepted."""
    found: Counter[str] = Counter()
    for program, model in cases:
        try:
            trace = oracle_robust(program, model)
        except SizeLimitError:
            continue
        answer = Search.of(program, platform_of(model)).verdict(20_000)
        truth = "robust" if trace is None else "not-robust"
        assert truth == "robust" or answer != "robust", f"{program.file}, {model}\n{program.source}"
        found[truth] += 1
        found["left"] += answer not in (truth, RNR)
        if answer == "robust" and certified and found["robust"] % certified == 0:
            assert check_robust(program, platform_of(model), evidence_of(program, model))
    return found


def test_random_programs() -> None:
    found = compared(small_memories(range(4)), certified=1) + compared(relayed_memories(range(4)), certified=1)
    assert found["robust"] and found["not-robust"]


@pytest.mark.parametrize("chunk", chunks(1, 10))
def test_many_random_programs(chunk: int) -> None:
    """20 programs of each kind in `.ci/run`, 500 a chunk in `make test-long`."""
    first, size = 50_000 + 500 * chunk, 500 if chunk else 20
    seeds = range(first, first + size)
    found = compared(small_memories(seeds), certified=5) + compared(relayed_memories(seeds), certified=5)
    found += compared(with_memories(seeds), certified=20)
    assert min(found["robust"], found["not-robust"]) >= size * 0.5
    assert found["left"] <= size * 0.05
    if chunk:
        taking = compared(taking_memories(seeds), certified=10)
        assert min(taking["robust"], taking["not-robust"]) >= size * 0.2 and taking["left"] <= size * 0.02
    polled = compared(polled_memories(seeds), certified=10)
    assert polled["robust"] >= size * 0.2
    assert polled["left"] <= size * 0.01
