"""The evidence for SAFE as data: states with regions of their wide variables, read without trust.

A state is looked up by what the checker's own reduction says of it, so whatever else the evidence has is not asked for.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rdma_robust.certify.document import integer, json_array, json_members, json_truth, natural, reject, string
from rdma_robust.certify.safety.claimed import BadStateClaim
from rdma_robust.certify.safety.implications import RegionOf, parsed, region_of
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram
from rdma_robust.certify.safety.thread_steps import Small, step_expression
from rdma_robust.certify.safety.wide_updates import WideUpdates
from rdma_robust.expr import Binary, Const, Expr, Name, Unary, names, substitute
from rdma_robust.language.flow.cfg import Program


class Doubt(NamedTuple):
    """A claim that a state would violate, if `condition` were true after `updates`."""

    claim: str
    updates: WideUpdates
    condition: Expr


def doubts_of(system: ReducedProgram, state: PlacedState) -> Iterator[Doubt]:
    """Yield every way in which a state, or one that agents alone make of it, might violate a claim about states."""
    for claim in system.claims:
        if claim.final and any(point != code.thread.exit for point, code in zip(state.points, system.code, strict=True)):
            continue
        for updates, at in _seen_by(system, state, claim):
            if at is None:
                yield Doubt("a location gets a value that is not listed", updates, Const(1))
            elif not claim.final or system.drained(at):
                condition = substitute(claim.bad, _told(system, at, claim))
                if not isinstance(condition, Const) or condition.value:
                    yield Doubt(claim.text, updates, condition)


def _seen_by(
    system: ReducedProgram, state: PlacedState, claim: BadStateClaim
) -> Iterator[tuple[WideUpdates, PlacedState | None]]:
    if not system.lazy:
        yield (), state
        return
    words = frozenset(i for i, word in enumerate(system.words) if word in claim.names)
    yield from system.leads.to(state, lambda agent: claim.final or agent.writes in words)


def _told(system: ReducedProgram, state: PlacedState, claim: BadStateClaim) -> dict[str, Expr]:
    told: dict[str, Expr] = dict(claim.constants)
    for i, word in enumerate(system.words):
        if word in claim.names:
            told[word] = step_expression(system.in_memory(state, i))
    for code, registers in zip(system.code, state.registers, strict=True):
        for name, value in zip(code.names, registers, strict=True):
            if name in claim.names:
                told[name] = Name(name) if value is None else Const(value)
    for name, (t, points) in claim.atoms.items():
        told[name] = Const(int(state.points[t] in points))
    return told


BINARY: Final = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"})
UNARY: Final = frozenset({"-", "!"})
DEEPEST: Final = 200


def read_condition(value: object, where: str, known: Container[str], depth: int = 0) -> Expr:
    """Return the expression that `value` stands for, over the variables `known`. Raises InvalidCertificate."""
    if depth > DEEPEST:
        reject(f"{where} is nested too deeply")
    if isinstance(value, str):
        return Name(value) if value in known else reject(f"{where}: there is no wide variable {value!r:.60}")
    if not isinstance(value, list):
        return Const(integer(value, where))
    if not value:
        reject(f"{where} is an array without an operator")
    op = string(value[0], f"the operator of {where}")
    args = [read_condition(arg, where, known, depth + 1) for arg in value[1:]]
    if op in UNARY and len(args) == 1:
        return Unary(op, args[0])
    if op in BINARY and len(args) == 2:
        return Binary(op, args[0], args[1])
    return reject(f"{where} has the operator {op!r:.30} with {len(args)} arguments")


def told_condition(expr: Expr) -> object:
    """Return an expression as JSON. Raises ValueError for one that conditions do not have."""
    match expr:
        case Const(number):
            return number
        case Name(name):
            return name
        case Unary(op, arg):
            return [op, told_condition(arg)]
        case Binary(op, left, right) if op in BINARY:
            return [op, told_condition(left), told_condition(right)]
        case _:
            raise ValueError(f"no condition of a certificate: {expr}")


KIND: Final = "inductive-invariant"

_MEMBERS: Final = (
    "kind",
    "bound",
    "lazy",
    "wide",
    "numbers",
    "threads",
    "words",
    "memory",
    "conditions",
    "regions",
    "states",
)

Row = tuple[tuple[int, ...], int, tuple[int, ...]]
"""The numbers of the threads' states, of the memory, and of what the threads have under way."""


class ReductionHeader:
    """The reduction of the program, as the evidence tells it."""

    def __init__(self, program: Program, evidence: object) -> None:
        found = json_members(evidence, "`evidence`", _MEMBERS)
        known = {f"{t.name}.{name}" for t in program.threads for name, _ in t.registers} | {str(c) for c in program.cells}

        def variable(value: object, where: str) -> str:
            name = string(value, where)
            return name if name in known else reject(f"{where}: the program has no register or location {name!r:.60}")

        self.found = found
        self.bound = natural(found["bound"], "`evidence.bound`")
        self.lazy = json_truth(found["lazy"], "`evidence.lazy`")
        self.wide = frozenset(json_array(found["wide"], "`evidence.wide`", variable))
        rows = json_array(
            found["numbers"], "`evidence.numbers`", lambda item, at: json_members(item, at, ("variable", "values"))
        )
        self.numbers = {
            variable(row["variable"], "`evidence.numbers`"): tuple(json_array(row["values"], "`evidence.numbers`", integer))
            for row in rows
        }


class RegionTable:
    """The regions of each state; none for a state that is not there."""

    def __init__(self, system: ReducedProgram, found: Mapping[str, object]) -> None:
        self._system = system
        self._keys = StateKeys(system)
        self._threads, self._under_way = self._read_threads(found["threads"])
        small = [name for name, wide in zip(system.words, system.wide_words, strict=True) if not wide]
        if json_array(found["words"], "`evidence.words`", string) != small:
            reject("`evidence.words` does not name the locations of the program that are not wide, in their order")
        self._memory = _numbered(found["memory"], "`evidence.memory`", len(small))
        conditions = json_array(
            found["conditions"], "`evidence.conditions`", lambda item, at: parsed(read_condition(item, at, _Any()))
        )

        def region(item: object, at: str) -> RegionOf:
            return region_of([conditions[i] for i in _below(json_array(item, at, natural), len(conditions), at)])

        regions = json_array(found["regions"], "`evidence.regions`", region)
        self._rows: dict[Row, tuple[RegionOf, ...]] = {}
        rows = found["states"]
        if not isinstance(rows, list):
            reject("`evidence.states` is not an array")
        for i, row in enumerate(rows):
            where = f"`evidence.states[{i}]`"
            if not isinstance(row, list) or len(row) != 4:
                reject(f"{where} is not an array of 4")
            threads, memory, under_way, of = row
            key = (
                tuple(json_array(threads, where, natural)),
                natural(memory, where),
                tuple(json_array(under_way, where, natural)),
            )
            numbers = _below(json_array(of, where, natural), len(regions), where)
            self._rows[key] = (*self._rows.get(key, ()), *(regions[n] for n in numbers))
        self.names = frozenset(name for condition, _ in conditions for name in names(condition))

    def __len__(self) -> int:
        return len(self._rows)

    def regions_of(self, state: PlacedState) -> tuple[RegionOf, ...]:
        """Return the regions of a state."""
        memory = self._memory.get(tuple(value for value in state.memory if value is not None))
        threads = tuple(
            known.get((point, self._keys.small(registers)), -1)
            for known, point, registers in zip(self._threads, state.points, state.registers, strict=True)
        )
        under_way = tuple(
            known.get(self._keys.own(t, own), -1)
            for t, (known, own) in enumerate(zip(self._under_way, state.own, strict=True))
        )
        return () if memory is None else self._rows.get((threads, memory, under_way), ())

    def _read_threads(self, value: object) -> tuple[list[dict[tuple[int, Small], int]], list[dict[str, int]]]:
        rows = json_array(
            value,
            "`evidence.threads`",
            lambda item, at: json_members(item, at, ("thread", "registers", "states", "under_way")),
        )
        if [row["thread"] for row in rows] != [code.thread.name for code in self._system.code]:
            reject("`evidence.threads` is not about the threads of the program, in their order")
        threads: list[dict[tuple[int, Small], int]] = []
        under_way: list[dict[str, int]] = []
        for t, row in enumerate(rows):
            where = f"`evidence.threads[{t}]`"
            names = small_registers(self._system, t)
            if json_array(row["registers"], f"{where}.registers", string) != names:
                reject(f"{where}.registers does not name the registers that are not wide, in their order")
            states = _numbered(row["states"], f"{where}.states", 1 + len(names))
            threads.append({(values[0], values[1:]): number for values, number in states.items()})
            if not isinstance(row["under_way"], list):
                reject(f"{where}.under_way is not an array")
            under_way.append({canonical_json(each): i for i, each in enumerate(row["under_way"])})
        return threads, under_way


class StateKeys:
    """Keys by which states are looked up, each computed once."""

    def __init__(self, system: ReducedProgram) -> None:
        self._system = system
        self._own: list[dict[Any, str]] = [{} for _ in system.code]

    def own(self, t: int, own: Any) -> str:
        if own not in self._own[t]:
            self._own[t][own] = canonical_json(self._system.told(t, own))
        return self._own[t][own]

    @staticmethod
    def small(values: Small) -> Small:
        return values if None not in values else tuple(value for value in values if value is not None)


def small_registers(system: ReducedProgram, t: int) -> list[str]:
    code = system.code[t]
    return [
        name for (name, _), full in zip(code.thread.registers, code.names, strict=True) if full not in system.variables.wide
    ]


def canonical_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


class _Any:
    """Every name but those of values that are new in a step: variables that no step gives a value are 0 forever."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name) and not (name.startswith("$") and name[1:].isdigit())


def _numbered(value: object, where: str, length: int) -> dict[tuple[int, ...], int]:
    rows = json_array(value, where, lambda item, at: tuple(json_array(item, at, integer)))
    for i, row in enumerate(rows):
        if len(row) != length:
            reject(f"{where}[{i}] has {len(row)} numbers, not {length}")
    return {row: i for i, row in enumerate(rows)}


def _below(numbers: Sequence[int], length: int, where: str) -> Sequence[int]:
    for number in numbers:
        if number >= length:
            reject(f"{where} names number {number} of {length}")
    return numbers
