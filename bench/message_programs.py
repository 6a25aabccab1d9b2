"""The message programs of the paper's tables, rebuilt, and others of their kind: their texts, for any size.

Table I has one process that receives from N others, and a goal. The paper's is `given`; the others are what such a
program may be asked as well, and safe. LE, Router, MultiM and Pktuse are rebuilt from what the paper and its authors'
traces say of them: the numbers of messages are theirs, the programs are not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

GOALS: Final = {
    "given": "reg ok = 1\n  for i in 0..N - 1 { ok = ok && a[i] == i + 1 }\n  assert !ok",
    "max": "reg most\n  for i in 0..N - 1 { if a[i] > most { most = a[i] } }\n  assert most == N",
    "twice": "for i in 1..N - 1 { assert a[i] != a[i - 1] }",
    "sum": "reg total\n  for i in 0..N - 1 { total = total + a[i] }\n  assert total == N * (N + 1) / 2",
}
"""Goals of Table I: every value in a given place (violated), the largest arrives, none twice in a row, their sum (safe)."""


def senders(count: int, goal: str) -> str:
    """Return Table I for `count` senders: they send 1 .. count, and the server receives all."""
    return f"""program senders
const N = {count}
proc Server {{
  reg a[N]
  for i in 0..N - 1 {{ recv a[i] }}
  {GOALS[goal]}
}}
proc Client[i in 1..N] {{ send i to Server }}
"""


def leader(processes: int = 20, rounds: int = 31) -> str:
    """Return LE: leader election in a one-way ring, `processes * rounds` messages, one matching."""
    return f"""program leader
const N = {processes}
proc Node[i in 0..N - 1] {{
  reg best = (7 * i + 3) % N, v
  for r in 1..{rounds} {{
    send best to Node[(i + 1) % N]
    recv v
    if v > best {{ best = v }}
  }}
  assert best == N - 1
}}
"""


def router(nodes: int = 50) -> str:
    """Return Router: a ring in which each node sends to both neighbours, takes one, sends again, and takes three."""
    return f"""program router
const N = {nodes}
proc Node[i in 0..N - 1] {{
  reg v, right = (i + 1) % N, left = (i + N - 1) % N
  send i to right
  send i to left
  recv v
  assert v == left || v == right
  send i to right
  send i to left
  for r in 1..3 {{
    recv v
    assert v == left || v == right
  }}
}}
"""


def figure_8(rounds: int = 25) -> str:
    """Return MultiM in the style of Figure 8, 4 messages a round; the last receive is never from C: safe."""
    return f"""program multim_8
const N = {rounds}
proc A {{
  reg v, s
  for r in 1..N {{
    recv v
    recv v
    send r to B
    recv v from any s
  }}
  assert s == B
}}
proc B {{
  reg v
  for r in 1..N {{
    send 1 to A
    recv v
    send 2 to A
  }}
}}
proc C {{ for r in 1..N {{ send 3 to A }} }}
"""


def figure_1(rounds: int = 33) -> str:
    """Return MultiM in the style of Figure 1, 3 messages a round; violated, unless sends wait for their match."""
    return f"""program multim_1
const N = {rounds}
proc A {{
  reg a, b, ok = 1
  for r in 1..N {{
    recv a
    recv b
    ok = ok && a == 4
  }}
  assert ok
}}
proc B {{
  reg c
  for r in 1..N {{
    recv c
    send 1 to A
  }}
}}
proc C {{
  for r in 1..N {{
    send 4 to A
    send 9 to B
  }}
}}
"""


def traffic(messages: int = 512, *, safe: bool, tasks: int = 5, seed: int = 1) -> str:
    """Return Pktuse: random traffic between `tasks` tasks, all receives from any, as in one random run.

    The sender of every third receive is assumed to be that of the run. The safe one asserts how many messages a task gets
    from each other, the other one that its last is not from where it was in the run.
    """
    chance = random.Random(seed)
    lines: list[list[str]] = [["  reg v, s" + "".join(f", c{p}" for p in range(tasks))] for _ in range(tasks)]
    counts = [[0] * tasks for _ in range(tasks)]
    last = [0] * tasks
    flying: list[tuple[int, int]] = []
    sent = 0
    while sent < messages or flying:
        if sent < messages and (not flying or chance.random() < 0.55):
            source, to = chance.sample(range(tasks), 2)
            lines[source].append(f"  send {sent} to Task[{to}]")
            flying.append((source, to))
            sent += 1
            continue
        source, to = flying.pop(chance.randrange(len(flying)))
        counts[to][source] += 1
        last[to] = source
        lines[to].append("  recv v from any s")
        if chance.random() < 1 / 3:
            lines[to].append(f"  assume s == {source}")
        lines[to].append("".join(f"  if s == {p} {{ c{p} = c{p} + 1 }}\n" for p in range(tasks) if p != to).rstrip())
    for task, goal in enumerate(last):
        ends = [f"c{p} == {counts[task][p]}" for p in range(tasks) if p != task]
        lines[task].append("  assert " + " && ".join(ends) if safe else f"  assert s != {goal}")
    bodies = "".join(f"proc {chr(65 + task)} {{\n" + "\n".join(each) + "\n}\n" for task, each in enumerate(lines))
    for task in range(tasks):
        bodies = bodies.replace(f"Task[{task}]", chr(65 + task))
    return f"program traffic\n{bodies}"


PROGRAMS: Final[dict[str, Callable[[], str]]] = {
    "LE": leader,
    "Router": router,
    "MultiM, figure 8": figure_8,
    "MultiM, figure 1": figure_1,
    "Pktuse": lambda: traffic(safe=False),
    "Pktuse, safe": lambda: traffic(safe=True),
}
"""The benchmarks of the paper's Table II, rebuilt."""
