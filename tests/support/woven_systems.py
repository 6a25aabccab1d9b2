"""Transition systems written by hand: threads as graphs whose edges carry updates, interleaved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rdma_robust.analyses.prove.transition_system import Bad, Control, SafetyClaim, Transition, Update
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import Binary, Const, Expr, Name
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.claims import AnyModelName

Places = tuple[int, ...]


def term(value: str | int | Expr) -> Expr:
    """Return a name or a number as an expression."""
    return Name(value) if isinstance(value, str) else Const(value) if isinstance(value, int) else value


def op(operator: str, left: str | int | Expr, right: str | int | Expr) -> Expr:
    """Return `left operator right`."""
    return Binary(operator, term(left), term(right))


@dataclass(frozen=True)
class WovenEdge:
    """An edge of a thread's graph."""

    source: int
    to: int
    updates: tuple[Update, ...] = ()
    fault: Fault | None = None


@dataclass
class WovenSystem:
    """Threads interleaved from point 0; `bad` says of the points and wide variables what must not be."""

    wide: tuple[tuple[str, int], ...]
    threads: Sequence[Sequence[WovenEdge]]
    bad: Callable[[Places], Expr | None] = lambda _places: None
    live_at: Callable[[Places], frozenset[str] | None] = lambda _places: None
    claims: tuple[SafetyClaim, ...] = (SafetyClaim("invariant", "written by hand", NO_SPAN, 0),)
    model: AnyModelName = "sc"
    program: Program = field(default_factory=lambda: Program("hand", "", "", (), (), ()))

    def initial(self) -> Control:
        return (0,) * len(self.threads)

    def successors(self, control: Control) -> list[Transition]:
        assert isinstance(control, tuple)
        return [
            Transition((), edge.updates, (*control[:t], edge.to, *control[t + 1 :]), edge.fault)
            for t, edges in enumerate(self.threads)
            for edge in edges
            if edge.source == control[t]
        ]

    def violations(self, control: Control) -> list[Bad]:
        assert isinstance(control, tuple)
        condition = self.bad(control)
        return [] if condition is None else [Bad(0, condition)]

    def overflowed(self, _control: Control) -> bool:
        return False

    def live(self, control: Control) -> frozenset[str]:
        assert isinstance(control, tuple)
        known = self.live_at(control)
        return frozenset(name for name, _ in self.wide) if known is None else known

    def described(self, control: Control) -> dict[str, object]:
        return {"points": control}
