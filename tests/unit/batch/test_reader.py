"""Records come back from JSON as they were, and nothing else does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.reports.batch.batch_view import Page
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json
from tests.support.batches import hostile, litmus

RESULTS = [*hostile().results, *litmus("sb-put-plain", "spin-cancel-spin").results]
OBJECTS = [json.loads(json.dumps(to_json(r))) for r in RESULTS]


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_there_and_back(number: int) -> None:
    assert from_json(Result, OBJECTS[number]) == RESULTS[number]


def test_pages_too() -> None:
    page = Page("head", ("a", "b"), "<pre>", problem="p", cut=True)
    assert from_json(Page, json.loads(json.dumps(to_json(page)))) == page


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything in a JSON value."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, each in below for p in places(each, (*path, key)))]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_value_of_another_type_is_refused(data: st.DataObject) -> None:
    """Anywhere in a record a value of a type that stands nowhere in records is refused."""
    value = json.loads(json.dumps(data.draw(st.sampled_from(OBJECTS))))
    path = data.draw(st.sampled_from([p for p in places(value) if p]))
    *front, last = path
    inner = value
    for key in front:
        inner = inner[key]
    inner[last] = data.draw(st.sampled_from([{"no": 1}, [["no"]], {}]))
    with pytest.raises(Unreadable):
        from_json(Result, value)


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"file": "a"}])
def test_what_is_no_record_is_refused(value: object) -> None:
    with pytest.raises(Unreadable):
        from_json(Result, value)
