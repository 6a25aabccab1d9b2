"""Random functions of the patterns that are proved for every n, nearly right: stars, rings, lines, all to all."""

from __future__ import annotations

import random
from typing import Final

_STAR: Final = (
    """if PID == root {{ for i in {low}..NPROCS - {one} {{ if i != root {{ send {x} to i{tag} }} }} }}
  else {{ recv v from root{tag} }}""",
    """if PID == root {{ for i in {low}..NPROCS - {one} {{ if i != root {{ recv v from i{tag}\n {use} }} }} }}
  else {{ send {x} to root{tag} }}""",
    """if PID == root {{
    for i in 0..NPROCS - 1 {{ if i != root {{ send {x} to i{tag} }} }}
    for i in {low}..NPROCS - {one} {{ if i != root {{ recv v from i{other}\n {use} }} }}
  }} else {{\n recv v from root{tag}\n send {y} to root{other}\n }}""",
)
_RING: Final = (
    "send {x} to (PID + {k}) % NPROCS{tag}\n recv v from (PID + NPROCS - {k}) % NPROCS{tag}",
    "recv v from (PID + NPROCS - {k}) % NPROCS{tag}\n send {x} to (PID + {k}) % NPROCS{tag}",
    "send {x} to (PID + 1) % NPROCS{tag}\n send {y} to (PID + 1) % NPROCS{other}\n"
    " recv v from (PID + NPROCS - 1) % NPROCS{first}\n recv w from (PID + NPROCS - 1) % NPROCS{second}",
)
_LINE: Final = (
    """if PID > 0 {{ send {x} to PID - 1{tag} }}\n if PID < NPROCS - {one} {{ recv v from PID + 1{tag} }}""",
    """if PID > 0 {{ recv v from PID - 1{tag} }}\n if PID < NPROCS - 1 {{ send {y} to PID + 1{tag} }}""",
    """if PID % 2 == {low} {{ if PID < NPROCS - 1 {{ send {x} to PID + 1{tag}\n recv v from PID + 1{other} }} }}
  else if PID > {low} {{ recv v from PID - 1{tag}\n send {y} to PID - 1{other} }}""",
)
_ALL: Final = (
    """for i in 0..NPROCS - 1 {{ send {x} to i{tag} }}\n for i in {low}..NPROCS - 1 {{ recv v from i{tag}\n {use} }}""",
    """for i in {low}..NPROCS - {one} {{
    send {x} to (PID + i) % NPROCS tag i\n recv v from (PID - i + NPROCS) % NPROCS tag i\n {use}\n }}""",
    """for i in 1..NPROCS - 1 {{ send {x} to (PID + i) % NPROCS }}
  for i in 1..NPROCS - 1 {{ recv v from (PID {sign} i + NPROCS) % NPROCS\n {use} }}""",
)
_ENSURES: Final = (
    "\\result == x",
    "\\result == \\on(root, x)",
    "\\result == \\on((PID + 1) % NPROCS, x)",
    "\\result == \\on((PID + NPROCS - 1) % NPROCS, x)",
    "PID > 0 ==> \\result == \\on(PID - 1, x)",
    "PID < NPROCS - 1 ==> \\result == \\on(PID + 1, x)",
    "\\result == \\sum t in 0..NPROCS - 1 : \\on(t, x)",
    "PID == root ==> \\result == \\sum t in 0..NPROCS - 1 : \\on(t, x)",
    "\\result == \\on(NPROCS - 1, x)",
    *("1 == 1",) * 6,
)
_PATHS: Final = (
    "waitsfor root;",
    "waitsfor \\all;",
    "waitsfor \\all if PID == root;",
    "waitsfor PID + 1;",
    "waitsfor PID - 1;",
    "waitsfor (PID + 1) % NPROCS;",
    "waitsfor (PID + NPROCS - 1) % NPROCS;",
    "quiet to \\all until root if PID != root;",
    "quiet to root until \\all;",
    "quiet to PID + 1 until PID - 1;",
    *("",) * 12,
)


def pattern_text(rng: random.Random) -> str:
    """Return a file with one function, `f`."""
    pieces = [rng.choice(rng.choice((_STAR, _RING, _LINE, _ALL))) for _ in range(rng.choice((1, 1, 2)))]
    body = "\n  ".join(_filled(rng, each) for each in pieces)
    clauses = [f"ensures {rng.choice(_ENSURES)};", rng.choice(_PATHS), rng.choice(_PATHS)]
    return (
        "fun f(x, root) contract collective {\n  bounds x in 10 + PID..10 + PID; bounds root in 0..NPROCS - 1;\n"
        "  requires 0 <= root && root < NPROCS && \\agree(root); assigns \\nothing;\n  "
        + "\n  ".join(clauses)
        + f"\n}} {{\n  reg v = x, w, sum = x\n  {body}\n  return {rng.choice(('v', 'v', 'w', 'sum', 'x'))}\n}}\n"
    )


def _filled(rng: random.Random, piece: str) -> str:
    tag, other = rng.choice((("", ""), ("", " tag 1"), (" tag 1", " tag 2"), (" tag 1", " tag 1")))
    first, second = rng.choice(((tag, other), (other, tag), ("", "")))
    return piece.format(
        low=rng.choice((0, 0, 0, 1)),
        one=rng.choice((1, 1, 1, 2)),
        k=rng.choice((1, 1, 2)),
        x=rng.choice(("x", "x", "v")),
        y=rng.choice(("x", "v", "w")),
        use=rng.choice(("sum += v", "sum += v", "w = v", "")),
        sign=rng.choice("-+"),
        tag=tag,
        other=other,
        first=first,
        second=second,
    )
