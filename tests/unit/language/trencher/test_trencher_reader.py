"""Programs of Trencher as they are read: words and values, locked sections, mistakes, and what they do on TSO."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.safety.goals import FaultGoal
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.analyses.safety.reach import reach_goals
from rdma_robust.errors import NO_SPAN, ProgramError
from rdma_robust.expr import TRUE, Binary, Const, Name, Unary, evaluate, value_of
from rdma_robust.language.flow.cfg import Cell, Fault, MFence, Program, Read, Rmw, Section, Write, steps
from rdma_robust.language.load import load_program
from rdma_robust.language.trencher.trencher_reader import interval, left_out, read_trencher, without_bits
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.trencher_machine import random_trencher, robust

TSO = Model(cpu="tso")


def thread(*transitions: str, name: str = "t") -> str:
    """A thread through states 0, 1, 2, ...; a transition that names two states is taken as it is."""
    lines = [line if line[0].isdigit() else f"{k} {k + 1} {line}" for k, line in enumerate(transitions)]
    return "\n".join([f"thread {name}", "initial 0", *(f"transition {line}" for line in lines), "end", ""])


def load(*threads: str) -> Program:
    return load_program("".join(threads), "test.trencher")


def ops(program: Program) -> list[str]:
    """The operations of the first thread with their words."""
    found = (step.op for _, _, step in steps(program.threads[0]))
    return [
        f"{type(op).__name__} {op.cell.name}" if isinstance(op, Read | Write | Rmw) else type(op).__name__ for op in found
    ]


def test_random_programs_do_on_tso_what_a_machine_of_their_own_does() -> None:
    _compare(range(40))


@pytest.mark.long
def test_more_random_programs_do_on_tso_what_a_machine_of_their_own_does() -> None:
    _compare(range(1000, 4000))


def _compare(seeds: range) -> None:
    found = {True: 0, False: 0}
    for seed in seeds:
        most = 3 if seed % 3 == 0 else 2
        text = random_trencher(Random(seed), (2, most), (2, 5 - most))
        expected = robust(text)
        found[expected] += 1
        assert (oracle_robust(load_program(text, "random.trencher"), TSO) is None) == expected, text
    assert min(found.values()) > len(seeds) // 5


def test_words_are_those_that_can_be_touched() -> None:
    program = load(thread("local a 3", "read b a", "write 7 + b 1", "write 1 -2"))
    assert [cell.name for cell in program.cells] == ["m_2", "m1", "m3"]
    assert program.domain == (0, 7)
    assert program.hardware.cpu == "tso"


def test_an_address_of_several_values_is_a_choice() -> None:
    program = load(thread("read a 0", "write 3 a", "write 5 0"), thread("write 3 0", name="u"))
    assert [cell.name for cell in program.cells] == ["m0", "m3", "m5"]
    assert ops(program) == ["Read m0", "Write m0", "Write m3", "Write m5", "Write m0"]


def test_a_section_of_one_word_is_one_step_for_each_way_through_it() -> None:
    cas = thread(
        "lock", "read r 0", "check == r 0", "write 1 0", "unlock", "2 7 check != r 0", "7 0 unlock", "5 6 write 0 0"
    )
    program = load(cas)
    found = [(source == target, ops(program)[k]) for k, (source, target, _) in enumerate(steps(program.threads[0]))]
    assert found == [(True, "Rmw m0"), (False, "Rmw m0"), (False, "Write m0")]


def test_a_section_that_touches_nothing_is_a_fence() -> None:
    program = load(thread("lock", "noop", "unlock"))
    assert [type(step.op) for _, _, step in steps(program.threads[0])] == [MFence]


def test_a_way_that_never_unlocks_is_no_step() -> None:
    for rest in (("read r 0", "check 0", "unlock"), ("lock", "unlock"), ("1 1 read r 0",)):
        assert not ops(load(thread("lock", *rest)))


def test_a_section_of_several_words_is_one_step_for_each_way_through_it() -> None:
    text = thread("lock", "read r 0", "write + r 1 1", "read s 1", "write 7 0", "unlock", "3 6 check == r 5", "6 7 unlock")
    none, both = (step for _, _, step in steps(load(text).threads[0]))
    m0, m1 = Cell("M", "m0"), Cell("M", "m1")
    assert both.op == Section((m0, m1), ((0, Const(7)), (1, Binary("+", value_of(0), Const(1)))))
    assert dict(both.assigns) == {"r": value_of(0), "s": Binary("+", value_of(0), Const(1))}
    assert none.op == Section((m0, m1), ((1, Binary("+", value_of(0), Const(1))),)) and none.guard != TRUE


def test_an_unlock_without_a_lock_is_waited_at() -> None:
    assert ops(load(thread("write 1 0", "unlock", "write 2 0"))) == ["Write m0"]


def test_values_that_grow_along_a_path_are_followed_by_states() -> None:
    program = load(thread("read a 0", "write + a 1 0", "read a 0", "write + a 1 0"))
    assert program.domain == (0, 2)
    assert all(step.fault is None for _, _, step in steps(program.threads[0]))


GROWING = thread("read a 0", "1 0 write + a 1 0")


def test_values_that_grow_for_ever_are_cut_and_nothing_is_called_robust() -> None:
    program = load(GROWING)
    outcome = decide(program, CheckOptions())
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == "values grow beyond 0..7, which is as far as they are followed: line 4"


def test_an_address_without_bound_is_an_error_unless_the_words_are_said() -> None:
    text = thread("read a 0", "write + a 1 0", "2 0 read b a")
    with pytest.raises(ProgramError) as error:
        load(text)
    assert str(error.value).splitlines() == [
        "test.trencher:5:23: error: the address `a` has no bound that was found [RR633]",
        "  5 | transition 2 0 read b a",
        "    |                       ^",
        "  hint: say how many words there are: a line `memory_size N`, or `--addresses lo..hi`",
    ]
    assert len(load(f"memory_size 4\n{text}").cells) == 4
    assert len(read_trencher(text, "test.trencher", (0, 2)).cells) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "test.trencher: error: the file has no thread"),
        ("thread t\ninitial\n", "test.trencher:2:1: error: unexpected end of the file"),
        ("thread t\nend\n", "test.trencher:1:8: error: thread `t` has no initial state"),
        ("frob\n", "test.trencher:1:1: error: unexpected `frob` outside of a thread"),
        (thread("wrte 1 0"), "test.trencher:3:16: error: unknown instruction `wrte`"),
        (thread("check + 1"), "test.trencher:4:1: error: unexpected `end`"),
        (thread("read 1 1"), "test.trencher:3:21: error: unexpected `1`"),
        (thread() + thread(), "test.trencher:4:8: error: thread `t` is already declared in line 1"),
        ("thread t\ninitial a\ninitial b\nend\n", "test.trencher:3:9: error: thread `t` has two initial states"),
        ("memory_size 0\n", "test.trencher:1:13: error: unexpected `0` after `memory_size`"),
        ("thread t\n# words\ninitial a\nend\n", "test.trencher:2:1: error: unexpected `#` in thread t"),
        (thread(f"check {'! ' * 200}1"), "test.trencher:3:224: error: an expression of more than 100 operators"),
        (thread("check 12345678901"), "test.trencher:3:22: error: a number of more than 9 digits"),
        ("# expect robust\n# expect not robust\n" + thread(), "test.trencher:2:1: error: what is expected is said twice"),
    ],
)
def test_mistakes_are_said_at_their_place(text: str, said: str) -> None:
    with pytest.raises(ProgramError) as error:
        load(text)
    assert str(error.value).splitlines()[0].startswith(said)


def test_all_mistakes_are_said_at_once() -> None:
    with pytest.raises(ProgramError) as error:
        load(thread("wrte 1 0", "read", "check 1", "frob"))
    assert [d.span.line for d in error.value.diagnostics] == [3, 5, 6]


def test_names_become_names_of_the_language() -> None:
    program = load(thread("read r< 0", "write r< 1", name="thread!"), thread("local poll 1", name="thread"))
    assert [t.name for t in program.threads] == ["thread_", "thread_1"]
    assert [t.registers for t in program.threads] == [(("r_", 0),), (("poll_1", 0),)]


def test_any_file_that_begins_like_one_is_read() -> None:
    text = f"# words\n#\n\nmemory_size 3\n{thread('write 1 0')}"
    assert load_program(text, "some.txt").cells[0].name == "m0"


def test_a_bitwise_and_is_written_with_arithmetic() -> None:
    a, b = Name("a"), Name("b")
    for left, right in ((a, Const(1)), (a, b), (Const(6), a), (Unary("-", a), b), (Binary("-", a, Const(3)), Const(-2))):
        for low, high in ((0, 5), (-5, 4)):
            expr = Binary("&", left, right)
            written = without_bits(expr, (low, high))
            for x in range(low, high + 1):
                for y in range(low, high + 1):
                    env = {"a": x, "b": y}
                    assert evaluate(written, env) == evaluate(expr, env), (expr, env)
                    least, most = interval(expr, (low, high))
                    assert least <= evaluate(expr, env) <= most


def test_what_is_not_followed_is_never_said_to_be_unreachable() -> None:
    """One thread may lock forever, another unlocks on each way, and one grows."""
    waiting = thread("lock", "read r 0", "check == r 1", "unlock")
    always = thread("lock", "read r 0", "check == r 1", "unlock", "2 5 check != r 1", "5 0 unlock", name="u")
    assert left_out(load(waiting)).startswith("thread t may keep the memory locked from line 3 on")
    assert not left_out(load(always))
    assert left_out(load(always, waiting))
    assert "grow" in left_out(load(GROWING))
    goal = FaultGoal(Fault("assertion", "", NO_SPAN))
    for text, expected in ((always, Answer.UNREACHABLE), (waiting, Answer.UNKNOWN)):
        assert reach_goals(load(text), [goal], "sc", Limits()).answers[0].answer is expected


def test_a_program_whose_values_grow_is_decided_where_it_is_not_robust() -> None:
    """Lamport's bakery, whose tickets grow forever: no fences can be proven to be enough."""
    text = "".join(
        thread(f"write 1 {i}", f"read r {1 - i}", f"write + r 1 {i}", f"read r {1 - i}", "4 0 noop", name=f"t{i}")
        for i in (0, 1)
    )
    tso = CheckOptions(hardware=TSO)
    assert decide(load(text), tso).verdict is Verdict.NOT_ROBUST
    answer = repair(text, "test.trencher", limits=tso)
    assert answer.status == "unknown"
    assert answer.reason.startswith("not robust, but no repair can be proven: values grow beyond 0..7")
