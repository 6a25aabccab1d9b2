"""The compiled kernel against the search in Python: same states, transitions, runs and limits; and what it cannot hold."""

from __future__ import annotations

import random
from math import inf

import pytest

from bench.families import pipeline
from rdma_robust.counters.kernel import driver as kernel
from rdma_robust.counters.kernel.packing import UnsupportedError, pack
from rdma_robust.counters.program import (
    Add,
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Forget,
    ProcessGraph,
    Require,
    Target,
    Zero,
    counter_bounds,
    leaf,
)
from rdma_robust.counters.search import ENGINES, explore
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, ignore
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.paper import instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.searches import comparable
from tests.support.shares import share

pytestmark = pytest.mark.skipif(not kernel.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")

OPERATORS = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "&", "|", "&~", ">>")


def both(program: CounterProgram[str], engine: str = "auto", **limits: int) -> tuple[object, ...]:
    """Search with and without the kernel, check that they agree, and return what they say."""
    found = [explore(program, Limits(**limits), engine=engine, compiled=c) for c in (True, False)]
    assert [f.compiled for f in found] == [True, False]
    assert comparable(found[0]) == comparable(found[1])
    return comparable(found[0])


def fits(program: CounterProgram[str]) -> bool:
    """Whether the kernel can prove that no number exceeds 62 bits."""
    try:
        kernel.search(program, counter_bounds(program), Limits(states=150), ignore, engine="bfs", reduce=True)
    except UnsupportedError:
        return False
    return True


def random_expr(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice((Name("x"), Name("y"), Const(rng.randint(-3, 9))))
    kind = rng.random()
    if kind < 0.1:
        return Unary(rng.choice("-!"), random_expr(rng, depth - 1))
    if kind < 0.2:
        return Ite(*(random_expr(rng, depth - 1) for _ in range(3)))
    op = rng.choice(OPERATORS)
    right = Const(rng.randint(1, 4)) if op in ("/", "%", ">>") else random_expr(rng, depth - 1)
    return Binary(op, random_expr(rng, depth - 1), right)


def random_counter_program(rng: random.Random) -> CounterProgram[str]:
    """Two processes over x, y and a counter; what they assign is kept small by a remainder."""

    def body(name: str) -> Body[str]:
        small = Binary("%", random_expr(rng, 3), Const(rng.randint(2, 40)))
        first = (Require(random_expr(rng, 2)), Assign(((rng.choice("xy"), small), ("t", random_expr(rng, 2)))))
        extra = rng.choice(((), (Add("c", 1),), (Add("c", -1),), (Zero("c"),), (Forget("c"),)))
        if rng.random() < 0.3:
            options = tuple((rng.randint(-2, 5), random_expr(rng, 1)) for _ in range(3))
            return Body((Choose("x", options), *first, *extra), (), tuple(f"{name}{i}" for i in range(3)))
        use_t = Assign((("y", Binary("%", Binary("+", Name("t"), Name("x")), Const(7))),))
        return Body(first[:1], (leaf(f"{name}a", *first[1:], *extra), leaf(f"{name}b", *first[1:], use_t)))

    def process(name: str) -> ProcessGraph[str]:
        edges = [(rng.randrange(4), rng.randrange(4)) for _ in range(5)]
        return ProcessGraph(name, 0, tuple(Command(u, v, body(f"{name}{i}")) for i, (u, v) in enumerate(edges)))

    goal: Target[str | None] = Target("goal", Binary("==", Name("x"), Const(rng.randint(-3, 12))), rng.choice((None, 0)), 3)
    variables = (("x", rng.randint(-2, 2)), ("y", 0))
    return CounterProgram("random", variables, ("c",), (process("P"), process("Q")), (goal,), rng.choice(((), ("y",))))


@pytest.mark.parametrize("engine", ENGINES)
def test_random_counter_programs(engine: str) -> None:
    ends = []
    for seed in range(120):
        program = random_counter_program(random.Random(seed))
        if fits(program):
            ends.append(both(program, engine, states=150)[5])
    assert len(ends) > 40 and set(ends) <= {"", "states"}


@pytest.mark.parametrize("seed", share(range(60)))
def test_random_rdma_programs(seed: int) -> None:
    rng = random.Random(seed)
    program = load_program(random_program(rng, (TINY, SMALL)[seed % 2], loops=seed % 3 == 0), "random")
    both(instrument_pivot(program), states=500)
    both(instrument_paper(program), states=100)


def test_a_field_that_outgrows_its_guess_gets_more_room() -> None:
    grow = leaf("grow", Require(Binary("<", Name("x"), Const(10**6))), Assign((("x", Binary("*", Name("x"), Const(-7))),)))
    target: Target[str | None] = Target("far", Binary(">", Name("x"), Const(10**6)))
    said = both(CounterProgram("grow", (("x", 1),), (), (ProcessGraph("P", 0, (Command(0, 0, grow),)),), (target,)))
    assert said[0] == 0 and len(said[1]) == 8


def test_numbers_beyond_62_bits_are_left_to_python() -> None:
    square = leaf("square", Assign((("x", Binary("*", Name("x"), Name("x"))),)))
    target: Target[str | None] = Target("far", Binary("==", Name("x"), Const(3**64)))
    program = CounterProgram("square", (("x", 3),), (), (ProcessGraph("P", 0, (Command(0, 0, square),)),), (target,))
    with pytest.raises(UnsupportedError):
        kernel.search(program, counter_bounds(program), Limits(), ignore, engine="dfs", reduce=True)
    found = explore(program, Limits())
    assert not found.compiled and found.run == ["square"] * 6


def test_long_masks_are_looked_up_in_a_table() -> None:
    mask = 1 << 200 | 1 << 130 | 1
    bit = Binary("&", Binary(">>", Const(mask), Name("x")), Const(1))
    step = Assign((("x", Binary("+", Name("x"), Const(1))), ("n", Binary("+", Name("n"), bit))))
    body = leaf("count", Require(Binary("<", Name("x"), Const(210))), step)
    target: Target[str | None] = Target("three", Binary("==", Name("n"), Const(3)))
    said = both(CounterProgram("bits", (("x", 0), ("n", 0)), (), (ProcessGraph("P", 0, (Command(0, 0, body),)),), (target,)))
    assert said[0] == 0 and len(said[1]) == 201


def test_a_search_ends_where_there_are_no_more_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MOST_NUMBERS", 5000)
    found = explore(big(), Limits())
    assert (found.result.cut, found.result.states, found.result.frontier) == ("numbers", 5000, 1)
    monkeypatch.setattr(kernel, "MOST_NUMBERS", 20)
    found = explore(instrument_pivot(load_program(pipeline(3, 2), "pipeline")), Limits())
    assert found.result.cut == "numbers" and found.result.states <= 20
    assert "numbers for" in Limits().said("numbers")


def test_states_share_their_parts() -> None:
    program = instrument_pivot(load_program(pipeline(3, 8), "pipeline"), reductions=ALL_REDUCTIONS)
    found = explore(program, Limits())
    assert found.result.states > 30_000 and found.bytes / found.result.states < 40


def test_words_of_distant_processes_are_apart() -> None:
    packing = pack([(0, 2**30), (0, 2**30), (0, 2**20), (0, 2**10)], lambda: [0.0, 2.0, 1.0, inf])
    words = [word for _, _, word, _ in packing.fields]
    assert words[0] == words[2] != words[1] != words[3] != words[0]
    assert packing.pairs[-1][0] == words[0] and set(packing.pairs[0]) == {words[1], words[3]}


def test_packing_keeps_fields_within_words_and_apart() -> None:
    ranges = [(0, 1), (-5, 2**40), (0, 0), (0, 2**30), (3, 9), (0, 2**61)]
    packing = pack(ranges)
    taken: set[tuple[int, int]] = set()
    for (least, most), (start, mask, word, shift) in zip(ranges, packing.fields, strict=True):
        bits = {(word, shift + i) for i in range(mask.bit_length())}
        assert start == least and mask >= most - least and not bits & taken
        assert all(bit < 64 for _, bit in bits) and word < packing.words
        taken |= bits
    with pytest.raises(UnsupportedError):
        pack([(0, 2**62)])


def big() -> CounterProgram[str]:
    """A million states and no target."""
    up = leaf("up", Require(Binary("<", Name("x"), Const(10**6))), Assign((("x", Binary("+", Name("x"), Const(1))),)))
    never: Target[str | None] = Target("never", Const(0))
    return CounterProgram(
        "big", (("x", 0),), (), (ProcessGraph("P", 0, (Command(0, 0, up),)),), (never,), (), (), (), (("x", 20),)
    )


def test_limits_are_kept_inside_the_kernel() -> None:
    assert explore(big(), Limits(deadline=0.0)).result.cut == "time"
    assert explore(big(), Limits(memory=1)).result.cut == "memory"
    found = explore(big(), Limits(states=1000)).result
    assert (found.cut, found.states, found.frontier) == ("states", 1000, 1)


def test_progress_is_reported_while_the_kernel_runs() -> None:
    seen: list[tuple[int, int]] = []
    found = explore(big(), Limits(), lambda states, frontier: seen.append((states, frontier)))
    assert found.result.states == 10**6 + 1 and len(seen) > 2
    assert [states for states, _ in seen] == sorted(states for states, _ in seen)
    assert found.bytes / found.result.states <= 64


def test_interrupting_leaves_at_the_next_report() -> None:
    def stop(states: int, _frontier: int) -> None:
        if states > 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(big(), Limits(), stop)


def test_more_written_cells_than_bits_of_a_word() -> None:
    """45 cells and 4 threads: the sets of marks take several variables."""
    words = ", ".join(f"w{i} = 0" for i in range(42))
    threads = [f"thread T{t} on A {{ {'; '.join(f'w{i} = 1' for i in range(14 * t, 14 * t + 14))} }}" for t in range(3)]
    busy = "thread P on A { put B.x = 1; reg r; r = w41 }\nthread Q on B { y = 1; reg r; r = x; put A.w41 = y; poll A }"
    text = "\n".join([f"node A {{ {words} }}", "node B { x = 0, y = 0 }", *threads, busy])
    program = load_program(text, "many cells")
    for reductions in (frozenset[str](), frozenset({"filter"}), frozenset({"relevance", "por", "dead-ends"})):
        both(instrument_pivot(program, reductions=reductions), states=1500)  # type: ignore[arg-type]
