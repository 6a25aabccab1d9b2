"""How many states the engine `states` needs of servers with clients, with and without interchangeable processes, and of
programs in which many wait for sends that may be buffered.

`python -m bench message-states` writes both tables of docs/benchmarks-messages.md. Numbers of states are those of any
machine; seconds are of processor, from the program to the answer that is not replayed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final
from unittest.mock import patch

from bench.measure import keep
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine import states
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageEngine, MessageQuestions

PAGE: Final = Path(__file__).resolve().parents[1] / "docs/benchmarks-messages.md"
SECONDS: Final = 20.0

CLIENTS: Final = {
    "answers": """
        proc Server { reg v, s; for j in 1..N { recv v from any s; send v to s } }
        proc Client[i in 1..N] { reg x; send i to Server; recv x from Server; assert x == i }
        """,
    "lock": """
        proc Server { reg v, s; for j in 1..N { recv v from any s tag 1; send v to s; recv v from s tag 2 } }
        proc Client[i in 1..N] { reg x; send 1 to Server tag 1; recv x from Server; send 2 to Server tag 2 }
        """,
    "account": """
        proc Server { reg v, s, sum; for j in 1..2 * N { recv v from any s; sum = sum + v; assert sum >= 0; send sum to s } }
        proc Client[i in 1..N] { reg x; send 1 to Server; recv x from Server; send -1 to Server; recv x from Server }
        """,
    "commit, in order": """
        proc Server { reg v, all = 1
          for j in 1..N { recv v; all = all && v }; for j in 1..N { send all to Client[j] } }
        proc Client[i in 1..N] { reg v, d
          choose { v = 0 } or { v = 1 }; send v to Server; recv d from Server; assert v || !d }
        """,
}
"""A server and N clients. Of the last the server sends to one after the other, so they are not interchangeable."""

WAITING: Final = {
    "both neighbours": """
        proc P[i in 0..N - 1] { reg x, y; send i to (i + 1) % N; send i to (i + N - 1) % N; recv x; recv y }
        """,
    "both neighbours, even and odd": """
        proc P[i in 0..N - 1] { reg x, y
          if i % 2 { recv x; recv y }; send i to (i + 1) % N; send i to (i + N - 1) % N; if i % 2 == 0 { recv x; recv y } }
        """,
    "pairs, then a server": """
        proc Server { reg x; for j in 1..N { recv x } }
        proc P[i in 1..N] { reg y
          if i % 2 { send i to P[i + 1]; recv y from P[i + 1] } else { recv y from P[i - 1]; send i to P[i - 1] }
          send i to Server }
        """,
}
"""Programs in which every send is waited for."""


def decided(engine: MessageEngine, text: str, count: int, buffer: Buffer) -> tuple[BufferAnswer, float]:
    program: MessageProgram = load_messages(f"const N = {count}\n{text}", "bench.mp")
    started = time.process_time()
    return engine(program, buffer, MessageQuestions(pairs=False), Limits.of(SECONDS)), time.process_time() - started


def _without(text: str, count: int) -> tuple[BufferAnswer, float]:
    with patch.object(states, "interchangeable_processes", return_value=None):
        return decided(by_states, text, count, "zero")


def report(say: Callable[[str], None]) -> None:
    """Measure all and write the tables."""
    lines = ["| clients | N | states | s | states, all | s | `sat`, s |", "|" + "---|" * 7]
    for name, text in CLIENTS.items():
        for count in (8, 12, 40):
            with_, without = decided(by_states, text, count, "zero"), _without(text, count)
            solved = decided(by_sat, text, count, "zero")
            lines.append(f"| {name} | {count} | {_states(*with_)} | {_states(*without)} | {_seconds(*solved)} |")
            say(lines[-1])
    heads = "many wait for sends", "N", "deadlock under `any`", "states", "s", "states under `infinite`"
    lines += ["", f"| {' | '.join(heads)} |", "|" + "---|" * 6]
    for name, text in WAITING.items():
        for count in (10, 20, 40):
            found, seconds = decided(by_states, text, count, "any")
            infinite, _ = decided(by_states, text, count, "infinite")
            cells = f"{found.deadlocked} | {_states(found, seconds)} | {infinite.work['states']:,}"
            lines.append(f"| {name} | {count} | {cells} |")
            say(lines[-1])
    keep(PAGE, "<!-- message-states: begin -->", "<!-- message-states: end -->", "\n".join(lines))


def _states(answer: BufferAnswer, seconds: float) -> str:
    more = "> " if answer.reason else ""
    return f"{more}{answer.work['states']:,} | {_seconds(answer, seconds)}"


def _seconds(answer: BufferAnswer, seconds: float) -> str:
    return f"> {SECONDS:g}" if answer.reason else f"{seconds:.2f}"
