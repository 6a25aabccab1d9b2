"""At which inputs a proof looks: all values that meet `requires`, those of the kinds of `bounds`, or within the bounds."""

from __future__ import annotations

from typing import Final, Literal

from rdma_robust.contracts.any_procs.any_specs import Moment, MomentReader
from rdma_robust.contracts.any_procs.any_values import Bool, Int, NumberTerm, TermValue, in_range
from rdma_robust.contracts.language.contract_program import Contract, InputBounds
from rdma_robust.guarded_z3 import z3

Level = Literal["any", "kinds", "bounds"]
LEVELS: Final[tuple[Level, ...]] = ("any", "kinds", "bounds")


def admitted_input(contract: Contract, name: str, data: TermValue, process: Int, level: Level) -> Bool:
    """Return whether a value is one at which a check of this level looks."""
    bounds = next((each for each in contract.bounds if each.name == name), None)
    if level == "any":
        return z3.BoolVal(True)
    if bounds is None:
        return data.is_number()
    return _nested(bounds, data, process, level, ())


def _nested(bounds: InputBounds, data: TermValue, process: Int, level: Level, at: tuple[Int, ...]) -> Bool:
    nothing = Moment(lambda _: {}, lambda _: {}, lambda _: {}, lambda _: None)
    reader = MomentReader(nothing)
    bound = {name: NumberTerm(index) for name, index in zip("ij", at, strict=False)}
    ends = bounds.lengths[len(at)] if len(at) < len(bounds.lengths) else (bounds.low, bounds.high)
    if ends[0] is None or ends[1] is None:
        return data.is_number()
    (fine, low), (fine_too, high) = reader.number(ends[0], process, bound), reader.number(ends[1], process, bound)
    ranged = [fine, fine_too]
    if len(at) == len(bounds.lengths):
        ranged.append(in_range(data.number(), low, high))
        return z3.And(data.is_number(), *(ranged if level == "bounds" else ()))
    ranged.append(in_range(data.length(), low, high))
    index = z3.FreshInt("i")
    cells = _nested(bounds, data.cell(index), process, level, (*at, index))
    every = z3.ForAll([index], z3.Implies(in_range(index, 0, data.length() - 1), cells))
    return z3.And(z3.Not(data.is_number()), every, *(ranged if level == "bounds" else ()))
