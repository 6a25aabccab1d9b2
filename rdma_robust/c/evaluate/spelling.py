"""Names of words, registers, threads and lanes in `.rdma`, and numbers for what are no numbers in C."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

from rdma_robust.c.evaluate.c_values import FunctionValue, Pointer, Scalar
from rdma_robust.c.evaluate.operations import OnLane, ThreadStatement, Word
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.language.syntax.layout import MAX_DIGITS
from rdma_robust.text import free_name

_KEYWORDS = """
all allow allowed and assert assume at atomics await barrier cas choose const cpu depth domain else ended expect faa
fenced fetch flush for forbidden from get halt hang hardware if imm in inline invariant join label loop loopback macro mfence
needs no node nondet not on or order
outcome poll posted program pso put qp rdma recv reg relaxed rfence rma robust rpoll safe
sc send skip some start swap sync thread to trypoll tso under unsafe unsignaled via violated when while
"""
RESERVED = frozenset(_KEYWORDS.split())


class Names:
    """Names that are told apart: each thing keeps the one that it was given."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.given: dict[Hashable, str] = {}
        self.taken = {*RESERVED, *taken}

    def name(self, thing: Hashable, wanted: str) -> str:
        """Return the name of a thing, which is as it is wanted if no other has that."""
        if thing not in self.given:
            base = re.sub(r"\W", "_", wanted, flags=re.ASCII).strip("_") or "word"
            base = f"m{base}" if base[0].isdigit() else base
            self.given[thing] = free_name(base, self.taken)
        return self.given[thing]


def wanted_name(world: World, word: Word) -> str:
    """Return what a word is called in the C: its object, or a field of it, or its first byte."""
    base = word.object.name
    if word.offset == 0 and (word in world.locks or word.size == world.sizes.get(word.object)):
        return base
    for leaf in world.leaves(word.object):
        if (leaf.offset, leaf.size) == (word.offset, word.size):
            return f"{base}_{re.sub(r'[^A-Za-z0-9]+', '_', leaf.path).strip('_')}"
    for leaf in world.leaves(word.object):
        if leaf.offset == word.offset and leaf.size == 1:
            return f"{base}_{word.offset}"
    return f"{base}_o{word.offset}"


class Codes:
    """Numbers that stand for addresses, functions and what is too large for `.rdma`: behind all numbers of the program."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._next = max([0, *(each for each in numbers if is_short(each))]) + 1
        self.codes: dict[Scalar, int] = {}
        self.meaning: dict[int, str] = {}

    def number(self, value: Scalar) -> int:
        """Return the number of a raw value."""
        if isinstance(value, int) and is_short(value):
            return value
        if value not in self.codes:
            self.codes[value] = self._next
            self.meaning[self._next] = _meaning(value)
            self._next += 1
        return self.codes[value]


_AT_OTHER_END = re.compile(r"put \{(\d)\}|get \{\d\} = (?:\w+\()?\{(\d)\}|\w+\(\{(\d)\}")


def word_at_other_end(statement: ThreadStatement) -> int | None:
    """Return which part of a request is the word at the other end; None for what is no request."""
    if not any(isinstance(part, OnLane) for part in statement.parts):
        return None
    found = _AT_OTHER_END.match(statement.form)
    return int(next(each for each in found.groups() if each)) if found else None


def is_short(value: int) -> bool:
    """Whether `.rdma` has numbers of so many digits."""
    return len(str(abs(value))) <= MAX_DIGITS


def _meaning(value: Scalar) -> str:
    match value:
        case Pointer(object, offset):
            return f"&{object.name}" + f" + {offset}" * bool(offset) + f" of {object.process}"
        case FunctionValue(name):
            return name
        case _:
            return f"{value}"
