"""Pieces of Promela: identifiers, types and expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from rdma_robust.counters.intervals import Interval
from rdma_robust.counters.promela.words import within
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

_TYPES: tuple[tuple[str, Interval], ...] = (("bit", (0, 1)), ("byte", (0, 255)), ("short", (-(2**15), 2**15 - 1)))
"""Promela's types, the smallest first, with the values they hold; `int` holds every word."""

_WORDS = """
active always asm assert atomic auto bit bool break buchi byte c_code c_decl c_expr c_state c_track case chan
char cond const continue d_proctype d_step default do double else empty enabled enum equivalent errno eval
eventually extern false fi float for full get_priority goto hidden i386 if implies in init inline int len
linux local long ltl main mtype nempty never next nfull notrace now np od of pc_value pid printf printm
priority proctype provided register release restrict return run select set_priority short show signed sizeof
skip static stderr stdin stdout stronguntil struct switch timeout trace true typedef typeof union unix unless
unsigned until void volatile weakuntil while xr xs
"""

RESERVED = frozenset(_WORDS.split())
"""Words that Promela, its preprocessor or the C code made from it understand in another way."""

_PRECEDENCE: Final = (
    ("||",),
    ("&&",),
    ("|",),
    ("&", "&~"),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    (">>",),
    ("+", "-"),
    ("*", "/", "%"),
)
"""The binary operators from the loosest to the tightest, as C and Promela have them; all associate to the left."""

_STRENGTH: Final = {op: strength for strength, operators in enumerate(_PRECEDENCE) for op in operators}
_LOOSEST: Final = 0
_UNARY: Final = len(_PRECEDENCE)
_BITS: Final = frozenset({"|", "&", "&~", ">>"})


def identifiers(wishes: Iterable[str]) -> list[str]:
    """Return a different Promela identifier for every wish, as like it as possible.

    One that C might take for a macro, because it is capitals with an underscore, gets a prefix.
    """
    found: list[str] = []
    used = set(RESERVED)
    for wish in wishes:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", (f"next {wish[:-1]}" if wish.endswith("'") else wish)).strip("_")
        macro = plain.isupper() and "_" in plain
        if macro or not plain[:1].isalpha() or plain in RESERVED or plain.startswith("end"):
            plain = f"v_{plain}"
        candidate, number = plain, 2
        while candidate in used:
            candidate, number = f"{plain}_{number}", number + 1
        used.add(candidate)
        found.append(candidate)
    return found


def type_for(interval: Interval) -> str:
    """Return the smallest Promela type that holds every value of the interval."""
    return next((name for name, values in _TYPES if within(interval, values)), "int")


def comment(text: str) -> str:
    """Return `text` as a comment of one line."""
    clean = "".join(c if " " <= c <= "~" else "?" for c in text).replace("*/", "* /").replace("/*", "/ *")
    return f"/* {clean.rstrip(chr(92))} */"


def spell(expr: Expr, names: Mapping[str, str], around: int = _LOOSEST) -> str:
    """Return `expr`, whose names are spelt as `names` says, as an operand of an operator of strength `around`.

    Beyond the parentheses that are needed, operators on bits have theirs, because few readers know how tightly they bind,
    and so has a unary operator under another: to SPIN `!!` and `--` are other operators.
    """
    match expr:
        case Const(value):
            return str(value) if value >= 0 else f"({value})"
        case Name(name):
            return names[name]
        case Unary(op, arg):
            text = f"{op}{spell(arg, names, _UNARY + 1)}"
            return f"({text})" if around > _UNARY else text
        case Ite(test, then, other):
            return f"({spell(test, names)} -> {spell(then, names)} : {spell(other, names)})"
        case Binary(op, left, right):
            strength = _STRENGTH[op]
            c_op, invert = ("&", "~") if op == "&~" else (op, "")
            right_around = _UNARY + 1 if invert else strength + 1
            text = f"{spell(left, names, strength)} {c_op} {invert}{spell(right, names, right_around)}"
            return f"({text})" if strength < around or op in _BITS else text
