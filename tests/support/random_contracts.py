"""Random functions with contracts: patterns of communication that nearly fit together, and clauses that nearly hold.

Every process executes the same text. Inputs have few values, so that all interleavings of all inputs can be looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable

TAGS = ("", "", " tag 1", " tag 2")
CALLEES = ("near", "far", "small")


class _Maker:
    """Writes one file: callees, and the function `f`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.fresh = 0

    def text(self) -> str:
        callees = [each for each in CALLEES if self.rng.random() < 0.5]
        functions = [self._local() if each == "small" else self._function(each, [], 1) for each in callees]
        return "\n".join(["port data", "reg u", *functions, self._function("f", callees, self.rng.choice((1, 2, 2, 3)))])

    def _local(self) -> str:
        requires = self.rng.choice(("", "requires y >= 0;", "requires y != 2;"))
        body = self.rng.choice(("return y + 1", "return y * 2", "if y > 1 { return 1 }\nreturn y"))
        bounds = "bounds y in -1..2; bounds u in 0..0;"
        return f"fun small(y) contract local {{ {bounds} {requires} assigns \\nothing; }} {{\n{body}\n}}"

    def _function(self, name: str, callees: list[str], size: int) -> str:
        body = [self._piece(callees) for _ in range(size)]
        return (
            f"fun {name}(x, root) contract collective {{\n{self._contract()}}} {{\nreg v, s\n"
            + "\n".join(body)
            + f"\nreturn {self.rng.choice(('x', 'v', 'x', 'x + v', 'PID'))}\n}}"
        )

    # clauses

    def _contract(self) -> str:
        rng = self.rng
        clauses = [
            "bounds u in 0..0;",
            rng.choice(
                (
                    "bounds x in PID..PID;",
                    "bounds x in 10 + PID..10 + PID;",
                    "bounds x in PID..PID + 1;",
                    "bounds x in 2..3;",
                )
            ),
            rng.choice(("bounds root in 0..0;", "bounds root in 0..0;", "bounds root in 0..NPROCS - 1;")),
        ]
        if rng.random() < 0.9:
            clauses.append(f"requires {rng.choice(('0 <= root < NPROCS', 'NPROCS > root >= 0'))} && \\mpi_agree(root);")
        if rng.random() < 0.7:
            clauses.append(rng.choice(("assigns \\nothing;", "assigns u;")))
        clauses += [self._state() for _ in range(rng.choice((0, 1, 1, 2)))]
        clauses += [self._path() for _ in range(rng.choice((0, 1, 1, 2)))]
        clauses += [self._quiet() for _ in range(rng.choice((0, 1, 1)))]
        if rng.random() < 0.3:
            inner = " ".join(rng.choice((self._state, self._path, self._quiet))() for _ in range(2))
            clauses.append(f"behavior b: assumes {self._condition()}; {inner}")
            if rng.random() < 0.4:
                clauses.append(f"behavior c: assumes {self._condition()}; {rng.choice(('complete', 'disjoint'))} behaviors;")
        return "".join(f"  {each}\n" for each in clauses)

    def _state(self) -> str:
        value = self.rng.choice(
            (
                "\\result == \\on(root, x)",
                "\\result >= 0",
                "\\result == x",
                "\\result != 3",
                "u == \\pre(u)",
                "PID == root ==> \\result == \\sum t in 0..NPROCS - 1 : \\on(t, x)",
                "\\forall t in 0..NPROCS - 1 : \\on(t, \\result) <= 30",
                "\\exists t in 0..NPROCS - 1 : \\on(t, u) == \\result",
                "\\agree(\\result)",
                "\\let me = PID : \\on(root, x) + me > 1",
                "\\result == \\max t in 0..NPROCS - 1 : \\on(t, x)",
                "(\\count t in 0..NPROCS - 1 : \\on(t, x) == x) <= NPROCS / x",
                "\\on((PID + 1) % NPROCS, \\result) == x",
                "-1 < \\result <= 11",
                "\\forall t; x <= \\on(t, \\result) < 30",
                "\\result == \\max(x, \\on(root, x), PID)",
                "\\exists t; \\min(\\on(t, x), \\result) == x < NPROCS || false",
            )
        )
        return f"ensures {value};"

    def _condition(self) -> str:
        return self.rng.choice(("PID == root", "PID == root", "PID != root", "PID == 0", "x > 1", "PID % 2 == 0", "u == 0"))

    def _set(self) -> str:
        return self.rng.choice(
            (
                "root",
                "root",
                "\\all",
                "\\others",
                "(PID + 1) % NPROCS",
                "(PID + NPROCS - 1) % NPROCS",
                "0..PID",
                "PID + 1",
                "1",
            )
        )

    def _if(self) -> str:
        return f" if {self._condition()}" if self.rng.random() < 0.5 else ""

    def _tag(self) -> str:
        return self.rng.choice(("", "", "", " tag 1", " tag 0", " tag x % 3", " on data"))

    def _path(self) -> str:
        if self.rng.random() < 0.5:
            return f"waitsfor {self._set()}{self._if()};"
        if self.rng.random() < 0.2:
            one, other = (f"\\no \\exit(PID) \\after \\enter(PID) \\until \\enter({self._set()})" for _ in range(2))
            return f"ensures {self._condition()} ==> {one} && {other}{self._if()};"
        return f"quiet to {self._set()}{self._tag()} until {self._set()}{self._if()};"

    def _quiet(self) -> str:
        who = self.rng.choice(("\\others", "\\others", self._set()))
        return f"quiet from {who}{self._tag()}{self._if()};"

    # bodies

    def _piece(self, callees: list[str]) -> str:
        pieces: list[Callable[[], str]] = [
            self._from_root,
            self._to_root,
            self._to_root,
            self._ring,
            self._one,
            self._answers,
            self._local_steps,
            self._local_steps,
        ]
        if callees and self.rng.random() < 0.5:
            return self._call(self.rng.choice(callees))
        return self.rng.choice(pieces)()

    def _call(self, name: str) -> str:
        rng = self.rng
        if name == "small":
            return f"{rng.choice('vx')} = small({rng.choice(('x', 'PID', 'PID - 1', 'v'))})"
        call = f"{rng.choice('vvx')} = {name}({rng.choice(('x', 'v', 'PID'))}, {rng.choice(('root', 'root', '0', 'PID'))})"
        return f"if {self._condition()} {{ {call} }}" if rng.random() < 0.08 else call

    def _noise(self, usual: str, other: str) -> str:
        return other if self.rng.random() < 0.07 else usual

    def _tags(self) -> tuple[str, str]:
        """Return what a send and a receive say, which mostly fit."""
        tag, port = self.rng.choice(TAGS), " on data" if self.rng.random() < 0.1 else ""
        taken = self.rng.choice((tag, tag, tag, "", self.rng.choice(TAGS)))
        return port + tag, port + taken

    def _from_root(self) -> str:
        sent, taken = self._tags()
        skips = self._noise("if p != root ", "")
        into = self.rng.choice(("x", "v"))
        return (
            f"if PID == root {{ for p in 0..NPROCS - 1 {{ {skips or 'if 1 '}{{ send x to p{sent} }} }} }}"
            f" else {{ recv {into} from {self.rng.choice(('root', 'root', 'any'))}{taken} }}"
        )

    def _to_root(self) -> str:
        sent, taken = self._tags()
        source = self.rng.choice(("any", "any", "any s", "named"))
        last = self._noise("NPROCS - 1", self.rng.choice(("NPROCS - 2", "NPROCS")))
        receive = f"recv v from {source}{taken}"
        if source == "named":
            receive = f"if i != root {{ recv v from i{taken} }}"
        store = self.rng.choice(("x = x + v", "x = v", "u = v", "skip"))
        first = "0" if source == "named" else "1"
        value = self.rng.choice(("x", "PID", "v"))
        more = self._noise("", f"; send {value} to root{sent}")
        takes = f"for i in {first}..{last} {{ {receive}; {store} }}"
        return f"if PID == root {{ {takes} }} else {{ send {value} to root{sent}{more} }}"

    def _ring(self) -> str:
        sent, taken = self._tags()
        source = self.rng.choice(("(PID + NPROCS - 1) % NPROCS", "(PID + NPROCS - 1) % NPROCS", "any"))
        lines = [f"send x to (PID + 1) % NPROCS{sent}", f"recv v from {source}{taken}"]
        return "\n".join(reversed(lines) if self.rng.random() < 0.08 else lines)

    def _one(self) -> str:
        sent, taken = self._tags()
        one, other = self.rng.choice((("0", "NPROCS - 1"), ("root", "0"), ("NPROCS - 1", "0")))
        receive = f"if PID == {other} {{ recv v from {self.rng.choice((one, one, 'any'))}{taken} }}"
        return self._noise(
            f"if PID == {one} {{ send x to {other}{sent} }}\n{receive}", f"if PID == {one} {{ send x to {other} }}"
        )

    def _answers(self) -> str:
        sent, taken = self._tags()
        return (
            f"if PID == root {{ for i in 1..NPROCS - 1 {{ recv v from any s{taken}; send v to s tag 3 }} }}"
            f" else {{ send x to root{sent}; recv v from root tag 3 }}"
        )

    def _local_steps(self) -> str:
        return self.rng.choice(
            (
                "x = x + 1",
                "u = x",
                "v = v + u",
                "v = x / (x - 12)",
                "assert v < 25",
                "assert x >= 0",
                "choose { skip } or { v = 1 }",
                "choose { x = PID } or { u = 0 }",
                "if x > 10 { x = x - 10 }",
                "while v > 3 { v = v / 2 }",
                "assume v != 4",
                "loop { v = (v + 1) % 3 }",
                "if v == 7 { halt }",
                "if u > 11 { return u }",
                "skip",
            )
        )


def random_contracts(seed: int) -> str:
    """Return the text of a random file; its function is `f`."""
    return _Maker(random.Random(f"contracts {seed}")).text()
