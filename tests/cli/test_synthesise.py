"""The `synthesise` command, and its programs against those of a naive enumerator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from pathlib import Path

import pytest

from rdma_robust.analyses.synthesis.distinguish import SynthesisRequest, shape_text, told_apart
from rdma_robust.analyses.synthesis.program_shapes import ProgramShape, Statement, shapes
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.conftest import Cli

SB = """\
// Forbidden on `cpu sc`, allowed on `cpu tso`; nothing can be left out.
hardware cpu tso
node A { x, y }
thread T0 on A {
  reg r
  x = 1
  r = y
}
thread T1 on A {
  reg r
  y = 1
  r = x
}
outcome A.x == 1 && A.y == 1 && T0.r == 0 && T1.r == 0: forbidden under sc, allowed under rdma
"""


@pytest.mark.ci
def test_the_smallest_programs_of_store_buffers(cli: Cli, tmp_path: Path) -> None:
    done = cli("synthesise", "--between", "cpu sc", "cpu tso", "--size", "4", "-o", "found")
    assert (done.returncode, done.stdout) == (0, "")
    names = [f"cpu-sc-or-cpu-tso-4-{k}.rdma" for k in (1, 2)]
    assert sorted(p.name for p in (tmp_path / "found").iterdir()) == names
    assert done.stderr.splitlines() == [
        *(f"written: found/{name}" for name in names),
        "programs that `cpu sc` and `cpu tso` tell apart: 2 of 4 statements",
    ]
    assert (tmp_path / "found" / names[0]).read_text() == SB
    again = cli("synthesise", "--between", "cpu sc", "cpu tso", "--size", "4", "-o", "found")
    assert again.returncode == 2
    assert "is there already; --force replaces it" in again.stderr


def test_without_a_folder_they_are_printed(cli: Cli) -> None:
    done = cli("synthesise", "--between", "atomics hca", "atomics glob", "--size", "2")
    assert done.returncode == 0
    assert done.stdout.count("hardware atomics hca") == 2
    assert "get a1 = cas(A.x, 0, 2)" in done.stdout
    assert "2 of 2 statements" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cpu sc", "cpu tos"), "`cpu tos` is no setting of a `hardware` line and its value; did you mean `cpu tso`?"),
        (("cpu sc", "cpu sc"), "the two settings are the same"),
        (("cpu sc, cpu tso", "cpu sc"), "cpu is said twice"),
        (("cpu sc", "cpu tso", "--statements", "jump"), "`jump` is none of store, load,"),
        (("cpu sc", "cpu tso", "--size", "7"), "--size 7: it must be from 1 to 6"),
        (("rnr wait", "rnr fault"), "`rnr wait` is no setting of a `hardware` line and its value; expected cpu sc,"),
    ],
)
def test_mistakes(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    size = () if "--size" in arguments else ("--size", "2")
    done = cli("synthesise", "--between", *arguments, *size)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_limit_of_time(cli: Cli) -> None:
    done = cli("synthesise", "--between", "cpu sc", "cpu tso", "--size", "4", "--timeout", "0.001")
    assert done.returncode == 3
    assert "unknown: the time was over at" in done.stderr


def naive(kinds: tuple[str, ...], size: int, words: tuple[int, ...], homes: tuple[int, ...]) -> Iterator[ProgramShape]:
    """Every program with these words and threads on these nodes, most of them many times, in no order in particular."""
    for lengths in product(range(size + 1), repeat=len(homes)):
        if sum(lengths) == size:
            for flat in product(list(_choices(kinds, len(words), size)), repeat=size):
                at, threads = 0, []
                for length in lengths:
                    threads.append(flat[at : at + length])
                    at += length
                shape = ProgramShape(tuple(threads), homes, words)
                if all(_fits(s, t, shape) for t, thread in enumerate(threads) for s in thread):
                    yield shape


def _choices(kinds: tuple[str, ...], words: int, size: int) -> Iterator[Statement]:
    for kind in kinds:
        if kind == "poll":
            yield from (Statement("poll", -1, k) for k in range(size))
        else:
            yield from (Statement(kind, word) for word in range(words))


def _fits(s: Statement, t: int, shape: ProgramShape) -> bool:
    thread = shape.threads[t]
    if s.kind != "poll":
        return (shape.words[s.word] == shape.homes[t]) == (s.kind in ("store", "load", "cas"))
    before = thread[: thread.index(s)]
    if s.source >= len(before) or before[s.source].kind in ("store", "load", "cas", "poll"):
        return False
    pair = _queue_pair(shape, before[s.source])
    posted = [k for k, each in enumerate(before) if each.kind != "poll" and _queue_pair(shape, each) == pair]
    return thread.count(s) == 1 and posted[:1] == [s.source]


def _queue_pair(shape: ProgramShape, s: Statement) -> tuple[int, bool]:
    return shape.words[s.word], s.kind.startswith("lane-")


def differ(shape: ProgramShape, first: Model, second: Model) -> bool:
    """Asked of the machines, which `synthesise` does not ask."""
    program = load_program(shape_text(shape), "naive.rdma")
    one, other = (explore_outcomes(program, model) for model in (first, second))
    assert one.complete
    assert other.complete
    return {s.values for s in one.states if s.rdma} != {s.values for s in other.states if s.rdma}


def parts(shape: ProgramShape) -> Iterator[ProgramShape]:
    """Every program with fewer statements, whatever it shows."""
    flat = [(t, k) for t, thread in enumerate(shape.threads) for k in range(len(thread))]
    for number in range(1, len(flat)):
        for kept in combinations(flat, number):
            if all((t, shape.threads[t][k].source) in kept for t, k in kept if shape.threads[t][k].kind == "poll"):
                threads = []
                for t, thread in enumerate(shape.threads):
                    here = [k for k in range(len(thread)) if (t, k) in kept]
                    threads.append(
                        tuple(
                            Statement("poll", -1, here.index(thread[k].source)) if thread[k].kind == "poll" else thread[k]
                            for k in here
                        )
                    )
                yield ProgramShape(tuple(threads), shape.homes, shape.words)


def plain(shape: ProgramShape) -> str:
    """One name for all programs that differ in names and in the order of threads: the least of their texts."""
    texts = []
    used = [t for t, thread in enumerate(shape.threads) if thread]
    for order in permutations(used):
        for words in permutations(range(len(shape.words))):
            for nodes in permutations(range(4)):
                renamed = [
                    tuple(s if s.kind == "poll" else Statement(s.kind, words[s.word], s.source) for s in shape.threads[t])
                    for t in order
                ]
                homes = [nodes[shape.homes[t]] for t in order]
                places = sorted((words[w], nodes[n]) for w, n in enumerate(shape.words) if _touches(shape, w))
                texts.append(repr((renamed, homes, places)))
    return min(texts)


def _touches(shape: ProgramShape, word: int) -> bool:
    return any(s.kind != "poll" and s.word == word for thread in shape.threads for s in thread)


CASES = [
    pytest.param((Model(), Model(order="multipath")), ("put", "get", "poll"), 2, [((1, 1), (0,))], id="orders"),
    pytest.param(
        (Model(order="accumulate"), Model(order="none")), ("quiet-faa", "fetch"), 2, [((1,), (0,))], id="accumulates"
    ),
    pytest.param((Model(), Model(order="none")), ("lane-put", "put", "get"), 2, [((1,), (0,))], id="lanes"),
    pytest.param((Model(), Model(atomics="glob")), ("store", "cas", "remote-cas"), 2, [((0,), (0, 1))], id="atomics"),
    pytest.param(
        (Model(), Model(cpu="tso")),
        ("store", "load"),
        4,
        [((0, 0), (0, 0))],
        id="cpus",
        marks=pytest.mark.long,
    ),
]


World = tuple[tuple[int, ...], tuple[int, ...]]
"""The nodes of words, and of threads."""


def test_statements_about_queue_pairs_and_barriers_are_among_them() -> None:
    texts = [shape_text(shape) for shape in shapes(4, ("lane-put", "flush", "load", "barrier"), 2)]
    assert all(text.count("barrier") % text.count("thread") == 0 for text in texts)
    assert any("flush qB" in text for text in texts) and any("barrier" in text for text in texts)
    assert all(load_program(text, "shape.rdma") for text in texts)


def test_words_of_relaxed_regions_and_operands_are_among_them() -> None:
    texts = [shape_text(shape) for shape in shapes(3, ("put", "relaxed-put", "store", "operand-swap"), 2)]
    assert all(load_program(text, "shape.rdma") for text in texts[::9])
    assert any("{ relaxed x }" in text for text in texts) and any("  swap(" in text for text in texts)
    assert len(set(texts)) == len(texts)
    regions = [shape_text(shape) for shape in shapes(2, ("put", "relaxed-put"), 1)]
    assert sorted(text.count("relaxed") for text in regions) == [0, 1]


@pytest.mark.ci
def test_what_a_relaxed_region_and_an_operand_tell_apart() -> None:
    """A flush of a strict word by a relaxed read needs a table that keeps relaxed reads behind writes; an operand is read
    while an earlier put of its queue pair is under way, and the machines say the same."""
    for kinds in (("put", "relaxed-put", "relaxed-get", "load"), ("operand-swap", "relaxed-put", "store")):
        for shape in shapes(3, kinds, 2)[::7]:
            program = load_program(shape_text(shape), "shape.rdma")
            for model in (Model(), Model(order="multipath")):
                wanted = axiomatic_outcomes(program, model).rdma
                assert {s.values for s in explore_outcomes(program, model).states if s.rdma} == wanted


@pytest.mark.parametrize(("models", "kinds", "size", "worlds"), CASES)
def test_a_naive_enumerator_finds_the_same(
    models: tuple[Model, Model], kinds: tuple[str, ...], size: int, worlds: list[World]
) -> None:
    first, second = models
    expected: set[str] = set()
    known: dict[str, bool] = {}

    def told(shape: ProgramShape) -> bool:
        key = plain(shape)
        if key not in known:
            known[key] = differ(shape, first, second)
        return known[key]

    for words, homes in worlds:
        for number in range(1, size + 1):
            for shape in naive(kinds, number, words, homes):
                if told(shape) and not any(told(part) for part in parts(shape)):
                    expected.add(plain(shape))
    found = [plain(each.shape) for each in told_apart(first, second, SynthesisRequest(size, kinds))]
    assert len(set(found)) == len(found)
    assert set(found) == expected
    assert found


def test_what_is_told_apart_is_so_by_its_outcome_lines() -> None:
    for model in (Model(cpu="tso"), Model(order="multipath")):
        for found in told_apart(Model(), model, SynthesisRequest(2 if model.cpu == "sc" else 4)):
            assert not found.first
            lines = "".join(f"outcome {each}: allowed under rdma\n" for each in found.second)
            program = load_program(found.body + lines, "found.rdma")
            for line in explore_outcomes(program, model).lines:
                assert all(claim.holds for claim in line.claims)
            for line in explore_outcomes(program, Model()).lines:
                assert not any(claim.holds for claim in line.claims)


def test_programs_of_a_size_are_listed_once_and_always_in_one_order() -> None:
    found = shapes(3, ("store", "load", "put"), 3)
    assert found == shapes(3, ("store", "load", "put"), 3)
    assert len({plain(shape) for shape in found}) == len(found)
    assert axiomatic_outcomes(load_program(shape_text(found[0]), "a.rdma")).sc


def test_fences_are_drawn_where_there_is_something_to_fence() -> None:
    texts = [shape_text(shape) for shape in shapes(3, ("put", "get", "rfence"), 1)]
    fenced = [text for text in texts if "rfence" in text]
    assert any("put B.x = 1\n  rfence B\n  get" in text for text in fenced)
    assert all(load_program(text, "fenced.rdma") for text in fenced)
    assert any("mfence" in shape_text(shape) for shape in shapes(3, ("store", "load", "mfence"), 2))


@pytest.mark.ci
def test_no_smallest_program_between_cpus_has_a_fence() -> None:
    found = list(told_apart(Model(), Model(cpu="tso"), SynthesisRequest(4, ("store", "load", "mfence"))))
    assert [each.body for each in found] == [
        each.body for each in told_apart(Model(), Model(cpu="tso"), SynthesisRequest(4))
    ]
