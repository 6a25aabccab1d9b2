"""Terms of unrolled programs as terms of z3: exact integers, with `/` and `%` as in C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rdma_robust.messages.encoding.possible_values import component
from rdma_robust.messages.encoding.symbolic_terms import LEAVES, Symbol
from rdma_robust.messages.encoding.unrolled import SendEvent, Unrolled
from rdma_robust.messages.engines.smt_solver import SmtSolver

_TRUTHS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "!", "&&", "||"})

Matches = Callable[[int], Sequence[tuple[SendEvent, Any]]]
"""The candidates of a receive, by its number, each with the Boolean of the match."""


class SmtTerms:
    """Numbers and truths, each made once. What is received is what is sent, by the match (MP), if `linked`."""

    def __init__(self, solver: SmtSolver, unrolled: Unrolled, matches: Matches, *, linked: bool = True) -> None:
        self._solver, self._z3 = solver, solver.z3
        self._unrolled, self._matches, self._linked = unrolled, matches, linked
        self._made: dict[int, Any] = {}
        self._new_leaves: list[Symbol] = []

    def truth(self, symbol: Symbol) -> Any:
        """Return whether `symbol` is not 0."""
        made = self._of(symbol)
        return made if symbol.op in _TRUTHS else self._z3.BoolVal(symbol.value != 0) if symbol.constant else made != 0

    def number(self, symbol: Symbol) -> Any:
        """Return `symbol` as an integer; a truth is 0 or 1."""
        return self._number(symbol, self._of(symbol))

    def _number(self, symbol: Symbol, made: Any) -> Any:
        return self._z3.If(made, self._z3.IntVal(1), self._z3.IntVal(0)) if symbol.op in _TRUTHS else made

    def _of(self, root: Symbol) -> Any:
        if root.number not in self._made:
            self._make(root)
            while self._new_leaves:
                self._link(self._new_leaves.pop())
        return self._made[root.number]

    def _make(self, root: Symbol) -> None:
        """Make the terms of `root` and of all that it is made of, without going deep."""
        todo = [root]
        while todo:
            each = todo[-1]
            missing = [of for of in each.operands if of.number not in self._made]
            if missing:
                todo += missing
                continue
            todo.pop()
            if each.number not in self._made:
                self._made[each.number] = self._leaf(each) if each.op in LEAVES else self._operator(each)

    def _operator(self, symbol: Symbol) -> Any:
        z3, made = self._z3, [self._made[each.number] for each in symbol.operands]
        if symbol.op in ("!", "&&", "||"):
            truths = [self.truth(each) for each in symbol.operands]
            return z3.Not(truths[0]) if symbol.op == "!" else z3.And(truths) if symbol.op == "&&" else z3.Or(truths)
        if symbol.op == "?":
            test, a, b = symbol.operands
            return z3.If(self.truth(test), self._number(a, made[1]), self._number(b, made[2]))
        numbers = [self._number(each, term) for each, term in zip(symbol.operands, made, strict=True)]
        if len(numbers) == 1:
            return -numbers[0]
        return self._binary(symbol.op, *numbers)

    def _binary(self, op: str, a: Any, b: Any) -> Any:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return self._z3.If(b == 0, self._z3.IntVal(0), self._quotient(a, b))
            case "%":
                return self._z3.If(b == 0, self._z3.IntVal(0), a - b * self._quotient(a, b))
            case "==":
                return a == b
            case "!=":
                return a != b
            case "<":
                return a < b
            case "<=":
                return a <= b
            case ">":
                return a > b
            case _:
                return a >= b

    def _quotient(self, a: Any, b: Any) -> Any:
        """Return C's `a / b`: z3 rounds so that no remainder is negative, C towards zero."""
        return self._z3.If(a >= 0, a / b, -((-a) / b))

    def _leaf(self, leaf: Symbol) -> Any:
        z3 = self._z3
        if leaf.constant:
            return z3.IntVal(leaf.value)
        made = z3.Int(" ".join([leaf.op, str(leaf.value), *map(str, leaf.path)]))
        if leaf.op == "choice":
            self._solver.add(made >= 0, made < self._unrolled.choices[leaf.value].options)
        else:
            self._new_leaves.append(leaf)
        return made

    def _link(self, leaf: Symbol) -> None:
        """MP: what a receive gets is what the send has that it is matched with."""
        for send, match in self._matches(leaf.value) if self._linked else ():
            source = self._source(leaf, send)
            if source is not None:
                self._make(source)
                number = self._number(source, self._made[source.number])
                self._solver.add(self._z3.Implies(match, self._made[leaf.number] == number))

    def _source(self, leaf: Symbol, send: SendEvent) -> Symbol | None:
        if leaf.op == "sender":
            return self._unrolled.symbols.const(send.process)
        return send.tag if leaf.op == "tag" else component(send.value, leaf.path)
