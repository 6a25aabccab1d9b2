"""Programs as automata for the proven search: the events of threads, with the values that cells may come to hold."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.certify import proven_judge
from rdma_robust.certify.hardware import USUAL, Platform
from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.proven_judge import ThreadAutomaton, _classes, program_question_of
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.language.load import load_decidable, load_program

HEAD = "node A { x = 0, y = 2 }\nnode B { w = 0 }\n"


def automata(threads: str, head: str = HEAD, platform: Platform = USUAL) -> tuple[ThreadAutomaton, ...]:
    return program_question_of(load_program(f"{head}{threads}", "p"), platform).threads


def words(automaton: ThreadAutomaton) -> set[tuple[str, ...]]:
    """The labels along the paths from the start that cannot go on, of an automaton without cycles."""
    found, todo = set(), [(automaton.start, ())]
    while todo:
        at, path = todo.pop()
        edges = [(target, label) for source, target, label in automaton.edges if source == at]
        if not edges:
            found.add(path)
        todo += [(target, (*path, label)) for target, label in edges]
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("put B.w = x", {("nlR 0 0", "nrW s 0 2")}),
        ("get x = B.w", {("nrR 0 2", "nlW s 0 0")}),
        ("put B.w = 7", {("nlR 0 3", "nrW s 0 2")}),
        ("put B.w = 7 inline", {("nrW-inline s 0 2 7",)}),
        ("put B.w = x unsignaled", {("nlR 0 0", "nrW u 0 2")}),
        ("put B.w = x inline", {("lR 0 0", "nrW-inline s 0 2 0")}),
        ("put B.w = x\n  poll B\n  rfence B", {("nlR 0 0", "nrW s 0 2", "P 0", "nF 0")}),
        ("x = 3", {("lW 0 3",)}),
        ("reg r\n  r = y\n  x = r + 1", {("lR 1 2", "lW 0 3")}),
        ("reg r\n  r = cas(y, 2, 5)", {("CAS 1 2 5",), ("lR 1 5",)}),
        ("reg r\n  r = cas(y, 1, 5)", {("lR 1 2",)}),
        ("assume y == 1\n  x = 1", {()}),
    ],
)
def test_events(body: str, expected: set[tuple[str, ...]]) -> None:
    (automaton,) = automata(f"thread T on A {{\n  {body}\n}}")
    assert words(automaton) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\n  mfence", {("lW 0 1", "F")}),
        ("reg r\n  r = cas(y, 2, 5)", {("CAS 1 2 5",), ("F", "lR 1 5")}),
        ("reg r\n  r = cas(y, 1, 5)", {("F", "lR 1 2")}),
    ],
)
def test_events_of_fences_of_cpus(body: str, expected: set[tuple[str, ...]]) -> None:
    """With store buffers a compare-and-swap that fails is a fence and a read."""
    (automaton,) = automata(f"thread T on A {{\n  {body}\n}}", platform=Platform(cpu="tso"))
    assert words(automaton) == expected


def test_cells_with_very_many_values_are_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven_judge, "MOST_VALUES", 20)
    with pytest.raises(NotCovered, match="more than 20 values"):
        automata("thread T on A {\n  reg r\n  loop {\n    r = faa(x, 1)\n    r = 0\n  }\n}", f"domain 0..60\n{HEAD}")


def test_a_read_has_an_edge_for_each_value_that_the_cell_may_come_to_hold() -> None:
    """Values come from writes of any thread, and by puts and gets from other cells."""
    reads, _ = automata("thread T on A {\n  reg r\n  r = x\n}\nthread U on B {\n  w = 4\n  put A.x = w\n}")
    assert words(reads) == {("lR 0 0",), ("lR 0 4",)}
    reads, _ = automata("thread T on A {\n  reg r\n  r = x\n}\nthread U on A {\n  put B.w = y\n  get x = B.w\n}")
    assert words(reads) == {("lR 0 0",), ("lR 0 2",)}


def test_where_a_thread_can_do_the_same_there_is_one_point() -> None:
    """A value that is not looked at any more is forgotten."""
    head = "domain 0..3\n" + HEAD
    (automaton, _) = automata("thread T on A {\n  reg r\n  r = x\n  y = 1\n}\nthread U on B {\n  put A.x = 3\n}", head)
    assert len({point for edge in automaton.edges for point in edge[:2]}) == 3
    (loop,) = automata("thread T on A {\n  reg r\n  while x == 0 { r = 1 - r }\n}", head)
    assert {label for _, _, label in loop.edges} == {"lR 0 0"}
    assert len(loop.edges) == 1


def test_points_are_merged_as_far_as_that_can_be() -> None:
    """Compared with a table of pairs that can be told apart, on graphs at random."""
    for seed in range(200):
        rng = Random(seed)
        places = [LocalState(n, ()) for n in range(rng.randint(1, 12))]
        graph = {
            place: [(rng.choice("ab"), rng.choice(places)) for _ in range(rng.choice((0, 1, 1, 2)))] for place in places
        }
        apart: set[tuple[LocalState, LocalState]] = set()
        size = -1
        while size != (size := len(apart)):
            for a in places:
                for b in places:
                    one = all(any(k == m and (x, y) not in apart for m, y in graph[b]) for k, x in graph[a])
                    two = all(any(k == m and (x, y) not in apart for k, x in graph[a]) for m, y in graph[b])
                    if not (one and two):
                        apart.add((a, b))
        number = _classes(graph)
        assert all((number[a] == number[b]) == ((a, b) not in apart) for a in places for b in places)


@pytest.mark.parametrize(
    ("text", "platform", "why"),
    [
        ("thread T on A {\n  get x = faa(B.w, 1)\n}", USUAL, "remote atomics"),
        ("thread T on A {\n  recv x from U\n}\nthread U on B {\n  send w to T\n}", Platform(cpu="tso"), "messages"),
    ],
)
def test_what_is_beyond_the_proof_is_refused(text: str, platform: Platform, why: str) -> None:
    with pytest.raises(NotCovered, match=why):
        automata(text, platform=platform)


def test_crowds_and_large_threads_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = load_decidable("node A { x = 0 }\nthread T[*] on A { x = 1 }", "crowd", crowds=True)
    with pytest.raises(NotCovered, match="any number of copies"):
        program_question_of(crowd, USUAL)
    monkeypatch.setattr(proven_judge, "MOST_POINTS", 50)
    large = (
        "domain 0..9\nnode A { x = 1 }\nthread T on A {\n  reg r, s\n  loop {\n    r = x\n    s = x\n    x = r + s\n  }\n}"
    )
    with pytest.raises(NotCovered, match="more than 50 points"):
        program_question_of(load_program(large, "large"), USUAL)
