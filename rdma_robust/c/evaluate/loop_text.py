"""The text of the function of a loop, as it is written: what is known of registers, and how the loop is left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rdma_robust.c.code import CType, Function, Register
from rdma_robust.c.evaluate.c_values import range_of


@dataclass(frozen=True, slots=True)
class RegisterText:
    """A register in the text: an expression of Python, and what kind of value that is. Of a number the range, of a place
    the expression of its object, and the number of its variable if it is one."""

    text: str
    kind: Literal["int", "float", "pointer", "truth", "place", "any"]
    low: int = -(1 << 63)
    high: int = (1 << 64) - 1
    object: str = ""
    variable: int = -1


class NotInLoopError(Exception):
    """The instruction is left to others."""


class LoopText:
    """The text of the function of a loop; `_at` is the instruction in writing, `_steps` are those before it on its way."""

    def __init__(self, function: Function, head: int) -> None:
        self.function, self.head = function, head
        self._lines: list[str] = []
        self._known: dict[Register, RegisterText] = {}
        self._at, self._depth, self._steps = head, 2, 0

    def _line(self, text: str) -> None:
        self._lines.append(" " * self._depth + text)

    def _leave(self, condition: str = "") -> None:
        """Leave the loop before the instruction, where a condition holds."""
        if condition:
            self._line(f"if {condition}:")
            self._depth += 1
        self._store_registers(self._at)
        self._line(f"return {self._at}, done + {self._steps}")
        self._depth -= bool(condition)

    def _store_registers(self, at: int) -> None:
        live = self.function.live[at] if at < len(self.function.live) else frozenset()
        for register in sorted(live & self._known.keys()):
            text = self._value(self._known[register])
            if text != f"registers[{register}]":
                self._line(f"registers[{register}] = {text}")

    # values

    def _value(self, known: RegisterText) -> str:
        if known.kind == "truth":
            return f"(1 if {known.text} else 0)"
        return f"Pointer({known.object}, {known.text})" if known.kind == "place" else known.text

    def _get(self, register: Register) -> RegisterText:
        if register not in self._known:
            self._line(f"r{register} = registers[{register}]")
            self._known[register] = RegisterText(f"r{register}", "any")
        return self._known[register]

    def _number(self, register: Register) -> RegisterText:
        """Return a register that holds an integer; the loop is left where it does not."""
        found = self._get(register)
        if found.kind == "truth":
            found = self._set(register, self._value(found), "int", 0, 1)
        return self._checked(register, found, "int")

    def _checked(self, register: Register, found: RegisterText, kind: Literal["int", "float", "pointer"]) -> RegisterText:
        if found.kind == "any":
            self._leave(f"type({found.text}) is not {'Pointer' if kind == 'pointer' else kind}")
            found = self._known[register] = replace(found, kind=kind)
        if found.kind != kind:
            raise NotInLoopError
        return found

    def _fraction(self, register: Register) -> RegisterText:
        return self._checked(register, self._get(register), "float")

    def _place(self, register: Register) -> RegisterText:
        """Return a register that holds an address, as object and offset."""
        found = self._get(register)
        if found.kind == "place":
            return found
        found = self._checked(register, found, "pointer")
        return RegisterText(f"{found.text}.offset", "place", object=f"{found.text}.object")

    def _truth(self, register: Register) -> str:
        found = self._get(register)
        if found.kind == "any":
            self._leave(f"type({found.text}) not in (int, Pointer)")
            return f"({found.text} != 0)"
        return found.text if found.kind == "truth" else self._number(register).text

    def _set(
        self, register: Register, text: str, kind: Literal["int", "float", "any"], low: int = -(1 << 63), high: int = 1 << 64
    ) -> RegisterText:
        self._line(f"r{register} = {text}")
        found = self._known[register] = RegisterText(f"r{register}", kind, low, high)
        return found

    def _integer(self, register: Register, text: str, kind: CType, low: int, high: int) -> None:
        """Set a register to a number in a range, converted to a type."""
        least, most = range_of(kind)
        if least > most:
            raise NotInLoopError
        self._set(register, text, "int", low, high)
        if not least <= low <= high <= most:
            wrapped = f"(r{register} - {least} & {most - least}) + {least}"
            self._line(f"if not {least} <= r{register} <= {most}: r{register} = {wrapped}")
            self._known[register] = RegisterText(f"r{register}", "int", least, most)
