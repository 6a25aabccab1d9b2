"""The law by which a count grows with a number, and how well it describes what was counted.

Laws are exact where they can be: a polynomial of degree k when the divided differences of order k + 1 vanish, and
a * b^n + c when successive differences have one ratio. Both need two points more than they have numbers to choose, for with
as many points as numbers every law is "exact". Otherwise a line is laid through the logarithms by least squares, over n
(exponential) or over log n (a power), and the law says by how much it is off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

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
