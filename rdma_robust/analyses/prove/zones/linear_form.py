"""Sums of multiples of variables and a constant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class LinearForm:
    """The sum of a * name over `terms`, sorted by name and without a = 0, and `constant`."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    @classmethod
    def of(cls, terms: Mapping[str, int], constant: int) -> LinearForm:
        """Return the form with these coefficients."""
        return cls(tuple(sorted((name, a) for name, a in terms.items() if a)), constant)

    def plus(self, other: LinearForm, times: int = 1) -> LinearForm:
        """Return this and so many times the other."""
        terms = dict(self.terms)
        for name, a in other.terms:
            terms[name] = terms.get(name, 0) + times * a
        return LinearForm.of(terms, self.constant + times * other.constant)

    def times(self, factor: int) -> LinearForm:
        """Return the multiple."""
        return number(0).plus(self, factor)

    def shifted(self, by: int) -> LinearForm:
        """Return this and a constant."""
        return LinearForm(self.terms, self.constant + by)

    def tightened(self) -> LinearForm:
        """Return the form that is at most 0 for the same integers, with coefficients that no number divides."""
        common = gcd(*(a for _, a in self.terms))
        if common <= 1:
            return self
        return LinearForm(tuple((name, a // common) for name, a in self.terms), -(-self.constant // common))


def number(value: int) -> LinearForm:
    """Return the form that is a constant."""
    return LinearForm((), value)


def variable(name: str) -> LinearForm:
    """Return the form that is a variable."""
    return LinearForm(((name, 1),), 0)


def moved(form: LinearForm) -> tuple[str, int] | None:
    """Return w and c if the form is w + c."""
    return (form.terms[0][0], form.constant) if len(form.terms) == 1 and form.terms[0][1] == 1 else None


def named(forms: Iterable[LinearForm]) -> set[str]:
    """Return the variables of forms."""
    return {name for form in forms for name, _ in form.terms}
