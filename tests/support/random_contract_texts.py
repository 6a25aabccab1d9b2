"""Random contracts of one function, as text with brackets, blanks, line ends and comments wherever these may stand."""

from __future__ import annotations

from random import Random

HEADER = "port data\nreg u, v\nconst K = 3\n"
_BINARY = ("==>", "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")
_RANGED = ("forall", "exists", "sum", "count", "max", "min")


class ContractTexts:
    """Makes texts that are read without errors."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._names = 0

    def file(self) -> str:
        """Return a file with one function, and what is expected of it."""
        clauses = [self._clause() for _ in range(self.random.randrange(6))]
        bounds = [each for each in ("bounds x in 0..K", "bounds u len 0..2 len \\i..3 in \\i - \\j..9") if self._is()]
        behaviors = [self._behavior(number) for number in range(self.random.randrange(3))]
        ends = self.random.choice(["", " complete behaviors;", " disjoint behaviors b0;"]) if behaviors else ""
        written = self._spread("; ".join((*bounds, *clauses, "")) + " ".join(behaviors) + ends)
        claim = self.random.choice(["verified", "violated", "violated DL", "violated ITF from 3", "violated from 2"])
        body = self.random.choice(["{ return x }", "{\n  u = x // changed\n  return u\n}"])
        contract = f"contract{self._gap()}collective {{{written}}}"
        return f"{HEADER}fun f(x, y){self._gap()}{contract}{self._gap()}{body}\nexpect contract f {claim}\n"

    def _is(self) -> bool:
        return self.random.random() < 0.5

    def _gap(self) -> str:
        return self.random.choice([" ", "\n", "\n\n", " /* there */ ", "  // here\n"])

    def _spread(self, text: str) -> str:
        return "".join(self._gap() if each == " " and self.random.random() < 0.1 else each for each in text)

    def _behavior(self, number: int) -> str:
        assumes = f"assumes {self._expr(3, 'path')}; " if self._is() else ""
        clauses = "; ".join([self._clause() for _ in range(self.random.randrange(3))] + [""])
        return f"behavior b{number}: {assumes}{clauses}"

    def _clause(self) -> str:
        make = self.random.choice([self._state, self._state, self._assigns, self._waits, self._quiet, self._never])
        return make()

    def _state(self) -> str:
        word = self.random.choice(["requires", "ensures"])
        return f"{word} {self._expr(4, word)}"

    def _assigns(self) -> str:
        cells = ("u", "v", f"u[{self._expr(1, 'requires')}]", f"v[{self._expr(1, 'requires')}..{self._expr(1, 'requires')}]")
        return "assigns " + self.random.choice(["\\nothing", *cells, ", ".join(cells)])

    def _waits(self) -> str:
        return f"waitsfor {self._set()}{self._if()}"

    def _quiet(self) -> str:
        port = " on data" if self._is() else ""
        tag = f" tag {self._expr(2, 'path')}" if self._is() else ""
        ends = self.random.choice([f"to {self._set()}{port}{tag} until {self._set()}", f"from {self._set()}{port}{tag}"])
        return f"quiet {ends}{self._if()}"

    def _never(self) -> str:
        who, tag = self._set(), self.random.choice(["", f", {self._expr(1, 'path')}"])
        found = self.random.choice(
            [
                f"ensures \\no \\exit(PID) \\after \\enter(PID) \\until \\enter({who})",
                f"ensures \\no \\send(PID, {who}{tag}) \\after \\enter(PID) \\until \\enter({self._set()})",
                f"requires \\no \\send({who}, PID{tag}) \\after \\exit({who}) \\until \\exit(PID)",
            ]
        )
        word, _, never = found.partition(" ")
        premise = f"({self._expr(1, 'path')}) ==> " if self._is() else ""
        return f"{word} {premise}{self.random.choice([never, f'{never} && {never}'])}{self._if()}"

    def _if(self) -> str:
        return f" if {self._expr(2, 'path')}" if self._is() else ""

    def _set(self) -> str:
        one = self._expr(2, "path")
        return self.random.choice(["\\all", "\\others", one, f"{one}..{self._expr(2, 'path')}"])

    def _expr(self, depth: int, where: str, bound: tuple[str, ...] = ()) -> str:
        """Return an expression that may stand in `requires`, `ensures` or a `path` clause, often in brackets."""
        found = self._inner(depth, where, bound)
        return f"({found})" if self.random.random() < 0.3 else found

    def _inner(self, depth: int, where: str, bound: tuple[str, ...]) -> str:
        leaves = ["PID", "NPROCS", "K", "true", "0", "7", "x", "y", *bound, *(["\\result"] if where == "ensures" else [])]
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice(leaves)
        one, two = (self._expr(depth - 1, where, bound) for _ in range(2))
        self._names += 1
        name = f"t{self._names}"
        inner = self._expr(depth - 1, where, (*bound, name))
        made = [f"{one} {op} {two}" for op in self.random.sample(_BINARY, 3)]
        made += [f"-{one}" if one[0] not in "-(" else f"-({one})", f"!({one})", f"({one})[{two}]", f"v[{one}]"]
        made += [f"len({one})", f"new({one} + 1)", f"({one}) ? {two} : {self._expr(depth - 1, where, bound)}"]
        made += [f"\\let {name} = {one} : {inner}"]
        made += [f"\\{self.random.choice(_RANGED)} {name} in ({one})..({two}) : {inner}"]
        made += [f"\\{self.random.choice(_RANGED)} {self.random.choice(['', 'int '])}{name}; {inner}"]
        made += [f"({one}) {self.random.choice(['<', '<=', '=='])} ({two}) <= {leaves[-1]}", f"\\max({one}, {two})"]
        if where != "path":
            made += [f"\\on({one}, {two})", f"\\agree({one})"]
        if where == "ensures":
            made += [f"\\{self.random.choice(['pre', 'old'])}({self._expr(depth - 1, 'requires', bound)})"]
        return self.random.choice(made)
