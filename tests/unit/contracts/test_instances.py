"""Functions written out for n processes: calls keep their parameters and results."""

import pytest

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.function_instances import instance
from rdma_robust.diagnose import Reporter
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language.message_program import Assign, Block, Call, InlinedCall, IssueSend
from rdma_robust.messages.language.message_words import message_grammar

TEXT = """
reg u
fun g(x, y) { return x + y + NPROCS }
fun f(val) {
  reg v = g(val, 7)
  v = bcast(v, 1)
  send v to PID
}
"""


def body(number: int, procs: int) -> tuple[InlinedCall, Block]:
    """Return the function `f` in one of its processes."""
    tree, _, _ = parse_tree(TEXT, Reporter("a.mp", TEXT), message_grammar())
    program = ContractProgram("a", "a.mp", TEXT, (), globals=("u",), tree=tree)
    process = instance(program, "f", procs).program.processes[number]
    (found,) = process.body
    assert isinstance(found, InlinedCall)
    assert process.registers[:2] == ("u", "f.val")
    return found, found.body


def test_a_call_says_where_its_parameters_and_its_result_are() -> None:
    found, inside = body(0, 3)
    assert (found.name, found.call) == ("f", Call((("val", Name("f.val")),), ""))
    calls = [each for each in inside if isinstance(each, InlinedCall)]
    assert [(each.name, each.call) for each in calls] == [
        ("g", Call((("x", Name("g.x")), ("y", Const(7))), "g.result")),
        ("bcast", Call((("x", Name("bcast.x")), ("root", Const(1))), "bcast.result")),
    ]


@pytest.mark.parametrize(("number", "procs"), [(0, 1), (2, 3)])
def test_numbers_are_those_of_the_process_and_of_all(number: int, procs: int) -> None:
    _, inside = body(number, procs)
    (sent,) = (each for each in inside if isinstance(each, IssueSend))
    assert sent.to == Const(number)
    inner = next(each for each in inside if isinstance(each, InlinedCall)).body
    assert isinstance(inner[0], Assign)
    assert str(Const(procs)) in str(inner[0].value)


def test_a_function_that_is_not_there() -> None:
    tree, _, _ = parse_tree(TEXT, Reporter("a.mp", TEXT), message_grammar())
    with pytest.raises(KeyError):
        instance(ContractProgram("a", "a.mp", TEXT, (), tree=tree), "h", 1)
