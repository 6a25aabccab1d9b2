"""The limits of `reach` and `verify`."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.limits import Limits
from rdma_robust.model import Model


@dataclass(frozen=True, slots=True)
class SafetyLimits:
    """The hardware and the limits for each program; None means no limit. `define` are definitions that reports repeat."""

    hardware: Model
    timeout: float | None
    max_states: int | None
    memory: int | None
    define: tuple[str, ...] = ()

    def described(self) -> dict[str, object]:
        """Return the limits as the `options` of a report."""
        limits = {"timeout": self.timeout, "max_states": self.max_states, "memory": self.memory}
        return self.hardware.described() | limits | {"define": list(self.define)}

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return Limits.of(self.timeout, self.max_states, self.memory)
