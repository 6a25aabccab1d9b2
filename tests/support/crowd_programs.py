"""Programs with templates that need several copies, or rely on what is remembered of each; and families."""

from __future__ import annotations

from random import Random

from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.language.load import load_decidable
from tests.support.random_deployed import _mutated

IRIW = """
node A { x = 0 }
node B { y = 0 }
node CN[*] { one = 1, p = 0, q = 0 }
thread C[*] on CN[*] {
  choose {
    put A.x = one
  } or {
    put B.y = one
  } or {
    get p = A.x
    get q = B.y
  } or {
    get p = B.y
    get q = A.x
  }
}
"""

SB = """
node A { x = 0 }
node B { y = 0 }
node CN[*] { one = 1, p = 0 }
thread C[*] on CN[*] {
  choose {
    put A.x = one
    get p = B.y
  } or {
    put B.y = one
    get p = A.x
  }
}
"""

LOCK = """
node L { lock = 0 }
node D { data = 0 }
node CN[*] { mine = 1, got = 0, seen = 0 }
thread C[*] on CN[*] {
  reg r
  get got = cas(L.lock, 0, 1)
  poll L
  r = got
  assume r == 0
  get seen = D.data
  poll D
  put D.data = mine
  put L.lock = 0
}
"""

COPIED = """
node S { x = 0, y = 0 }
node TN { one = 1, z = 0 }
node CN[*] { one = 1, a = 0 }
thread T on TN {
  get z = S.y
  put S.x = one
}
thread C[*] on CN[*] {
  reg r
  get a = S.x
  poll S
  r = a
  assume r == 0
  put S.y = one
}
"""

PASSED_ON = """
node S { x = 0, y = 0, w = 0 }
node TN { one = 1, z = 0 }
node CN[*] { a = 0 }
thread T on TN {
  get z = S.y
  put S.x = one
}
thread C[*] on CN[*] {
  get a = S.x
  poll S
  put S.w = a
}
thread U on S {
  reg r
  r = w
  assume r == 0
  y = 1
}
"""

FENCED = """
node S { x = 0, y = 0 }
node CN[*] { a = 0, b = 1 }
thread C[*] on CN[*] {
  reg r
  get a = S.x
  rfence S
  put S.y = a
  put S.x = b
}
thread T on S {
  reg r
  r = y
  x = 1
}
"""

MESSAGE = """
node S { x = 0, y = 0 }
node CN[*] { one = 1 }
thread C[*] on CN[*] {
  put S.x = one
  poll S
  put S.y = one
}
node RN[*] { p = 0, q = 0 }
thread R[*] on RN[*] {
  get p = S.y
  poll S
  get q = S.x
}
"""

TSO_SB = """
hardware cpu tso
node S { x = 0, y = 0 }
thread C[*] on S {
  reg r
  choose {
    x = 1
    r = y
  } or {
    y = 1
    r = x
  }
}
"""

TSO_FORWARDS = """
hardware cpu tso
node S { x = 0, y = 0 }
thread C[*] on S {
  reg r, q
  choose {
    x = 1
    r = x
    assume r == 1
    q = y
  } or {
    y = 1
    q = y
    assume q == 1
    r = x
  }
}
"""

TSO_OTHERS = """
hardware cpu tso
domain 0..2
node S { x = 0, y = 0 }
thread C[*] on S {
  reg r, q
  x = 1
  r = x
  assume r == 2
  q = y
}
thread D[*] on S {
  reg q
  choose {
    x = 2
  } or {
    y = 1
    mfence
    q = x
  }
}
"""

RMW = """
node S { x = 0, y = 0 }
node CN[*] { one = 1, a = 0, b = 0 }
thread C[*] on CN[*] {
  reg r
  get a = cas(S.x, 0, 1)
  put S.y = one
  get b = S.x
}
thread T on S {
  reg r
  r = y
  x = 0
}
"""

STAGED = """
node S { x = 0, y = 0 }
node CN[*] { a = 0 }
thread C[*] on CN[*] {
  reg r
  a = 1
  put S.x = a
  a = 0
  get a = S.y
  poll S
  r = a
}
thread T on S {
  reg r
  y = 1
  mfence
  r = x
}
"""


def plus_one(k: int) -> str:
    """A template without cas of which exactly k + 1 copies are needed."""
    chain = "\n".join("  r = x\n  assume r == 1\n  r = x\n  assume r == 2" for _ in range(k))
    return f"""
domain 0..2
node M {{ x = 0, a = 0 }}
node N {{ g = 0 }}
thread C[*] on M {{
  reg r
  x = 1
  x = 2
{chain}
  put N.g = a
  a = 1
}}
"""


def powers(k: int) -> str:
    """A template with cas of which exactly 2^k copies are needed."""
    rounds = "\n".join(
        f"""  choose {{
    r = cas(g, 0, {i})
    assume r == 0
    halt
  }} or {{
    r = cas(g, {i}, 0)
    assume r == {i}
  }}"""
        for i in range(1, k + 1)
    )
    return f"""
node M {{ g = 0, a = 0 }}
node N {{ h = 0 }}
thread C[*] on M {{
  reg r
{rounds}
  put N.h = a
  a = 1
}}
"""


def ring(v: int) -> str:
    """A template without values of which 2 v copies are needed: v writers and v readers in a ring."""
    nodes = "\n".join(f"node S{i} {{ x = 0 }}" for i in range(v))
    writers = [f"    put S{i}.x = one" for i in range(v)]
    readers = [f"    get p = S{i}.x\n    get q = S{(i + 1) % v}.x" for i in range(v)]
    body = "\n  } or {\n".join([*writers, *readers])
    return f"{nodes}\nnode CN[*] {{ one = 1, p = 0, q = 0 }}\nthread C[*] on CN[*] {{\n  choose {{\n{body}\n  }}\n}}\n"


NAMED = {
    "iriw": IRIW,
    "sb": SB,
    "lock": LOCK,
    "copied": COPIED,
    "passed-on": PASSED_ON,
    "fenced": FENCED,
    "message": MESSAGE,
    "tso-sb": TSO_SB,
    "tso-forwards": TSO_FORWARDS,
    "tso-others": TSO_OTHERS,
    "rmw": RMW,
    "staged": STAGED,
    "plus-one": plus_one(1),
    "plus-two": plus_one(2),
    "powers": powers(1),
}


def mutation(rng: Random) -> str | None:
    """Return a mutation of a named program that loads and has templates, None if a few attempts give none."""
    text = NAMED[rng.choice(list(NAMED))]
    for _ in range(20):
        lines = text.strip().splitlines()
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            lines = _mutated(lines, rng)
        made = "\n".join(lines) + "\n"
        try:
            if load_decidable(made, "mutation.rdma", crowds=True).crowds:
                return made
        except (ProgramError, UsageError):
            continue
    return None
