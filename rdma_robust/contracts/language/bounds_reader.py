"""`bounds` of contracts, and what they say as a clause."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.contract_program import InputBounds, StateClause
from rdma_robust.contracts.language.spec_folding import known_value
from rdma_robust.contracts.language.spec_reader import SpecContext, SpecReader
from rdma_robust.diagnose import meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.messages.language import contract_tree as written

_INPUTS = "bounds say which inputs are looked at, before there are any"
_SIZE = SpecContext("`bounds`", state=False, others=False, why=_INPUTS)
_INDICES = ("i", "j")


class BoundsReader:
    """Reads the bounds of one contract: `found` has them by their names. `expected` says for what they may be."""

    def __init__(self, specs: SpecReader, expected: str) -> None:
        self.found: dict[str, InputBounds] = {}
        self._specs = specs
        self._report = specs.report
        self._expected = expected

    def read(self, part: written.BoundsLine, inputs: Collection[str]) -> None:
        """Read bounds, which are of one of the `inputs`."""
        name, text = part.name, part.name.text
        if text not in inputs:
            hint = meant_at(name.span, text, inputs)
            said = f"{quote(text)} is no input of {quote(self._specs.owner.name)}"
            self._report.error("RR953", name.span, said, expected=self._expected, hint=hint)
        if len(part.lengths) > 2:
            said = "`bounds` has one `len` for an array, and two for an array of arrays"
            self._report.error("RR953", part.lengths[2].span, said)
        lengths = tuple(
            (self._specs.spec(each.low, self._size(at)), self._specs.spec(each.high, self._size(at)))
            for at, each in enumerate(part.lengths[:2])
        )
        inner = self._size(len(lengths))
        ends = None if part.low is None else (self._specs.spec(part.low, inner), self._specs.spec(part.high, inner))
        for range_, each in zip(lengths, part.lengths, strict=False):
            self._check_range(range_, each.span, of_length=True)
        if ends is not None:
            self._check_range(ends, part.span, of_length=False)
        if text in self.found:
            line = self.found[text].span.line
            self._report.error("RR953", part.span, f"there are bounds for {quote(text)} already, on line {line}")
        low, high = ends or (None, None)
        self.found.setdefault(text, InputBounds(text, lengths, low, high, self._report.at(part.span)))

    def _size(self, indices: int) -> SpecContext:
        return replace(_SIZE, indices=indices)

    def _check_range(self, ends: tuple[spec.Spec, spec.Spec], span: Span, *, of_length: bool) -> None:
        first, last = map(known_value, ends)
        if first is not None and last is not None and first > last:
            what = "length" if of_length else "number"
            said = f"from {first} to {last} there is no {what}: no input is within these bounds"
            self._report.warn("RR754", span, said, hint="write the smaller number first")
        elif of_length and last is not None and last < 0:
            self._report.warn("RR754", span, f"a length of {last} is none: no input is within these bounds")


def typed_clause(name: str, bounds: InputBounds | None, span: Span, *, is_global: bool = False) -> StateClause:
    """Return the clause that a register is within its bounds or, without bounds, a number; `span` is where that stands."""
    place: spec.Spec = spec.Global(name) if is_global else spec.Parameter(name)
    if bounds is None:
        return StateClause("requires", _number(place), None, span, f"{name} is an array, and has no `bounds` with `len`")
    said = f"{name} is not within its bounds"
    return StateClause("requires", _within(place, bounds, 0), None, bounds.span, said)


def _within(place: spec.Spec, bounds: InputBounds, depth: int) -> spec.Spec:
    if depth == len(bounds.lengths):
        if bounds.low is None or bounds.high is None:
            return _number(place)
        return _between(bounds.low, place, bounds.high)
    low, high = bounds.lengths[depth]
    index = _INDICES[depth]
    last = spec.Apply("-", (spec.LengthOf(place), spec.SpecNumber(1)))
    inner = _within(spec.Item(place, spec.BoundVariable(index)), bounds, depth + 1)
    each = spec.Quantification("forall", index, spec.SpecNumber(0), last, inner)
    length = spec.LengthOf(place)
    sized = spec.Apply("==", (length, low)) if low == high else _between(low, length, high)
    return spec.Apply("&&", (sized, each))


def _number(place: spec.Spec) -> spec.Spec:
    return spec.Apply("==", (spec.Apply("+", (place, spec.SpecNumber(0))), place))


def _between(low: spec.Spec, value: spec.Spec, high: spec.Spec) -> spec.Spec:
    return spec.Apply("&&", (spec.Apply("<=", (low, value)), spec.Apply("<=", (value, high))))
