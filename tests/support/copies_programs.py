"""Programs with crowds by name: of each the text, and with how many copies it is first not robust (None: with none)."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable


@dataclass(frozen=True)
class Example:
    text: str
    least: int | None

    @property
    def program(self) -> Program:
        return load_decidable(self.text, "crowd.rdma", crowds=True)


def _lock(before_release: str) -> str:
    return f"""node S {{ lock }}
node D {{ data }}
node CN[*] {{ mine = 1, got, was }}
thread C[*] on CN[*] {{ reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  assume r == 0
  get was = D.data
  poll D
  put D.data = mine
  {before_release}
  put S.lock = 0
}}
"""


def _with_k_values(k: int) -> str:
    """Not robust with k + 1 copies, and not with fewer: k are needed to write x = 2 again."""
    again = "assume x == 1; assume x == 2; " * k
    return f"""node A {{ x, y, a }}
node N {{ g }}
thread C[*] on A {{ x = 1; x = 2; {again}put N.g = a; a = 1 }}
"""


def _with_k_doublings(k: int) -> str:
    """Not robust with 2 ** k copies, and not with fewer."""
    count = "\n".join(
        f"  choose {{ r = cas(g{i}, 0, 1); assume r == 0; halt }} or {{ r = cas(g{i}, 1, 0); assume r == 1 }}"
        for i in range(k)
    )
    words = "".join(f", g{i}" for i in range(k))
    return f"""node A {{ a{words} }}
node N {{ h }}
thread C[*] on A {{ reg r
{count}
  put N.h = a; a = 1
}}
"""


def _iriw(poll: str) -> str:
    first, second = poll.format("S"), poll.format("U")
    return f"""node S {{ x }}
node U {{ y }}
node CN[*] {{ mine, other }}
node W[*] {{ one = 1 }}
thread C[*] on CN[*] {{
  choose {{ get mine = S.x; {first} get other = U.y }} or {{ get mine = U.y; {second} get other = S.x }}
}}
thread V[*] on W[*] {{ choose {{ put S.x = one }} or {{ put U.y = one }} }}
"""


_BUFFERED = """hardware cpu tso
node A {{ x, y }}
thread C[*] on A {{ reg r; choose {{ x = 1; {0} r = y }} or {{ y = 1; {0} r = x }} }}
"""

_GUARD = """node S {{ lock }}
node CN[*] {{ got }}
thread C[*] on CN[*] {{ reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  assume r == 0
  {0}put S.lock = 0
}}
"""

_OVERWRITTEN = """hardware cpu tso
node A { x, y }
thread C[*] on A { reg r; x = 1; r = x; assume r == 2; r = y }
thread T on A { x = 2 }
thread V on A { reg q; y = 1; mfence; q = x }
"""
"""A copy reads its store from the buffer until another thread writes the word."""

_OWN_STORE = """hardware cpu tso
node A { x, y }
thread C[*] on A { reg r, s; x = 1; r = x; s = y }
thread D[*] on A { y = 1; x = 2 }
"""
"""A copy reads its store from the buffer."""

_POLLED_PUTS = """node S { x }
node U { y }
node CN[*] { one = 1, g }
node DN[*] { one = 1, g }
thread C[*] on CN[*] { put S.x = one; poll S; get g = U.y }
thread D[*] on DN[*] { put U.y = one; poll U; get g = S.x }
"""

_BEGUN = """node A { x }
node B { g, f, d }
node N { go, one = 1 }
thread C[*] on B { reg r; r = cas(g, 0, 1); assume r == 0; put N.go = 1; assume f == 1; get d = A.x }
thread V on N { assume go == 1; put A.x = one; put B.f = one }
"""
"""Beta begins behind what only the copy with the pivot can do."""

_MAILBOX = """node S { x, y }
node CN[*] { one = 1 }
thread C[*] on CN[*] { put S.x = one; put S.y = one }
thread T on S { reg r, q; r = y; q = x }
"""

_RELAY = """node S { w, x, v }
node CN[*] { one = 1, c }
node DN { d, e }
thread T on S { w = 1; x = 1 }
thread C[*] on CN[*] { get c = S.x; assume c == 1; put S.v = one }
thread D on DN { get d = S.v; assume d == 1; get e = S.w }
"""
"""A copy waits for what its card writes to its own word."""

_READS_PIVOT = """node S { x, y, v }
node CN[*] { one = 1, c }
node DN { d, e }
thread T on S { y = 1; x = 1 }
thread C[*] on CN[*] { get c = S.x; poll S; assume c == 0; put S.v = one }
thread D on DN { get d = S.v; get e = S.y }
"""
"""A copy goes on only where it reads what was there before the pivot."""

_ACKNOWLEDGED = """hardware order multipath
node S { data, flag }
node CN[*] { }
thread C[*] on CN[*] { put S.data = 1; poll S; put S.flag = 1 }
thread U on S { reg r; assume flag == 1; r = data }
"""

_ACCUMULATES = """hardware order accumulate
node S { x }
node CN[*] { a, b }
thread C[*] on CN[*] { get a = fetch(S.x); get b = fetch(S.x); poll S; poll S }
thread U on S { x = 1 }
"""
"""No copy sees the word change twice."""

_BESIDE_CARD = """node H { flag }
node G via H { data }
node CN[*] { one = 1 }
node P { f, scratch }
thread C[*] on CN[*] { put G.data = one; put H.flag = one }
thread Proxy on P { get f = fetch(H.flag); get scratch = G.data }
"""
"""Who has seen the flag lands what was issued before it."""

_BEHIND_CARD = """node H { unused }
node G via H { data, flag }
node CN[*] { one = 1 }
thread C[*] on CN[*] { put G.data = one; put G.flag = one }
thread Kernel on G { reg r; r = flag; r = data }
"""

EXAMPLES = {
    "store buffers": Example(_BUFFERED.format(""), 2),
    "store buffers, fenced": Example(_BUFFERED.format("mfence;"), None),
    "puts": Example("node S { x }\nnode CN[*] { c = 1 }\nthread C[*] on CN[*] { put S.x = c; poll S }\n", None),
    "guard": Example(_GUARD.format(""), None),
    "lock": Example(_lock("get was = D.data; poll D; poll D"), None),
    "lock, not flushed": Example(_lock("skip"), 2),
    **{f"{k + 1} copies": Example(_with_k_values(k), k + 1) for k in range(3)},
    **{f"{2**k} copies": Example(_with_k_doublings(k), 2**k) for k in (1, 2)},
    "IRIW": Example(_iriw(""), 4),
    "IRIW, polled": Example(_iriw("poll {};"), None),
    "IRIW, polled, order none": Example("hardware order none\n" + _iriw("poll {};"), None),
    "a store that another one overwrites": Example(_OVERWRITTEN, None),
    "a store that is read from the buffer": Example(_OWN_STORE, 2),
    "polled puts": Example(_POLLED_PUTS, 2),
    "a hero that has begun": Example(_BEGUN, 1),
    "mailbox": Example(_MAILBOX, None),
    "a relay of own words": Example(_RELAY, None),
    "a copy that reads the pivot": Example(_READS_PIVOT, None),
    "acknowledged flags": Example(_ACKNOWLEDGED, None),
    "a fetch of what nobody writes": Example(
        "node S { x, y }\nnode CN[*] { a }\nthread C[*] on CN[*] { swap(S.x, 2); get a = fetch(S.y) }\n"
        "thread U on S { reg r; r = y; r = x }\n",
        None,
    ),
    "accumulates of one word": Example(_ACCUMULATES, None),
    "a flag beside a card": Example(_BESIDE_CARD, None),
    "data and flag behind a card": Example(_BEHIND_CARD, None),
}
