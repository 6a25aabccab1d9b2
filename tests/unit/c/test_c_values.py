"""Values of C: integers as C has them, addresses, and values that depend on what was read."""

from __future__ import annotations

import pytest

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import (
    CaseSplit,
    Object,
    Pointer,
    Scalar,
    Symbolic,
    UnknownValue,
    binary,
    canonical,
    convert,
    map_one,
    map_two,
    raw_of,
    symbolic,
    value_of_raw,
)  # fmt: skip
from rdma_robust.c.evaluate.memory import ObjectBytes

INT, UINT, LONG = CType("int", 4, True), CType("int", 4), CType("int", 8, True)
CHAR, DOUBLE, BOOL = CType("int", 1, True), CType("float", 8, True), CType("bool", 1)
BOX = Object("global", "A", "box")


@pytest.mark.parametrize(
    ("operator", "left", "right", "kind", "wanted"),
    [
        ("+", 2**31 - 1, 1, INT, -(2**31)),
        ("+", 2**32 - 1, 1, UINT, 0),
        ("-", 0, 1, UINT, 2**32 - 1),
        ("/", -7, 2, INT, -3),
        ("%", -7, 2, INT, -1),
        ("%", 7, -2, INT, 1),
        ("<<", 1, 31, UINT, 2**31),
        (">>", -8, 1, INT, -4),
        ("&", -1, 0xFF, INT, 0xFF),
        ("^", 5, 3, INT, 6),
        ("<", -1, 0, INT, 1),
        ("*", 2**40, 2**40, LONG, 0),
    ],
)
def test_integers_are_those_of_c(operator: str, left: int, right: int, kind: CType, wanted: int) -> None:
    assert binary(operator, left, right, kind, INT if operator == "<" else kind) == wanted


@pytest.mark.parametrize(("operator", "right"), [("/", 0), ("%", 0), ("<<", 32), (">>", -1)])
def test_what_c_does_not_define_is_not_known(operator: str, right: int) -> None:
    assert isinstance(binary(operator, 1, right, INT, INT), UnknownValue)


def test_addresses_are_compared_and_moved_inside_of_their_object() -> None:
    first, second = Pointer(BOX, 8), Pointer(BOX, 24)
    assert binary("-", second, first, LONG, LONG) == 16
    assert binary("+", first, 16, LONG, LONG) == second
    assert binary("==", first, 0, LONG, INT) == 0
    assert binary("!=", first, Pointer(Object("global", "B", "box"), 8), LONG, INT) == 1
    assert isinstance(binary("<", first, Pointer(Object("global", "B", "box"), 8), LONG, INT), UnknownValue)


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (300, CHAR, 44),
        (200, CHAR, -56),
        (-1, UINT, 2**32 - 1),
        (2.9, INT, 2),
        (7, BOOL, 1),
        (0.5, BOOL, 1),
        (3, DOUBLE, 3.0),
    ],
)
def test_casts(value: Scalar, kind: CType, wanted: Scalar) -> None:
    assert convert(value, kind) == wanted


@pytest.mark.parametrize(("value", "kind"), [(-5, CHAR), (2**32 - 1, UINT), (-1, LONG), (0.1, DOUBLE), (1, BOOL)])
def test_memory_gives_back_what_was_stored(value: Scalar, kind: CType) -> None:
    raw = raw_of(value, kind)
    assert isinstance(raw, int)
    assert raw == canonical(raw, kind.size)
    assert value_of_raw(raw, kind) == value


def test_values_of_one_register_are_combined_case_by_case() -> None:
    read = symbolic("r", [(0, 0), (1, 1), (2, 2)])
    doubled = map_two(read, read, lambda x, y: binary("+", x, y, INT, INT))
    assert doubled == Symbolic("r", ((0, 0), (1, 2), (2, 4)))
    assert map_one(doubled, lambda x: binary("<", x, 9, INT, INT)) == 1


def test_values_of_two_registers_are_told_apart() -> None:
    left, right = symbolic("r", [(0, 0), (1, 1)]), symbolic("s", [(0, 0), (1, 1), (2, 2)])
    with pytest.raises(CaseSplit) as split:
        map_two(left, right, lambda x, y: binary("+", x, y, INT, INT))
    assert split.value.register == "r"
    assert set(split.value.classes) == {frozenset({0}), frozenset({1})}


def test_memory_is_read_in_other_pieces_than_it_was_written() -> None:
    block = ObjectBytes()
    block.write(0, 8, 0x1122334455667788)
    assert block.read(0, 4, "x") == 0x55667788
    assert block.read(4, 1, "x") == 0x44
    block.write(2, 2, 0)
    assert block.read(0, 8, "x") == 0x1122334400007788
    assert isinstance(block.read(8, 4, "x"), UnknownValue)
    assert isinstance(block.read(4, 8, "x"), UnknownValue)


def test_a_part_of_an_address_is_not_known() -> None:
    block = ObjectBytes(zero=True)
    block.write(8, 8, Pointer(BOX, 4))
    assert block.read(8, 8, "x") == Pointer(BOX, 4)
    assert isinstance(block.read(8, 4, "x"), UnknownValue)
    assert block.read(0, 8, "x") == 0


def test_parts_of_a_symbolic_value_stay_symbolic() -> None:
    block = ObjectBytes(zero=True)
    block.write(0, 4, symbolic("r", [(1, 1), (2, 2)]))
    assert block.read(0, 8, "x") == Symbolic("r", ((1, 1), (2, 2)))
    assert block.read(0, 1, "x") == Symbolic("r", ((1, 1), (2, 2)))
    assert block.read(1, 1, "x") == 0


def test_contents_that_are_equal_have_one_key() -> None:
    first, second = ObjectBytes(zero=True), ObjectBytes(zero=True)
    first.write(0, 4, 1)
    second.write(0, 8, 5)
    assert first.key() != second.key()
    second.clear(0, 8, 8)
    second.write(0, 4, 1)
    assert first.key() == second.key()
