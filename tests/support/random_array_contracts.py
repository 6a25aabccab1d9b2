"""Random functions with contracts that work with arrays and library procedures, and send around the calls they make.

As random_contracts; here parameters and globals are arrays, so that lengths, indices, frames of cells and faults matter.
"""

from __future__ import annotations

import random
from itertools import count

from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import ProgramError


class _Maker:
    """Writes one file: a callee `near` and the function `f`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def text(self) -> str:
        near = self._function("near", 1, calls=False)
        return "\n".join(["reg u", near, self._function("f", self.rng.choice((1, 2, 2)), calls=self.rng.random() < 0.7)])

    def _function(self, name: str, size: int, *, calls: bool) -> str:
        pieces = [self._piece() for _ in range(size)]
        if calls:
            pieces.insert(self.rng.randint(0, size), self._call())
        pieces.append(f"return {self.rng.choice(('a', 'a', 'b', 'v', 'new(NPROCS)'))}")
        start = "reg v, s, b = new(NPROCS)"
        return f"fun {name}(a) contract collective {{\n{self._contract()}}} {{\n" + "\n".join([start, *pieces]) + "\n}"

    def _contract(self) -> str:
        rng = self.rng
        clauses = [
            rng.choice(("bounds u len 2..2 in 0..0;", "bounds u len 1..2 in PID + \\i..PID + \\i;", "bounds u in 0..0;")),
            rng.choice(
                (
                    "bounds a len NPROCS..NPROCS in 10 * PID + \\i..10 * PID + \\i;",
                    "bounds a len 1..2 in PID..PID;",
                    "bounds a len 2..2 len 1..2 in PID + \\j..PID + \\j;",
                    "bounds a len PID..PID + 1 in \\i..\\i;",
                )
            ),
        ]
        if rng.random() < 0.5:
            clauses.append(rng.choice(("requires len(a) > 0;", "requires \\agree(len(a));", "requires len(a) == NPROCS;")))
        if rng.random() < 0.8:
            clauses.append(
                rng.choice(("assigns \\nothing;", "assigns u[0];", "assigns u[0..PID];", "assigns u;", "assigns u[1];"))
            )
        clauses += [f"ensures {self._state()};" for _ in range(rng.choice((0, 1, 1, 2)))]
        clauses += [self._path() for _ in range(rng.choice((0, 1, 1, 2)))]
        if rng.random() < 0.3:
            clauses.append(f"behavior b: assumes {self._condition()}; ensures {self._state()}; assigns u[0]; {self._path()}")
        return "".join(f"  {each}\n" for each in clauses)

    def _state(self) -> str:
        return self.rng.choice(
            (
                "\\result == a",
                "\\result == \\on(0, a)",
                "len(\\result) == NPROCS",
                "\\forall t in 0..len(\\result) - 1 : \\result[t] >= 0",
                "\\let me = PID : \\forall t in 0..NPROCS - 1 : \\result[t] == \\on(t, a[me])",
                "\\forall t in 0..NPROCS - 1 : \\result[t] == \\on(t, a[0])",
                "u[0] == \\pre(u[0])",
                "u == \\pre(u)",
                "len(u) > 1 ==> u[1] == \\pre(u)[1]",
                "u[0] == \\on((PID + 1) % NPROCS, a[0])",
                "(\\sum t in 0..len(a) - 1 : a[t]) <= \\max t in 0..NPROCS - 1 : \\on(t, a[0])",
                "\\agree(len(\\result))",
                "PID == 0 ? \\result == a : \\result != new(NPROCS)",
            )
        )

    def _condition(self) -> str:
        return self.rng.choice(("PID == 0", "PID != 0", "len(a) > 1", "a[0] > 0", "u[0] == 0", "PID % 2 == 1"))

    def _path(self) -> str:
        rng = self.rng
        who = rng.choice(("0", "\\all", "\\others", "(PID + 1) % NPROCS", "len(a)", "a[0]", "0..PID - 1"))
        condition = f" if {self._condition()}" if rng.random() < 0.4 else ""
        tag = rng.choice(("", "", " tag 1", " tag len(a)", " tag 2"))
        kind = rng.choice(("waitsfor", "quiet to", "quiet from", "quiet from", "quiet from"))
        if kind == "waitsfor":
            return f"waitsfor {who}{condition};"
        if kind == "quiet to":
            until = rng.choice(("0", "\\all"))
            return f"quiet to {who}{tag} until {until}{condition};"
        who = rng.choice(("\\others", who))
        return f"quiet from {who}{tag}{condition};"

    def _call(self) -> str:
        rng = self.rng
        call = rng.choice(
            (
                "a = near(a)",
                "b = near(b)",
                "v = near(a)",
                "barrier()",
                "b = gather(v, 0)",
                "v = allreduce(PID)",
                "a = bcast(a, 0)",
            )
        )
        around = rng.random()
        tag = rng.choice(("", " tag 1", " tag 2"))
        if around < 0.35:
            return f"{call}\nif PID == 1 {{ send a to 0{tag} }}\nif PID == 0 && NPROCS > 1 {{ recv v from 1{tag} }}"
        if around < 0.45:
            return f"if PID == 1 {{ send a to 0{tag} }}\n{call}\nif PID == 0 && NPROCS > 1 {{ recv v from 1{tag} }}"
        if around < 0.5:
            return f"if PID == 0 && NPROCS > 1 {{ recv v from 1{tag} }}\n{call}\nif PID == 1 {{ send a to 0{tag} }}"
        if around < 0.56:
            return f"if {self._condition()} {{ {call} }}"
        return call

    def _piece(self) -> str:
        rng = self.rng
        tag = rng.choice(("", "", " tag 1", " tag 2"))
        taken = rng.choice((tag, tag, ""))
        item = rng.choice(("a", "a[0]", "a[PID]", "u", "b[PID]", "PID"))
        into = rng.choice(("v", "b[s]", "b[i]", "a[0]", "u[0]", "a"))
        to_all = f"for i in 0..NPROCS - 1 {{ send {item} to i{tag} }}\n"
        of_many = f"for i in 1..NPROCS - 1 {{ recv v from any s{taken}; b[i] = v }}"
        stored = into.replace("[i]", "[0]")
        return rng.choice(
            (
                to_all + f"for i in 0..NPROCS - 1 {{ recv {into} from i{taken} }}",
                to_all + f"for i in 0..NPROCS - 1 {{ recv v from any s{taken}; b[s] = v }}",
                f"if PID == 0 {{ {of_many} }} else {{ send {item} to 0{tag} }}",
                f"send {item} to (PID + 1) % NPROCS{tag}\nrecv {stored} from (PID + NPROCS - 1) % NPROCS{taken}",
                f"if PID == 0 {{ for i in 1..NPROCS - 1 {{ send {item} to i{tag} }} }} else {{ recv a from 0{taken} }}",
                f"u[0] = {rng.choice(('a[0]', '0', 'len(a)', 'u[0]'))}",
                f"u[{rng.choice(('PID', '1'))}] = u[0]",
                "for i in 0..len(a) - 1 { a[i] = a[i] + 1 }",
                "u = a",
                "b = a",
                "assert len(a) > 1 || PID == 0",
                "choose { b[0] = 1 } or { b = a }",
                "while len(a) > NPROCS { a = new(NPROCS) }",
                "a = new(len(a))",
            )
        )


def random_array_contracts(seed: int) -> str:
    """Return the text of a random file; its function is `f`. Clauses use no input as a number and as an array."""
    for attempt in count():
        text = _Maker(random.Random(f"arrays {seed} {attempt}")).text()
        try:
            load_contracts(text, "t.mp")
        except ProgramError as error:
            if all(each.code == "RR961" for each in error.diagnostics):
                continue
        return text
    raise AssertionError("attempts have no end")
