"""Message programs in words, for tests of what users see."""

from __future__ import annotations

from pathlib import Path
from typing import Final

RELAY: Final = """program relay
proc Server {
  reg v, s
  recv v from any s
  assert v == 1
}
proc Client[i in 1..2] { send i to Server }
expect violated, race
expect deadlock under zero, any
expect no deadlock, matchings 2 under infinite
"""
"""Violated if the second client is first; the message that is left over leaks, or its sender waits forever."""

SWAP: Final = """program swap
proc Ping {
  reg v
  send 1 to Pong
  recv v from Pong
}
proc Pong {
  reg v
  send 2 to Ping
  recv v from Ping
}
expect holds, no race
expect no deadlock under infinite
expect deadlock under zero, any
"""
"""Hangs only where messages are not buffered."""

RING: Final = """program ring
const N = 3
proc P[i in 0..N - 1] {
  reg v
  if i == 0 {
    send 1 to P[1]
    recv v from P[N - 1]
  } else {
    recv v from P[i - 1]
    send v + i to P[(i + 1) % N]
  }
  assert v > 0
}
expect holds, no deadlock, no race, matchings 1
"""
"""Good under every buffer semantics."""

BROKEN: Final = """program broken
proc P { send 1 to Q }
proc Q { reg v
  recv v frm P
}
"""

MANY: Final = """program many
const N = 14
proc Server {
  reg v[N]
  for k in 0..N - 1 { recv v[k] }
  for k in 1..N - 1 { assert v[k] + v[k - 1] < 2 * N }
}
proc Client[i in 1..N] { send i to Server }
"""
"""Holds, with a state for each order of the messages, since it computes with them: more than a short time is enough for."""

TRACE: Final = """{"format": "rdma-robust/message-trace", "version": 1, "processes": [
{"name": "P", "events": [
{"op": "recv", "into": "a", "from": "any", "tag": 7, "matched": [1, 0]},
{"op": "recv", "into": "b", "from": "any"},
{"op": "assert", "expr": "a == 1"}]},
{"name": "Q", "events": [
{"op": "send", "to": 0, "tag": 7, "value": "1"}]},
{"name": "R", "events": [
{"op": "isend", "to": 0, "tag": 7, "value": "2 + 3", "request": "h"},
{"op": "wait", "request": "h"}]}]}
"""
"""A recorded run; its assertion is false if R is first."""

TEXTS: Final = {"relay": RELAY, "swap": SWAP, "ring": RING, "broken": BROKEN, "many": MANY}


def written(folder: Path, *names: str) -> None:
    """Write programs of these names into a folder."""
    for name in names:
        (folder / f"{name}.mp").write_text(TEXTS[name])
