"""An evaluated C program: an automaton of `.rdma` statements for each thread, and the memory of each process."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.c.code import SourcePlace


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition of a step: a register of the thread has one of `values`. `among` are all that it may have there."""

    register: str
    values: frozenset[int]
    among: frozenset[int]


@dataclass(frozen=True, slots=True)
class ThreadEdge:
    """A step to `to`: a statement of `.rdma` as text, or a guard, or neither (nothing that others see); with the places of
    the C that it comes from, the innermost first, then the calls outwards. An access that synchronises with others says
    which ones: those that say the same."""

    to: int
    statement: str = ""
    guard: Guard | None = None
    chain: tuple[SourcePlace, ...] = ()
    synchronises: str = ""


@dataclass(frozen=True, slots=True)
class EvaluatedThread:
    """A thread of a process: from location 0; where no edge leaves, it has ended. `posted` are its first lines, receives
    that set-up has posted (`posted x from B`), `registers` those that its statements write."""

    name: str
    process: str
    edges: dict[int, tuple[ThreadEdge, ...]]
    registers: tuple[str, ...] = ()
    posted: tuple[str, ...] = ()
    chain: tuple[SourcePlace, ...] = ()


@dataclass(frozen=True, slots=True)
class WordPlace:
    """A word of shared memory: its initial value, its object and bytes in the C, and the qualifiers that its declaration
    in `.rdma` has (`relaxed`, `sync`)."""

    name: str
    initial: int
    object: str
    offset: int
    size: int
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """A warning about the whole (RR845, RR846): its code, what it says, and a place."""

    code: str
    message: str
    place: SourcePlace | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CProgram:
    """An evaluated program: `nodes` have the words of each process in the order of their addresses, `head` the lines of the
    program before its nodes (`hardware cpu tso`, `domain 0..3`, `allow loopback`), `meaning` what numbers stand for that are
    no numbers in the C (addresses)."""

    name: str
    nodes: dict[str, tuple[WordPlace, ...]]
    threads: tuple[EvaluatedThread, ...]
    head: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    meaning: dict[int, str] = field(default_factory=dict)
