"""A local program reaches its target under SC iff the poll-free program compiled from both is not robust."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.errors import ProgramError, SizeLimitError, UsageError
from rdma_robust.hardness.automata import (
    TARGET,
    AutomataIntersection,
    FiniteAutomaton,
    accepted_word,
    automata_of_json,
    automata_program,
)
from rdma_robust.hardness.finite import finite_program
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from tests.conftest import ROOT
from tests.support.local_programs import random_local_program, random_target, reachable


def is_robust(text: str, instrumentation: str = "pivot") -> bool:
    assert format_source(text, "generated") == text
    assert "poll" not in text
    outcome = check_text(text, "generated", CheckOptions(instrumentation=instrumentation))  # type: ignore[arg-type]
    assert outcome.verdict is not Verdict.UNKNOWN
    return outcome.verdict is Verdict.ROBUST


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(14))
def test_random_programs(seed: int) -> None:
    rng = Random(seed)
    text = random_local_program(rng)
    target = random_target(rng, text)
    assert is_robust(finite_program(text, "p", target).text) == (not reachable(text, target))


TURNS = """// who comes second sees the first
node A { x, ring[2] }
node B { y }
thread T1 on A {
  x = 1
  reg r
  r = x
  if r == 2 { ring[1] = 1; halt }
}
thread T2 on A { x = 2 }
thread T3 on B { await y == 1 }
outcome A.x == 1 : allowed under rdma
expect robust
"""

TARGETS = {
    "T1 ended": (True, False),
    "T3 ended": (False, False),
    "T1 ended && T1.r == 2": (True, False),
    "T1 ended && T1.r == 0": (False, False),
    "A.x == 1 && T2 ended": (True, True),
    "A.x == 1 && T2 ended && T1 ended": (True, True),
    "A.x == 1 && T1 ended && T1.r == 2": (False, True),
    "A.ring[1] == 1 && A.x == 2 && T1 ended && T2 ended": (True, True),
    "A.ring[0] == 1 || B.y == B.y && T1 ended": None,
    "B.y == 0": (True, True),
    "B.y == 1": (False, True),
    "drained": (True, True),
    "T1 ended || T2 ended": (True, True),
}
"""Whether it can be reached, and whether that takes a watcher; None for a target that is refused."""


@pytest.mark.parametrize("target", TARGETS)
def test_targets(target: str) -> None:
    wanted = TARGETS[target]
    if wanted is None:
        with pytest.raises(UsageError, match="ask about each node by itself"):
            finite_program(TURNS, "turns", target)
        return
    program = finite_program(TURNS, "turns", target)
    assert (not is_robust(program.text), program.watched) == wanted
    assert "expect" not in program.text and "outcome" not in program.text


def test_the_instrumentation_of_the_paper_agrees() -> None:
    for target in ("T1 ended && T1.r == 2", "T1 ended && T1.r == 0"):
        text = finite_program(TURNS, "turns", target).text
        assert is_robust(text, "paper") == is_robust(text)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("T1 at 5", "`T at LINE` is not supported"),
        ("T1.r == 1", "add `T1 ended &&`"),
        ("T1 ended || T1.r == 1", "add `T1 ended &&`"),
        ("!(T1 ended) && A.x == 1", "not its contrary"),
    ],
)
def test_targets_that_cannot_be_watched_are_refused(target: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        finite_program(TURNS, "turns", target)


def test_a_target_that_means_nothing_is_an_error_of_the_target() -> None:
    with pytest.raises(ProgramError, match="did you mean `T1`"):
        finite_program(TURNS, "turns", "T11 ended")


def test_every_remote_instruction_is_refused_where_it_stands() -> None:
    text = "node A { x }\nnode B { y }\nthread T on A {\n  put B.y = x\n  if x == 0 { poll B }\n}\n"
    with pytest.raises(ProgramError, match=r"`put B\.y = x` is a remote instruction") as caught:
        finite_program(text, "remote", "T ended")
    assert [d.span.line for d in caught.value.diagnostics] == [4, 5]


def test_names_and_values_of_the_program_are_not_taken() -> None:
    text = (
        "const Gadget = 3\ndomain 3..5\nnode A { g = 4, lock = 5, z = 3 }\nnode got { seen = 3 }\n"
        "thread Watcher on A { g = Gadget }\nthread T on A { lock = 4 }\n"
    )
    for target, answer in (("A.g == 3 && A.lock == 5", True), ("A.g == 5", False), ("T ended", True)):
        assert is_robust(finite_program(text, "names", target).text) == (not answer)
    with pytest.raises(UsageError, match="domain of the one value 3"):
        finite_program("domain 3..3\nnode A { x = 3 }\n", "one", "A.x == 3")


def test_what_exceeds_the_language_is_refused() -> None:
    def chain(length: int) -> str:
        arms = "".join(f" else if x == {n} {{ x = 0 }}" for n in range(length))
        return f"node A {{ x }}\nthread T on A {{ if x == 99 {{ skip }}{arms} }}\n"

    assert "Watcher" in finite_program(chain(60), "chain", "A.x == 1").text
    with pytest.raises(SizeLimitError, match="beyond the limits of the language"):
        finite_program(chain(98), "chain", "A.x == 1")


# ---- automata


def random_automata(rng: Random) -> AutomataIntersection:
    letters = ("a", "b", "c")[: rng.randint(0, 3)]

    def automaton(number: int) -> FiniteAutomaton:
        size = rng.randint(1, 3)
        moves = tuple(tuple(rng.choice([None, *range(size), *range(size)]) for _ in letters) for _ in range(size))
        accepting = frozenset(s for s in range(size) if rng.random() < 0.4)
        return FiniteAutomaton(f"M{number}", tuple(f"s{i}" for i in range(size)), rng.randrange(size), accepting, moves)

    return AutomataIntersection(letters, tuple(automaton(n) for n in range(rng.randint(0, 3))))


@pytest.mark.parametrize("seed", range(16))
def test_automata(seed: int) -> None:
    """The word that the product finds is also the answer by all words up to the number of states of the product."""
    question = random_automata(Random(seed))
    word = accepted_word(question)
    assert word is None or accepts(question, word)
    text = automata_program(question)
    assert reachable(text, TARGET) == (word is not None)
    assert is_robust(finite_program(text, "automata", TARGET).text) == (word is None)


def accepts(question: AutomataIntersection, word: tuple[str, ...]) -> bool:
    for automaton in question.automata:
        state: int | None = automaton.initial
        for letter in word:
            state = automaton.moves[state][question.letters.index(letter)] if state is not None else None
        if state not in automaton.accepting:
            return False
    return True


DOCUMENT: dict[str, Any] = {
    "format": "rdma-robust/automata",
    "version": 1,
    "alphabet": ["a", "b"],
    "automata": [
        {
            "name": "even a",
            "states": ["even", "odd"],
            "initial": "even",
            "accepting": ["even"],
            "transitions": {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even"}},
        }
    ],
}


def test_automata_are_read_from_json() -> None:
    Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/automata.schema.json").read_text())).validate(DOCUMENT)
    moves = ((1, 0), (0, None))
    wanted = FiniteAutomaton("even a", ("even", "odd"), 0, frozenset({0}), moves)
    assert automata_of_json(json.dumps(DOCUMENT), "even.json") == AutomataIntersection(("a", "b"), (wanted,))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", 7, r"automata\[0\].name must be a string"),
        ("states", ["even", "even"], r"automata\[0\].states names something twice"),
        ("states", "even", r"automata\[0\].states must be a list of strings"),
        ("initial", "gone", r'automata\[0\].initial is "gone", which is none of the states'),
        ("accepting", ["gone"], r'automata\[0\].accepting is "gone"'),
        ("transitions", {"even": "odd"}, "must be an object of objects"),
        ("transitions", {"gone": {}}, r'a key of automata\[0\].transitions is "gone"'),
        ("transitions", {"even": {"c": "odd"}}, 'has the letter "c", not of the alphabet'),
        ("transitions", {"even": {"a": ["odd"]}}, "transitions.even.a is"),
        ("moves", {}, "must be an object with the members name, states"),
    ],
)
def test_json_that_is_no_automata_is_refused_with_its_place(key: str, value: object, message: str) -> None:
    document = {**DOCUMENT, "automata": [{**DOCUMENT["automata"][0], key: value}]}
    with pytest.raises(ProgramError, match=message):
        automata_of_json(json.dumps(document), "even.json")


@pytest.mark.parametrize("text", ["", "[]", '{"format": "rdma-robust/automata"}', "{" * 5000])
def test_text_that_is_no_automata_is_refused(text: str) -> None:
    with pytest.raises(ProgramError, match=r"not JSON|must be an object with the members format"):
        automata_of_json(text, "bad.json")


def test_automata_beyond_the_limits_are_refused() -> None:
    row: tuple[int | None, ...] = (0,)
    large = FiniteAutomaton("large", tuple(map(str, range(51))), 0, frozenset(), (row,) * 51)
    with pytest.raises(SizeLimitError, match="51 states"):
        automata_program(AutomataIntersection(("a",), (large,)))
    small = FiniteAutomaton("small", tuple(map(str, range(50))), 0, frozenset(range(50)), (row,) * 50)
    assert load_program(automata_program(AutomataIntersection(("a",), (small,) * 4)), "many").warnings == ()
    with pytest.raises(SizeLimitError, match="the automata are too large"):
        automata_program(AutomataIntersection(("a",), (small,) * 200))
