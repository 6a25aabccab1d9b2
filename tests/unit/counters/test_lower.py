"""Lowering: what a counter program does, compiled; bounded counters in the control state, others as VASS counters."""

from __future__ import annotations

from rdma_robust.counters.lower import lower
from rdma_robust.counters.printing import show_program
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
    pc,
)
from rdma_robust.counters.searches import breadth_first, karp_miller
from rdma_robust.expr import TRUE, Binary, Const, Ite, Name, Unary
from rdma_robust.limits import Limits


def program(
    *commands: Command[str], variables: tuple[tuple[str, int], ...] = (("x", 0),), goal: int = 9
) -> CounterProgram[str]:
    target: Target[str | None] = Target("goal", TRUE, 0, goal)
    return CounterProgram("test", variables, ("c",), (ProcessGraph("P", 0, commands),), (target,))


def test_assignments_are_simultaneous_and_temporaries_vanish() -> None:
    swap = leaf(
        "swap",
        Assign((("x", Name("y")), ("y", Name("x")), ("t", Const(7)))),
        Assign((("x", Binary("+", Name("x"), Name("t"))),)),
    )
    lowered = lower(program(Command(0, 1, swap), variables=(("x", 1), ("y", 2))))
    assert lowered.fields == (pc(0), "x", "y", "c")
    assert lowered.successors(lowered.initial) == [(0, (1, 9, 1, 0), 0)]


def test_alternatives_share_what_precedes_them_only() -> None:
    low = leaf("low", Require(Binary("<", Name("x"), Const(5))), Assign((("x", Const(0)),)))
    high = leaf("high", Require(Unary("!", Binary("<", Name("x"), Const(5)))))
    body = Body((Assign((("x", Binary("+", Name("x"), Const(3))),)),), (low, high))
    lowered = lower(program(Command(0, 0, body), variables=(("x", 4),)))
    assert [(lowered.labels[i], s[1]) for i, s, _ in lowered.successors((0, 4, 0))] == [("high", 7)]
    assert [(lowered.labels[i], s[1]) for i, s, _ in lowered.successors((0, 1, 0))] == [("low", 0)]


def test_choose_numbers_its_labels() -> None:
    options = ((3, TRUE), (5, Binary("==", Name("x"), Const(1))), (8, TRUE))
    body = Body((Choose("x", options),), (), ("three", "five", "eight"))
    lowered = lower(program(Command(0, 1, body)))
    assert [(lowered.labels[i], s[1]) for i, s, _ in lowered.successors((0, 0, 0))] == [("three", 3), ("eight", 8)]
    assert [lowered.labels[i] for i, _, _ in lowered.successors((0, 1, 0))] == ["three", "five", "eight"]


def test_a_counter_without_increasing_cycle_is_bounded() -> None:
    commands = (
        Command(0, 1, leaf("a", Add("c", 1))),
        Command(1, 2, leaf("b", Add("c", 1))),
        Command(2, 1, leaf("p", Add("c", -1))),
    )
    assert counter_bounds(program(*commands)) == {"c": 2}
    assert lower(program(*commands)).dimension == 0
    loop = (*commands, Command(2, 0, leaf("again")))
    assert counter_bounds(program(*loop)) == {"c": None}
    assert lower(program(*loop)).dimension == 1


def test_bounded_counters_block_prune_and_are_forgotten() -> None:
    commands = (
        Command(0, 1, leaf("take", Add("c", -1))),
        Command(0, 2, leaf("put", Add("c", 1))),
        Command(2, 3, leaf("prune", Zero("c"))),
        Command(2, 4, leaf("forget", Forget("c"))),
    )
    lowered = lower(program(*commands))
    assert [lowered.labels[i] for i, _, _ in lowered.successors(lowered.initial)] == ["put"]
    assert [(lowered.labels[i], s[-1]) for i, s, _ in lowered.successors((2, 0, 1))] == [("forget", 0)]


def test_unbounded_counters_need_enough_even_within_one_transition() -> None:
    commands = (Command(0, 0, leaf("up", Add("c", 1))), Command(0, 9, leaf("pay", Add("c", -2), Add("c", 1), Add("c", -2))))
    lowered = lower(program(*commands))
    result = karp_miller(lowered, Limits())
    assert [lowered.labels[i] for i in result.run] == ["up"] * 3 + ["pay"]
    assert [lowered.labels[i] for i in breadth_first(lowered, Limits()).run] == ["up"] * 3 + ["pay"]


def test_expressions_mean_what_evaluate_says() -> None:
    x = Name("x")
    value = Ite(Binary("&&", x, Binary(">=", x, Const(2))), Binary("/", Const(-7), x), Binary("%", Const(-7), Const(4)))
    lowered = lower(program(Command(0, 0, leaf("go", Assign((("x", value),))))))
    assert [s[1] for _, s, _ in lowered.successors((0, 2, 0))] == [-3]
    assert [s[1] for _, s, _ in lowered.successors((0, 0, 0))] == [-3]
    assert [s[1] for _, s, _ in lowered.successors((0, 3, 0))] == [-2]


def test_printing_names_everything() -> None:
    text = show_program(program(Command(0, 9, leaf("pay", Require(Name("x")), Add("c", -2), Zero("c"), Forget("c")))))
    for part in ("var x = 0", "counter c = 0", "0 -> 9", "require x", "c -= 2", "=> pay", "target pc0 == 9"):
        assert part in text
