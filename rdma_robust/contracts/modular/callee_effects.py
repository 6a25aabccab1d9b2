"""The effects of a callee, as far as its contract says: results and assigned globals are arbitrary subject to `ensures`.

What `ensures` defines (`\\result == e`, `len(\\result) == e`, an element for each index) is put in. The rest stays unknown,
or is any number where a clause would fault otherwise. A clause that looks at what is unknown is not assumed, which only
allows more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rdma_robust.contracts.language.contract_program import Contract
from rdma_robust.contracts.language.spec_terms import (
    Apply,
    BoundVariable,
    FunctionResult,
    Global,
    Item,
    LengthOf,
    LetBinding,
    On,
    Quantification,
    Spec,
    spec_conjuncts,
)
from rdma_robust.contracts.runs.run_terms import Condition, SymbolicTerm
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions, NeedsDecisionError, Unknown, WeakError

_ROUNDS = 3
"""Times that clauses are looked at for definitions: one may need what another defines."""

Names = Mapping[str, Data]
Place = tuple[str, tuple[Spec, ...]]


@dataclass(frozen=True, slots=True)
class _Where:
    """Values of variables, those that are places of processes, and whether what is looked at must be true."""

    bound: Names
    same: Mapping[str, tuple[Place, int]]
    true: bool


@dataclass(slots=True)
class Effects:
    """The exits of one call of a callee, from its entries. `call` makes names of what is unknown different.

    `processes` are those that call it: all, or one if it is local.
    """

    on: Decisions
    contract: Contract
    entries: Sequence[Snapshot]
    call: str
    processes: Sequence[int]
    exits: list[Snapshot] = field(init=False)

    def made(self) -> tuple[list[Snapshot], Iterator[Condition]]:
        """Return the exits of all processes, and what is known of them. Raises ForkError, WeakError, TooManyError.

        Of a loop each fact is to be assumed before the next is asked for: what needs a decision comes last.
        """
        self.exits = [
            self._havoc(process, each) if process in self.processes else each for process, each in enumerate(self.entries)
        ]
        for _ in range(_ROUNDS):
            for process in self.processes:
                for condition in self._ensured(process):
                    self._define(condition, process, {})
        self._number()
        return self.exits, self._simple_first() if self.contract.loop else iter(list(self._facts(self._parts())))

    # what may change

    def _havoc(self, process: int, entry: Snapshot) -> Snapshot:
        globals_ = dict(entry.globals)
        if self.contract.frames is None:
            for name in globals_:
                globals_[name] = self._unknown(process, name)
        else:
            self._frames(process, globals_)
        result = self._unknown(process, "\\result") if self.contract.gives_value else None
        return Snapshot(entry.parameters, globals_, result)

    def _unknown(self, process: int, place: str) -> Unknown:
        return Unknown(f"{place} of process {process} after {self.call}")

    def _frames(self, process: int, globals_: dict[str, Data]) -> None:
        reader = SpecEvaluator(self.on, self.entries)
        before = dict(globals_)
        for frame in self.contract.frames or ():
            if frame.assumes is not None and not self.on.decide(reader.holds(frame.assumes, process)):
                continue
            for cells in frame.cells:
                if cells.low is None:
                    globals_[cells.name] = self._unknown(process, cells.name)
                    continue
                low = self.on.some(reader.number(cells.low, process)[0], "a cell of `assigns`")
                high = low if cells.high is None else self.on.some(reader.number(cells.high, process)[0], "a cell")
                old = before[cells.name]
                now = globals_[cells.name]
                if isinstance(old, Unknown):
                    globals_[cells.name] = self._unknown(process, cells.name)
                if not isinstance(old, tuple | ArrayInput) or isinstance(now, Unknown):
                    continue
                items = list(self.on.array(now))
                for at in range(max(low, 0), min(high, len(items) - 1) + 1):
                    items[at] = Unknown(f"{cells.name}[{at}] of process {process} after {self.call}")
                globals_[cells.name] = tuple(items)

    # what is said of it

    def _ensured(self, process: int) -> Iterator[Spec]:
        entry = SpecEvaluator(self.on, self.entries)
        for clause in self.contract.clauses:
            if clause.kind != "ensures":
                continue
            if clause.assumes is not None and not self.on.decide(entry.holds(clause.assumes, process)):
                continue
            yield clause.condition

    def _parts(self) -> Iterator[tuple[Spec, int]]:
        """Yield what `ensures` says of each process, in the parts that `&&` joins."""
        for process in self.processes:
            for spec in self._ensured(process):
                yield from ((part, process) for part in spec_conjuncts(spec))

    def _reader(self) -> SpecEvaluator:
        return SpecEvaluator(self.on, self.exits, self.entries)

    def _define(self, spec: Spec, process: int, bound: Names) -> None:
        match spec:
            case Apply("&&", operands):
                for each in operands:
                    self._define(each, process, bound)
            case Apply("==>", (test, inner)):
                if self._settled(test, process, bound):
                    self._define(inner, process, bound)
            case LetBinding(name, value, inner):
                found = self._value(value, process, bound)
                if found is not None:
                    self._define(inner, process, {**bound, name: found})
            case Quantification("forall", name, low, high, inner):
                first, last = self._value(low, process, bound), self._value(high, process, bound)
                if isinstance(first, int) and isinstance(last, int):
                    for at in range(first, last + 1):
                        self._define(inner, process, {**bound, name: at})
            case Apply("==", (left, right)):
                if not self._equal(left, right, process, bound):
                    self._equal(right, left, process, bound)

    def _settled(self, spec: Spec, process: int, bound: Names) -> bool:
        value = self._value(spec, process, bound)
        if value is None or isinstance(value, tuple | ArrayInput | Unknown):
            return False
        return self.on.path.verdict(self.on.terms.truth(value), self.on.terms) is True

    def _value(self, spec: Spec, process: int, bound: Names) -> Data | None:
        """Return what a spec is worth, None if that takes what is unknown."""
        self.on.trying += 1
        try:
            value, fine = self._reader().value(spec, process, bound)
        except NeedsDecisionError:
            return None
        finally:
            self.on.trying -= 1
        return value if fine is True else None

    def _equal(self, left: Spec, right: Spec, process: int, bound: Names) -> bool:
        """Define what `left` names, if it does name something unknown, as what `right` is worth."""
        if isinstance(left, LengthOf):
            return self._sized(left.array, right, process, bound)
        place = _place(left)
        if place is None:
            return False
        indices, value = self._indices(place, process, bound), self._value(right, process, bound)
        if indices is None or value is None or isinstance(value, Unknown):
            return False
        if self._put(place[0], indices, process, value):
            return True
        elements = self._elements(value)
        return elements is not None and self._put(place[0], indices, process, elements)

    def _elements(self, value: Data) -> tuple[Data, ...] | None:
        """Return the elements of an input that is an array of known length."""
        if not isinstance(value, ArrayInput) or (value.low < value.high and value not in self.on.path.lengths):
            return None
        return self.on.array(value)

    def _indices(self, place: Place, process: int, bound: Names) -> list[int] | None:
        """Return the indices of a place, None if one is not known."""
        found = [self._value(each, process, bound) for each in place[1]]
        known = [each for each in found if isinstance(each, int)]
        return known if len(known) == len(found) else None

    def _sized(self, array: Spec, right: Spec, process: int, bound: Names) -> bool:
        place, size = _place(array), self._value(right, process, bound)
        indices = None if place is None else self._indices(place, process, bound)
        if place is None or indices is None or not isinstance(size, int) or not 0 <= size <= 1000:
            return False
        name = place[0] + "".join(f"[{each}]" for each in indices)
        cells = tuple(Unknown(f"{name}[{at}] of process {process} after {self.call}") for at in range(size))
        return self._put(place[0], indices, process, cells)

    def _put(self, name: str, indices: list[int], process: int, value: Data) -> bool:
        snapshot = self.exits[process]
        old = snapshot.result if name == "\\result" else snapshot.globals.get(name)
        new = None if old is None else _replaced(old, indices, value)
        if new is None:
            return False
        if name == "\\result":
            self.exits[process] = Snapshot(snapshot.parameters, snapshot.globals, new)
        else:
            self.exits[process] = Snapshot(snapshot.parameters, {**snapshot.globals, name: new}, snapshot.result)
        return True

    # numbers

    def _number(self) -> None:
        """Make numbers of what is unknown where a clause says so: where it would fault for an array."""
        for part, process in self._parts():
            self._numeric(part, process, _Where({}, {}, true=True))

    def _any_number(self, place: Place, process: int, bound: Names) -> None:
        known = self._indices(place, process, bound)
        if known is not None:
            name = f"{place[0]}{known} of {process} after {self.call}"
            self._put(place[0], known, process, self.on.terms.input((0, name), None, None))

    def _numeric(self, spec: Spec, process: int, where: _Where) -> None:
        """Look at what is evaluated wherever a clause is true."""
        bound, inside = where.bound, replace(where, true=False)
        match spec:
            case Apply("==>", (test, inner)) if self._settled(test, process, bound):
                self._numeric(inner, process, where)
            case Apply("&&", operands) if where.true:
                for each in operands:
                    self._numeric(each, process, where)
            case Apply("&&" | "||" | "?" | "==>", operands):
                self._numeric(operands[0], process, inside)
            case Apply(op, operands):
                for at, each in enumerate(operands):
                    others = [other for number, other in enumerate(operands) if number != at]
                    if op not in ("==", "!=") or all(self._is_number(other, process, bound) for other in others):
                        self._operand(each, process, where)
                    self._numeric(each, process, inside)
            case LetBinding(name, value, inner):
                place, found = _place(value), self._value(value, process, bound)
                if found is not None:
                    known = replace(where, bound={**bound, name: found})
                    if place is not None and isinstance(found, Unknown):
                        known = replace(known, same={**where.same, name: (place, process)})
                    self._numeric(inner, process, known)
            case Quantification(_, name, low, high, inner):
                first, last = self._value(low, process, bound), self._value(high, process, bound)
                if isinstance(first, int) and isinstance(last, int):
                    early = spec.kind == "exists" or (spec.kind == "forall" and not where.true)
                    true = where.true and spec.kind == "forall"
                    for at in range(first, (min(first, last) if early else last) + 1):
                        self._numeric(inner, process, replace(where, bound={**bound, name: at}, true=true))
            case On(at, inner):
                other = self._value(at, process, bound)
                if isinstance(other, int) and 0 <= other < len(self.entries):
                    self._numeric(inner, other, inside)

    def _operand(self, spec: Spec, process: int, where: _Where) -> None:
        match spec:
            case BoundVariable(name) if name in where.same:
                self._any_number(*where.same[name], where.bound)
            case On(at, inner):
                other = self._value(at, process, where.bound)
                if isinstance(other, int) and 0 <= other < len(self.entries):
                    self._operand(inner, other, where)
            case _:
                place = _place(spec)
                if place is not None:
                    self._any_number(place, process, where.bound)

    def _is_number(self, spec: Spec, process: int, bound: Names) -> bool:
        if isinstance(spec, LengthOf) or (isinstance(spec, Apply) and spec.op != "?"):
            return True
        return isinstance(self._value(spec, process, bound), int | SymbolicTerm)

    def _simple_first(self) -> Iterator[Condition]:
        left = []
        for part, process in list(self._parts()):
            self.on.trying += 1
            try:
                condition = self._reader().holds(part, process)
            except WeakError:
                continue
            except NeedsDecisionError:
                left.append((part, process))
                continue
            finally:
                self.on.trying -= 1
            yield condition
        yield from self._facts(left)

    def _facts(self, parts: Iterable[tuple[Spec, int]]) -> Iterator[Condition]:
        for part, process in parts:
            try:
                yield self._reader().holds(part, process)
            except WeakError:
                continue


def _place(spec: Spec) -> Place | None:
    """Return the name and indices of the result or a global of the own process, None for anything else."""
    match spec:
        case FunctionResult():
            return "\\result", ()
        case Global(name):
            return name, ()
        case Item(array, index):
            inner = _place(array)
            return None if inner is None else (inner[0], (*inner[1], index))
    return None


def _replaced(old: Data, indices: list[int], value: Data) -> Data | None:
    """Return `old` with what is unknown at a place replaced, in an array each element; None if there is nothing unknown."""
    if not indices:
        return _filled(old, value)
    if not isinstance(old, tuple) or not 0 <= indices[0] < len(old):
        return None
    inner = _replaced(old[indices[0]], indices[1:], value)
    return None if inner is None else (*old[: indices[0]], inner, *old[indices[0] + 1 :])


def _filled(old: Data, value: Data) -> Data | None:
    if isinstance(old, Unknown):
        return value
    if not isinstance(old, tuple) or not isinstance(value, tuple) or len(old) != len(value):
        return None
    parts = [_filled(before, now) for before, now in zip(old, value, strict=True)]
    if all(each is None for each in parts):
        return None
    return tuple(before if now is None else now for before, now in zip(old, parts, strict=True))
