"""The answers for the instances of one program, by the value of a constant, and what follows from all of them together.

The law by which a count grows with a number, and how well it describes what was counted.

Laws are exact where they can be: a polynomial of degree k when the divided differences of order k + 1 vanish, and
a * b^n + c when successive differences have one ratio. Both need two points more than they have numbers to choose, for with
as many points as numbers every law is "exact". Otherwise a line is laid through the logarithms by least squares, over n
(exponential) or over log n (a power), and the law says by how much it is off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

from rdma_robust.frame.answer import Counts
from rdma_robust.reports.check.result import Result

Kind = Literal["too-few", "constant", "polynomial", "exponential", "power", "none"]
Points = Sequence[tuple[int, int]]

SPARE: Final = 2
"""Points that a law has to meet beyond those that determine it."""
MOST_DROPPED: Final = 2
"""Points at the beginning that an exact law may leave out, each for one more that it has to meet: small instances often lack
what makes the others alike."""
LEAST: Final = 4
"""Points for a law with two numbers, as every law by least squares is."""
STEADY: Final = 1.05
"""A count whose largest value is within this factor of its smallest one is called nearly constant."""
FITS: Final = 1.25
"""The factor by which a law may be off anywhere and still be called one."""
TOLD_APART: Final = 4.0
"""How many times as large the squares of the errors of the other law have to be, to tell the two apart."""


@dataclass(frozen=True, slots=True)
class Law:
    """A law, and how good it is.

    `coefficients` are those of a polynomial from the constant on; `factor`, `base` and `offset` those of
    factor * base^n + offset; `factor` and `exponent` those of factor * n^exponent. It holds from the number `first` on, None
    for all. `off` is the largest factor between the law and a point, less 1 (0 if `exact`), `fit` the coefficient of
    determination of the logarithms. `rival` is a law of the other kind that these points do not tell from it. With `none`
    the law is the closest one, which is too far off to be one.
    """

    kind: Kind
    points: int
    exact: bool = False
    coefficients: tuple[Fraction, ...] = ()
    factor: float = 0.0
    base: float = 0.0
    exponent: float = 0.0
    offset: float = 0.0
    off: float = 0.0
    fit: float | None = None
    first: int | None = None
    rival: Law | None = None

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    def at(self, number: float) -> float | None:
        """Return what the law says for a number, None where it says nothing."""
        if self.coefficients:
            return float(sum(float(each) * number**power for power, each in enumerate(self.coefficients)))
        if self.base:
            return float(self.factor * self.base**number + self.offset)
        if self.factor and number > 0:
            return float(self.factor * number**self.exponent)
        return None


def law_of(points: Points) -> Law:
    """Return the law of `points`, pairs of a number and a count that is not negative, each number once."""
    points = sorted(points)
    for dropped in range(MOST_DROPPED + 1):
        left, spare = points[dropped:], SPARE + dropped
        found = _polynomial(left, spare) or _exact_exponential(left, spare)
        if found is not None:
            return replace(found, first=left[0][0]) if dropped else found
    if len(points) < LEAST:
        return Law("too-few", len(points))
    counts = [count for _, count in points]
    if min(counts) <= 0:
        return Law("none", len(points))
    if max(counts) <= STEADY * min(counts):
        middle = Fraction(max(counts) + min(counts), 2)
        return Law("constant", len(points), coefficients=(middle,), off=float(max(counts) / middle - 1))
    return _by_logarithms(points)


def last_factor(points: Points) -> tuple[int, int, float] | None:
    """Return the last two numbers and the factor between their counts, None if there is none."""
    if len(points) < 2:
        return None
    (before, few), (last, many) = sorted(points)[-2:]
    return (before, last, many / few) if few else None


def _polynomial(points: Points, spare: int) -> Law | None:
    """Return the polynomial of the lowest degree through all points, if there are enough to tell (Newton)."""
    if len(points) <= spare:
        return None
    row = [Fraction(count) for _, count in points]
    newton = [row[0]]
    for order in range(1, len(points)):
        row = [(b - a) / (points[k + order][0] - points[k][0]) for k, (a, b) in enumerate(pairwise(row))]
        newton.append(row[0])
    while len(newton) > 1 and newton[-1] == 0:
        newton.pop()
    if len(points) < len(newton) + spare:
        return None
    coefficients = [Fraction(0)]
    for order in reversed(range(len(newton))):
        at = points[order][0]
        shifted = [Fraction(0), *coefficients]
        coefficients = [a - at * b for a, b in zip(shifted, [*coefficients, Fraction(0)], strict=True)]
        coefficients[0] += newton[order]
    while len(coefficients) > 1 and coefficients[-1] == 0:
        coefficients.pop()
    kind: Kind = "polynomial" if len(coefficients) > 1 else "constant"
    return Law(kind, len(points), exact=True, coefficients=tuple(coefficients), fit=1.0)


def _exact_exponential(points: Points, spare: int) -> Law | None:
    """Return factor * base^n + offset through all points, if they are evenly spaced and enough to tell."""
    steps = {b - a for (a, _), (b, _) in pairwise(points)}
    if len(points) < 3 + spare or len(steps) != 1:
        return None
    differences = [b - a for (_, a), (_, b) in pairwise(points)]
    ratios = {Fraction(b, a) if a else None for a, b in pairwise(differences)}
    ratio = next(iter(ratios))
    if len(ratios) != 1 or ratio is None or ratio <= 0 or ratio == 1:
        return None
    start = points[0][0]
    base = float(ratio) ** (1 / steps.pop())
    scaled = differences[0] / (ratio - 1)  # factor * base^start
    return Law(
        "exponential",
        len(points),
        exact=True,
        factor=float(scaled) * base**-start,
        base=base,
        offset=float(points[0][1] - scaled),
        fit=1.0,
    )


def _by_logarithms(points: Points) -> Law:
    """Return the better one of the exponential and the power that are closest to the points by their logarithms."""
    logarithms = [math.log(count) for _, count in points]
    mean = sum(logarithms) / len(points)
    spread = sum((each - mean) ** 2 for each in logarithms)
    fits: list[tuple[float, Law]] = []
    for kind in ("exponential", "power"):
        if kind == "power" and points[0][0] < 1:
            continue
        numbers = [float(n) if kind == "exponential" else math.log(n) for n, _ in points]
        slope, height = _line(numbers, logarithms)
        errors = [y - (slope * x + height) for x, y in zip(numbers, logarithms, strict=True)]
        squares = sum(error**2 for error in errors)
        off, fit = math.exp(max(map(abs, errors))) - 1, 1 - squares / spread
        if kind == "exponential":
            law = Law("exponential", len(points), factor=math.exp(height), base=math.exp(slope), off=off, fit=fit)
        else:
            law = Law("power", len(points), factor=math.exp(height), exponent=slope, off=off, fit=fit)
        fits.append((squares, law))
    fits.sort(key=lambda each: each[0])
    squares, best = fits[0]
    rival = next((law for other, law in fits[1:] if other < TOLD_APART * squares and law.off <= FITS - 1), None)
    return replace(best, kind="none") if best.off > FITS - 1 else replace(best, rival=rival)


def _line(numbers: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return slope and height at 0 of the line with the least squares."""
    middle, mean = sum(numbers) / len(numbers), sum(values) / len(values)
    over = sum((x - middle) * (y - mean) for x, y in zip(numbers, values, strict=True))
    slope = over / sum((x - middle) ** 2 for x in numbers)
    return slope, mean - slope * middle


WORDS: Final = {"robust": "robust", "not-robust": "not robust", "unknown": "unknown", "error": "in error"}
MOST_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Numbers that follow one another among those that were asked about, with one verdict."""

    verdict: str
    numbers: tuple[int, ...]


def stretches(verdicts: Sequence[tuple[int, str]]) -> list[Stretch]:
    """Return the stretches of one verdict, as long as they can be, by growing numbers."""
    found: list[Stretch] = []
    for number, verdict in sorted(verdicts):
        if found and found[-1].verdict == verdict:
            found[-1] = Stretch(verdict, (*found[-1].numbers, number))
        else:
            found.append(Stretch(verdict, (number,)))
    return found


def changes_sentence(name: str, found: Sequence[Stretch]) -> str:
    """Return the sentence about all stretches of the constant `name`; nothing if there is none."""
    if not found:
        return ""
    asked = [number for each in found for number in each.numbers]
    if len(found) == 1:
        number = _listed(name, asked)
        said = f"{WORDS[found[0].verdict]} for {'every ' if 'from' in number else ''}{number}"
    elif len(found) == 2:
        first, second = found
        said = f"{WORDS[first.verdict]} up to {name} = {first.numbers[-1]}, "
        said += f"{WORDS[second.verdict]} from {name} = {second.numbers[0]}"
    else:
        said = "; ".join(f"{WORDS[each.verdict]} for {_listed(name, each.numbers)}" for each in found)
    gaps = [(a.numbers[-1], b.numbers[0]) for a, b in pairwise(found) if b.numbers[0] > a.numbers[-1] + 1]
    if gaps:
        between = " and ".join(f"{low} and {high}" for low, high in gaps)
        said += f" (between {between} nothing was asked)"
    return f"{said[0].upper()}{said[1:]}."


def _listed(name: str, numbers: Sequence[int]) -> str:
    """Return `N = 2`, `N = 2, 4, 8`, or `N from 2 to 8` where no number between them was left out."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > MOST_LISTED or (len(numbers) > 2 and last - first == len(numbers) - 1):
        left_out = last - first >= len(numbers)
        return f"{name} from {first} to {last}{' that was asked' if left_out else ''}"
    return f"{name} = {', '.join(map(str, numbers))}"


ANY: Final = "any"
"""How the row about any number of copies is called."""
COUNTED: Final = ("states", "transitions")
DECIDED: Final = ("robust", "not-robust")
"""A search that was cut counts what a limit let it, and says nothing about growth; those of the two verdicts are apart, for
one is over when everything was seen, and the other when a counterexample is."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The law of what was counted in the searches with one verdict, and the points it is the law of."""

    of: str
    verdict: str
    points: tuple[tuple[int, int], ...]
    law: Law


@dataclass(frozen=True, slots=True)
class ScaleRecord:
    """The answers by growing value of `constant`, and the totals; `tool` and `options` say how they were found.

    `any_number` is the answer for any number of copies, where `constant` is a crowd.
    """

    file: str
    constant: str
    answers: tuple[tuple[int, Result], ...]
    any_number: Result | None
    summary: Counts
    tool: Mapping[str, object]
    options: Mapping[str, object]

    @property
    def program(self) -> str:
        """The name of the program, that of the file if no instance could be read."""
        return next((result.program for _, result in self.answers if result.program), self.file)

    @property
    def rows(self) -> list[tuple[str, Result]]:
        """What was answered, by how it is called."""
        rows = [(f"{value}", result) for value, result in self.answers]
        return rows if self.any_number is None else [*rows, (ANY, self.any_number)]

    @property
    def changes(self) -> list[Stretch]:
        return stretches([(value, result.verdict) for value, result in self.answers])

    @property
    def sentence(self) -> str:
        """Where the verdict changes, and what it is for any number."""
        said = changes_sentence(self.constant, self.changes)
        if self.any_number is not None and self.any_number.verdict in DECIDED:
            reason = self.any_number.reason
            said += f" {reason[0].upper()}{reason[1:]}."
        return said.strip()

    def growth(self, of: str, verdict: str) -> Growth:
        """Return how what is called `of` grows over the instances with a verdict."""
        points = tuple((value, getattr(result, of)) for value, result in self.answers if result.verdict == verdict)
        return Growth(of, verdict, points, law_of(points))

    @property
    def growths(self) -> list[Growth]:
        """The growths of two points or more: one alone does not grow."""
        found = [self.growth(of, verdict) for of in COUNTED for verdict in DECIDED]
        return [each for each in found if len(each.points) > 1]
