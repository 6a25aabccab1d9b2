"""Programs unrolled to guarded events: joins, loops, arrays in messages, and what cannot be expressed."""

from __future__ import annotations

import pytest

from rdma_robust.expr import Const, Name
from rdma_robust.messages.encoding.unrolled import AssertEvent, FaultEvent, Guards, NotEncodedError, WaitEvent
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Block,
    Choose,
    For,
    Halt,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Place,
    Process,
    Return,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import Element, Length, Operation, Term, Zeros

X = Place("x")
ZERO = Const(0)


def op(sign: str, *operands: Term) -> Operation:
    return Operation(sign, operands)


def send(value: Term = ZERO, to: int = 0) -> Block:
    return IssueSend(Place("s"), value, Const(to), 0, Const(0)), Wait((Place("s"),))


def receive(name: str = "x") -> Block:
    return IssueReceive(Place("r"), Place(name), None, 0, None), Wait((Place("r"),))


def program(*bodies: Block) -> MessageProgram:
    names = ("x", "y", "i")
    return MessageProgram("p", "p.mp", "", tuple(Process(f"P{n}", body, names, ("s", "r")) for n, body in enumerate(bodies)))


def test_branches_meet_again() -> None:
    """Ten branches one after the other: eleven sends, and the last is unconditional again; no tree of paths."""
    branch = If(op(">", Name("x"), Const(0)), (Assign(X, op("+", Name("x"), Const(1))), *send()), ())
    found = unroll(program((), (*receive(), *(branch,) * 10, *send(Name("x"))), send(to=1)), 8)
    own = [each for each in found.sends if each.process == 1]
    assert len(own) == 11
    assert own[-1].guard is found.symbols.true
    assert not own[0].guard.constant


def test_what_a_process_has_sent_is_counted_along_its_paths() -> None:
    both = Choose(((*send(), *send()), send()))
    found = unroll(program((), (both, *send())), 8)
    assert [each.rank.constant for each in found.sends] == [True, True, True, False]


def test_a_loop_with_known_bounds_is_exact_and_others_end_at_the_bound() -> None:
    known = For("i", Const(1), Const(20), send(Name("i")))
    found = unroll(program((), (known,)), 3)
    assert [each.value.value for each in found.sends] == list(range(1, 21))  # type: ignore[union-attr]
    assert not found.cuts
    unknown = For("i", Const(1), Name("x"), send(Name("i")))
    found = unroll(program((), (*receive(), unknown), send(to=1)), 3)
    assert len(found.sends) == 4
    assert len(found.cuts) == 1
    assert len(unroll(program((), (Loop(send()),)), 3).sends) == 3


def test_a_while_that_counts_is_exact_and_one_without_end_is_cut() -> None:
    counting = While(op("<", Name("i"), Const(20)), (Assign(Place("i"), op("+", Name("i"), Const(1))), *send()))
    found = unroll(program((), (counting,)), 3)
    assert len(found.sends) == 20
    assert not found.cuts
    found = unroll(program((), (While(Const(1), send()),)), 3)
    assert len(found.sends) == 3
    assert [each.guard for each in found.cuts] == [found.symbols.true]


def test_return_meets_the_end_of_its_function_and_halt_that_of_the_process() -> None:
    positive = op(">", Name("x"), Const(0))
    body = InlinedCall("f", (If(positive, (Assign(Place("y"), Const(1)), Return())), Assign(Place("y"), Const(2))))
    last = If(op("==", Name("y"), Const(1)), (Halt(),))
    found = unroll(program((), (*receive(), body, last, Assert(Name("x"))), send(to=1)), 8)
    (asserted,) = [each for each in found.events[1] if isinstance(each, AssertEvent)]
    assert not asserted.guard.constant
    assert found.ends[1] is found.symbols.true


def test_a_request_that_paths_use_differently_has_a_wait_for_each_operation() -> None:
    issue = IssueSend(Place("s"), Const(1), Const(0), 0, Const(0)), IssueSend(Place("s"), Const(2), Const(0), 0, Const(0))
    found = unroll(program((), (Choose(((issue[0],), (issue[1],))), Wait((Place("s"),)))), 8)
    waits = [each for each in found.events[1] if isinstance(each, WaitEvent)]
    assert [each.operation for each in waits] == [0, 1]
    assert waits[1].guard is found.symbols.negation(waits[0].guard)


def test_arrays_are_sent_whole_and_elements_chosen_in_the_run() -> None:
    whole = Assign(Place("x"), Zeros(Const(3))), *send(Name("x"), 1)
    chosen = Assign(Place("i"), Element(Name("x"), Name("y")))
    body = (*receive(), *receive("y"), chosen, Assert(op("==", Length(Name("x")), Const(3))))
    found = unroll(program(whole, body), 8)
    assert found.receives[0].shape == (None, None, None)
    (asserted,) = [each for each in found.events[1] if isinstance(each, AssertEvent)]
    assert asserted.condition is found.symbols.true
    assert [each.kind for each in found.events[1] if isinstance(each, FaultEvent)] == ["index"]


def test_which_request_of_an_array_is_meant_may_be_computed() -> None:
    text = "proc A { reg i; req h[2]; recv i; h[i] = isend 7 to B; wait h } proc B { reg v; recv v } proc C { send 1 to A }"
    found = unroll(load_messages(text, "p.mp"), 8)
    assert [each.kind for each in found.events[0] if isinstance(each, FaultEvent)] == ["index"]
    first, second = [each for each in found.events[0] if isinstance(each, WaitEvent) and each.kind == "send"]
    assert first.operation == second.operation == 0
    assert first.guard is not second.guard and not first.guard.constant and not second.guard.constant


def test_what_happens_behind_a_fault_in_a_branch_implies_what_happens_before_the_branch() -> None:
    branch = "recv v; if v == 1 { recv v; a[v] = 1 }"
    text = f"proc A {{ reg v, a[2]; {branch}; {branch}; send v to B }} proc B {{ skip }}"
    found = unroll(load_messages(text, "p.mp"), 8)
    first, _, third, _ = found.receives
    assert Guards().implies(found.sends[0].guard, third.guard)
    assert Guards().implies(third.guard, first.guard) and not third.guard.constant


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ((*receive(), Assign(Place("y"), Zeros(Name("x")))), "known only in the run"),
        ((Choose(((Assign(X, Zeros(Const(2))),), ())), Assert(Name("x"))), "array on some paths"),
    ],
)
def test_what_cannot_be_expressed_is_refused(body: Block, said: str) -> None:
    with pytest.raises(NotEncodedError, match=said):
        unroll(program((), body, send(to=1)), 8)
