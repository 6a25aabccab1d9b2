"""Named message programs, each about one rule, with what happens under zero, infinite and any."""

from __future__ import annotations

from typing import NamedTuple


class Expected(NamedTuple):
    """Under one buffer semantics: whether something is violated, deadlocks, leaks, and how many pairs and matchings."""

    violated: bool = False
    deadlocked: bool = False
    leaking: bool = False
    pairs: int = 0
    matchings: int = 0


class Named(NamedTuple):
    """A program, with what happens under zero, infinite and any."""

    text: str
    expected: tuple[Expected, Expected, Expected]


def _same(expected: Expected) -> tuple[Expected, Expected, Expected]:
    return expected, expected, expected


_GO = Expected(pairs=3, matchings=1)
_LATE = Expected(violated=True, pairs=5, matchings=2)

NAMED = {
    "figure 1": Named(
        """
        proc T0 { reg a, b; recv a; recv b; assume b > 0; assert a == 4 }
        proc T1 { reg c; recv c; send 1 to T0 }
        proc T2 { send 4 to T0; send 9 to T1 }
        """,
        (_GO, _LATE, _LATE),
    ),
    "figure 4": Named(
        """
        proc T0 { reg a, b; req h1, h2; h1 = irecv a; h2 = irecv b; wait h2; wait h1; assert a == 1 && b == 2 }
        proc T1 { req h3, h4; h3 = isend 1 to T0; wait h3; h4 = isend 2 to T0; wait h4 }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "messages keep their order": Named(
        """
        proc A { reg x, y; recv x; recv y; assert x == 1 && y == 2 }
        proc B { req h, k; h = isend 1 to A; k = isend 2 to A; wait h, k }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "receives keep their order": Named(
        """
        proc A { reg x, y; req h, k; h = irecv x; k = irecv y from B; wait h, k; assert x == 1 }
        proc B { send 1 to A; send 2 to A }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "tags may overtake": Named(
        """
        proc A { reg x, y; recv x tag 2; recv y tag 1; assert x == 2 && y == 1 }
        proc B { send 1 to A tag 1; send 2 to A tag 2 }
        """,
        (Expected(deadlocked=True), Expected(pairs=2, matchings=1), Expected(deadlocked=True, pairs=2, matchings=1)),
    ),
    "sources are told apart": Named(
        """
        proc A { reg x, y; recv x from C; recv y from B; assert x == 2 }
        proc B { send 1 to A }
        proc C { send 2 to A }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "ports are told apart": Named(
        """
        port left, right
        proc A { reg x, y; recv x on right; recv y on left; assert x == 2 }
        proc B { send 1 to A on left }
        proc C { send 2 to A on right }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "processes are told apart": Named(
        """
        proc A { reg x; recv x; assert x == 2 }
        proc B { reg x; recv x; assert x == 1 }
        proc C { send 1 to B; send 2 to A }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "head to head": Named(
        """
        proc A { reg x; send 1 to B; recv x }
        proc B { reg x; send 2 to A; recv x }
        """,
        (Expected(deadlocked=True), Expected(pairs=2, matchings=1), Expected(deadlocked=True, pairs=2, matchings=1)),
    ),
    "nobody sends": Named("proc A { reg x; recv x }", _same(Expected(deadlocked=True))),
    "a posted receive is enough": Named(
        """
        proc A { send 1 to B; send 2 to C }
        proc B { reg x, y; req h; h = irecv x from A; recv y from C; wait h }
        proc C { reg z; recv z from A; send z to B }
        """,
        _same(Expected(pairs=3, matchings=1)),
    ),
    "only any": Named(
        """
        proc A { reg x; send 1 to S; send 2 to B; send 3 to S; recv x from S }
        proc B { reg x; recv x; send 4 to S }
        proc S {
          reg v, s
          recv v from any s
          if s == A { recv v from B; recv v from A; send 5 to A }
          else { recv v from A; send 5 to A; recv v from A }
        }
        """,
        (
            Expected(pairs=5, matchings=1),
            Expected(pairs=7, matchings=2),
            Expected(deadlocked=True, pairs=7, matchings=2),
        ),
    ),
    "two buffers": Named(
        """
        proc A { reg x; send 1 to S; send 1 to S; send 2 to B; send 3 to S; recv x from S }
        proc B { reg x; recv x; send 4 to S }
        proc S {
          reg v, s
          recv v from any s
          recv v from A
          if s == A { recv v from B; recv v from A; send 5 to A }
          else { recv v from A; send 5 to A; recv v from A }
        }
        """,
        (
            Expected(pairs=6, matchings=1),
            Expected(pairs=9, matchings=2),
            Expected(deadlocked=True, pairs=9, matchings=2),
        ),
    ),
    "a buffer lets another be first": Named(
        """
        proc A { reg x; send 1 to S }
        proc B { send 6 to D; send 4 to S }
        proc D { reg x; recv x from S; recv x from B }
        proc S { reg v, s; recv v from any s; if s == B { recv v; send 0 to D; send 0 to A } else { send 0 to D; recv v } }
        """,
        (
            Expected(pairs=4, matchings=1),
            Expected(leaking=True, pairs=6, matchings=2),
            Expected(deadlocked=True, leaking=True, pairs=6, matchings=2),
        ),
    ),
    "a server": Named(
        """
        daemon proc S { reg v, s; while 1 { recv v from any s; if v == 0 { halt } } }
        proc A { send 1 to S; send 0 to S }
        """,
        _same(Expected(pairs=2, matchings=1)),
    ),
    "a daemon waits": Named(
        "daemon proc S { reg v; recv v; recv v }\nproc A { send 1 to S }", _same(Expected(pairs=1, matchings=1))
    ),
    "a daemon sends": Named(
        "daemon proc S { send 1 to A }\nproc A { skip }",
        (
            Expected(deadlocked=True),
            Expected(leaking=True, matchings=1),
            Expected(deadlocked=True, leaking=True, matchings=1),
        ),
    ),
    "lost": Named(
        """
        proc A { reg x, y; req h; h = irecv x; h = irecv y; wait h; assert x == 0 && y == 2 }
        proc B { req h; h = isend 1 to A; h = isend 2 to A; h = isend 3 to A }
        """,
        _same(Expected(leaking=True, pairs=2, matchings=1)),
    ),
    "stopped on the way": Named(
        """
        proc A { reg x; recv x; assert x == 0; x = 1 / (x - 1); recv x }
        proc B { send 1 to A; reg y; recv y }
        """,
        _same(Expected(violated=True, pairs=1)),
    ),
    "assumed otherwise": Named(
        """
        proc A { reg x; recv x; assume x == 1; assert 0 }
        proc B { send 1 to A }
        proc C { send 2 to A }
        """,
        (
            Expected(violated=True, deadlocked=True, pairs=2),
            Expected(violated=True, leaking=True, pairs=2, matchings=1),
            Expected(violated=True, deadlocked=True, leaking=True, pairs=2, matchings=1),
        ),
    ),
    "it computes forever": Named(
        """
        proc A { reg x; while 1 { x = 1 - x } }
        proc B { reg x; recv x }
        """,
        _same(Expected()),
    ),
    "it may compute forever": Named(
        """
        proc A { loop { skip } }
        proc B { reg x; recv x from B }
        """,
        _same(Expected(deadlocked=True)),
    ),
    "all of an array": Named(
        """
        proc A { reg a[2]; req h[2]; for i in 0..1 { h[i] = irecv a[i] }; wait h; assert a[0] + a[1] == 3 }
        proc B { send 1 to A }
        proc C { send 2 to A }
        """,
        _same(Expected(pairs=4, matchings=2)),
    ),
}
