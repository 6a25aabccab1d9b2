"""Laws of growth in words: `linear: 13*N + 2, exactly`, `about 4.1 * 3.2^N, off by at most 6 %`."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Final

from rdma_robust.reports.scale.scale_record import LEAST, Growth, Law, last_factor
from rdma_robust.text import count

WHAT: Final = {
    ("states", "robust"): "States",
    ("states", "not-robust"): "States until a counterexample",
    ("transitions", "robust"): "Transitions",
    ("transitions", "not-robust"): "Transitions until a counterexample",
}
DEGREES: Final = {1: "linear", 2: "quadratic", 3: "cubic"}


def growth_sentence(growth: Growth, name: str) -> str:
    """Return the sentence about one growth, with `name` for the number."""
    said = f"{WHAT[growth.of, growth.verdict]}: {law_in_words(growth.law, name)}"
    last = last_factor(growth.points)
    if last is not None and not growth.law.exact:
        before, number, factor = last
        said += f"; from {name} = {before} to {number} times {short(factor)}"
    return said + "."


def law_in_words(law: Law, name: str) -> str:
    """Return what a law says, and how good it is."""
    values = count(law.points, "value")
    start = "" if law.first is None else f" from {name} = {law.first} on"
    match law.kind:
        case "too-few":
            return f"too few values to tell how they grow ({law.points}; a law takes {LEAST} or more)"
        case "none" if law.fit is None:
            return f"no law of the kinds that are tried ({values})"
        case "none":
            return f"no law fits {values}: the closest, {formula(law, name)}, is off by {percent(law.off)}"
        case "constant" if law.exact and not law.coefficients[0]:
            return f"none for each of {values}: nothing was left to search"
        case "constant" if law.exact:
            return f"constant{start}: {formula(law, name)}, exactly ({values})"
        case "constant":
            return f"nearly constant: {formula(law, name)}, off by at most {percent(law.off)} ({values})"
        case "polynomial":
            kind = DEGREES.get(law.degree, f"polynomial of degree {law.degree}")
            return f"{kind}{start}: {formula(law, name)}, exactly ({values})"
        case "exponential" if law.exact:
            return f"exponential{start}: {formula(law, name)}, exactly ({values})"
    return _approximate(law, name)


def _approximate(law: Law, name: str) -> str:
    said = f"{'exponential' if law.base else 'power'}: about {formula(law, name)}, {_goodness(law)}"
    if law.rival is not None:
        said += f"; not told apart from {formula(law.rival, name)}, {_goodness(law.rival)}"
    return said


def _goodness(law: Law) -> str:
    return f"off by at most {percent(law.off)} (R2 = {law.fit or 0.0:.4f} on logarithms, {count(law.points, 'value')})"


def formula(law: Law, name: str) -> str:
    """Return a law as a formula over `name`; numbers that are not exact have three digits."""
    if law.coefficients:
        return _polynomial(law.coefficients, name) if law.exact else short(float(law.coefficients[0]))
    if law.base:
        offset = "" if not law.offset else f" {'-' if law.offset < 0 else '+'} {short(abs(law.offset))}"
        return f"{short(law.factor)} * {short(law.base)}^{name}{offset}"
    return f"{short(law.factor)} * {name}^{short(law.exponent)}"


def _polynomial(coefficients: tuple[Fraction, ...], name: str) -> str:
    below = lcm(*(each.denominator for each in coefficients))
    said = ""
    for power in reversed(range(len(coefficients))):
        whole = int(coefficients[power] * below)
        if not whole and (power or len(coefficients) > 1):
            continue
        variable = "" if not power else name if power == 1 else f"{name}^{power}"
        size = abs(whole)
        term = variable if variable and size == 1 else f"{size:,}*{variable}" if variable else f"{size:,}"
        sign = ("-" if whole < 0 else "") if not said else (" - " if whole < 0 else " + ")
        said += sign + term
    return said if below == 1 else f"({said}) / {below}"


def percent(off: float) -> str:
    """Return a deviation in per cent, from 200 % on as a factor."""
    if off >= 2:
        return f"a factor of {short(1 + off)}"
    return f"{100 * off:.1f} %" if off < 0.1 else f"{100 * off:.0f} %"


def short(value: float) -> str:
    """Return a number with three digits that count, or as the whole number it is."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"
