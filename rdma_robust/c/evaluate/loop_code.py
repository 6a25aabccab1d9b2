"""Loops that nobody sees, each as one function of Python: what goes round often is computed in variables of Python.

A function has all ways through a loop from its head on, until they get back to it. It does what numbers and addresses need,
and leaves the loop before an instruction where a value is anything else, where memory may be seen, or where something is
refused: :mod:`~rdma_robust.c.evaluate.silent_code` goes on there, instruction by instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from struct import Struct
from typing import Any, Final

from rdma_robust.c.code import (
    Address,
    Binary,
    Branch,
    Cast,
    ConstantValue,
    CType,
    Fresh,
    Function,
    Index,
    Instruction,
    JumpTo,
    Load,
    Register,
    Store,
    Unary,
    Variable,
)  # fmt: skip
from rdma_robust.c.evaluate.c_values import Pointer, convert, range_of
from rdma_robust.c.evaluate.loop_text import LoopText, NotInLoopError, RegisterText
from rdma_robust.expr import COMPARISONS

MOST_INSTRUCTIONS: Final = 240
"""Instructions of all ways through a loop; what is behind them is left to others."""
HOT: Final = 16
"""How often a loop goes round until its function is made."""
LoopFunction = Callable[[dict[Register, Any], Any, int], tuple[int, int]]
"""The function of a loop: registers, memory, the steps after which it does not go round again; it returns the next
instruction and how many are done."""
_CACHES: Final = "# the objects that were looked up"
_HUGE: Final = 1 << 200
"""More than any number here."""
_BUILT_IN: Final[dict[str, object]] = {
    "Pointer": Pointer,
    "convert": convert,
    **{f"number{size}": Struct(code).unpack for size, code in ((4, "<i"), (8, "<q"))},
    **{f"bytes{size}": Struct(code).pack for size, code in ((4, "<i"), (8, "<q"))},
    **{f"fraction{size}": Struct(code).unpack for size, code in ((4, "<f"), (8, "<d"))},
    **{f"fraction_bytes{size}": Struct(code).pack for size, code in ((4, "<f"), (8, "<d"))},
}


class _LoopWriter(LoopText):
    """The text of the function of a loop."""

    def __init__(self, function: Function, head: int) -> None:
        super().__init__(function, head)
        self.constants: dict[str, object] = dict(_BUILT_IN)
        self._variables: dict[Variable, tuple[int, int, Address | Fresh]] = {}
        self._written: set[int] = set()
        self._cached: list[int] = []
        self._left = MOST_INSTRUCTIONS

    def made(self) -> LoopFunction:
        """Return the function."""
        self._ways(self.head, set())
        lines = ["def loop(registers, memory, most):", " done = 0"]
        for number, at, each in self._variables.values():
            find = "take" if isinstance(each, Address) else "address"
            lines += [
                f" p = memory.{find}({at}, {self._constant(each)})",
                f" if p is None: return {self.head}, 0",
                f" q{number} = p.object",
            ]
        for wanted, call in ((True, "own"), (False, "cells")):  # what is owned may be copied, and is looked at then
            for number in (number for number, *_ in self._variables.values() if (number in self._written) == wanted):
                lines += [f" m{number} = memory.{call}(q{number})", f" if m{number} is None: return {self.head}, 0"]
        forget = "".join(f"o{each} = " for each in self._cached) + "None" if self._cached else "pass"
        lines += [f" {forget}", " while True:", *(each.replace(_CACHES, forget) for each in self._lines)]
        exec("\n".join(lines), self.constants)  # the text is made of numbers and of names of ours
        found: LoopFunction = self.constants["loop"]  # type: ignore[assignment]
        return found

    def _constant(self, value: object) -> str:
        name = next((name for name, each in self.constants.items() if each is value), f"k{len(self.constants)}")
        self.constants[name] = value
        return name

    # ways

    def _ways(self, at: int, met: set[int]) -> None:
        """Write all ways from an instruction on, behind others that were met."""
        code = self.function.code
        while True:
            self._at = at
            if at == self.head and self._steps:
                self._store_registers(at)
                self._line(f"done += {self._steps}")
                self._line(f"if done > most: return {at}, done")
                self._line("continue")
                return
            if at in met or self._left <= 0 or at >= len(code):
                self._leave()
                return
            met.add(at)
            self._left -= 1
            try:
                at = self._next(at, code[at], met)
            except NotInLoopError:
                self._leave()
                return
            self._steps += 1

    def _next(self, at: int, each: Instruction, met: set[int]) -> int:
        """Write an instruction; return the next one, of a branch the one where its condition is false."""
        join = self.function.joins.get(at)
        if join is not None:
            return join
        match each:
            case JumpTo(to):
                return to
            case Branch(condition, then, otherwise):
                self._line(f"if {self._truth(condition)}:")
                saved = dict(self._known), self._depth, self._steps
                self._depth, self._steps = self._depth + 1, self._steps + 1
                self._ways(then, set(met))
                self._known, self._depth, self._steps = saved
                return otherwise
            case _:
                self._write(at, each)
                return at + 1

    # instructions

    def _write(self, at: int, each: Instruction) -> None:
        match each:
            case ConstantValue(target, int(value)):
                self._known[target] = RegisterText(f"({value})", "int", value, value)
            case ConstantValue(target, float(value)) if isfinite(value):
                self._known[target] = RegisterText(f"({value!r})", "float")
            case Address(target, _, offset):
                number = self._named(at, each)
                self._known[target] = RegisterText(str(offset), "place", object=f"q{number}", variable=number)
            case Fresh(size=None):
                number = self._named(at, each)
                self._written.add(number)
                self._leave(f"not memory.begin(q{number})")
                self._line(f"m{number} = memory.owned[q{number}]")
                self._line(_CACHES)
            case Index(target, base, index, step):
                self._index(target, self._place(base), self._number(index), step)
            case Load(bits=None):
                self._load(at, each)
            case Store(bits=None):
                self._store(at, each)
            case Cast():
                self._cast(each)
            case Unary():
                self._unary(each)
            case Binary():
                self._binary(each)
            case _:
                raise NotInLoopError

    def _named(self, at: int, each: Address | Fresh) -> int:
        return self._variables.setdefault(each.variable, (len(self._variables), at, each))[0]

    def _index(self, target: Register, base: RegisterText, index: RegisterText, step: int) -> None:
        self._line(f"f{target} = {base.text} + {index.text} * {step}")
        if base.variable < 0:
            self._line(f"b{target} = {base.object}")
        name = base.object if base.variable >= 0 else f"b{target}"
        self._known[target] = RegisterText(f"f{target}", "place", object=name, variable=base.variable)

    def _cells(self, at: int, place: RegisterText, table: str) -> tuple[str, str]:
        """Write what finds the contents of the object of a place; return the expressions of both."""
        if place.variable >= 0:
            return f"m{place.variable}", place.object
        self._cached.append(at)
        self._line(f"o = {place.object}")
        self._line(f"if o is not o{at}:")
        self._depth += 1
        self._line(f"c{at} = memory.{table}.get(o)")
        if table == "read":
            self._line(f"if c{at} is None: c{at} = memory.cells(o)")
        self._leave(f"c{at} is None")
        self._line(f"o{at} = o")
        self._depth -= 1
        return f"c{at}", f"o{at}"

    def _load(self, at: int, each: Load) -> None:
        kind, size, target = each.type, each.type.size, each.target
        place = self._place(each.address)
        cells, name = self._cells(at, place, "read")
        self._line(f"c = {cells}.get({place.text})")
        self._line(f"r{target} = c[1] if c is not None and c[0] == {size} else memory.glance({name}, {place.text}, {size})")
        raw = f"r{target}"
        if kind.kind == "pointer":
            low, high = range_of(kind)
            self._leave(f"type({raw}) is not Pointer and not (type({raw}) is int and {low} <= {raw} <= {high})")
            self._known[target] = RegisterText(raw, "any")
            return
        self._leave(f"type({raw}) is not int")
        if kind.kind == "float" and size in (4, 8):
            self._set(target, f"fraction{size}(bytes{size}({raw}))[0]", "float")
        elif kind.kind == "bool":
            self._known[target] = RegisterText(f"{raw} != 0", "truth")
        elif kind.kind == "int" and size:
            self._integer(target, raw, kind, -_HUGE, _HUGE)
        else:
            raise NotInLoopError

    def _store(self, at: int, each: Store) -> None:
        size = each.type.size
        if not size or each.type.kind not in ("int", "bool", "pointer", "float"):
            raise NotInLoopError
        raw = self._raw(each)
        place = self._place(each.address)
        if place.variable >= 0:
            self._written.add(place.variable)
        cells, name = self._cells(at, place, "owned")
        self._line(f"c = {cells}.get({place.text})")
        self._line(f"if c is not None and c[0] == {size}: {cells}[{place.text}] = ({size}, {raw})")
        self._line("else:")
        self._depth += 1
        self._leave(f"not memory.put({name}, {place.text}, {size}, {raw})")
        self._depth -= 1

    def _raw(self, each: Store) -> str:
        """Return the expression of the raw value that is stored."""
        kind, size, found = each.type, each.type.size, self._get(each.value)
        if kind.kind == "float":
            if size not in (4, 8):
                raise NotInLoopError
            return f"number{size}(fraction_bytes{size}({self._fraction(each.value).text}))[0]"
        if kind.kind == "pointer" and found.kind in ("any", "pointer", "place"):
            if found.kind == "any":
                self._leave(f"type({found.text}) is not Pointer")
                found = self._known[each.value] = replace(found, kind="pointer")
            return self._value(found)
        found = self._number(each.value)
        low, high = range_of(CType("int", size, size >= 4))
        if low <= found.low <= found.high <= high:
            return found.text
        self._line(f"v = {found.text}")
        self._line(f"if not {low} <= v <= {high}: v = (v - {low} & {high - low}) + {low}")
        return "v"

    def _cast(self, each: Cast) -> None:
        kind, found = each.type, self._get(each.value)
        if found.kind in ("pointer", "place"):
            if kind.kind not in ("pointer", "int") or kind.size != 8:
                raise NotInLoopError
            self._known[each.target] = found
            return
        is_fraction = each.source.kind == "float"
        if found.kind == "any" and each.source.kind == kind.kind == "pointer":
            self._known[each.target] = self._checked(each.value, found, "pointer")
            return
        found = self._fraction(each.value) if is_fraction else self._number(each.value)
        if kind.kind == "bool":
            self._known[each.target] = RegisterText(f"{found.text} != 0", "truth")
        elif kind.kind == "float" and kind.size == 8:
            self._set(each.target, f"float({found.text})", "float")
        elif kind.kind == "float" or is_fraction:
            self._set(each.target, f"convert({found.text}, {self._constant(kind)})", "any")
        elif kind.kind in ("int", "pointer"):
            self._integer(each.target, found.text, kind, found.low, found.high)
        else:
            raise NotInLoopError

    def _unary(self, each: Unary) -> None:
        found = self._get(each.value)
        if each.operator == "!" and found.kind not in ("float", "pointer", "place"):
            self._known[each.target] = RegisterText(f"(not {self._truth(each.value)})", "truth")
        elif found.kind == "float" and each.operator == "-":
            self._set(each.target, f"-{found.text}", "float")
        elif each.operator in ("-", "~") and each.type.kind == "int":
            found, one = self._number(each.value), int(each.operator == "~")
            text = f"{each.operator}{found.text}"
            self._integer(each.target, text, each.type, -found.high - one, -found.low - one)
        else:
            raise NotInLoopError

    def _binary(self, each: Binary) -> None:
        operator, kind = each.operator, each.operands.kind
        if kind == "float":
            left, right = self._fraction(each.left), self._fraction(each.right)
        elif kind == "pointer" and operator in COMPARISONS:
            left, right = self._place(each.left), self._place(each.right)
            self._leave(f"{left.object} is not {right.object}")
        else:
            left, right = self._number(each.left), self._number(each.right)
        if operator in COMPARISONS:
            self._known[each.target] = RegisterText(f"({left.text} {operator} {right.text})", "truth")
        elif kind == "float":
            self._of_fractions(each, left, right)
        else:
            self._of_integers(each, left, right)

    def _of_fractions(self, each: Binary, left: RegisterText, right: RegisterText) -> None:
        if each.operator not in ("+", "-", "*", "/"):
            raise NotInLoopError
        if each.operator == "/":
            self._leave(f"{right.text} == 0")
        text = f"{left.text} {each.operator} {right.text}"
        if each.type.size == 8:
            self._set(each.target, text, "float")
        else:
            self._set(each.target, f"convert({text}, {self._constant(each.type)})", "any")

    def _of_integers(self, each: Binary, left: RegisterText, right: RegisterText) -> None:
        operator, text = each.operator, f"{left.text} {each.operator} {right.text}"
        low, high = -_HUGE, _HUGE
        match operator:
            case "+":
                low, high = left.low + right.low, left.high + right.high
            case "-":
                low, high = left.low - right.high, left.high - right.low
            case "*":
                ends = [x * y for x in (left.low, left.high) for y in (right.low, right.high)]
                low, high = min(ends), max(ends)
            case "/" | "%":
                self._leave(f"{left.text} < 0 or {right.text} <= 0")
                text = f"{left.text} {'//' if operator == '/' else '%'} {right.text}"
                low, high = 0, max(left.high, 0)
            case "<<" | ">>":
                self._leave(f"not 0 <= {right.text} < {8 * each.operands.size}")
            case "&" | "|" | "^":
                pass
            case _:
                raise NotInLoopError
        self._integer(each.target, text, each.type, low, high)


def translated_loop(function: Function, head: int) -> LoopFunction:
    """Return the function of a loop."""
    return _LoopWriter(function, head).made()
