"""Post's problem as a program: what it looks like, and that its runs solve exactly what has a solution."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.errors import InternalError
from rdma_robust.hardness.pcp import CHECKER, THREADS, PcpInstance, pcp_program
from rdma_robust.hardness.pcp_search import PcpAnswer, PcpGuide, decoded, replay_choices, solve
from rdma_robust.language.flow.cfg import Program, Put, Read, Silent, Write, steps
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine
from tests.support.pcp import instances, shortest

CLASSIC = PcpInstance(("a", "ab", "bba"), ("baa", "aa", "bb"))


def loaded(instance: PcpInstance) -> Program:
    return load_program(pcp_program(instance), "pcp.rdma")


def answer(instance: PcpInstance, indices: int = 6) -> PcpAnswer:
    return solve(instance, loaded(instance), Limits(depth=indices))


odd_words = st.text(st.sampled_from('ab1Z_→é"\\`{/*'), min_size=1, max_size=4)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(odd_words, odd_words), min_size=1, max_size=3))
def test_programs_are_laid_out_and_use_puts_of_constants_and_local_accesses_only(pairs: list[tuple[str, str]]) -> None:
    text = pcp_program(PcpInstance(tuple(t for t, _ in pairs), tuple(b for _, b in pairs)))
    assert format_source(text, "x") == text
    program = load_program(text, "x")
    assert program.warnings == ()
    assert tuple(thread.name for thread in program.threads) == THREADS
    assert len({thread.node for thread in program.threads}) == 4
    written = set()
    sources = set()
    for thread in program.threads:
        for _, _, step in steps(thread):
            match step.op:
                case Put(target, source):
                    written.add(target)
                    sources.add(source)
                case Write(cell, _):
                    written.add(cell)
                case op:
                    assert isinstance(op, Silent | Read)
    assert not written & sources


def test_the_classic_instance() -> None:
    found = answer(CLASSIC)
    assert found.solution is not None
    assert found.solution.indices == (3, 2, 3, 1)
    assert found.solution.word == "bbaabbbaa"
    state = found.solution.run[-1].state
    program = loaded(CLASSIC)
    assert state.threads[CHECKER].point == program.threads[CHECKER].exit
    assert [t.point == code.exit for t, code in zip(state.threads, program.threads, strict=True)] == [True] * 4


@settings(max_examples=10, deadline=None)
@given(instances)
def test_runs_solve_what_words_alone_solve(instance: PcpInstance) -> None:
    expected = shortest(instance, 6)
    found = answer(instance, 6)
    if found.solution is not None:
        assert len(found.solution.indices) == expected
        assert instance.is_solution(found.solution.indices)
    else:
        assert expected == ("none" if found.search.cut is None else "open")


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(instances)
def test_runs_solve_what_words_alone_solve_for_more_instances(instance: PcpInstance) -> None:
    test_runs_solve_what_words_alone_solve.hypothesis.inner_test(instance)


def test_limits_are_kept_and_named() -> None:
    growing = PcpInstance(("a", "b"), ("aa", "bb"))
    by_depth = answer(growing, 5)
    assert by_depth.solution is None
    assert by_depth.search.cut == "depth 5"
    assert by_depth.search.depth == 5
    program = loaded(growing)
    by_states = solve(growing, program, Limits(states=500)).search
    assert by_states.cut == "500 states"
    assert 500 < by_states.states < 1000
    assert solve(growing, program, Limits.of(0.0)).search.cut == "0 s"


def test_a_run_that_is_no_solution_is_refused() -> None:
    found = answer(CLASSIC).solution
    assert found is not None
    program = loaded(CLASSIC)
    reads = [
        k
        for k, m in enumerate(found.run)
        if m.action.thread == CHECKER and m.action.read in (1, 2) and m.action.step.assigns
    ]
    without_a_letter = (*found.run[: reads[0]], *found.run[reads[0] + 1 :])
    for run in (without_a_letter, found.run[:-1]):
        with pytest.raises(InternalError):
            decoded(CLASSIC, program, run)
    with pytest.raises(InternalError):
        decoded(PcpInstance(("a", "ab", "bbb"), CLASSIC.bottom), program, found.run)


def test_a_replay_compares_each_move_with_the_machine() -> None:
    program = loaded(PcpInstance(("a",), ("a",)))
    machine = RdmaMachine(program)

    class Inventing(PcpGuide):
        def moves(self, state: object) -> list[Move]:
            return [Move(move.action._replace(read=7), move.state) for move in super().moves(state)]

    with pytest.raises(InternalError, match="cannot make"):
        replay_choices(machine, Inventing(machine), [0, 1])
    with pytest.raises(InternalError, match="nowhere"):
        replay_choices(machine, PcpGuide(machine), [0])


def without_guesses(instance: PcpInstance) -> str:
    """Return the program of `instance` with its first index known to the expanders and no guesser."""
    text = re.sub(r"thread Guesser on G \{\n(?:  .*\n)*\}\n", "", pcp_program(instance))
    text, blocks = re.subn(r"    i = index\n(?:    .*\n)*?    await index == 0\n", "", text)
    text, loops = re.subn(r"    \}\n  \}\n  put", "    }\n    i = END\n  }\n  put", text)
    assert (blocks, loops) == (2, 2)
    return text.replace("reg i\n", "reg i = 1\n")


@pytest.mark.parametrize(("top", "bottom"), [("a", "a"), ("a", "b")])
def test_every_run_of_the_checker_agrees(top: str, bottom: str) -> None:
    """Without a heuristic, for one known index: all threads can end iff the two words are the same."""
    program = load_program(without_guesses(PcpInstance((top,), (bottom,))), "x")
    search = explore(RdmaMachine(program), Limits())
    assert search.cut is None
    assert bool(search.finals) == (top == bottom)
    assert bool(search.finals) == (answer(PcpInstance((top,), (bottom,))).solution is not None)


@pytest.mark.long
@pytest.mark.parametrize(("top", "bottom"), [("ab", "a"), ("ab", "ab"), ("ab", "ba"), ("aa", "ab")])
def test_every_run_of_the_checker_agrees_for_longer_words(top: str, bottom: str) -> None:
    test_every_run_of_the_checker_agrees(top, bottom)


def disturbed(machine: RdmaMachine, rng: Random) -> tuple[Move, ...]:
    """Return a run that mostly follows the guide, but now and then makes any move that leaves no thread stuck."""
    guide = PcpGuide(machine)
    run = [rng.choice(machine.initial())]
    while len(run) < 300 and not guide.is_goal(run[-1].state):
        moves = guide.moves(run[-1].state)
        if not moves or rng.random() < 0.05:
            moves = [m for m in machine.successors(run[-1].state) if not guide.is_stuck(m.state, m.action.thread)]
        if not moves:
            break
        run.append(rng.choice(moves))
    return tuple(run)


def disturbed_ends(instance: PcpInstance, rng: Random, count: int) -> list[tuple[Move, ...]]:
    """Return those of some disturbed runs in which Checker ends."""
    machine = RdmaMachine(loaded(instance))
    guide = PcpGuide(machine)
    return [run for run in (disturbed(machine, rng) for _ in range(count)) if guide.is_goal(run[-1].state)]


def test_whatever_order_the_puts_arrive_in_an_end_is_a_solution() -> None:
    """Also off the guide's path Checker ends only if it has received what was sent."""
    rng = Random(1)
    solvable = PcpInstance(("a", "b"), ("a", "b"))
    ended = disturbed_ends(solvable, rng, 25)
    assert len(ended) > 3
    program = loaded(solvable)
    for run in ended:
        decoded(solvable, program, run)
    assert not disturbed_ends(PcpInstance(("a",), ("b",)), rng, 10)


SOLVABLE = (
    ("ab,b", "ab,a"),
    ("ab,b", "a,bb"),
    ("a,aa", "aaa,a"),
    ("b,abb", "bba,b"),
    ("a,ab,bba", "baa,aa,bb"),
    ("baa,ab,abb,b", "a,bb,ba,ba"),
    ("bb,a,a", "b,aab,bb"),
    ("aaa,aba,a,a", "ab,a,bb,aa"),
    ("bbb,b,baa", "a,bbb,b"),
    ("ba,ab,aa,aab", "b,aaa,baa,a"),
    ("aba,bba,b", "bab,b,ab"),
    ("b,abb,aaa,aba", "ba,b,b,bab"),
    ("a,ab,baa", "aba,a,b"),
    ("a,ab,bba,ba", "aab,a,a,b"),
)
"""Top and bottom words, by the length of their shortest solutions: random ones, but for the classic one."""


def check_shortest(k: int) -> None:
    words = PcpInstance(*(tuple(side.split(",")) for side in SOLVABLE[k]))
    found = answer(words, 20).solution
    assert found is not None and len(found.indices) == shortest(words, 14)


@pytest.mark.parametrize("k", [0, 2, 3, 8])
def test_what_is_found_is_a_shortest_solution(k: int) -> None:
    check_shortest(k)


@pytest.mark.long
@pytest.mark.parametrize("k", range(len(SOLVABLE)))
def test_all_that_is_found_are_shortest_solutions(k: int) -> None:
    check_shortest(k)
