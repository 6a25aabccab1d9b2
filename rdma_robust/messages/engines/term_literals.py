"""Terms as literals: truths, and numbers with few values as one literal for each; truths about others are left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.expr import COMPARISONS, OPERATORS
from rdma_robust.messages.encoding.possible_values import TermValues, component
from rdma_robust.messages.encoding.symbolic_terms import LEAVES, Symbol, applied, subterms
from rdma_robust.messages.encoding.unrolled import SendEvent, UnrolledProgram
from rdma_robust.messages.engines.solver_clauses import Clauses

_CONNECTIVES: Final = frozenset({"!", "&&", "||"})

Literals = Mapping[int, int]
"""Of a number with few values: each value with the literal that says it is that."""

Senders = Callable[[int], Sequence[tuple[SendEvent, int]]]
"""The candidates of a receive, by its number, each with the literal of the match."""

Channels = Callable[[int], Sequence[tuple[int, int]]]
"""The processes that a receive, by its number, can get something from, each with literals that say so."""


class TermLiterals:
    """The literals of terms, made when they are asked for.

    They mean what they say in executions in which all receives that the term is made of are matched. `open_truths` are those
    about numbers with too many values: their literals are free, and whoever has a model compares them with it.
    """

    def __init__(
        self, clauses: Clauses, unrolled: UnrolledProgram, senders: Senders, channels: Channels, sets: TermValues
    ) -> None:
        self._clauses, self._unrolled, self._sets = clauses, unrolled, sets
        self._senders, self._channels = senders, channels
        self._truths: dict[int, int] = {}
        self._numbers: dict[int, Literals] = {}
        self._unlinked: list[Symbol] = []
        self.open_truths: dict[int, Symbol] = {}

    def truth(self, symbol: Symbol) -> int:
        """Return the literal that says that `symbol` is not 0."""
        if symbol.number not in self._truths:
            self._make(symbol)
            self._truths[symbol.number] = self._truth(symbol)
        return self._truths[symbol.number]

    def numbers(self, symbol: Symbol) -> Literals | None:
        """Return the literals of a number, None if it can be too much. Exactly one is true if all it is made of is known."""
        if self._sets.of(symbol) is None:
            return None
        self._make(symbol)
        return self._value(symbol)

    def chosen(self, choice: int) -> Literals:
        """Return the literals of a choice, none if nothing that was asked for depends on it."""
        return self._numbers.get(self._unrolled.symbols.leaf("choice", choice).number, {})

    def _make(self, root: Symbol) -> None:
        """Make the literals of all that `root` needs, and of what is received in it."""
        self._make_parts(root)
        while self._unlinked:
            self._link(self._unlinked.pop())

    def _make_parts(self, root: Symbol) -> None:
        below = subterms([root])
        needed = {root.number}
        for each in reversed(below):
            if each.number in needed and each.number not in self._truths and each.number not in self._numbers:
                needed.update(of.number for of in self._needed(each))
        for each in below:
            if each.number not in needed or each.constant:
                continue
            if each.op in COMPARISONS or each.op in _CONNECTIVES:
                if each.number not in self._truths:
                    self._truths[each.number] = self._truth(each)
            elif each.number not in self._numbers and self._sets.of(each) is not None:
                self._numbers[each.number] = self._leaf(each) if each.op in LEAVES else self._operator(each)

    def _needed(self, symbol: Symbol) -> Sequence[Symbol]:
        if symbol.op in LEAVES or symbol.op in _CONNECTIVES:
            return symbol.operands
        if symbol.op == "?":
            return [symbol.operands[0], *[of for of in symbol.operands[1:] if self._sets.of(of) is not None]]
        return () if any(self._sets.of(of) is None for of in symbol.operands) else symbol.operands

    def _truth(self, symbol: Symbol) -> int:
        """Return the literal of a truth whose needs are made."""
        clauses = self._clauses
        match symbol.op:
            case "const":
                return clauses.true if symbol.value else -clauses.true
            case "!":
                return -self._known(symbol.operands[0])
            case "&&":
                return clauses.all_of([self._known(each) for each in symbol.operands])
            case "||":
                return clauses.any_of([self._known(each) for each in symbol.operands])
            case op if op in COMPARISONS and all(self._sets.of(each) is not None for each in symbol.operands):
                return self._comparison(op, *[self._value(each) for each in symbol.operands])
        if symbol.op in COMPARISONS or self._sets.of(symbol) is None:
            literal = clauses.new()
            self.open_truths[literal] = symbol
            return literal
        return clauses.any_of([literal for value, literal in self._value(symbol).items() if value])

    def _known(self, symbol: Symbol) -> int:
        if symbol.number not in self._truths:
            self._truths[symbol.number] = self._truth(symbol)
        return self._truths[symbol.number]

    def _value(self, symbol: Symbol) -> Literals:
        """Return the literals of a number whose needs are made."""
        if symbol.constant:
            return {symbol.value: self._clauses.true}
        if symbol.number in self._truths:
            return {0: -self._truths[symbol.number], 1: self._truths[symbol.number]}
        return self._numbers[symbol.number]

    def _comparison(self, op: str, a: Literals, b: Literals) -> int:
        clauses = self._clauses
        if len(a) == 1 or len(b) == 1:
            return self._with_constant(op, a, b)
        if op in ("==", "!="):
            equal = self._equal(a, b)
            return equal if op == "==" else -equal
        if op in (">", ">="):
            a, b, op = b, a, "<" if op == ">" else "<="
        at_least, result = self._at_least(b), clauses.new()
        for value, literal in a.items():
            enough = at_least(value + 1 if op == "<" else value)
            clauses.clause(-literal, -result, enough)
            clauses.clause(-literal, result, -enough)
        return result

    def _with_constant(self, op: str, a: Literals, b: Literals) -> int:
        decides = b if len(a) == 1 else a
        holds: list[int] = []
        fails: list[int] = []
        for va, vb in product(a, b):
            (holds if OPERATORS[op](va, vb) else fails).append(decides[vb if len(a) == 1 else va])
        if len(holds) <= len(fails):
            return self._clauses.any_of(holds)
        return -self._clauses.any_of(fails)

    def _equal(self, a: Literals, b: Literals) -> int:
        clauses, equal = self._clauses, self._clauses.new()
        for value, literal in a.items():
            if value in b:
                clauses.clause(-literal, -b[value], equal)
                clauses.clause(-literal, -equal, b[value])
            else:
                clauses.clause(-literal, -equal)
        for value, literal in b.items():
            if value not in a:
                clauses.clause(-literal, -equal)
        return equal

    def _at_least(self, numbers: Literals) -> Callable[[int], int]:
        """Return what says that a number is at least so much."""
        values = sorted(numbers)
        above: dict[int, int] = {}
        reached = -self._clauses.true
        for value in reversed(values):
            reached = above[value] = self._clauses.any_of((reached, numbers[value]))

        def at_least(bound: int) -> int:
            return next((above[value] for value in values if value >= bound), -self._clauses.true)

        return at_least

    def _operator(self, symbol: Symbol) -> Literals:
        clauses = self._clauses
        found: dict[int, list[int]] = {}
        if symbol.op == "?":
            test = self._known(symbol.operands[0])
            for side, of in ((test, symbol.operands[1]), (-test, symbol.operands[2])):
                if side != -clauses.true and self._sets.of(of) is not None:
                    for value, literal in self._value(of).items():
                        found.setdefault(value, []).append(clauses.both(side, literal))
        else:
            for values in product(*[self._value(of).items() for of in symbol.operands]):
                literal = clauses.all_of([each for _, each in values])
                found.setdefault(applied(symbol.op, [value for value, _ in values]), []).append(literal)
        return {value: clauses.any_of(literals) for value, literals in found.items()}

    def _leaf(self, leaf: Symbol) -> Literals:
        """Return literals of what is chosen or received. Messages may be made of it in turn, so they are linked later."""
        clauses = self._clauses
        if leaf.op == "choice":
            options = self._unrolled.choices[leaf.value].options
            if options == 2:
                first = clauses.new()
                return {0: -first, 1: first}
            literals = [clauses.new() for _ in range(options)]
            clauses.add(literals)
            clauses.at_most_one(literals)
            return dict(enumerate(literals))
        if leaf.op == "sender":
            return self._by_match(self._channels(leaf.value))
        sources = self._sources(leaf)
        if all(source.constant for source, _ in sources):
            return self._by_match([(source.value, match) for source, match in sources])
        own = {value: clauses.new() for value in sorted(self._sets.of(leaf) or ())}
        clauses.at_most_one(list(own.values()))
        self._unlinked.append(leaf)
        return own

    def _by_match(self, sources: Sequence[tuple[int, int]]) -> Literals:
        found = by_key((value, match) for value, match in sources)
        return {value: self._clauses.any_of(matches) for value, matches in found.items()}

    def _sources(self, leaf: Symbol) -> list[tuple[Symbol, int]]:
        """Return what a received value or tag is, for each candidate, with the literal of the match."""
        if leaf.op == "tag":
            return [(send.tag, match) for send, match in self._senders(leaf.value)]
        found = [(component(send.value, leaf.path), match) for send, match in self._senders(leaf.value)]
        return [(source, match) for source, match in found if source is not None]

    def _link(self, leaf: Symbol) -> None:
        """Say that what is received is what is sent; a value that the sets exclude is none that a literal stands for."""
        own = self._numbers[leaf.number]
        for source, match in self._sources(leaf):
            self._make_parts(source)
            for value, literal in self._value(source).items():
                self._clauses.clause(-match, -literal, own.get(value, -self._clauses.true))
