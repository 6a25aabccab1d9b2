"""The code of a function while it is read: instructions with labels, its locals, and the rules by which syntax is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from rdma_robust.c.code import (
    Address,
    Binary,
    Bits,
    Branch,
    Cast,
    ConstantValue,
    CType,
    Fresh,
    Function,
    FunctionReturn,
    Instruction,
    JumpTo,
    Load,
    Register,
    SourcePlace,
    Store,
    UnreadCode,
    Variable,
)
from rdma_robust.c.front.cursors import INT, c_type, cursor_kind, cursor_place, type_of_value
from rdma_robust.c.front.libclang import Cursor
from rdma_robust.c.front.live_registers import live_before, taken_locals
from rdma_robust.c.front.needed_values import needed_values

Label = int


@dataclass(frozen=True, slots=True)
class Location:
    """The object that an lvalue names: an address, the type of the object there, and which bits of it."""

    address: Register
    type: CType
    bits: Bits | None = None
    bits_type: CType = INT


class UnitNames(Protocol):
    """The names that a function asks its unit for: they are unique among all units."""

    def global_variable(self, declared: Cursor) -> Variable:
        """Return the global that is declared so."""

    def static_local(self, function: str, declared: Cursor) -> Variable:
        """Return the static local of a function as a global."""

    def file_literal(self, owner: str, literal: Cursor) -> Variable:
        """Return the object of a compound literal outside of functions as a global."""

    def function_name(self, declared: Cursor) -> str:
        """Return the name of a function."""

    def note_type(self, found: Cursor) -> None:
        """Remember a type of libclang under its name, for `leaves`."""

    def note(self, declared: Cursor) -> bool:
        """Take in an annotation that is a declaration (RR_HARDWARE, RR_EXPECT); return whether it is one."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How each kind of syntax is read: as a statement, as a value, as the place of an object, or for its effects alone."""

    statements: Mapping[str, Callable[[FunctionReader, Cursor], None]]
    values: Mapping[str, Callable[[FunctionReader, Cursor], Register]]
    places: Mapping[str, Callable[[FunctionReader, Cursor], Location]]
    effects: Mapping[str, Callable[[FunctionReader, Cursor], None]]


@dataclass(slots=True)
class SwitchCases:
    """The cases of a `switch` that is being read: least and greatest value with the label, and the label of `default`."""

    cases: list[tuple[int, int, Label, Cursor]] = field(default_factory=list)
    default: Label | None = None


class FunctionReader:
    """The code of one function, or of one initialiser, while it is made."""

    def __init__(self, names: UnitNames, name: str, rules: Rules, *, outside: bool = False) -> None:
        self.names, self.name, self.rules, self.outside = names, name, rules, outside
        self.breaks: list[Label] = []
        self.continues: list[Label] = []
        self.switches: list[SwitchCases] = []
        self.scopes_entered_within = False
        self._code: list[Instruction] = []
        self._places: list[SourcePlace] = []
        self._labels: list[int] = []
        self._named: dict[str, Label] = {}
        self._registers = 0
        self._locals: dict[int, list[tuple[Cursor, Variable]]] = {}
        self._variables: dict[str, Variable] = {}

    # What is written.

    def register(self) -> Register:
        """Return a new register."""
        self._registers += 1
        return self._registers

    def emit(self, instruction: Instruction, at: Cursor) -> None:
        """Append an instruction with its place."""
        self._code.append(instruction)
        self._places.append(cursor_place(at))

    def constant(self, value: int | float, at: Cursor) -> Register:
        """Return a register with a constant."""
        target = self.register()
        self.emit(ConstantValue(target, value), at)
        return target

    def binary(self, operator: str, left: Register, right: Register, kind: CType, at: Cursor) -> Register:
        """Return the result of an operation whose operands and result have one type."""
        target = self.register()
        self.emit(Binary(target, operator, left, right, kind, kind), at)
        return target

    def unread(self, code: str, message: str, at: Cursor, hint: str = "") -> Register:
        """Append what is refused once a way comes to it; return a register that no way reads."""
        self.emit(UnreadCode(code, message, hint), at)
        return self.constant(0, at)

    def address(self, variable: Variable, at: Cursor, offset: int = 0) -> Register:
        """Return the address of a variable, or of a part of it."""
        target = self.register()
        self.emit(Address(target, variable, offset), at)
        return target

    def converted(self, value: Register, source: CType, target: CType, at: Cursor) -> Register:
        """Return a value of one type as one of another."""
        if _alike(source, target) or "void" in (source.kind, target.kind) or target.kind in ("record", "array", "function"):
            return value
        made = self.register()
        self.emit(Cast(made, value, _plain(source), _plain(target)), at)
        return made

    def load(self, of: Location, at: Cursor) -> Register:
        """Return what stands at a location; of a record or an array, its address."""
        if of.type.kind in ("record", "array", "function"):
            return of.address
        target = self.register()
        self.emit(Load(target, of.address, of.type, of.bits), at)
        return target if of.bits is None else self.converted(target, of.type, of.bits_type, at)

    def store(self, to: Location, value: Register, at: Cursor) -> None:
        """Append a store."""
        self.emit(Store(to.address, value, to.type, to.bits), at)

    # Where the code goes on.

    def label(self) -> Label:
        """Return a new label, which :meth:`mark` places."""
        self._labels.append(-1)
        return len(self._labels) - 1

    def mark(self, label: Label) -> None:
        """Place a label before what comes next."""
        self._labels[label] = len(self._code)

    def named_label(self, name: str) -> Label:
        """Return the label of this name in the C."""
        if name not in self._named:
            self._named[name] = self.label()
        return self._named[name]

    def jump(self, to: Label, at: Cursor) -> None:
        self.emit(JumpTo(to), at)

    def branch(self, condition: Register, then: Label, otherwise: Label, at: Cursor) -> None:
        self.emit(Branch(condition, then, otherwise), at)

    # What is read.

    def statement(self, each: Cursor) -> None:
        """Read a statement."""
        rule = self.rules.statements.get(cursor_kind(each))
        if rule is not None:
            rule(self, each)
        elif each.kind.is_expression():
            self.effect(each)
        elif cursor_kind(each).startswith("OMP_"):
            self.unread("RR841", "OpenMP is not read", each, "threads made by pthread_create are")
        else:
            self.unread("RR814", f"a statement of the kind {cursor_kind(each)} is not read", each)

    def value(self, each: Cursor) -> Register:
        """Return the value of an expression; of a record its address."""
        rule = self.rules.values.get(cursor_kind(each))
        if rule is None:
            return self.unread("RR814", f"an expression of the kind {cursor_kind(each)} is not read", each)
        return rule(self, each)

    def place(self, each: Cursor) -> Location:
        """Return what an lvalue names."""
        rule = self.rules.places.get(cursor_kind(each))
        if rule is None:
            made = self.unread("RR814", f"an object named by the kind {cursor_kind(each)} is not read", each)
            return Location(made, type_of_value(each))
        return rule(self, each)

    def effect(self, each: Cursor) -> None:
        """Read an expression whose value nobody uses."""
        rule = self.rules.effects.get(cursor_kind(each))
        if rule is None:
            self.value(each)
        else:
            rule(self, each)

    # Variables.

    def local(self, declared: Cursor) -> Variable:
        """Return the local, or the parameter, that is declared so."""
        alike = self._locals.setdefault(declared.hash, [])
        for cursor, variable in alike:
            if cursor == declared:
                return variable
        self.names.note_type(declared.type)
        made = self.new_variable(str(declared.spelling), c_type(declared.type))
        if cursor_kind(declared) == "PARM_DECL" and made.type.kind in ("array", "function"):
            made = replace(made, type=CType("pointer", 8, False, made.type.name))
            self._variables[made.unique] = made
        alike.append((declared, made))
        return made

    def new_variable(self, name: str, kind: CType) -> Variable:
        """Return a new local."""
        unique, count = name or "unnamed", 1
        while unique in self._variables:
            count += 1
            unique = f"{name}#{count}"
        self._variables[unique] = Variable(name, unique, kind)
        return self._variables[unique]

    def hidden(self, kind: CType, at: Cursor) -> Location:
        """Return a local that the C does not name, for a value that several ways write."""
        variable = self.new_variable("?", kind)
        self.emit(Fresh(variable), at)
        return Location(self.address(variable, at), kind)

    def again(self, of: Location, at: Cursor) -> Location:
        """Return the location of a hidden local, addressed anew: a register is written on every way that reads it."""
        made = next(each.variable for each in self._code if isinstance(each, Address) and each.target == of.address)
        return replace(of, address=self.address(made, at))

    # The end.

    def function(self, parameters: tuple[Variable, ...], result: CType, at: Cursor) -> Function:
        """Return the function that was read."""
        self.emit(FunctionReturn(None), at)
        code, places = list(self._code), list(self._places)
        first = self._entered(parameters) if self.scopes_entered_within else []
        code = [*first, *(self._resolved(each, len(first)) for each in code)]
        places = [cursor_place(at)] * len(first) + places
        taken = taken_locals(code)
        live, live_variables = live_before(code, taken)
        needed = needed_values(self.name, code, taken)
        return Function(
            self.name,
            parameters,
            result,
            tuple(code),
            tuple(places),
            live,
            live_variables,
            needed.before,
            needed.joins,
            taken,
            dict(self._variables),
        )

    def _entered(self, parameters: tuple[Variable, ...]) -> list[Instruction]:
        """Return the beginning of scopes into which `goto` or `switch` may jump past where a local is declared."""
        given = {each.unique for each in parameters}
        sized = {each.variable.unique for each in self._code if isinstance(each, Fresh) and each.size is not None}
        return [Fresh(each) for each in self._variables.values() if each.unique not in given | sized]

    def _resolved(self, each: Instruction, more: int) -> Instruction:
        if isinstance(each, JumpTo):
            return JumpTo(self._labels[each.to] + more)
        if isinstance(each, Branch):
            return Branch(each.condition, self._labels[each.then] + more, self._labels[each.otherwise] + more)
        return each


def _plain(kind: CType) -> CType:
    """Return the type of a value: a value is neither volatile nor atomic."""
    return replace(kind, volatile=False, atomic=False)


def _alike(source: CType, target: CType) -> bool:
    """Return whether values of both types are the same."""
    decayed = ("pointer", "array", "function")
    if source.kind in decayed and target.kind in decayed:
        return True
    return (source.kind, source.size, source.signed) == (target.kind, target.size, target.signed)
