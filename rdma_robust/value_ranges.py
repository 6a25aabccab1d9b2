"""Several values for a constant: `-D N=2..8` and `-D N=2,4,8` stand for one instance of the program for each value.

Beside definitions stand options that a file is read with, such as `-I=FOLDER`; of these `-n=2..4` and `--arg=0..3` may have
several values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from rdma_robust.diagnose import quote
from rdma_robust.errors import UsageError

MOST_INSTANCES: Final = 1_000
"""Instances of one program that definitions may stand for: more are a slip of the keyboard."""

PROCESSES: Final = "-n"
"""The option for how many processes run a program."""

ARGUMENT: Final = "--arg"
"""The option for an argument that a program is run with."""

_DIGITS: Final = 9
_SOME: Final = rf"-?[0-9]{{1,{_DIGITS}}}(?:\s*\.\.\s*-?[0-9]{{1,{_DIGITS}}})?"
_VALUES: Final = re.compile(rf"{_SOME}(?:\s*,\s*{_SOME})*", re.ASCII)
_INSTANCE: Final = re.compile(r" \([A-Za-z_]\w*=-?[0-9]+(?:, [A-Za-z_]\w*=-?[0-9]+)*\)$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Valuation:
    """One instance: the definitions it is made by, each of one value, and of those the ones that tell it from the others."""

    define: tuple[str, ...]
    values: tuple[tuple[str, int], ...] = ()

    @property
    def shown(self) -> str:
        """How it is called: `N=3, M=2`."""
        return ", ".join(f"{name}={value}" for name, value in self.values)

    def named(self, file: str) -> str:
        """Return the name of the instance of `file`: `ring.rdma (N=3)`."""
        return f"{file} ({self.shown})" if self.values else file


def file_of(name: str) -> str:
    """Return the file of the instance `name`: what :meth:`Valuation.named` was given."""
    return _INSTANCE.sub("", name)


def told_instance(name: str) -> str:
    """Return what tells the instance `name` from the others of its file: `N=3, M=2`, nothing if it is a file."""
    return name.removeprefix(file_of(name))[2:-1]


def is_option(definition: str) -> bool:
    """Whether what stands among definitions is an option that a file is read with."""
    return definition.startswith("-")


def is_range(value: str) -> bool:
    """Whether a value is written as several: with `..` or a comma."""
    return ".." in value or "," in value


def range_definitions(define: Sequence[str]) -> list[str]:
    """Return the definitions of several values, as they are written."""
    return [each for each in define if _several(each)]


def definition_combinations(define: Sequence[str]) -> list[Valuation]:
    """Return what definitions stand for: every combination of values, the last definition's value changing fastest.

    A definition of one value is left to whoever reads it. Raises UsageError for a range without a value, or for too many.
    """
    choices = [_values(each) if _several(each) else (None,) for each in define]
    number = prod(map(len, choices))
    if number > MOST_INSTANCES:
        raise UsageError(
            f"{_said(range_definitions(define))} stands for {number:,} instances, and at most {MOST_INSTANCES:,} are decided"
        )
    names = [each.partition("=")[0].strip() for each in define]
    found = []
    for chosen in product(*choices):
        values = [(name.lstrip("-"), value) for name, value in zip(names, chosen, strict=True) if value is not None]
        single = [
            each if value is None else f"{name}={value}" for each, name, value in zip(define, names, chosen, strict=True)
        ]
        found.append(Valuation(tuple(single), tuple(values)))
    return found


def one_value(define: Sequence[str], command: str) -> None:
    """Raise UsageError if some definition is of several values: `command` answers about one program."""
    several = range_definitions(define)
    if several:
        name = several[0].partition("=")[0].strip()
        raise UsageError(
            f"{command} takes one value for {quote(name)}, and {_said(several[:1])} is several: "
            f"scale and check take such ranges"
        )


def _several(definition: str) -> bool:
    """Whether a definition has several values: numbers, and at least one comma or `..` among them."""
    name, _, value = definition.partition("=")
    if name == ARGUMENT:  # any text may be one, as `1,5` and `../file` are
        return ".." in value and _VALUES.fullmatch(value) is not None
    return is_range(value) and (name == PROCESSES or not is_option(definition))


def _values(definition: str) -> tuple[int, ...]:
    """Return the values of a definition, each once, in the order in which they are written."""
    name, _, text = (part.strip() for part in definition.partition("="))
    if not _VALUES.fullmatch(text):
        raise UsageError(
            f"{quote(text)} for {quote(name)} is no constant expression, and no values either, such as `2..8` or `2,4,8`"
        )
    found: dict[int, None] = {}
    for part in text.split(","):
        low, _, high = (each.strip() for each in part.partition(".."))
        first, last = int(low), int(high or low)
        if first > last:
            raise UsageError(f"{quote(part.strip())} for {quote(name)} has no value: write the smaller number first")
        if last - first >= MOST_INSTANCES:
            number = last - first + 1
            raise UsageError(
                f"{_said([definition])} stands for {number:,} instances, and at most {MOST_INSTANCES:,} are decided"
            )
        found |= dict.fromkeys(range(first, last + 1))
    return tuple(found)


def _said(define: Sequence[str]) -> str:
    return quote(" ".join(f"-D {each}" for each in define))
