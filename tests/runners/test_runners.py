"""Programs on libraries that are installed: outcomes that were seen are allowed, and weak ones are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.runs_on_libraries import LIBRARIES, run_on, run_on_verbs

STORES = """
node A {{ x = 0 }}
node B {{ y = 0 }}
thread T on A {{
  reg r
  put B.y = 1 inline
  {flush_b}
  r = x
}}
thread U on B {{
  reg s
  put A.x = 1 inline
  {flush_a}
  s = y
}}
"""
PLAIN = STORES.format(flush_a="", flush_b="")
FLUSHED = STORES.format(flush_a="flush A", flush_b="flush B")
REUSED = """
node A { v = 1 }
node B { y = 0 }
thread T on A {
  put B.y = v
  v = 2
}
thread U on B { }
"""
GET = """
node A { x = 9 }
node B { y = 1 }
thread T on A {
  reg r
  get x = B.y
  r = x
}
thread U on B { }
"""
COUNTED = """
domain 0..9
node A { x = 0, old = 0 }
node B { y = 0 }
thread T on A {
  reg r
  get old = faa(B.y, 2)
  flush B
  r = old
}
thread U on B {
  reg s
  swap(A.x, 3)
  flush A
  barrier
  s = y
}
"""
COUNTED = COUNTED.replace("  r = old\n", "  barrier\n  r = old\n")
TCP = {"UCX_TLS": "tcp,self"}

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("library", LIBRARIES)
def test_store_buffering_is_seen(library: str, tmp_path: Path) -> None:
    seen = run_on(library, PLAIN, tmp_path, rounds=500)
    assert seen.code == 0, seen.text
    assert seen.counts["allowed"] > 0


@pytest.mark.parametrize("library", ["oshmem", "mpich"])
def test_store_buffering_is_not_seen_behind_a_flush(library: str, tmp_path: Path) -> None:
    """Over TCP: where a put is a store of the processor, Open MPI's flush leaves it in the store buffer."""
    seen = run_on(library, FLUSHED, tmp_path, rounds=500, env=TCP)
    assert (seen.code, seen.counts["allowed"], seen.counts["FORBIDDEN"]) == (0, 0, 0), seen.text


@pytest.mark.parametrize("library", LIBRARIES)
def test_nothing_forbidden_is_seen(library: str, tmp_path: Path) -> None:
    for text in (REUSED, GET, COUNTED):
        seen = run_on(library, text, tmp_path, rounds=200)
        assert seen.code == 0, seen.text


def test_a_get_is_read_before_its_flush(tmp_path: Path) -> None:
    seen = run_on("mpich", GET, tmp_path, rounds=200)
    assert seen.counts["allowed"] > 0


def test_a_source_is_sent_as_it_is_later(tmp_path: Path) -> None:
    env = {**TCP, "UCX_ZCOPY_THRESH": "1", "UCX_TCP_SNDBUF": "4k"}
    seen = run_on("oshmem", REUSED, tmp_path, rounds=50, block=16384, env=env)
    assert (seen.code, seen.counts["allowed"] > 0) == (0, True), seen.text


def test_verbs_are_run_on_the_card_of_recordings(tmp_path: Path) -> None:
    """It makes each request at once, so that nothing beyond sequential consistency is seen; a number that a fetch-and-add
    has read says that all kinds of requests were made."""
    text = PLAIN.replace("domain", "").replace(
        "  r = x\n", "  poll B\n  r = x\n  get x = faa(B.y, 2)\n  get x = cas(B.y, 9, 1) fenced\n"
    )
    seen = run_on_verbs(f"domain 0..9\n{text}", tmp_path, rounds=20)
    assert (seen.code, seen.counts) == (0, {"sc": 20, "allowed": 0, "FORBIDDEN": 0}), seen.text
