"""The register code of C: what each function of a program is compiled to, with the place of every instruction in the text.

Registers are numbers, each written by one instruction. A place of memory is an address: a variable with an offset in bytes,
or what the program computes. What depends on the syntax of C, and nothing else, is decided before this code is made:
implicit conversions are :class:`Cast`, `&&`, `?:`, `switch` and loops are branches, offsets of members are numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["int", "bool", "float", "pointer", "record", "array", "function", "void"]
Register = int


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where something stands in the C: file as it was opened, 1-based line and column; of what a macro made, its use."""

    file: str
    line: int
    column: int
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class CType:
    """A type of C as evaluation needs it: its kind, its size in bytes, and how it is qualified."""

    kind: Kind
    size: int = 0
    signed: bool = False
    name: str = ""
    volatile: bool = False
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar inside of a record or an array: offset and size in bytes, its path (`head.next`, `ring[3]`), its type."""

    offset: int
    size: int
    path: str
    type: CType


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: a local of a function (`unique` in it), or a global (`unique` among all units)."""

    name: str
    unique: str
    type: CType
    is_global: bool = False


@dataclass(frozen=True, slots=True)
class Bits:
    """A bit-field inside of the scalar that is loaded or stored: its lowest bit and its width."""

    low: int
    width: int


@dataclass(frozen=True, slots=True)
class ConstantValue:
    target: Register
    value: int | float


@dataclass(frozen=True, slots=True)
class TextAddress:
    """The address of a string literal, with its bytes, the final zero included."""

    target: Register
    text: bytes


@dataclass(frozen=True, slots=True)
class FunctionAddress:
    target: Register
    name: str


@dataclass(frozen=True, slots=True)
class Address:
    target: Register
    variable: Variable
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Fresh:
    """A local whose scope begins: without values. `size` has that of an array of variable length."""

    variable: Variable
    size: Register | None = None


@dataclass(frozen=True, slots=True)
class ZeroBytes:
    """Zero `size` bytes of a variable: what an initialiser leaves out."""

    variable: Variable
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Load:
    target: Register
    address: Register
    type: CType
    bits: Bits | None = None


@dataclass(frozen=True, slots=True)
class Store:
    address: Register
    value: Register
    type: CType
    bits: Bits | None = None


@dataclass(frozen=True, slots=True)
class CopyBytes:
    """Assignment of a record or an array: `size` bytes from one address to another, word by word, cut at `leaves`."""

    to: Register
    source: Register
    size: int
    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """`base + index * step`, of an address and a number; a member is an index with the constant 1."""

    target: Register
    base: Register
    index: Register
    step: int


@dataclass(frozen=True, slots=True)
class AddressDifference:
    """The difference of two addresses of one object, in steps."""

    target: Register
    left: Register
    right: Register
    step: int


@dataclass(frozen=True, slots=True)
class Unary:
    target: Register
    operator: Literal["-", "~", "!"]
    value: Register
    type: CType


@dataclass(frozen=True, slots=True)
class Binary:
    """An arithmetic operation or a comparison: operands have one type (of shifts the left one's), the result has `type`."""

    target: Register
    operator: str
    left: Register
    right: Register
    operands: CType
    type: CType


@dataclass(frozen=True, slots=True)
class Cast:
    target: Register
    value: Register
    source: CType
    type: CType


@dataclass(frozen=True, slots=True)
class JumpTo:
    to: int


@dataclass(frozen=True, slots=True)
class Branch:
    condition: Register
    then: int
    otherwise: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function by its name, or through a register. Records are passed and returned by address."""

    target: Register | None
    callee: str | Register
    arguments: tuple[Register, ...]
    types: tuple[CType, ...]
    result: CType
    texts: tuple[str, ...] = ()
    """The arguments as they are written: for messages, and for handles that are told apart by their names."""


@dataclass(frozen=True, slots=True)
class FunctionReturn:
    value: Register | None


@dataclass(frozen=True, slots=True)
class UnreadCode:
    """Code that cannot be read, refused once a way of the program comes here: inline assembly, an unknown builtin."""

    code: str
    message: str
    hint: str = ""


Instruction = (
    ConstantValue | TextAddress | FunctionAddress | Address | Fresh | ZeroBytes | Load | Store | CopyBytes | Index
    | AddressDifference | Unary | Binary | Cast | JumpTo | Branch | Call | FunctionReturn | UnreadCode
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its parameters, its code, the place of each instruction, and what is live before each.

    `live[i]` are the registers, and `live_variables[i]` the locals whose address is not taken (`unique`), whose value may
    be used at instruction i or after it. `needed[i]` are those of both whose value decides something, and `joins` where
    branches go on that decide nothing.
    """

    name: str
    parameters: tuple[Variable, ...]
    result: CType
    code: tuple[Instruction, ...]
    places: tuple[SourcePlace, ...]
    live: tuple[frozenset[Register], ...]
    live_variables: tuple[frozenset[str], ...]
    needed: tuple[frozenset[Register | str], ...]
    joins: Mapping[int, int]
    taken: frozenset[str]
    variables: dict[str, Variable] = field(default_factory=dict)
