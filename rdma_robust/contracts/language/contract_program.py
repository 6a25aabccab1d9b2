"""Checked contracts of the functions of an `.mp` text: clauses with names resolved, behaviors and short forms made plain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.messages.language.message_world import COLLECTIVE


@dataclass(frozen=True, slots=True)
class StateClause:
    """`requires condition` or `ensures condition`: true for every process; of a behavior only where it `assumes`.

    `assumes` is evaluated at the collective entry, as in `\\pre`; None outside of behaviors, and in those without `assumes`.
    """

    kind: Literal["requires", "ensures"]
    condition: Spec
    assumes: Spec | None = None
    span: Span = field(default=NO_SPAN, compare=False)
    said: str = field(default="", compare=False)
    """What is said where it is false, if it is no clause of the text."""


@dataclass(frozen=True, slots=True)
class AssignedCells:
    """A global that may change: whole, or of its array the elements from `low` to `high`; then its length stays."""

    name: str
    low: Spec | None = None
    high: Spec | None = None


@dataclass(frozen=True, slots=True)
class AssignsClause:
    """One `assigns` clause. Bounds of cells and `assumes` are evaluated at the collective entry, for each process.

    A process may change what one of its frames names whose `assumes` is true; without any frame in the contract everything.
    """

    cells: tuple[AssignedCells, ...]
    assumes: Spec | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ProcessSet:
    """Processes `low` to `high`, one if both are the same; `others`: without the own one.

    Numbers outside of 0..NPROCS-1 contribute nothing.
    """

    low: Spec
    high: Spec
    others: bool = False


PathKind = Literal["waitsfor", "quiet to", "quiet from"]


@dataclass(frozen=True, slots=True)
class PathClause:
    """A guarantee or requirement about the order of events: evaluated as process p enters, in its own state, if `condition`.

    - `waitsfor`, p does not exit before each r of `who` entered. `tag`, `port` and `until` are None;
    - `quiet to`, p sends nothing to a q of `who` (with `tag`, on `port`; None is any) before each r of `until` entered;
    - `quiet from`, required: no q of `who` that exited sends anything to p (with `tag`, on `port`) before p exited.
    """

    kind: PathKind
    who: ProcessSet
    tag: Spec | None = None
    port: int | None = None
    until: ProcessSet | None = None
    condition: Spec | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class InputBounds:
    """Inputs that the function's own check looks at: `name` is a parameter or a global.

    With no `lengths` it is a number from `low` to `high`; with one, an array whose length is between these; with two, an
    array of arrays. Where `low` and `high` are None, the elements are any integers. They may use the indices, `Bound("i")`
    and `Bound("j")`; lengths of inner arrays use `i`. `text` is what is shown of those that nobody wrote.
    """

    name: str
    lengths: tuple[tuple[Spec, Spec], ...]
    low: Spec | None
    high: Spec | None
    span: Span = field(default=NO_SPAN, compare=False)
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class CollectiveLoop:
    """A loop that all processes go through together, in the body of `function`.

    In its expressions the registers and parameters of the function are parameters, named as there: what they are at the
    head of the loop. `locals` are those that the loop names, reads or changes, `changes` those that it changes. What
    `\\pre(x)` is stands in the parameter of that name, for each x of `remembered`.

    The loop goes on while `guard` is true. If it is a `for`, `counter` is its counter and `ends` are the first and the
    last number, which the body does not change. `typed` says that what rounds look at has the values of `bounds`,
    `typed_before` that for what is remembered. `kept` is what the function requires of what it never stores to.
    `globals` are the registers declared outside that the loop may change, None if it may change all. `paths` are
    `quiet to` and `quiet from`, of rounds. At each head a process knows that all processes of `waits` are at the first
    one, and each round makes `decreases` smaller.
    """

    function: str
    locals: tuple[str, ...]
    changes: tuple[str, ...]
    remembered: tuple[str, ...]
    guard: Spec
    counter: str = ""
    ends: tuple[Spec, Spec] | None = None
    typed: tuple[StateClause, ...] = ()
    typed_before: tuple[StateClause, ...] = ()
    bounds_before: tuple[InputBounds, ...] = ()
    kept: tuple[StateClause, ...] = ()
    globals: tuple[AssignedCells, ...] | None = None
    paths: tuple[PathClause, ...] = ()
    waits: tuple[PathClause, ...] = ()
    decreases: Spec | None = None
    calls: tuple[str, ...] = ()
    is_round: bool = False


@dataclass(frozen=True, slots=True)
class Contract:
    """The contract of one function. `frames` is None if there is no `assigns`: anything may change.

    A `collective` function is called by all processes; a `local` one by one on its own: it has no paths.
    """

    name: str
    kind: Literal["collective", "local"]
    parameters: tuple[str, ...]
    gives_value: bool
    clauses: tuple[StateClause, ...] = ()
    frames: tuple[AssignsClause, ...] | None = None
    paths: tuple[PathClause, ...] = ()
    bounds: tuple[InputBounds, ...] = ()
    calls: tuple[str, ...] = ()
    """Functions with a contract that its body calls, also through functions without one, and its loops; each once."""
    span: Span = field(default=NO_SPAN, compare=False)
    loop: CollectiveLoop | None = None
    """Of a loop: then each head of it is a call, whose `requires` are the invariants."""

    @property
    def entry_error(self) -> ErrorClass:
        """Return the class of what is false, or on its way, where all enter."""
        return "SRV" if self.loop is None else "INV"

    @property
    def exit_error(self) -> ErrorClass:
        """Return the class of what is false, or left over, where all have left."""
        return "SGV" if self.loop is None else "INV"

    def false_at_entry(self, clause: StateClause) -> str:
        """Return in words that a clause is false where all enter."""
        what = "`requires`" if self.loop is None else "an invariant"
        return clause.said or f"{what} of {self.name} is false"

    def false_at_exit(self, clause: StateClause) -> str:
        """Return in words that a clause is false where all have left."""
        what = "`ensures`" if self.loop is None else f"after a round, an invariant of {self.name}"
        return clause.said or f"{what} is false"


ErrorClass = Literal["RTE", "CCM", "DL", "SGV", "PGV", "ITF", "SRV", "PRV", "INV"]
CLASSES: tuple[ErrorClass, ...] = ("RTE", "CCM", "DL", "SGV", "PGV", "ITF", "SRV", "PRV", "INV")


ContractBuffer = Literal["infinite", "zero"]
"""When a send is complete: at once, or when a receive has got its message."""
CONTRACT_BUFFERS: tuple[ContractBuffer, ...] = ("infinite", "zero")


@dataclass(frozen=True, slots=True)
class ContractClaim:
    """`expect contract name verified` (for every n), or `violated CLASS from n`: verified below it; None is any class.

    `buffer` is that under which it is expected. With `any_n` (`verified any n`) a proof for every n has to show it.
    """

    name: str
    verified: bool
    error: ErrorClass | None = None
    since: int = 1
    span: Span = field(default=NO_SPAN, compare=False)
    buffer: ContractBuffer = "infinite"
    any_n: bool = False


@dataclass(frozen=True, slots=True)
class ContractProgram:
    """The contracts of a file, in its order.

    `library` are those of the library procedures that are not hidden. `globals` are the registers declared outside,
    `ports` the names of ports 1, 2 and so on; that of the library comes after them.
    `tree` is the syntax tree, from which `function_instances.instance` writes functions out. `buffer` is that of all runs.
    Of C `collectives` are the functions that are about collective operations alone: of messages of others that are on their
    way as these are called, as of calls of the library, their contracts say nothing. None of `.mp`.
    """

    name: str
    file: str
    source: str
    contracts: tuple[Contract, ...]
    library: tuple[Contract, ...] = ()
    globals: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    claims: tuple[ContractClaim, ...] = ()
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    tree: object = field(default=None, compare=False, repr=False)
    buffer: ContractBuffer = "infinite"
    collectives: frozenset[str] | None = None

    @property
    def port_names(self) -> tuple[str, ...]:
        """Return the names of ports by their numbers: '' for the nameless one, that of the library last."""
        return ("", *self.ports, COLLECTIVE)

    def contract(self, name: str) -> Contract | None:
        """Return the contract of a function, None if it has none."""
        return next((each for each in (*self.contracts, *self.library) if each.name == name), None)


# What can be violated that is no clause of a contract.

CHANNELS: Final = "channels"
"""They are empty: required where all enter, and ensured where all have left."""

REQUESTS: Final = "requests"
"""None is active where all have left: every send and receive was waited for."""
