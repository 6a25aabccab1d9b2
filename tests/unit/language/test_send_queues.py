"""Send queues with a depth: what walks through a thread's graph meet, counted by a second reading of the rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from rdma_robust import reach, verify
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Poll, Step, Thread, peer_of
from rdma_robust.language.flow.send_queues import SendQueue, needed_slots, posted_to, with_send_depth
from rdma_robust.language.load import load_program
from tests.conftest import ROOT, Cli

LITMUS = sorted((ROOT / "litmus/deployed").glob("depth-*.rdma"))

STATEMENTS = (
    "put B.x = v",
    "put B.x = v unsignaled",
    "get w = B.x",
    "get w = faa(B.y, 1) unsignaled",
    "put C.z = v",
    "put C.z = v inline unsignaled",
    "poll B",
    "poll B",
    "poll C",
    "r = trypoll B",
    "poll B or C",
    "send v to U",
    "put B.x = v on q",
    "faa(B.y, 1) on q",
    "poll q",
    "r = v",
)


def random_thread(random: Random) -> Thread:
    lines = [random.choice(STATEMENTS) for _ in range(random.randint(3, 9))]
    for open_, close in (("loop {", "}"), ("choose {", "} or { skip }")):
        if random.random() < 0.5:
            at = random.randint(0, len(lines) - 1)
            lines[at:at] = [open_]
            lines.insert(random.randint(at + 2, len(lines)), close)
    head = "domain 0..9\nnode A { v, w }\nnode B { x, y, b }\nnode C { z }\n"
    text = (
        head + "thread T on A {\nreg r\nqp q to B\n" + "\n".join(lines) + "\n}\nthread U on B { posted b from T; rpoll T }\n"
    )
    try:
        return load_program(text, "t.rdma").threads[0]
    except ProgramError:  # blocks that cross
        return random_thread(random)


def out(thread: Thread, point: int) -> list[tuple[int, Step]]:
    return [(target, step) for source, target, step in thread.edges if source == point]


def holding(posted: list[bool], polls: int) -> int:
    """How many requests a queue holds: those behind the last one whose completion a poll has taken."""
    taken = [k for k, signaled in enumerate(posted) if signaled][:polls]
    return len(posted) - (taken[-1] + 1 if taken else 0)


@pytest.mark.ci
def test_walks_meet_a_full_queue_exactly_where_counting_says_so() -> None:
    """Each step of a walk through the graph is one of the graph with depths, unless a queue is full: then a fault is."""
    random, full = Random(38), 0
    for _ in range(800):
        thread, depth = random_thread(random), random.randint(1, 4)
        depths = {"B": depth, "q": random.randint(1, 3)} | ({"C": depth} if random.random() < 0.8 else {})
        bounded = with_send_depth(thread, depths)
        posted: dict[str | None, list[bool]] = {}
        polls: dict[str | None, int] = {}
        here, there = thread.entry, bounded.entry
        for _ in range(40):
            ways = out(thread, here)
            if not ways:
                assert (here == thread.exit) == (there == bounded.exit) and not out(bounded, there)
                break
            target, step = random.choice(ways)
            peer, signaled = peer_of(step.op), getattr(step.op, "signaled", None)
            same = [to for to, other in out(bounded, there) if other is step]
            held = holding(posted.get(peer, []), polls.get(peer, 0))
            if signaled is not None and held >= depths.get(str(peer), len(posted) + 40):
                refused = [other for _, other in out(bounded, there) if other.span == step.span and other.fault]
                assert not same and {each.fault.kind for each in refused if each.fault} == {"send queue full"}
                full += 1
                break
            if isinstance(step.op, Poll) and polls.get(peer, 0) >= sum(posted.get(peer, [])):
                break  # it waits forever
            assert same
            if signaled is not None:
                posted.setdefault(peer, []).append(signaled)
            elif isinstance(step.op, Poll):
                polls[peer] = polls.get(peer, 0) + 1
            here, there = target, same[0]
    assert full > 70


@pytest.mark.ci
def test_the_slots_that_are_needed_are_the_least_depth_that_no_path_fills() -> None:
    random, bounded = Random(39), 0
    for _ in range(150):
        thread = random_thread(random)
        for each in needed_slots([thread]):
            bounded += 1
            assert each.slots == 1 or faults(thread, each.slots - 1, "")
            assert not faults(thread, each.slots, each.queue_pair)
    assert bounded > 80


def faults(thread: Thread, depth: int, queue_pair: str) -> list[Step]:
    found = (
        step
        for _, _, step in with_send_depth(thread, dict.fromkeys(posted_to(thread), depth)).edges
        if step.fault is not None
    )
    return [step for step in found if step.fault and f"queue to {queue_pair}" in step.fault.message]


def all_answers() -> list[list[str]]:
    return [[each.status.name for each in verify(path.read_text()).checked] for path in LITMUS]


def frees_one(queue: SendQueue) -> SendQueue:
    return SendQueue((1,) * (sum(queue.leaving) - 1), queue.quiet) if queue.leaving else queue


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a poll frees the slot of its own request only": lambda patch: patch.setattr(SendQueue, "polled", frees_one),
    "a poll frees nothing": lambda patch: patch.setattr(SendQueue, "polled", lambda queue: queue),
    "a poll frees everything": lambda patch: patch.setattr(SendQueue, "polled", lambda _: SendQueue()),
    "a lane has the depth of the hardware": lambda patch: patch.setattr(
        "rdma_robust.language.check.buffers.depth_of", lambda *_: None
    ),
    "unsignaled requests take no slot": lambda patch: patch.setattr(
        SendQueue, "posted", lambda queue, signaled: SendQueue((*queue.leaving, 1)) if signaled else queue
    ),
}


@pytest.mark.ci
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_rule_is_seen_by_a_named_program(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = all_answers()
    MUTANTS[mutant](monkeypatch)
    assert all_answers() != right


def test_the_depth_of_a_lane_is_its_own() -> None:
    """It counts before that of the hardware, for each of a family, as a constant, and where it is none that is said."""
    text = """hardware send depth 2
const N = 1
node A { v }
node B { x }
thread T on A {
  qp q[i in 0..1] to B depth N, depth to B
  for i in 0..1 { put B.x = v on q[i] }
  for i in 0..1 { put B.x = v on depth }
  put B.x = v
  put B.x = v on q[1]
}
"""
    met = [s.fault for t in load_program(text, "t.rdma").threads for _, _, s in t.edges if s.fault is not None]
    assert [(each.span.line, each.kind) for each in met] == [(10, "send queue full")]
    assert "queue to q[1] full, with a request" in met[0].message
    for wrong in ("0", "4097", "N - 2"):
        with pytest.raises(ProgramError, match="is no depth of a send queue"):
            load_program(text.replace("depth N", f"depth {wrong}"), "t.rdma")


def test_a_label_stands_at_several_points() -> None:
    text = LITMUS[0].read_text().replace("put B.y", "L: put B.y", 1)
    assert reach(text, "T at L").answer.value == "reachable"


def test_the_option_is_a_definition_and_leaves_the_text_alone(cli: Cli, tmp_path: Path) -> None:
    text = "node A { v }\nnode B { x }\nthread T on A {\n  put B.x = v\n  put B.x = v\n}\n"
    (tmp_path / "p.rdma").write_text(text)
    assert "send queue full" not in cli("check", "p.rdma").stdout
    assert "reachable: send queue full (line 5)" in cli("check", "--send-depth", "1", "p.rdma").stdout
    assert "VIOLATED" in cli("verify", "--send-depth", "1", "p.rdma").stdout
    (tmp_path / "q.rdma").write_text("hardware send depth 1\n" + text)
    assert "reachable: send queue full (line 6)" in cli("check", "q.rdma").stdout
    assert "send queue full" not in cli("check", "q.rdma", "--send-depth", "2").stdout
    assert "T needs 2 slots to B" in " ".join(cli("check", "-v", "p.rdma").stdout.split())
    for wrong, said in (
        ("send depth 0", "is no depth of a send queue"),
        ("send width 2", "is no setting of"),
    ):
        (tmp_path / "q.rdma").write_text(f"hardware {wrong}\n{text}")
        done = cli("check", "q.rdma")
        assert done.returncode == 2 and said in done.stderr


def test_repair_gives_the_text_back_without_what_was_defined(cli: Cli, tmp_path: Path) -> None:
    text = (ROOT / "litmus" / "2plus2w-put.rdma").read_text()
    (tmp_path / "p.rdma").write_text(text)
    repaired = [cli("repair", "--stdout", *more, "p.rdma").stdout for more in ((), ("--send-depth", "4"))]
    assert repaired[0] == repaired[1] and "send depth" not in repaired[1]
