"""How the question of a command is asked whose options the frame declares: limits, what all have, and its own options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rdma_robust.limits import Limits


@dataclass(frozen=True, slots=True)
class CommandAsking:
    """How to answer: `timeout` in seconds and `memory` in mebibytes for each input, None is no limit; `values` are those of
    the command's own options, by their names."""

    timeout: float | None = None
    memory: int | None = None
    expect: bool = False
    explain: bool = False
    values: Mapping[str, object] = field(default_factory=dict)

    def described(self) -> Mapping[str, object]:
        """Return how answers are found as the `options` of a report."""
        own = {name.replace("-", "_"): value for name, value in self.values.items()}
        return {"timeout": self.timeout, "memory": self.memory, "expect": self.expect, **own}

    def limits(self) -> Limits:
        """Return the limits of one input, from now on."""
        return Limits.of(self.timeout, memory=self.memory)
