"""Laws of growth: exact where they are, honest where they are not, and none from too few points."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import pytest

from rdma_robust.reports.scale.growth_wording import formula, growth_sentence, law_in_words
from rdma_robust.reports.scale.scale_record import Growth, changes_sentence, law_of, stretches


@pytest.mark.parametrize(
    ("values", "counts", "says"),
    [
        ((2, 3, 4), (7, 7, 7), "constant: 7, exactly (3 values)"),
        ((2, 3), (7, 7), "too few values to tell how they grow (2; a law takes 4 or more)"),
        ((2, 3, 4), (7, 9, 11), "too few values to tell how they grow (3; a law takes 4 or more)"),
        ((1, 2, 3, 4), (7, 9, 11, 13), "linear: 2*N + 5, exactly (4 values)"),
        ((1, 2, 5, 9), (7, 9, 15, 23), "linear: 2*N + 5, exactly (4 values)"),
        ((1, 2, 3, 4, 5), (1, 3, 6, 10, 15), "quadratic: (N^2 + N) / 2, exactly (5 values)"),
        ((-1, 0, 1, 2, 3), (3, 0, 1, 6, 15), "quadratic: 2*N^2 - N, exactly (5 values)"),
        ((-1, 0, 1, 2, 3), (3, 0, 1, 6, 16), None),
        ((1, 2, 3, 4, 5, 6, 7), (1, 16, 81, 256, 625, 1296, 2401), "polynomial of degree 4: N^4, exactly (7 values)"),
        ((1, 2, 3, 4, 5, 6), (1, 16, 81, 256, 625, 1296), None),
        ((2, 3, 4, 5, 6), (8, 16, 32, 64, 128), "exponential: 2 * 2^N, exactly (5 values)"),
        ((2, 4, 6, 8, 10), (13, 49, 193, 769, 3073), "exponential: 3 * 2^N + 1, exactly (5 values)"),
        ((1, 2, 3, 4, 5, 6), (9, 13, 16, 19, 22, 25), "linear from N = 2 on: 3*N + 7, exactly (5 values)"),
        ((0, 1, 2, 3), (0, 0, 0, 0), "none for each of 4 values: nothing was left to search"),
        ((1, 2, 3, 4, 5), (100, 101, 99, 102, 100), "nearly constant: 100, off by at most 1.5 % (5 values)"),
        ((1, 2, 3, 4), (0, 5, 1, 9), "no law of the kinds that are tried (4 values)"),
    ],
)
def test_exact_laws_and_those_that_are_none(values: tuple[int, ...], counts: tuple[int, ...], says: str | None) -> None:
    law = law_of(list(zip(values, counts, strict=True)))
    if says is None:
        assert not law.exact
    else:
        assert law_in_words(law, "N") == says
    if law.exact:
        points = [(v, c) for v, c in zip(values, counts, strict=True) if law.first is None or v >= law.first]
        assert all(law.at(v) == pytest.approx(c) for v, c in points) and len(points) == law.points


@pytest.mark.parametrize("degree", range(5))
def test_a_polynomial_is_found_by_the_points_it_needs_and_two_more(degree: int) -> None:
    def value(n: int) -> int:
        return sum((k + 1) * n**k for k in range(degree + 1))

    points = [(n, value(n)) for n in (1, 2, 4, 5, 7, 8, 11, 12, 13)]
    law = law_of(points[: degree + 3])
    assert law.exact and law.coefficients == tuple(Fraction(k + 1) for k in range(degree + 1))
    assert not law_of(points[: degree + 2]).exact
    spoilt = [*points[: degree + 4], (20, value(20) + 1)]
    assert law_of(spoilt).coefficients != law.coefficients or not law_of(spoilt).exact


def test_approximate_laws_say_how_far_they_are_off() -> None:
    exponential = law_of([(n, round(3 * 2.5**n) + n % 2) for n in range(2, 10)])
    assert (exponential.kind, exponential.exact) == ("exponential", False)
    assert exponential.base == pytest.approx(2.5, rel=0.01) and 0 < exponential.off < 0.05
    assert exponential.rival is None and exponential.fit is not None and exponential.fit > 0.999
    power = law_of([(n, n**3 + n % 3) for n in range(3, 11)])
    assert power.kind == "power" and power.exponent == pytest.approx(3, abs=0.05)
    assert all(abs(power.at(n) / (n**3 + n % 3) - 1) <= power.off + 1e-9 for n in range(3, 11))  # type: ignore[operator]
    steep = law_of([(n, factorial(n) ** 2) for n in range(1, 9)])
    assert steep.kind == "none" and "is off by" in law_in_words(steep, "N")
    short = law_of([(4, 100), (5, 131), (6, 160), (7, 205)])
    assert short.rival is not None and "not told apart from" in law_in_words(short, "N")
    says = growth_sentence(Growth("states", "not-robust", ((4, 100), (5, 131), (6, 160), (7, 205)), short), "N")
    assert says.startswith("States until a counterexample: ") and says.endswith("; from N = 6 to 7 times 1.28.")
    assert formula(power, "N").startswith("1 * N^") or "N^" in formula(power, "N")


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        ([(2, "robust"), (3, "not-robust"), (4, "not-robust")], "Robust up to N = 2, not robust from N = 3."),
        (
            [(8, "unknown"), (2, "robust"), (4, "robust")],
            "Robust up to N = 4, unknown from N = 8 (between 4 and 8 nothing was asked).",
        ),
        ([(n, "robust") for n in range(2, 9)], "Robust for every N from 2 to 8."),
        ([(n, "not-robust") for n in (2, 4, 8)], "Not robust for N = 2, 4, 8."),
        ([(3, "robust")], "Robust for N = 3."),
        (
            [(1, "robust"), (2, "not-robust"), (3, "robust"), (4, "robust"), (5, "robust")],
            "Robust for N = 1; not robust for N = 2; robust for N from 3 to 5.",
        ),
        ([(n, "robust") for n in (1, 2, 4, 8)], "Robust for every N from 1 to 8 that was asked."),
        ([], ""),
    ],
)  # fmt: skip
def test_verdict_changes_in_a_sentence(verdicts: list[tuple[int, str]], says: str) -> None:
    assert changes_sentence("N", stretches(verdicts)) == says
