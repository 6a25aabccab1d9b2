"""ROBUST certificates: an inductive invariant of the instrumented program that contains no target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from rdma_robust.certify.document import Setting, array, members, natural, reject, string
from rdma_robust.certify.interpreter import Control, Interpreter, Transition
from rdma_robust.counters.program import CounterProgram
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import rdma
from rdma_robust.robustness.paper import instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot

Limit = tuple[int | None, ...]
"""An omega-marking: None is omega, any number."""

Entry = TypeVar("Entry")

INSTRUMENTATIONS = {"pivot": instrument_pivot, "paper": instrument_paper}


def robust_evidence(
    fields: Sequence[str], counters: Sequence[str], states: Sequence[tuple[Control, Limit]]
) -> dict[str, object]:
    """Return the evidence for an inductive invariant as a table with a column for each field and counter."""
    return {
        "invariant": "inductive",
        "states": len(states),
        "control": [{"name": name, "values": [control[i] for control, _ in states]} for i, name in enumerate(fields)],
        "counters": [{"name": name, "limits": [limit[i] for _, limit in states]} for i, name in enumerate(counters)],
    }


def check_robust(program: Program, setting: Setting, evidence: object) -> str:
    """Check that the invariant proves `program` robust and return what it is, in a few words.

    The program is instrumented anew. Its initial state must be in the set, every transition from the set must lead into
    it, and no target may be in it. Source: Theorem 5.1 (a program is robust iff no target is reachable), and that an
    inductive set contains the reachable states. Raises InvalidCertificate.
    """
    instrumented = INSTRUMENTATIONS[setting.instrumentation](program, rdma(setting.ordered_reads))
    return check_inductive(instrumented, evidence)


def check_inductive(program: CounterProgram[Any], evidence: object) -> str:
    """Check an inductive invariant of a counter program; see :func:`check_robust`."""
    interpreter = Interpreter(program)
    limits = _table(interpreter, evidence)
    zeros: Limit = (0,) * len(interpreter.counters)
    if not _covered(limits, interpreter.initial, zeros):
        reject("the initial state is not in the invariant")
    for control, here in limits.items():
        if interpreter.reached_target(control):
            reject(f"a target holds in a state of the invariant: {_show(interpreter, control)}")
        for transition in interpreter.transitions(control):
            after = transition.apply(control)
            for limit in here:
                reached = _fire(transition, limit)
                if reached is not None and not _covered(limits, after, reached):
                    left = f"from {_show(interpreter, control)} to {_show(interpreter, after)}"
                    reject(f"the invariant is not inductive: a transition leaves it {left}")
    count = sum(map(len, limits.values()))
    return f"an inductive invariant of {count} states"


def _table(interpreter: Interpreter, evidence: object) -> dict[Control, list[Limit]]:
    """Read the invariant: for each control state its omega-markings."""
    found = members(evidence, "`evidence`", ("invariant", "states", "control", "counters"))
    if found["invariant"] != "inductive":
        reject("`evidence.invariant` is not 'inductive', the one kind there is for programs")
    count = natural(found["states"], "`evidence.states`")
    control = _columns(found["control"], ("control", "values"), _values, interpreter.fields, count)
    counters = _columns(found["counters"], ("counters", "limits"), _limits, interpreter.counters, count)
    limits: dict[Control, list[Limit]] = {}
    for values, limit in zip(_rows(control, count), _rows(counters, count), strict=True):
        limits.setdefault(values, []).append(limit)
    return limits


def _columns(
    value: object, part: tuple[str, str], read: Callable[[list[object], str], list[Entry]], names: Sequence[str], count: int
) -> list[list[Entry]]:
    """Return the columns of a part of the table, in the order of `names`."""
    where, entries = f"`evidence.{part[0]}`", part[1]
    columns: dict[str, list[Entry]] = {}
    for i, each in enumerate(array(value, where, lambda item, at: members(item, at, ("name", entries)))):
        name = string(each["name"], f"{where}[{i}].name")
        if name in columns:
            reject(f"{where} has the column {name!r} twice")
        column = each[entries]
        if not isinstance(column, list):
            reject(f"{where}[{i}].{entries} is not an array")
        columns[name] = read(column, f"the column {name!r}")
        if len(columns[name]) != count:
            reject(f"the column {name!r} has {len(columns[name])} entries, not {count}")
    if columns.keys() != set(names):
        missing, unknown = sorted(set(names) - columns.keys()), sorted(columns.keys() - set(names))
        reject(f"{where} does not fit the instrumented program: missing {missing}, unknown {unknown}")
    return [columns[name] for name in names]


def _values(column: list[object], where: str) -> list[int]:
    for value in column:
        if type(value) is not int:
            reject(f"{where} holds something else than integers")
    return cast("list[int]", column)


def _limits(column: list[object], where: str) -> list[int | None]:
    for value in column:
        if value is not None and (type(value) is not int or value < 0):
            reject(f"{where} holds something else than numbers from 0 up and null")
    return cast("list[int | None]", column)


def _rows(columns: Sequence[Sequence[Entry]], count: int) -> list[tuple[Entry, ...]]:
    return list(zip(*columns, strict=True)) if columns else [()] * count


def _fire(transition: Transition, limit: Limit) -> Limit | None:
    """Return the omega-marking after the transition, None where it is not enabled."""
    if any(value is not None and value < least for value, least in zip(limit, transition.least, strict=True)):
        return None
    return tuple(None if v is None else v + added for v, added in zip(limit, transition.added, strict=True))


def _covered(limits: Mapping[Control, list[Limit]], control: Control, marking: Limit) -> bool:
    return any(
        all(a is None or (b is not None and b <= a) for a, b in zip(limit, marking, strict=True))
        for limit in limits.get(control, ())
    )


def _show(interpreter: Interpreter, control: Control) -> str:
    """Name the entries of a control state that are not 0, the first ones at least."""
    shown = [f"{name} = {value}" for name, value in zip(interpreter.fields, control, strict=True) if value]
    return "(" + ", ".join(shown[:12]) + (", ...)" if len(shown) > 12 else ")")
