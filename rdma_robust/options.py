"""One frozen set of options, passed explicitly; there is no global state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from rdma_robust.errors import UsageError
from rdma_robust.limits import Limits, executor_of, processors
from rdma_robust.model import Atomics, Hardware, Model, Processor
from rdma_robust.orders import is_order

Instrumentation = Literal["pivot", "paper"]
KernelName = Literal["auto", "python"]
EngineName = Literal["auto", "bfs", "dfs", "karp-miller"]

REDUCTIONS: Final[Mapping[str, str]] = {
    "filter": "only pivots on a critical cycle of the conflict graph are tried, without any there is no search",
    "relevance": "states from which the cycle can no longer be closed, or no pivot started, are cut",
    "dead-ends": "states are cut from which, thread by thread, no pivot or nothing that closes the cycle can be reached",
    "values": "registers of few values become part of the program point, guards are decided by what cells can hold",
    "dead": "values that nobody can read any more are forgotten",
    "por": "of independent steps of different threads only one order is searched",
    "symmetry": "of pivots that an exchange of like threads maps to each other only one is tried",
    "permute": "of states that an exchange of like threads maps to each other only one is kept",
}
"""The reductions of the pivot search, each with what it does. None of them ever changes a verdict."""

ALL_REDUCTIONS: Final = frozenset(REDUCTIONS)

RECV_DEPTH: Final = 8
"""Receives of one connection that are posted, or filled and not yet polled, at most, if nothing else is said."""

MOST_RECEIVES: Final = 16
"""Of such receives, what anybody can ask for: every one is a part of the control of a search."""

LARGE: Final = 10_000
"""Combinations of program points from which on `values`, `dead` and `permute` pay: below, they cost more than they save."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How to decide one program.

    `timeout` is in seconds of wall time, `memory` in mebibytes of this process, `max_states` counts stored states
    of one search; None means no limit. `cpu`, `atomics`, `order` and `ordered_reads` (which keeps two gets of a
    queue pair in order) say what programs run on; where they are None or False, the `hardware` line
    of a program does, see :meth:`on`; `order` is the name of a table, FILE.toml or `fi(FLAG, ...)`, and has then all that it
    says. `hardware` is the whole memory model instead, whatever a program says; with it, of
    the others only `ordered_reads` counts. `model` is the resulting one.
    `await_loops` turns loops without effect into blocking reads. `self_check` also decides with the other
    instrumentation and, where it applies, with the brute-force oracle, and compares. The engine `auto` is `karp-miller`
    for programs with unbounded poll counters and `dfs` for the others; `bfs` and `dfs` explore exact counter values. The
    kernel `python` searches without the compiled kernel, which `auto` uses where it is installed. `reductions` are names in
    REDUCTIONS; the paper's instrumentation, the reference, uses none of them but `por`. `values`, `dead` and `permute` are
    used where the threads have at least `large` combinations of program points. `define` says which constants of the
    program were given other values before, as `NAME=VALUE`: reports repeat it, and nothing else depends on it.
    `recv_depth` is how many receives of one connection can be posted, or filled and not yet polled, at most, `threads` how
    many a large compiled search may have; an `executor`, `local` or `local:N`, shares it among processes instead, which
    keep what they find in the folder `checkpoint`, if there is one, and go on from there. Raises UsageError for less than
    1, for threads of the kernel `python`, for another executor or one beside threads, for a checkpoint without one, for a
    `hardware` that is no Model, or one without a table of kept orders.
    """

    instrumentation: Instrumentation = "pivot"
    engine: EngineName = "auto"
    kernel: KernelName = "auto"
    ordered_reads: bool = False
    await_loops: bool = False
    timeout: float | None = None
    max_states: int | None = None
    memory: int | None = None
    self_check: bool = False
    reductions: frozenset[str] = ALL_REDUCTIONS
    large: int = LARGE
    hardware: Model | None = None
    define: tuple[str, ...] = ()
    recv_depth: int = RECV_DEPTH
    cpu: Processor | None = None
    atomics: Atomics | None = None
    order: str | None = None
    threads: int | None = None
    executor: str = ""
    checkpoint: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.recv_depth <= MOST_RECEIVES:
            raise UsageError(f"a receive queue has room for 1 to {MOST_RECEIVES} receives, not for {self.recv_depth}")
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"a search has at least one thread, not {self.threads}")
        if self.threads is not None and self.threads > 1 and self.kernel == "python":
            raise UsageError(f"the search in Python has one thread, not {self.threads}: leave out `kernel`")
        if self.executor:
            self._look_at_executor()
        elif self.checkpoint:
            raise UsageError("only what processes share is kept in a checkpoint: give an executor too")
        if self.hardware is not None and not isinstance(self.hardware, Model):
            raise UsageError(f"{self.hardware!r} is no Model: `rdma_robust.model` has those with a name")
        if self.hardware is not None and self.told != Hardware(ordered_reads=self.told.ordered_reads):
            raise UsageError("`hardware` is a whole memory model: leave out `cpu`, `atomics` and `order`, or it")
        if self.cpu is not None and self.cpu not in get_args(Processor):
            raise UsageError(f"no cpu is called {self.cpu!r}; there is {', '.join(get_args(Processor))}")
        if self.order is not None and not is_order(self.order):
            from rdma_robust.orders.named_tables import order_asked  # noqa: PLC0415 - few tables are of files or flags

            object.__setattr__(self, "order", order_asked(self.order))
        if self.hardware is not None and not self.hardware.has_order_table:
            raise UsageError(f"robustness is not decided under this model ({self.hardware}): `prove` decides safety there")

    def _look_at_executor(self) -> None:
        if self.kernel == "python" or (self.threads or 1) > 1:
            raise UsageError("processes share a compiled search, with one thread each: leave out `kernel` and `threads`")
        executor_of(self.executor)

    @property
    def told(self) -> Hardware:
        """What these options say about the hardware, without `hardware`."""
        return Hardware(self.cpu, self.atomics, self.order, self.ordered_reads or None)

    @property
    def model(self) -> Model:
        """The memory model that programs are decided under, if they say nothing about it themselves."""
        if self.hardware is None:
            return self.told.model
        return self.hardware.with_ordered_reads(self.hardware.ordered_reads or self.ordered_reads)

    def limits(self) -> Limits:
        """Return the limits for everything that is done for a program, from now on."""
        threads = 1 if self.executor else self.threads or processors()
        given = (self.timeout, self.max_states, self.memory)
        return Limits.of(*given, threads=threads, executor=self.executor, checkpoint=self.checkpoint)

    def on(self, hardware: Hardware) -> CheckOptions:
        """Return the options for a program that says this about its hardware: their `model` is that which results."""
        if self.hardware is not None:
            return self
        model = self.told.over(hardware).model
        return replace(self, hardware=model, cpu=None, atomics=None, order=None, ordered_reads=model.ordered_reads)
