"""The values that terms of an unfolded program can have, and literals that say which they have.

What receives get is found as a least fixpoint over the pairs that patterns allow. A term that can have too many values is
*open*: nothing is said about it, and a truth about it is a free variable. So formulas allow too much, never too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from rdma_robust.certify.messages.unfolded_terms import ARITHMETIC, COMPARED, TRUTHS, TermNode
from rdma_robust.certify.messages.unfolding import Issue, UnfoldedProgram

MOST_VALUES: Final = 600
_MOST_COMBINED: Final = 20_000
_MOST_PASSES: Final = 300

Values = frozenset[int] | None
"""All values of a term; None if it is open."""

_BOTH: Final = frozenset((0, 1))


class PossibleValues:
    """The values of all terms, and the pairs that patterns allow: `senders[R]` are the numbers of the sends of R.

    A receive that never gets anything is said to get 0, so that every term has a value.

    `left` says of which pairs it is not known that no execution has them.
    """

    def __init__(
        self,
        unfolded: UnfoldedProgram,
        look: Callable[[], None],
        left: Callable[[int, int], bool] = lambda _receive, _send: True,
    ) -> None:
        self._unfolded, self._left = unfolded, left
        self._of: dict[TermNode, Values] = {}
        self._got: dict[tuple[int, str], Values] = {}
        self._nothing: Values = frozenset()
        self.senders: list[list[int]] = [[] for _ in unfolded.receives]
        passes, changed = 0, True
        while changed:
            self._of.clear()
            changed = self._more_senders()
            for receive in unfolded.receives:
                look()
                changed = self._meet(receive, give_up=passes > _MOST_PASSES) or changed
            passes += 1
        self._of.clear()
        self._got = {
            at: frozenset((0,)) if values is not None and not values else values for at, values in self._got.items()
        }
        self._nothing = frozenset((0,))

    def _more_senders(self) -> bool:
        """Find the pairs of what is known so far; return whether there are new ones."""
        before = self.senders
        self.senders = [
            [
                send.number
                for send in self._unfolded.sends
                if self._left(receive.number, send.number) and self.may_match(receive, send)
            ]
            for receive in self._unfolded.receives
        ]
        return before != self.senders

    def _meet(self, receive: Issue, *, give_up: bool) -> bool:
        """Add what a receive gets from its sends; return whether that is new."""
        sends = [self._unfolded.sends[each] for each in self.senders[receive.number]]
        news: dict[str, Iterable[Values]] = {
            "value": [self.of(each.value) for each in sends],
            "sender": [frozenset(each.process for each in sends)],
            "tag": [self.of(each.tag) for each in sends if each.tag is not None],
        }
        changed = False
        for part, each in news.items():
            new = _union(each)
            old = self._got.get((receive.number, part), frozenset())
            if old is not None and new != old:
                changed = True
                self._got[receive.number, part] = None if give_up else new
        return changed

    def may_match(self, receive: Issue, send: Issue) -> bool:
        """Return whether a receive accepts a send for some values."""
        if receive.port != send.port or not self.may_be(send.peer, receive.process):
            return False
        if receive.peer is not None and not self.may_be(receive.peer, send.process):
            return False
        if receive.tag is None or send.tag is None:
            return True
        ours, theirs = self.of(receive.tag), self.of(send.tag)
        return ours is None or theirs is None or not ours.isdisjoint(theirs)

    def may_be(self, node: TermNode | None, number: int) -> bool:
        values = None if node is None else self.of(node)
        return values is None or number in values

    def of(self, node: TermNode) -> Values:
        """Return the values of a term."""
        if node not in self._of:
            todo = [node]
            while todo:
                top = todo[-1]
                missing = [each for each in top.operands if each not in self._of]
                todo += missing
                if not missing:
                    self._of[top] = self._computed(top)
                    todo.pop()
        return self._of[node]

    def _computed(self, node: TermNode) -> Values:
        if node.op in TRUTHS:
            return _BOTH
        if node.op == "const":
            return frozenset((node.number,))
        if node.op == "got":
            return self._got.get((node.number, node.part), self._nothing)
        if node.op == "choice":
            return frozenset(range(node.of))
        if node.op == "ite":
            return _union(self._of[each] for each in node.operands[1:])
        a, b = (self._of[each] for each in node.operands)
        if a is None or b is None or len(a) * len(b) > _MOST_COMBINED:
            return None
        do = ARITHMETIC[node.op]
        return _union([frozenset(do(x, y) for x, y in product(a, b) if y or node.op not in "/%")]) or self._nothing


def _union(each: Iterable[Values]) -> Values:
    found: set[int] = set()
    for values in each:
        if values is None:
            return None
        found |= values
    return frozenset(found) if len(found) <= MOST_VALUES else None


@dataclass(slots=True)
class Formula:
    """Clauses over variables from 1 on, of which 1 is true; gates are made once."""

    clauses: list[tuple[int, ...]] = field(default_factory=lambda: [(1,)])
    last: int = 1
    _gates: dict[tuple[int, ...], int] = field(default_factory=dict)

    def new(self) -> int:
        self.last += 1
        return self.last

    def add(self, *literals: int) -> None:
        """Add a clause, unless it is true by itself."""
        kept = {each for each in literals if each != -1}
        if 1 not in kept and not any(-each in kept for each in kept):
            self.clauses.append(tuple(sorted(kept)))

    def all_of(self, literals: Iterable[int]) -> int:
        """Return a literal that is true exactly if all of these are."""
        kept = sorted({each for each in literals if each != 1})
        if -1 in kept or any(-each in kept for each in kept if each < 0):
            return -1
        if len(kept) < 2:
            return kept[0] if kept else 1
        key = tuple(kept)
        if key not in self._gates:
            gate = self._gates[key] = self.new()
            for each in kept:
                self.add(-gate, each)
            self.add(gate, *[-each for each in kept])
        return self._gates[key]

    def any_of(self, literals: Iterable[int]) -> int:
        return -self.all_of(-each for each in literals)

    def chain(self, literals: Sequence[int], *, unique: bool) -> list[int]:
        """Return for each number of literals one that says that one of so many is true; `unique`: at most one is."""
        found: list[int] = []
        for literal in literals:
            if not found:
                found.append(literal)
                continue
            here = self.new()
            self.add(-literal, here)
            self.add(-found[-1], here)
            self.add(-here, found[-1], literal)
            if unique:
                self.add(-literal, -found[-1])
            found.append(here)
        return found


Cases = Mapping[int, int]
"""For each value of a term the literal that says that it has it."""


class FormulaLiterals:
    """Literals for terms. `pairs(R)` gives the sends that R may take, each with the literal that it takes it."""

    def __init__(
        self, formula: Formula, values: PossibleValues, pairs: Callable[[int], Sequence[tuple[Issue, int]]]
    ) -> None:
        self.formula, self.values, self._pairs = formula, values, pairs
        self._truths: dict[TermNode, int] = {}
        self._cases: dict[TermNode, Cases | None] = {}
        self._chains: dict[TermNode, list[int]] = {}
        self._unsaid: list[TermNode] = []

    def truth(self, node: TermNode) -> int:
        """Return the literal that says that a term is not 0."""
        if node not in self._truths:
            self._prepare(node)
        found = self._literal(node)
        while self._unsaid:
            self._say(self._unsaid.pop())
        return found

    def _prepare(self, node: TermNode) -> None:
        """Make the literals of all operands first, so that long chains of terms need no deep calls."""
        below, todo = {node}, [node]
        while todo:
            top = todo.pop()
            if self.values.of(top) is None:
                continue
            new = [each for each in top.operands if not (each in below or each in self._cases or each in self._truths)]
            below.update(new)
            todo += new
        for each in sorted(below, key=lambda each: each.name):
            if each.op in TRUTHS:
                self._literal(each)
            else:
                self._of(each)

    def _literal(self, node: TermNode) -> int:
        if node not in self._truths:
            self._truths[node] = self._truth(node)
        return self._truths[node]

    def _truth(self, node: TermNode) -> int:
        match node.op:
            case "const":
                return 1 if node.number else -1
            case "and":
                return self.formula.all_of([self._literal(each) for each in node.operands])
            case "not":
                return -self._literal(node.operands[0])
        if node.op in COMPARED:
            return self._compared(node.op, *node.operands)
        cases = self._of(node)
        return self.formula.new() if cases is None else self.formula.any_of([cases[each] for each in cases if each])

    def _compared(self, op: str, a: TermNode, b: TermNode) -> int:
        ours, theirs = self._of(a), self._of(b)
        if ours is None or theirs is None:
            return self.formula.new()
        if op in ("==", "!="):
            same = self.formula.any_of([self.formula.all_of((ours[each], theirs[each])) for each in ours if each in theirs])
            return same if op == "==" else -same
        self._chain(a)
        found = []
        for each in ours:
            rest = [value for value in theirs if not COMPARED[op](each, value)]
            fits = [value for value in theirs if COMPARED[op](each, value)]
            other = self._least(b, fits) if op in ("<", "<=") else -self._least(b, rest)
            found.append(self.formula.all_of((ours[each], other)))
        return self.formula.any_of(found)

    def _least(self, node: TermNode, values: Sequence[int]) -> int:
        """Return the literal that a term has at least the least of these values, which are its largest ones."""
        chain = self._chain(node)
        return chain[len(values) - 1] if values else -1

    def _chain(self, node: TermNode) -> list[int]:
        """Return the literals that a term has one of its largest value, of its two largest, and so on; it has one of all."""
        if node not in self._chains:
            cases = self._of(node)
            assert cases is not None
            self._chains[node] = self.formula.chain([cases[each] for each in sorted(cases, reverse=True)], unique=True)
            self.formula.add(self._chains[node][-1])
        return self._chains[node]

    def _of(self, node: TermNode) -> Cases | None:
        """Return the literal of each value of a term, None if it is open."""
        if node not in self._cases:
            values = self.values.of(node)
            self._cases[node] = None if values is None else self._of_values(node, sorted(values))
        return self._cases[node]

    def _of_values(self, node: TermNode, values: Sequence[int]) -> Cases | None:
        formula = self.formula
        if node.op in TRUTHS:
            truth = self._literal(node)
            return {0: -truth, 1: truth}
        if node.op == "const":
            return {node.number: 1}
        if node.op == "choice":
            return self._one_of({each: formula.new() for each in values})
        if node.op == "got":
            return self._got(node, values)
        if node.op == "ite":
            truth = self._literal(node.operands[0])
            then, other = (self._of(each) for each in node.operands[1:])
            assert then is not None
            assert other is not None
            return {
                each: formula.any_of(
                    [formula.all_of((truth, then.get(each, -1))), formula.all_of((-truth, other.get(each, -1)))]
                )
                for each in values
            }
        a, b = (self._of(each) for each in node.operands)
        assert a is not None
        assert b is not None
        ways: dict[int, list[int]] = {each: [] for each in values}
        for x, y in product(sorted(a), sorted(b)):
            if y or node.op not in "/%":
                ways[ARITHMETIC[node.op](x, y)].append(formula.all_of((a[x], b[y])))
        return self._with_first(ways)

    def _with_first(self, ways: Mapping[int, Sequence[int]]) -> Cases:
        """Return values by what gives them; the first one where nothing gives another, so that there always is one."""
        first, *others = ways
        found = {each: self.formula.any_of(ways[each]) for each in others}
        return {first: -self.formula.any_of(found.values()), **found}

    def _one_of(self, cases: Cases) -> Cases:
        self.formula.add(*cases.values())
        self.formula.chain(list(cases.values()), unique=True)
        return cases

    def _got(self, node: TermNode, values: Sequence[int]) -> Cases:
        """Return what a receive gets: literals first, what they mean later, since terms may go round."""
        formula = self.formula
        pairs = self._pairs(node.number)
        if node.part == "sender" or all(self._sent(each, node).known for each, _ in pairs):
            ways: dict[int, list[int]] = {each: [] for each in values}
            for send, literal in pairs:
                ways[send.process if node.part == "sender" else self._sent(send, node).number].append(literal)
            return self._with_first(ways)
        self._unsaid.append(node)
        found = self._with_first({each: [formula.new()] for each in values})
        formula.chain(list(found.values()), unique=True)
        return found

    def _say(self, node: TermNode) -> None:
        """Say what a receive gets, by what is sent to it."""
        formula, found = self.formula, self._of(node)
        assert found is not None
        meant: dict[int, list[int]] = {each: [] for each in found}
        for send, literal in self._pairs(node.number):
            self._prepare(self._sent(send, node))
            cases = self._of(self._sent(send, node))
            assert cases is not None
            for value, has in cases.items():
                if value in meant:
                    meant[value].append(formula.all_of((literal, has)))
        for value, literals in meant.items():
            for each in literals:
                formula.add(-each, found[value])
            if value != min(found):
                formula.add(-found[value], *literals)

    def _sent(self, send: Issue, node: TermNode) -> TermNode:
        assert send.tag is not None
        return send.tag if node.part == "tag" else send.value
