"""Where processes are at the end of a run that violates a contract, and why they stay there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a process is at the end of a run: what comes next for it, at which statement, with whom.

    `complete` is the wait for a send that somebody has to get; `stopped` is by a fault or a false assumption.
    """

    process: int
    next: Literal["enter", "exit", "send", "recv", "complete", "left", "halted", "stopped"]
    span: Span = field(default=NO_SPAN, compare=False)
    peer: int | None = None
    port: int = 0
    tag: int | None = None


def why_it_stays(standing: Standing, ports: tuple[str, ...], names: str = "", at: str = "", *, several: bool = False) -> str:
    """Return why a process, or all of `names` (`several`), never leave; `at` says where, and `ports` are names of ports."""
    names = names or f"process {standing.process}"
    waits = f"{names} {'wait' if several else 'waits'}{at}"
    asked = standing.tag if standing.next == "recv" else standing.tag or None
    message = f"a message{message_words(standing.port, asked, ports)}"
    match standing.next:
        case "recv":
            source = "any" if standing.peer is None else f"process {standing.peer}"
            return f"{waits} for {message} from {source}"
        case "complete":
            return f"{waits} for process {standing.peer} to take {message}"
        case "halted":
            return f"{names} {'halt' if several else 'halts'}{at}"
        case _:
            return f"{names} {'do' if several else 'does'} not leave"


def message_words(port: int, tag: int | None, ports: tuple[str, ...]) -> str:
    """Return the tag and the port of a message, as far as it has them."""
    tagged = "" if tag is None else f" with tag {tag}"
    return f"{tagged} on {ports[port]}" if port else tagged
