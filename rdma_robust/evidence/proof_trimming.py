"""From the clauses that a solver learnt to those that its result rests on, each with its reasons, in a form simple to check.

Backwards from the contradiction: a learnt clause that is needed is derived again by unit propagation over what came before
it, and what took part is needed too. Which clauses the solver forgot in between does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rdma_robust.certify.messages.proved_formulas import Clause, Lemma
from rdma_robust.errors import InternalError


def trimmed(clauses: Sequence[Clause], learnt: Sequence[Clause], look: Callable[[], None]) -> list[Lemma]:
    """Return lemmas that refute `clauses`, given all that a solver learnt until it found them contradictory."""
    return _Trimming([*clauses, *learnt], len(clauses), look).lemmas()


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """A literal that was found true without assumptions: its clause, the other units there, the last learnt clause below."""

    literal: int
    reasons: tuple[_Reason, ...]
    birth: int


_Reason = int | _Unit


class _Trimming:
    """Two-watched propagation. Of clause n only those before n count when it is derived again."""

    def __init__(self, clauses: list[Clause], given: int, look: Callable[[], None]) -> None:
        self.clauses = [list(dict.fromkeys(each)) for each in clauses]
        self.given, self.look = given, look
        most = max((abs(each) for clause in self.clauses for each in clause), default=0)
        self.value = [0] * (2 * most + 1)
        self.watches: list[list[int]] = [[] for _ in range(2 * most + 1)]
        self.reason: dict[int, int] = {}
        self.units: dict[int, _Unit] = {}
        self.made: dict[_Unit, int] = {}
        self.trail: list[int] = []
        self.head = 0
        self.end = len(self.clauses)
        self.needed: set[int] = set()

    def lemmas(self) -> list[Lemma]:
        conflict, last = self._forward()
        final = self._reasons(conflict, len(self.trail))
        derived: dict[int, list[_Reason]] = {}
        for number in range(last, self.given - 1, -1):
            self._retire(number)
            if number in self.needed:
                self.look()
                derived[number] = self._derived(number)
        order: list[_Reason] = sorted([*derived, *self.made], key=self._place)
        name = {each: self.given + at for at, each in enumerate(order)}

        def named(reasons: Sequence[_Reason]) -> tuple[int, ...]:
            return tuple([name[each] if each in name else self._number(each) for each in reasons])

        found: list[Lemma] = []
        for each in order:
            if isinstance(each, _Unit):
                found.append(((each.literal,), named(each.reasons)))
            else:
                found.append((tuple(self.clauses[each]), named(derived[each])))
        return [*found, ((), named(final))]

    def _number(self, reason: _Reason) -> int:
        assert isinstance(reason, int)
        return reason

    def _place(self, each: _Reason) -> tuple[int, int]:
        return (each.birth, 1 + self.made[each]) if isinstance(each, _Unit) else (each, 0)

    def _forward(self) -> tuple[int, int]:
        """Add clauses until those without a choice contradict each other; return which is false, and the last one added."""
        for number, clause in enumerate(self.clauses):
            if not number % 4096:
                self.look()
            clause.sort(key=lambda each: self.value[each] < 0)
            if len(clause) > 1:
                self.watches[clause[0]].append(number)
                self.watches[clause[1]].append(number)
            if not clause or self.value[clause[0]] < 0:
                return number, number
            if (len(clause) == 1 or self.value[clause[1]] < 0) and not self.value[clause[0]]:
                self._set(clause[0], number)
                conflict = self._propagate()
                if conflict >= 0:
                    return conflict, number
        raise InternalError("a solver's proof does not refute its clauses")

    def _set(self, literal: int, reason: int) -> None:
        self.value[literal], self.value[-literal] = 1, -1
        self.reason[literal] = reason
        self.trail.append(literal)

    def _undo(self, length: int) -> None:
        for literal in self.trail[length:]:
            self.value[literal] = self.value[-literal] = 0
            self.units.pop(literal, None)
            del self.reason[literal]
        del self.trail[length:]
        self.head = min(self.head, length)

    def _retire(self, number: int) -> None:
        """Leave out a clause and what came after it; what followed from others too is found again."""
        self.end = number
        clause = self.clauses[number]
        if clause and self.reason.get(clause[0]) == number:
            self._undo(self.trail.index(clause[0]))
            self.head = 0

    def _propagate(self) -> int:
        """Set what follows; return the number of a clause that is false then, -1 if there is none."""
        value, clauses, watches, end = self.value, self.clauses, self.watches, self.end
        while self.head < len(self.trail):
            false = -self.trail[self.head]
            self.head += 1
            watching, kept = watches[false], []
            for at, number in enumerate(watching):
                if number >= end:
                    continue
                clause = clauses[number]
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                first = clause[0]
                if value[first] > 0:
                    kept.append(number)
                    continue
                for place in range(2, len(clause)):
                    if value[clause[place]] >= 0:
                        clause[1], clause[place] = clause[place], false
                        watches[clause[1]].append(number)
                        break
                else:
                    kept.append(number)
                    if value[first] < 0:
                        watches[false] = kept + watching[at + 1 :]
                        return number
                    self._set(first, number)
            watches[false] = kept
        return -1

    def _derived(self, number: int) -> list[_Reason]:
        """Return the reasons of a clause, in order."""
        conflict = self._propagate()
        length = len(self.trail)
        for literal in self.clauses[number]:
            if conflict >= 0:
                break
            if self.value[literal] > 0:
                conflict = self.reason[literal]
            elif not self.value[literal]:
                self._set(-literal, -1)
                conflict = self._propagate()
        if conflict < 0:
            raise InternalError("a solver's proof has a clause that does not follow")
        found = self._reasons(conflict, length)
        self._undo(length)
        return found

    def _reasons(self, conflict: int, length: int) -> list[_Reason]:
        """Return what makes a clause false, in the order in which it does; up to `length` literals are units."""
        seen = set(self.clauses[conflict])
        found: list[_Reason] = [conflict]
        for literal in reversed(self.trail[length:]):
            reason = self.reason[literal]
            if -literal in seen and reason >= 0:
                found.append(reason)
                seen.update(self.clauses[reason])
        self.needed.update(each for each in found if isinstance(each, int))
        assumed = set(self.trail[length:])
        below = {-each for each in seen if -each not in assumed and self.value[each] < 0}
        return [*[self._unit(each) for each in below], *found[::-1]]

    def _unit(self, literal: int) -> _Unit:
        """Return the unit of a literal, after those that it rests on."""
        todo = [literal]
        while todo:
            top = todo[-1]
            reason = self.reason[top]
            others = [-each for each in self.clauses[reason] if each != top]
            missing = [each for each in others if each not in self.units]
            todo += missing
            if not missing and top not in self.units:
                units = [self.units[each] for each in others]
                birth = max([reason, self.given - 1, *[each.birth for each in units]])
                made = self.units[top] = _Unit(top, (*units, reason), birth)
                self.made[made] = len(self.made)
                self.needed.add(reason)
            if not missing:
                todo.pop()
        return self.units[literal]
