"""The operations on zones: the compiled kernel against the Python one, and both against the points of zones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

from rdma_robust.analyses.prove.zones import zone_matrix
from rdma_robust.analyses.prove.zones.zone_matrix import ZoneCode, ZoneOp
from rdma_robust.analyses.prove.zones.zone_search import ZONE_KERNELS, Zone, ZoneKernel
from tests.support.zone_checks import has_point

KERNEL_NAMES = ["compiled", "python"][-len(ZONE_KERNELS) :]
BOX = range(-2, 3)


def random_ops(rng: random.Random, rows: int, length: int) -> list[int]:
    ops: list[int] = []
    for _ in range(length):
        op = rng.choice(list(ZoneOp))
        i, j = rng.sample(range(rows), 2)
        c = rng.randint(-3, 3)
        if op is ZoneOp.LINEAR:
            terms = [n for row in range(1, rows) if rng.random() < 0.6 for n in (rng.choice((-2, -1, 1, 3)), row)]
            ops += [op, i, j, c, rng.randint(1, 3), len(terms) // 2, *terms]
            continue
        if op is not ZoneOp.BOUND and i == 0:
            i, j = j, i
        ops += [op, i, j, c][: {ZoneOp.SHIFT: 2, ZoneOp.FORGET: 2, ZoneOp.COPY: 3}.get(op, 4)]
        if op is ZoneOp.SHIFT:
            ops.append(c)
    return ops


def random_code(rng: random.Random, before: int, after: int, clip: int) -> ZoneCode:
    rows = 1 + before + rng.randint(0, 2)
    source = [*range(1, before + 1), *[-1] * (rows - 1 - before)]
    target = [rng.randrange(1, rows) for _ in range(after)] if rows > 1 else []
    length = rng.randint(0, 5) if rows > 1 else 0
    return ZoneCode(clip, rows, tuple(source), tuple(random_ops(rng, rows, length)), tuple(dict.fromkeys(target)), 5, 40)


def some_zone(rng: random.Random, kernel: ZoneKernel, size: int) -> Zone:
    """A zone with points, made from one point by operations."""
    zone = kernel.of_values([rng.randint(-2, 2) for _ in range(size)], 10**6)
    for row in range(1, size + 1):
        if rng.random() < 0.8:
            other = rng.choice([r for r in range(size + 1) if r != row])
            ops = [
                ZoneOp.FORGET,
                row,
                ZoneOp.BOUND,
                row,
                other,
                rng.randint(0, 3),
                ZoneOp.BOUND,
                other,
                row,
                rng.randint(0, 2),
            ]
            ops = ops[: rng.choice((2, 6, 10))]
            after = kernel.compiled(
                ZoneCode(10**6, size + 1, tuple(range(1, size + 1)), tuple(ops), tuple(range(1, size + 1)))
            )(zone)
            zone = zone if after is None else after
    return zone


@pytest.mark.skipif(len(ZONE_KERNELS) == 1, reason="without a C compiler there is one kernel")
def test_the_kernels_do_the_same() -> None:
    compiled = ZONE_KERNELS[0]
    empty = full = 0
    for seed in range(400):
        rng = random.Random(seed)
        clip = rng.choice((1, 2, 3, 1000))
        values = [rng.randint(-4, 4) for _ in range(rng.randint(0, 4))]
        zones: tuple[Zone, Zone] = compiled.of_values(values, clip), zone_matrix.of_values(values, clip)
        for _ in range(12):
            assert compiled.entries(zones[0]) == zone_matrix.entries(zones[1])
            size = len(values)
            code = random_code(rng, size, rng.randint(0, 4), clip)
            after = compiled.compiled(code)(zones[0]), zone_matrix.compiled(code)(zones[1])
            assert (after[0] is None) == (after[1] is None)
            if after[0] is None:
                empty += 1
                continue
            full += 1
            if len(code.target) == size:
                told = [
                    (kernel.smaller(zone, [other]) == [other], kernel.compiled(code)(zone, [zone]) is True)
                    for kernel, zone, other in zip((compiled, zone_matrix), zones, after, strict=True)
                ]
                assert told[0] == told[1]
                assert told[1] == (zone_matrix.included(after[1], zones[1]),) * 2
            zones, values = after, [0] * len(code.target)  # type: ignore[assignment]
    assert empty > 100
    assert full > 100


def image(ops: Sequence[int], point: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The points after one operation, with values in the box where any value would do."""
    op, i, *rest = ops
    values = (0, *point)
    match ZoneOp(op):
        case ZoneOp.BOUND:
            return {point} if values[i] - values[rest[0]] <= rest[1] else set()
        case ZoneOp.MOVE:
            new = [values[rest[0]] + rest[1]]
        case ZoneOp.FOLD:
            new = [values[i], values[rest[0]] + rest[1]]
        case ZoneOp.SHIFT:
            new = [values[i] + rest[0]]
        case ZoneOp.FORGET:
            new = list(BOX)
        case _:
            raise AssertionError
    return {(*values[1:i], value, *values[i + 1 :]) for value in new}


def single_operations(rng: random.Random, size: int) -> list[list[int]]:
    i = rng.randint(1, size)
    j = rng.choice([r for r in range(size + 1) if r != i])
    c = rng.randint(-2, 2)
    moves = [[op, i, j, c] for op in (ZoneOp.BOUND, ZoneOp.MOVE, ZoneOp.FOLD)]
    return [*moves, [ZoneOp.BOUND, j, i, c], [ZoneOp.SHIFT, i, c], [ZoneOp.FORGET, i]]


def wrong_operations(kernel: ZoneKernel, seeds: range) -> list[str]:
    """What operations get wrong: they lose points, invent some (FOLD may: it is the least zone), or do not close."""
    wrong = []
    for seed in seeds:
        rng = random.Random(seed)
        size = rng.randint(1, 3)
        zone = some_zone(rng, kernel, size)
        inside = [p for p in product(range(-6, 7), repeat=size) if has_point(kernel.entries(zone), p)]
        rows = tuple(range(1, size + 1))
        for ops in single_operations(rng, size):
            after = kernel.compiled(ZoneCode(10**6, size + 1, rows, tuple(ops), rows, 0, 10))(zone)
            points = {q for p in inside for q in image(ops, p)}
            entries = [] if after is None else kernel.entries(after)
            if any(after is None or not has_point(entries, q) for q in points):
                wrong.append(f"{ZoneOp(ops[0]).name} loses points")
            near = [] if after is None else [q for q in product(BOX, repeat=size) if has_point(entries, q)]
            if ops[0] != ZoneOp.FOLD and any(q not in points for q in near):
                wrong.append(f"{ZoneOp(ops[0]).name} invents points")
            if after is not None and not is_closed(entries, size + 1):
                wrong.append(f"{ZoneOp(ops[0]).name} does not close")
    return wrong


def is_closed(entries: Sequence[int | None], size: int) -> bool:
    return all(
        entries[i * size + i] == 0
        and (
            (a := entries[i * size + k]) is None
            or (b := entries[k * size + j]) is None
            or _least(entries[i * size + j], a + b)
        )
        for i in range(size)
        for j in range(size)
        for k in range(size)
    )


def _least(entry: int | None, way: int) -> bool:
    return entry is not None and entry <= way


@pytest.mark.parametrize("kernel", ZONE_KERNELS, ids=KERNEL_NAMES)
def test_operations_do_to_zones_what_they_do_to_points(kernel: ZoneKernel) -> None:
    assert wrong_operations(kernel, range(60)) == []


@pytest.mark.parametrize("kernel", ZONE_KERNELS, ids=KERNEL_NAMES)
def test_a_fold_is_the_least_zone_with_both(kernel: ZoneKernel) -> None:
    """Each bound is met by a point of one of the two zones, or it would not be the least."""
    for seed in range(40):
        rng = random.Random(seed)
        zone = some_zone(rng, kernel, 2)
        rows = (1, 2)
        folded = kernel.compiled(ZoneCode(10**6, 3, rows, (ZoneOp.FOLD, 1, 2, 1), rows))(zone)
        moved = kernel.compiled(ZoneCode(10**6, 3, rows, (ZoneOp.MOVE, 1, 2, 1), rows))(zone)
        pairs = zip(kernel.entries(zone), kernel.entries(moved), strict=True)
        assert kernel.entries(folded) == [None if a is None or b is None else max(a, b) for a, b in pairs]


def wrong_copies(kernel: ZoneKernel, seeds: range) -> list[str]:
    """A copy is another of the values that a variable stands for: what is known of one is known of the other."""
    wrong = []
    for seed in seeds:
        zone = some_zone(random.Random(seed), kernel, 2)
        entries = kernel.entries(zone)
        copied = kernel.compiled(ZoneCode(10**6, 4, (1, 2, -1), (ZoneOp.COPY, 3, 1), (1, 2, 3)))(zone)
        for a, b, c in product(BOX, repeat=3):
            expected = has_point(entries, (a, b)) and has_point(entries, (c, b))
            if has_point(kernel.entries(copied), (a, b, c)) != expected:
                wrong.append(f"{a} {b} {c}")
        if not is_closed(kernel.entries(copied), 4):
            wrong.append("not closed")
    return wrong


@pytest.mark.parametrize("kernel", ZONE_KERNELS, ids=KERNEL_NAMES)
def test_a_copy_is_another_of_the_values_that_a_variable_stands_for(kernel: ZoneKernel) -> None:
    assert wrong_copies(kernel, range(40)) == []


def wrong_clips(kernel: ZoneKernel, seeds: range) -> list[str]:
    wrong = []
    for seed in seeds:
        rng = random.Random(seed)
        size, clip = rng.randint(1, 3), rng.randint(1, 3)
        rows = tuple(range(1, size + 1))
        zone = some_zone(rng, kernel, size)
        shift = (ZoneOp.SHIFT, 1, rng.choice((-5, 0, 5)))
        exact, clipped = (kernel.compiled(ZoneCode(k, size + 1, rows, shift, rows, 0, 5))(zone) for k in (10**6, clip))
        if not kernel.included(exact, clipped):
            wrong.append("loses points")
        entries = kernel.entries(clipped)
        if any(a != b for a, b in zip(entries, _clipped(kernel.entries(exact), size + 1, clip), strict=True)):
            wrong.append("another zone")
        if not is_closed(entries, size + 1):
            wrong.append("not closed")
    return wrong


def _clipped(entries: list[int | None], size: int, clip: int) -> list[int | None]:
    """By definition: bounds above K gone, those below -K raised, and shortest paths."""
    bounds = [None if e is None or e > clip else max(e, -clip) for e in entries]
    for k, i, j in product(range(size), repeat=3):
        first, second = bounds[i * size + k], bounds[k * size + j]
        if first is not None and second is not None:
            direct = bounds[i * size + j]
            bounds[i * size + j] = first + second if direct is None else min(direct, first + second)
    return bounds


@pytest.mark.parametrize("kernel", ZONE_KERNELS, ids=KERNEL_NAMES)
def test_clipping_only_loosens_and_closes(kernel: ZoneKernel) -> None:
    assert wrong_clips(kernel, range(60)) == []


@pytest.mark.skipif(len(ZONE_KERNELS) == 1, reason="without a C compiler there is one kernel")
def test_numbers_that_are_too_large_are_refused_by_the_compiled_kernel_only() -> None:
    compiled = ZONE_KERNELS[0]
    huge = 10**400
    assert zone_matrix.entries(zone_matrix.of_values([huge], 2 * huge)) == [0, -huge, huge, 0]
    with pytest.raises(OverflowError):
        compiled.of_values([huge], 2 * huge)
    with pytest.raises(OverflowError):
        compiled.of_values([1] * 64, 2)
    for code in (
        ZoneCode(huge, 2, (1,), (), (1,)),
        ZoneCode(2, 2, (1,), (ZoneOp.SHIFT, 1, huge), (1,), 0, huge),
        ZoneCode(1 << 24, 60, (1, *[-1] * 58), (), (1,)),
        ZoneCode(2, 65, (1, *[-1] * 63), (), (1,)),
    ):
        with pytest.raises(OverflowError):
            compiled.compiled(code)
        assert zone_matrix.compiled(code)(zone_matrix.of_values([1], 2 * huge)) is not None
    with pytest.raises(ValueError, match="other variables"):
        compiled.compiled(ZoneCode(2, 2, (1,), (), ()))(compiled.of_values([1, 2], 2))


def no_close(_work: zone_matrix.Work) -> None:
    return None


def tight_clip(work: zone_matrix.Work, clip: int) -> zone_matrix.Matrix:
    return tuple(max(-clip, min(clip, entry)) for row in work for entry in row)


def strong_fold(work: zone_matrix.Work, numbers, clip: int) -> bool:  # type: ignore[no-untyped-def]
    return zone_matrix._move(work, numbers, clip)


def equal_copy(work: zone_matrix.Work, numbers, clip: int) -> bool:  # type: ignore[no-untyped-def]
    i, j = next(numbers), next(numbers)
    return zone_matrix._move(work, iter((i, j, 0)), clip)


def open_bound(work: zone_matrix.Work, i: int, j: int, c: int) -> bool:
    work[i][j] = min(work[i][j], c)
    return not work[i][j] + work[j][i] < 0


def test_a_mutated_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    operations = zone_matrix._OPERATIONS
    with monkeypatch.context() as patch:
        patch.setattr(zone_matrix, "_close", no_close)
        assert "not closed" in wrong_clips(zone_matrix, range(60))
    with monkeypatch.context() as patch:
        patch.setattr(zone_matrix, "clipped", tight_clip)
        assert "loses points" in wrong_clips(zone_matrix, range(60))
    with monkeypatch.context() as patch:
        patch.setitem(operations, ZoneOp.FOLD, strong_fold)
        assert "FOLD loses points" in wrong_operations(zone_matrix, range(20))
    with monkeypatch.context() as patch:
        patch.setitem(operations, ZoneOp.COPY, equal_copy)
        assert wrong_copies(zone_matrix, range(40))
    with monkeypatch.context() as patch:
        patch.setattr(zone_matrix, "_bounded", open_bound)
        assert "BOUND does not close" in wrong_operations(zone_matrix, range(60))
