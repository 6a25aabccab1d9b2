"""Random functions with a loop that has a contract: small bodies, and invariants that are often true and sometimes kept."""

from __future__ import annotations

import random
from typing import Final

_FRAME: Final = """\
reg g
fun shift(x)
contract collective {{
  bounds x in 0..1;
  assigns \\nothing;
  ensures \\result == \\on((PID + NPROCS - 1) % NPROCS, x);
  waitsfor (PID + NPROCS - 1) % NPROCS;
}} {{
  reg y
  send x to (PID + 1) % NPROCS
  recv y from (PID + NPROCS - 1) % NPROCS
  return y
}}
fun f(n)
contract collective {{
  bounds g in 0..1;
  bounds n in 0..3;
  requires \\agree(n);
  assigns g;
{ensures}}} {{
  reg v = {first}
  {head}
  contract loop rounds {{
    bounds g in 0..1;
    bounds v in 0..1;
    bounds n in 0..3;
{bounds}{clauses}  }} {{
{body}
  }}
{behind}}}
"""

_FIRST: Final = ("0", "g", "PID % 2", "1")
_STEPS: Final = (
    "    v = (v + 1) % 2",
    "    g = v",
    "    v = g",
    "    if PID == 0 { g = 1 - g }",
    "    if v > g { v = g }",
    "    v = shift(v)",
    "    g = shift(g)",
    "    send g to (PID + 1) % NPROCS\n    recv v from (PID + NPROCS - 1) % NPROCS",
    "    send v to (PID + 1) % NPROCS\n    recv v from any",
    "    if PID == 0 { send 1 to NPROCS - 1 }\n    if PID == NPROCS - 1 { recv v from 0 }",
    "    if PID > 0 { send v to 0 } else { for p in 1..NPROCS - 1 { recv v from any } }",
    "    if PID == 0 { for p in 0..NPROCS - 1 { send v to p } }\n    recv v from 0",
    "    if {i} % 2 == 0 { v = 0 } else { g = 1 }",
    "    if {i} == 2 && PID == 0 { send 1 to 0 }",
)
_CLAIMS: Final = (
    "v <= 1",
    "v == g",
    "v >= g",
    "\\agree(v)",
    "\\agree(g)",
    "g == \\pre(g)",
    "g != 1 || v == 1",
    "v == ({i} - 1) % 2",
    "v < 2 || g > 0",
    "(\\sum t in 0..NPROCS - 1 : \\on(t, g)) == \\sum t in 0..NPROCS - 1 : \\pre(\\on(t, g))",
    "PID == 0 ==> v == \\on(NPROCS - 1, g)",
)
_PATHS: Final = (
    "waitsfor (PID + NPROCS - 1) % NPROCS if {i} > 1;",
    "waitsfor \\all if {i} > 2;",
    "waitsfor 0 if {i} > 1 && PID > 0;",
)
_ENSURES: Final = ("g <= 1", "g == \\pre(g)", "\\agree(g)", "n < 2 || g != 1")
_WAITS: Final = ("waitsfor \\all if n > 2;", "waitsfor (PID + NPROCS - 1) % NPROCS if n > 0;")


_INNER: Final = """\
    for j in 1..{most}
    contract loop inner {{
      bounds i in 1..4;
      bounds j in 1..3;
      bounds g in 0..1;
      bounds v in 0..1;
      bounds n in 0..3;
      invariant \\agree(n) && \\agree(i);
{clauses}    }} {{
{body}
    }}"""


def random_loop(seed: int, *, nested: bool = False) -> str:
    """Return a program whose function `f` has the loop `rounds`; inputs are bounded, and there are at most three rounds.

    If `nested`, that loop contains the loop `inner`, of at most two rounds.
    """
    rng = random.Random(seed)
    by_counter = rng.random() < 0.7
    body = [rng.choice(_STEPS) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    if nested:
        body.append(_inner_loop(rng))
        rng.shuffle(body)
    claims = rng.sample(_CLAIMS, rng.choice((0, 0, 1, 1, 2)))
    clauses = [f"    invariant {each};\n" for each in ("\\agree(n)", *claims)]
    clauses += [f"    {each}\n" for each in _PATHS if rng.random() < 0.15]
    ensures = [f"  ensures {each};\n" for each in _ENSURES if rng.random() < 0.15]
    ensures += [f"  {each}\n" for each in _WAITS if rng.random() < 0.15]
    text = _FRAME.format(
        first=rng.choice(_FIRST) + ("" if by_counter else "\n  reg i = 1"),
        head="for i in 1..n" if by_counter else "while i <= n",
        bounds="    bounds i in 1..4;\n",
        clauses="".join(clauses) + ("" if by_counter else "    invariant \\agree(i);\n    decreases n - i + 1;\n"),
        body="\n".join(body) + ("" if by_counter else "\n    i = i + 1"),
        ensures="".join(ensures),
        behind=rng.choice(("", "", "  if PID == 0 { send v to NPROCS - 1 }\n  if PID == NPROCS - 1 { recv v from 0 }\n")),
    )
    return text.replace("{i}", "i")


def _inner_loop(rng: random.Random) -> str:
    claims = rng.sample(_CLAIMS, rng.choice((0, 0, 1)))
    clauses = [f"      invariant {each};\n" for each in claims]
    clauses += [f"      {each}\n" for each in _PATHS if rng.random() < 0.3]
    body = "\n".join(rng.choice(_STEPS) for _ in range(rng.choice((0, 1, 1, 2)))) or "    skip"
    most = rng.choice(("0", "1", "2", "i"))
    return _INNER.format(most=most, clauses="".join(clauses), body=body)


def random_local_loop(seed: int) -> str:
    """Return a file with a local function whose loop has a contract, which nearly holds, and a function that calls it."""
    rng = random.Random(f"local {seed}")
    head = rng.choice(("for k in 1..x", "for k in 0..len(a) - 1", "while i < x", "while i < len(a)", "while i < x - s"))
    counter = "k" if head.startswith("for") else "i"
    loop = ["bounds x in 0..2; bounds s in 0..3; bounds i in 0..3;", "bounds k in 0..4;" if counter == "k" else ""]
    loop += [f"invariant {each};" for each in rng.sample((*_LOCAL_INVARIANTS, _SUM.format(counter)), rng.randrange(4))]
    loop.append(rng.choice(("", "decreases x - i;", "decreases 3 - i;", "decreases len(a) - i;")) if counter == "i" else "")
    body = [rng.choice(_LOCAL_STEPS) for _ in range(rng.randrange(1, 3))]
    body += [rng.choice(("i = i + 1", "i = i + 1", "i = i + 2"))] if counter == "i" else []
    return f"""fun f(x, a) contract local {{
  bounds x in 0..2; bounds a len 0..2 in 0..1; assigns \\nothing;
  requires {rng.choice(("true", "len(a) == x", "x > 0 && len(a) >= x", "len(a) > 0"))};
  ensures {rng.choice(_LOCAL_ENDS)};
}} {{
  reg s, i
  {head}
  contract loop l {{ {" ".join(loop)} }} {{ {"; ".join(body)} }}
  return {rng.choice(("s", "i", "x"))}
}}
fun g(x) contract collective {{ bounds x in 0..1; assigns \\nothing; ensures \\result >= 0; }} {{
  reg b = new(x), y
  y = f(x, b)
  return y
}}
"""


_SUM = "s == \\sum j in 0..{} - 1 : a[j]"
_LOCAL_INVARIANTS = ("s >= 0", "0 <= i <= 3", "s == i", "len(a) == x", "i <= x", "s <= \\pre(x)", "x < 2")
_LOCAL_STEPS = ("s = s + 1", "s = s + a[i]", "i = i + 1", "s = s - x", "i = i + x", "if s > 1 { s = 0 }", "assume s != 2")
_LOCAL_ENDS = ("\\result >= 0", "\\result == x", "\\result <= 3", "true")
