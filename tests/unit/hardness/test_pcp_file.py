"""Instances as text: both forms, and what is said about what is wrong where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.errors import ProgramError
from rdma_robust.hardness.pcp import MOST_PAIRS, PcpInstance, pcp_instance, read_instance

words = st.text('ab0,{}[]"\\\\:/é→𝕏', min_size=1, max_size=4)
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=4)
few = settings(max_examples=60, deadline=None)


@few
@given(pairs, st.booleans())
def test_json_is_read_back(found: list[tuple[str, str]], escaped: bool) -> None:
    instance = PcpInstance(tuple(t for t, _ in found), tuple(b for _, b in found))
    members = {"bottom": instance.bottom, "top": instance.top}
    assert read_instance(json.dumps(members, ensure_ascii=escaped, indent=2), "x") == instance


@few
@given(pairs)
def test_lines_are_read_back(found: list[tuple[str, str]]) -> None:
    if not any("," in word or word.startswith("{") for pair in found for word in pair):
        top, bottom = (", ".join(pair[k] for pair in found) for k in (0, 1))
        instance = PcpInstance(tuple(t for t, _ in found), tuple(b for _, b in found))
        assert read_instance(f"\n {top} \n\n{bottom}\n", "x") == instance
        assert pcp_instance(top, bottom) == instance


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "x:1:1: error: an instance has 2 lines, and here are 0"),
        ("a\n", "x:2:1: error: an instance has 2 lines, and here are 1"),
        ("a\nb\n\nc\n", "x:4:1: error: an instance has 2 lines, and here are 3"),
        ("a, ,b\nc,d,e", "x:1:3: error: a word is empty"),
        ("a,b\nc,", "x:2:3: error: a word is empty"),
        ("a,b\nc", "x:2:1: error: 2 words on top and 1 at the bottom"),
        ("a,b\nc,d e", "x:2:3: error: ` ` cannot be a letter"),
        ('{"top": ["a"], "bottom": [""]}', "x:1:28: error: a word is empty"),
        ('{"top": ["a"],\n "bottom": ["b\\u0007"]}', "x:2:14: error: `\\x07` cannot be a letter"),
        ('{"bottom": ["b"], "top": ["\\ud800"]}', "x:1:28: error: `\\ud800` cannot be a letter"),
        ('{"top": ["a"]}', "x:1:1: error: not an object with two lists of strings"),
        ('{"top": ["a"], "bottom": [1]}', "x:1:1: error: not an object with two lists of strings"),
        ('{"top": ["a"], "top": ["b"], "bottom": ["b"]}', "x:1:1: error: not an object with two lists of strings"),
        ('{"top": ["a"], "bottom": "b"}', "x:1:1: error: not an object with two lists of strings"),
        ('{"top": [], "bottom": []}', "x:1:3: error: an instance has at least one pair"),
        ('{"top": ["a",],', "x:1:14: error: not JSON: "),
        (",".join("a" * (MOST_PAIRS + 1)) + "\n" + ",".join("a" * (MOST_PAIRS + 1)), "x:1:1: error: larger than"),
        (f"{'a' * 3000}\nb", "x:1:1: error: larger than"),
    ],
)
def test_errors_say_where(text: str, said: str) -> None:
    with pytest.raises(ProgramError) as error:
        read_instance(text, "x")
    assert said in str(error.value)


def test_every_error_is_reported() -> None:
    with pytest.raises(ProgramError) as error:
        pcp_instance("a,,b", "c,d")
    assert [d.span.column for d in error.value.diagnostics] == [3, 1]
    assert all(d.severity == "error" for d in error.value.diagnostics)
