"""Scopes of the names of an `.mp` program: the whole program, and one process or function while it is written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_terms import Term

COLLECTIVE: Final = "coll"
"""The port of the library procedures."""

BUILT_IN: Final = ("len", "new")
"""What looks like a function and has a value."""

TRUTHS: Final = {"true": 1, "false": 0}
"""What these names mean where nothing else has them."""

LocalKind = Literal["register", "request", "counter"]


@dataclass(slots=True)
class LocalName:
    """A register, a request or the counter of a `for`; `written` is its name in the process that is written out.

    `array` is that of requests; of registers nothing is known. It is `visible` inside of its block; one that is declared
    `again` in another one is not new any more.
    """

    written: str
    kind: LocalKind
    span: Span
    array: bool = False
    visible: bool = True
    again: bool = False
    used: bool = False


@dataclass(slots=True)
class DeclaredConstant:
    """`value` is None if that was an error."""

    value: int | None
    span: Span
    used: bool = False


@dataclass(slots=True)
class ProcessFamily:
    """The processes of one declaration: their numbers begin with `first`, and what stands in brackets with `low`."""

    proc: tree.Proc
    first: int
    low: int
    size: int

    @property
    def numbered(self) -> bool:
        return self.proc.numbers is not None

    def members(self) -> Iterator[tuple[int, str, Mapping[str, int]]]:
        """Yield for each process its number, its name, and what the name in the brackets is in it."""
        name = self.proc.name.text
        if self.proc.numbers is None:
            yield self.first, name, {}
            return
        for k in range(self.size):
            yield self.first + k, f"{name}[{self.low + k}]", {self.proc.numbers.counter.text: self.low + k}


@dataclass(slots=True)
class GlobalScope:
    """The declarations outside of processes and functions.

    `first` is where each name that stands in expressions is declared. `ports` are their numbers, `groups` their
    members. `is_library` says that the text is that of the library, of which `hidden` are the functions whose names mean
    others in the program.
    """

    constants: dict[str, DeclaredConstant] = field(default_factory=dict)
    families: dict[str, ProcessFamily] = field(default_factory=dict)
    globals: dict[str, LocalName] = field(default_factory=dict)
    functions: dict[str, tree.FunctionItem] = field(default_factory=dict)
    library: dict[str, tree.FunctionItem] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)
    first: dict[str, Span] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    poisoned: frozenset[str] = frozenset()
    processes: int = 0
    is_library: bool = False
    hidden: frozenset[str] = frozenset()

    def values(self) -> list[str]:
        """Return the names that stand in expressions."""
        return [*self.constants, *self.families, *self.globals]

    def count(self) -> Term:
        """Return the number of processes: nothing is known of it where none are declared."""
        return Const(self.processes) if self.processes else Name("NPROCS")

    def function(self, name: str) -> tree.FunctionItem | None:
        """Return the function that a name calls: one of the program hides one of the library."""
        return self.functions.get(name) or self.library.get(name)


def library_world(world: GlobalScope) -> GlobalScope:
    """Return what names mean in the text of the library, whose port comes after those of the program."""
    ports = {COLLECTIVE: len(world.ports) + 1}
    functions = world.library
    return GlobalScope(library=functions, functions=functions, ports=ports, processes=world.processes, is_library=True)


MAX_STATEMENTS: Final = 100_000
"""Statements of all processes together, once functions and families are written out."""

MAX_DEPTH: Final = 100
"""Blocks and functions inside of one another, once they are written out."""


class TooLargeError(Exception):
    """The program is too large once it is written out; says what is too much."""


@dataclass(slots=True)
class ProcessDraft:
    """A process as it is written out, besides its statements: the names of its registers and requests, in their order.

    `left` is how many statements there may still be in all.
    """

    left: int
    registers: dict[str, None] = field(default_factory=dict)
    requests: dict[str, None] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    uses_library: bool = False
    loops: bool = False
    """Whether loops with contracts are written out as calls."""


@dataclass(frozen=True, slots=True)
class InFunction:
    """The function that is read: where it gives its result, and the call that is written out."""

    result: str
    call: Span | None = None
