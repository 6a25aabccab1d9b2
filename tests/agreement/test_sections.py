"""Locked sections of several locations: each reduction on and off, brute force over the axioms, and TSO as it is.

The machine of `trencher_machine` shares nothing with what it is compared with. Compared are random programs, and mutations
of programs in which one step of several words is all that matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final
from unittest.mock import patch

import pytest

from rdma_robust.analyses.explain.story import circle
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.expr import Const
from rdma_robust.language.flow.cfg import Section, Write
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.reductions.like_threads import like_threads
from rdma_robust.semantics import axioms, vertices
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.trace import Trace
from rdma_robust.teaching.explorer.session import Session, session_verdict
from tests.support.shares import chunks
from tests.support.trencher_machine import executions, random_sections, robust

TSO: Final = Model(cpu="tso")

SETS: Final = [ALL_REDUCTIONS, frozenset[str](), *(ALL_REDUCTIONS - {name} for name in sorted(ALL_REDUCTIONS))]
ALONE: Final = [frozenset({name}) for name in sorted(ALL_REDUCTIONS)]


def program(*threads: Sequence[str]) -> str:
    """Threads that go through states 0, 1, 2, ...; a transition that names two states is taken as it is."""
    text = ""
    for number, lines in enumerate(threads):
        every = (line if line[0].isdigit() else f"{k} {k + 1} {line}" for k, line in enumerate(lines))
        text += "\n".join([f"thread t{number}", "initial 0", *(f"transition {line}" for line in every), "end", ""])
    return text


NAMED: Final = {
    # The words are written at one moment: what comes between them would have to come before both and after both.
    "torn-pair": program(["lock", "write 1 0", "write 1 1", "unlock"], ["write 2 0", "read r 1"]),
    "torn-pair-fenced": program(["lock", "write 1 0", "write 1 1", "unlock"], ["write 2 0", "mfence", "read r 1"]),
    # The same words in steps of their own.
    "pair-apart": program(["lock", "write 1 0", "unlock", "lock", "write 1 1", "unlock"], ["write 2 0", "read r 1"]),
    "swap-and-store-buffering": program(
        ["lock", "read a 0", "read b 1", "write b 0", "write a 1", "unlock", "read c 2"],
        ["write 1 2", "read d 0", "read e 1"],
    ),
    "store-buffering-of-sections": program(
        ["write 1 0", "lock", "read a 1", "write a 2", "unlock"], ["write 1 1", "lock", "read b 0", "write b 3", "unlock"]
    ),
    "reads-only": program(["write 1 0", "lock", "read a 1", "read b 2", "unlock"], ["write 1 1", "read c 0"]),
    "keeps-out": program(
        ["lock", "read a 1", "write 1 0", "check == a 1", "unlock", "read c 1"], ["write 1 1", "read b 0", "write 2 1"]
    ),
    "one-or-two-words": program(
        ["lock", "read a 0", "check == a 0", "write 1 1", "unlock", "2 6 check != a 0", "6 5 unlock"],
        ["write 1 0", "read b 1", "read c 0"],
    ),
    "three-threads": program(
        ["lock", "write 1 0", "read a 1", "unlock", "read d 2"], ["write 1 2", "read b 0"], ["write 1 1", "read c 2"]
    ),
}
NOT_ROBUST: Final = {"torn-pair", "swap-and-store-buffering", "reads-only", "one-or-two-words", "three-threads"}

WORDS: Final = ("read a {}", "read b {}", "write 1 {}", "write 2 {}", "write a {}", "read r {}")


def mutants(seeds: Iterable[int]) -> Iterator[str]:
    """The named programs with an access changed to another one, or with a fence put into its place."""
    texts = list(NAMED.values())
    for seed in seeds:
        rng = Random(f"sections{seed}")
        lines = rng.choice(texts).splitlines()
        for _ in range(rng.randint(1, 2)):
            k = rng.choice([k for k, line in enumerate(lines) if " read " in line or " write " in line or "fence" in line])
            source, target = lines[k].split()[1:3]
            changed = "mfence" if rng.random() < 0.1 else rng.choice(WORDS).format(rng.randint(0, 2))
            lines[k] = f"transition {source} {target} {changed}"
        yield "\n".join(lines) + "\n"


def randoms(seeds: Iterable[int]) -> Iterator[str]:
    for seed in seeds:
        rng = Random(f"random-sections{seed}")
        yield random_sections(rng, (2, 3), (1, 2)) if seed % 4 == 0 else random_sections(rng, (2, 2), (2, 3))


def compare(texts: Iterable[str], sets: Sequence[frozenset[str]]) -> Counter[bool]:
    """Compare the verdicts of some programs; return how many are robust. One in four is also searched without the kernel."""
    found: Counter[bool] = Counter()
    for number, text in enumerate(texts):
        loaded, expected = load_program(text, "random.trencher"), robust(text)
        found[expected] += 1
        assert (oracle_robust(loaded, TSO) is None) == expected, text
        for reductions in sets:
            outcome = decide(loaded, CheckOptions(hardware=TSO, reductions=reductions, large=0))
            assert outcome.verdict is (Verdict.ROBUST if expected else Verdict.NOT_ROBUST), (sorted(reductions), text)
        if number % 4 == 0:
            plain = decide(loaded, CheckOptions(hardware=TSO, kernel="python", large=0))
            assert (plain.verdict is Verdict.ROBUST) == expected, text
    return found


EVERY: Final = [SETS[:2], pytest.param([*SETS, *ALONE], marks=pytest.mark.ci)]


@pytest.mark.parametrize("sets", EVERY, ids=["two", "all"])
@pytest.mark.parametrize("name", NAMED)
def test_the_named_programs(name: str, sets: Sequence[frozenset[str]]) -> None:
    assert compare([NAMED[name]], sets)[False] == (name in NOT_ROBUST)


def test_random_programs_agree() -> None:
    found = compare(randoms(range(16)), SETS[:2])
    assert min(found.values()) > 3
    found = compare(mutants(range(16)), SETS[:2])
    assert min(found.values()) > 3


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_more_random_programs_agree(chunk: int) -> None:
    compare(randoms(range(1000 + 50 * chunk, 1050 + 50 * chunk)), [*SETS, *ALONE])
    compare(mutants(range(1000 + 50 * chunk, 1050 + 50 * chunk)), [*SETS, *ALONE])


def test_a_section_is_one_vertex_for_everybody() -> None:
    """Left out in the axioms, or in sc alone, a violation is no longer one."""
    loaded = load_program(NAMED["torn-pair"], "torn.trencher")
    found = oracle_robust(loaded, TSO)
    assert found is not None and axioms.is_violating(found, TSO)

    def apart(_trace: Trace) -> dict[int, int]:
        return {}

    with patch.object(vertices, "sections", apart):
        assert not axioms.is_violating(found, TSO)
    assert decide(load_program(NAMED["pair-apart"], "apart.trencher"), CheckOptions(hardware=TSO)).verdict is Verdict.ROBUST


def test_final_states_agree() -> None:
    sections = 0
    for text in [*NAMED.values(), *randoms(range(12))]:
        loaded = load_program(text, "random.trencher")
        sections += any(isinstance(step.op, Section) for thread in loaded.threads for _, _, step in thread.edges)
        found = axiomatic_outcomes(loaded, TSO)
        assert found.rdma == explore(machine_of(loaded, TSO), Limits()).finals, text
        ended = {now.memory for now in executions(text, tso=True) if _ended(now.states, text) and not any(now.buffers)}
        touched = sorted(int(cell.name.removeprefix("m")) for cell in loaded.cells)
        memories = {tuple((a, dict(memory).get(a, 0)) for a in touched) for memory in ended}
        assert {tuple(zip(touched, state[: len(touched)], strict=True)) for state in found.rdma} == memories, text
    assert sections > len(NAMED)


def _ended(states: Sequence[str], text: str) -> bool:
    threads = [[line.split() for line in part.splitlines()] for part in text.split("thread ")[1:]]
    return all(
        state not in {w[1] for w in mine if w[:1] == ["transition"]} for state, mine in zip(states, threads, strict=True)
    )


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(100, 200), marks=pytest.mark.long)], ids=["few", "many"])
def test_fences_make_robust_and_violations_are_told(seeds: range) -> None:
    for text in [NAMED["torn-pair"], *randoms(seeds)]:
        answer = repair(text, "random.trencher", limits=CheckOptions(hardware=TSO))
        assert answer.status in ("robust", "repaired") and answer.optimal, text
        assert not answer.patched or robust(answer.patched), answer.patched
        outcome = decide(load_program(text, "random.trencher"), CheckOptions(hardware=TSO))
        if outcome.witness is not None:
            assert "would come before itself" in circle(outcome.program, outcome.witness)


def like(one: int, other: int) -> str:
    """Two threads that differ at most in what their sections ask for, and one that writes."""
    both = (
        ["lock", "read a 0", "read b 1", f"check == a {k}", "write 1 2", "unlock", "write 5 3", "read a 4"]
        for k in (one, other)
    )
    return program(*both, ["write 1 0", "write 1 4", "read b 3"])


@pytest.mark.parametrize(("one", "other"), [(0, 0), (0, 1)])
def test_threads_are_alike_if_their_sections_ask_for_the_same(one: int, other: int) -> None:
    frame = InstrumentationFrame.to_instrument(load_program(like(one, other), "like.trencher"), TSO)
    found = [group.threads for kept in (frame, frame.specialised()) for group in like_threads(kept, False)]
    assert found == ([(0, 1)] * 2 if one == other else [])
    assert compare([like(one, other)], SETS)


@pytest.mark.parametrize("name", sorted(NOT_ROBUST))
def test_the_explorer_shows_the_run_of_a_violation(name: str) -> None:
    """A section is one choice, and SC follows up to where the cycle closes."""
    explored = Session(load_program(NAMED[name], "named.trencher"), model=TSO)
    found = session_verdict(explored, CheckOptions(hardware=TSO))
    assert found.verdict == "not-robust" and found.address is not None
    place = explored.place(found.address)
    assert place.rdma.at == 0 and len(place.rdma.choices) == found.steps


def test_beside_a_network_card_brute_force_decides() -> None:
    """No front end makes such a program. The put reads x before the section writes it, or after: then the card is late."""
    text = "domain 0..2\nnode A { x, y }\nnode B { z }\nthread T on A { put B.z = x; x = 1 }\n"
    loaded = load_program(text, "mixed.rdma")
    x, y = loaded.cells[0], loaded.cells[1]
    (thread,) = loaded.threads
    section = Section((x, y), ((0, Const(1)), (1, Const(1))))
    edges = tuple((a, b, replace(step, op=section) if isinstance(step.op, Write) else step) for a, b, step in thread.edges)
    mixed = replace(loaded, threads=(replace(thread, edges=edges),))
    for model in (Model(), TSO):
        outcome = decide(mixed, CheckOptions(hardware=model))
        assert outcome.verdict is Verdict.NOT_ROBUST and outcome.reason.endswith(
            "by brute force over the axioms: no search is proven to decide robustness of this program"
        )
        assert outcome.witness is not None and any(edge.relation == "rf" for edge in outcome.witness.cycle.edges)
