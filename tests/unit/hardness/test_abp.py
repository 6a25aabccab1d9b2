"""Transfers by puts: what the docstring of hardness/abp.py proves, by every run for short words."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.hardness.abp import (
    RECEIVER,
    Transfer,
    TransferResult,
    check_transfer,
    received_word,
    transfer_load,
    transfer_program,
    words,
    wrong_run,
)
from rdma_robust.language.flow.cfg import Poll, Put, Read, RFence, Silent, Write, steps
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine


def wrong(transfer: Transfer, letters: str, length: int) -> dict[str, tuple[str, ...]]:
    found = [check_transfer(word, letters, transfer) for word in words(letters, length)]
    assert all(each.word in each.received for each in found), "every word can be received as it was sent"
    return {each.word: each.wrong for each in found if each.wrong}


@pytest.mark.parametrize(("letters", "length"), [("ab", 2), ("xyz", 1), ("a", 3)])
def test_with_the_last_check_only_what_was_sent_is_received(letters: str, length: int) -> None:
    assert wrong(Transfer.CHECKED, letters, length) == {}


@pytest.mark.parametrize("word", ["aba", "abb"])
def test_with_the_last_check_longer_words_arrive_as_sent(word: str) -> None:
    assert check_transfer(word, "ab", Transfer.CHECKED).received == (word,)


@pytest.mark.long
@pytest.mark.parametrize(("letters", "length"), [("ab", 5), ("xyz", 3), ("a", 7)])
def test_with_the_last_check_only_what_was_sent_is_received_for_longer_words(letters: str, length: int) -> None:
    assert wrong(Transfer.CHECKED, letters, length) == {}


def test_without_the_last_check_symbols_are_lost_from_two_letters_on() -> None:
    found = wrong(Transfer.TOLD, "ab", 2)
    assert set(found) == {word for word in words("ab", 2) if len(word) == 2}
    assert found["ab"] == ("a",)
    checked = check_transfer("aba", "ab", Transfer.TOLD)
    assert checked.wrong == ("a", "aa", "ab")
    assert checked.loses
    assert not checked.duplicates


def test_bare_puts_lose_and_duplicate() -> None:
    found = wrong(Transfer.BARE, "ab", 2)
    assert set(found) == {word for word in words("ab", 2) if word}
    assert found["a"] == ("", "aa")
    assert "bb" in found["ab"]


@pytest.mark.parametrize("transfer", list(Transfer))
def test_the_reduction_of_the_search_loses_nothing(transfer: Transfer) -> None:
    program = transfer_load("a", "ab", transfer)
    reduced, full = (explore(RdmaMachine(program), Limits(), reduce=reduce) for reduce in (True, False))
    assert reduced.finals == full.finals
    assert reduced.states < full.states


@pytest.mark.parametrize(("transfer", "sent"), [(Transfer.BARE, "ab"), (Transfer.TOLD, "ab"), (Transfer.TOLD, "aba")])
def test_a_wrong_run_is_one_of_the_machine(transfer: Transfer, sent: str) -> None:
    program = transfer_load(sent, "ab", transfer)
    machine = RdmaMachine(program)
    run = wrong_run(program, sent, "ab")
    assert run is not None
    assert run[0] in machine.initial()
    for before, move in pairwise(run):
        assert move in machine.successors(before.state)
    place = run[-1].state.threads[RECEIVER]
    assert place.point == program.threads[RECEIVER].exit
    assert received_word("ab", place.registers) in check_transfer(sent, "ab", transfer).wrong


def test_there_is_no_wrong_run_with_the_last_check() -> None:
    assert wrong_run(transfer_load("ab", "ab", Transfer.CHECKED), "ab", "ab") is None


@pytest.mark.parametrize("transfer", list(Transfer))
@pytest.mark.parametrize("word", ["", "b", "aab"])
def test_programs_are_laid_out_and_use_puts_and_local_accesses_only(transfer: Transfer, word: str) -> None:
    text = transfer_program(word, "ab", transfer)
    assert format_source(text, "x") == text
    program = load_program(text, "x")
    assert program.warnings == ()
    for thread in program.threads:
        for _, _, step in steps(thread):
            assert isinstance(step.op, Silent | Read | Write | Put)
            assert not isinstance(step.op, Poll | RFence)


def test_a_word_of_other_letters_is_refused() -> None:
    with pytest.raises(ValueError, match="other letters"):
        transfer_program("abc", "ab", Transfer.BARE)


def stretched(count: int, length: int, *, skip: bool, repeat: bool) -> set[tuple[int, ...]]:
    """Return all ways to receive `count` of `length` symbols in order, by places, with or without gaps and repetitions."""
    ways = set()
    for places in product(range(length), repeat=count):
        gaps = [b - a for a, b in zip((-1, *places), (*places, length), strict=True)]
        inner = gaps[1:-1]
        skips = any(gap > 1 for gap in gaps)
        repeats = any(gap == 0 for gap in inner)
        if all(gap >= 0 for gap in inner) and (skip or not skips) and (repeat or not repeats):
            ways.add(places)
    return ways


@settings(max_examples=50, deadline=None)
@given(st.text("ab", max_size=3), st.text("ab", max_size=4))
def test_lost_and_duplicated_mean_that_nothing_else_explains_what_was_received(sent: str, got: str) -> None:
    def explained(*, skip: bool, repeat: bool) -> bool:
        ways = stretched(len(got), len(sent), skip=skip, repeat=repeat)
        return any("".join(sent[k] for k in places) == got for places in ways)

    checked = TransferResult(sent, (got,), 0)
    if got == sent:
        assert not checked.loses
        assert not checked.duplicates
    else:
        assert checked.loses == (not explained(skip=False, repeat=True))
        assert checked.duplicates == (not explained(skip=True, repeat=False))
