"""The parts of expressions: one walk for names, constants and size, one way to replace operands."""

from __future__ import annotations

from rdma_robust.expr import Binary, Const, Ite, Name, Unary, constants, names, operands, size, subexpressions, with_operands

NOT_A, SUM = Unary("!", Name("a")), Binary("+", Const(1), Name("b"))
WHOLE = Ite(NOT_A, SUM, Name("c"))


def test_parts_come_before_their_operands_from_left_to_right() -> None:
    assert list(subexpressions(WHOLE)) == [WHOLE, NOT_A, Name("a"), SUM, Const(1), Name("b"), Name("c")]
    assert (list(names(WHOLE)), list(constants(WHOLE)), size(WHOLE)) == (["a", "b", "c"], [1], 7)
    assert [operands(each) for each in (WHOLE, SUM, NOT_A, Name("a"), Const(1))] == [
        (NOT_A, SUM, Name("c")), (Const(1), Name("b")), (Name("a"),), (), (),
    ]  # fmt: skip


def test_operands_are_replaced_one_level_down() -> None:
    one = Const(1)
    found = [with_operands(each, lambda _: one) for each in (WHOLE, SUM, NOT_A, Name("a"))]
    assert found == [Ite(one, one, one), Binary("+", one, one), Unary("!", one), Name("a")]
