"""Every operator of expressions under every operator, at every place of an operand."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rdma_robust.expr import OPERATORS, Binary, Const, Expr, Ite, Name, Unary

NAMES = ("a", "b", "c")
UNARY = ("-", "!")
BINARY = (*OPERATORS, "&&", "||")
SOURCE = tuple(op for op in BINARY if op not in ("&", "|", "&~", ">>"))
ITE = "->"
IN_MODELS = (*((op, 1) for op in UNARY), *((op, 2) for op in BINARY), (ITE, 3))
"""All operators, with the numbers of their operands."""
IN_SOURCES = (*((op, 1) for op in UNARY), *((op, 2) for op in SOURCE))


def build(op: str, parts: Sequence[Expr]) -> Expr:
    """Return `op` with these operands: one, two or three."""
    match len(parts):
        case 1:
            return Unary(op, parts[0])
        case 2:
            return Binary(op, parts[0], parts[1])
        case _:
            return Ite(*parts)


def nested(operators: Sequence[tuple[str, int]] = IN_MODELS) -> list[Expr]:
    """Return all expressions of two operators over the names, and of one operator over a negative number."""
    leaves: list[Expr] = [Name(name) for name in NAMES]
    found = []
    for outer, wide in operators:
        for place in range(wide):
            others = leaves[: wide - 1]
            for inner, narrow in operators:
                parts = [leaves[(wide - 1 + k) % len(leaves)] for k in range(narrow)]
                found.append(build(outer, [*others[:place], build(inner, parts), *others[place:]]))
            found.append(build(outer, [*others[:place], Const(-2), *others[place:]]))
    return found


def random_source(rng: Random, names: Sequence[str], depth: int) -> str:
    """Return a random expression of the language, fully parenthesised, of at most `depth` operators above each other."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*names, *names, "0", "1", "2"])
    if rng.random() < 0.2:
        return f"{rng.choice(UNARY)}({random_source(rng, names, depth - 1)})"
    left, right = (random_source(rng, names, depth - 1) for _ in range(2))
    return f"({left} {rng.choice(SOURCE)} {right})"
