"""What lints claim, against the searches: each claim is true of the executions that it speaks of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import pytest

from rdma_robust import reach, verify
from rdma_robust.analyses.lints.lint import lints
from rdma_robust.analyses.lints.trails import flows
from rdma_robust.analyses.repair.needless import remove_needless
from rdma_robust.errors import Diagnostic
from rdma_robust.language.flow.cfg import Get, InlinePut, Program, Put, RemoteRmw, Send
from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA
from rdma_robust.semantics.event_table import polls_of, remote_of
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.support.compare import by

DATA, FLAG = "put B.d = 9", ("put C.f = 9", "f = 9")
MESSAGE = "send n to V"
STATEMENTS = (
    "put B.u = x",
    "put B.v = y",
    "put C.w = x",
    "get x = B.u",
    "get y = C.w",
    "x = 1",
    "y = 2",
    "r = x",
    "r = y",
    "poll B",
    "poll B",
    "poll C",
    "rfence B",
)


DEPLOYED = (
    *STATEMENTS,
    "put B.u = x unsignaled",
    "put B.v = y unsignaled",
    "put B.v = y fenced",
    "put B.u = x unsignaled fenced",
    "put C.w = x unsignaled",
    "get x = B.u unsignaled",
    "get y = B.v fenced",
    "put B.u = x inline",
    "get x = faa(B.v, 1)",
    "send x to U",
    "send y to U unsignaled",
    "s = trypoll B",
    "poll B or C",
    "rpoll U",
)


def deployed_program(random: Random) -> str:
    """As :func:`program`, with requests as they are deployed, and maybe with a message as the flag."""
    body = [random.choice(DEPLOYED) for _ in range(random.randint(3, 6))]
    at = random.randint(0, len(body))
    data = random.choice((DATA, DATA, "put B.d = 9 unsignaled", "put B.d = 9 inline"))
    body.insert(at, data)
    body.insert(random.randint(at + 1, len(body)), random.choice((*FLAG, MESSAGE)))
    if random.random() < 0.4:
        cut = random.randint(0, len(body) - 1)
        first = random.choice(("", "rfence B\n", "poll B\n"))
        body[cut : cut + 1] = [f"choose {{ {first}{body[cut]} }} or {{ {random.choice(DEPLOYED)} }}"]
    return (
        "domain 0..20\nnode A { x = 0, y = 0, f = 0, n = 9 }\nnode B { u = 0, v = 0, d = 0, p = 0, q = 0 }\n"
        "node C { w = 0, f = 0, m = 0 }\nthread T on A {\nreg r, s\nposted f from U\n"
        + "\n".join(body)
        + "\n}\nthread U on B { reg r; posted p, q from T; send 1 to T; r = d; r = u }\n"
        + "thread V on C { reg r; posted m from T; choose { rpoll T; r = m } or { skip }; r = f; r = w }\n"
        + "thread W on A { reg r; r = f }\n"
    )


def program(random: Random) -> str:
    """One thread of remote operations with a put of data and a flag behind it, and others that look at all of its words."""
    body = [random.choice(STATEMENTS) for _ in range(random.randint(3, 6))]
    at = random.randint(0, len(body))
    body.insert(at, DATA)
    body.insert(random.randint(at + 1, len(body)), random.choice(FLAG))
    if random.random() < 0.3:
        cut = random.randint(0, len(body) - 1)
        body[cut : cut + 1] = [f"choose {{ {body[cut]} }} or {{ {random.choice(STATEMENTS)} }}"]
    return (
        "node A { x = 0, y = 0, f = 0 }\nnode B { u = 0, v = 0, d = 0 }\nnode C { w = 0, f = 0 }\nthread T on A {\nreg r\n"
        + "\n".join(body)
        + "\n}\nthread U on B { reg r; r = d; r = u }\nthread V on C { reg r; r = f; r = w }\n"
        + "thread W on A { reg r; r = f }\n"
    )


def may_wait(found: Program) -> bool:
    """Whether some path comes to a poll with nothing to take, so that what is behind it may never be reached."""
    return any(
        polls_of(step.op) == node and 0 in flow.outstanding(node).get(source, {0})
        for flow in flows(found)
        for node in flow.nodes
        for edges in flow.out.values()
        for source, _, step in edges
    )


def check_in_flight(found: Program, _warning: Diagnostic) -> None:
    """A result read too early, or a source overwritten: what SC forbids, if the statement is reached."""
    assert by("pivot")(found, False) == "not-robust"


def check_order(found: Program, warning: Diagnostic) -> None:
    """The flag can be seen while the data is not there."""
    said = re.search(r"`([^`]*)` on line \d+ may be seen", warning.message)
    assert said is not None
    lines = found.source.split("\n")
    data = next((k for k, line in enumerate(lines, 1) if line.startswith(DATA)), None)
    if said[1] in (*FLAG, MESSAGE) and f"line {data} is sent" in warning.message:
        flag = "C.m" if said[1] == MESSAGE else "C.f" if said[1].startswith("put") else "A.f"
        assert reach(found, f"{flag} == 9 && B.d == 0").answer.value == "reachable"


def check_fence(found: Program, warning: Diagnostic) -> None:
    """Without the fence everything is the same: verdicts, final states, and whether something hangs."""
    lines = found.source.split("\n")
    row, column = warning.span.line - 1, warning.span.column - 1
    word = "fenced" if warning.message.startswith("`fenced`") else "rfence B"
    at = lines[row].index(word, column)
    lines[row] = lines[row][:at] + ("" if word == "fenced" else "skip") + lines[row][at + len(word) :]
    without = load_program("\n".join(lines), "without")
    assert by("pivot")(found, False) == by("pivot")(without, False)
    assert explore_outcomes(found, RDMA).rdma.finals == explore_outcomes(without, RDMA).rdma.finals
    assert hangs(found) == hangs(without)


def hangs(found: Program) -> tuple[int, ...]:
    """The lines at which threads wait forever in the first hang that is found."""
    claim = next(each for each in verify(found).checked if each.claim.kind == "hang")
    return () if claim.hang is None else claim.hang.lines


def check_waiting(found: Program, warning: Diagnostic) -> None:
    """Some execution comes to the poll; where it always waits, none ends."""
    assert reach(found, f"T at {warning.span.line}", model="sc").answer.value == "reachable"
    assert hangs(found)
    if "waits forever" in warning.message and "choose" not in found.source:
        assert reach(found, "T ended", model="sc").answer.value == "unreachable"


def completions(found: Program) -> Iterator[tuple[int, int | None]]:
    """Yield (where a poll begins, line of the request whose completion it takes or None) along every path of T, which has no
    loops: each queue pair as a list of what is signaled."""
    thread = next(each for each in found.threads if each.name == "T")
    todo: list[tuple[int, tuple[tuple[str, int], ...]]] = [(thread.entry, ())]
    while todo:
        point, queue = todo.pop()
        for source, target, step in thread.edges:
            if source != point or step.fault is not None:
                continue
            after = queue
            polled = polls_of(step.op)
            if polled is not None:
                first = next((k for k, (node, _) in enumerate(queue) if node == polled), None)
                yield step.span.start, None if first is None else queue[first][1]
                if first is None:
                    continue
                after = (*queue[:first], *queue[first + 1 :])
            elif isinstance(step.op, Put | Get | Send | InlinePut | RemoteRmw) and step.op.signaled:
                after = (*queue, (remote_of(step.op) or "", step.span.line))
            todo.append((target, after))


def check_never_polled(found: Program, warning: Diagnostic) -> None:
    """No path takes the completion."""
    assert warning.span.line not in {line for _, line in completions(found)}


def check_takes_nothing(found: Program, warning: Diagnostic) -> None:
    """No path takes a completion there, or none of that node."""
    taken = {request for start, request in completions(found) if start == warning.span.start} - {None}
    node = re.search(r"never takes one of (\w+)", warning.message)
    lines = found.source.split("\n")
    assert all(node is not None and f" {node[1]}." not in lines[line - 1] for line in taken if line is not None)


CHECKS = {
    "RR702": check_waiting,
    "RR721": check_in_flight,
    "RR722": check_in_flight,
    "RR723": check_order,
    "RR724": check_fence,
    "RR729": check_in_flight,
    "RR730": check_never_polled,
    "RR731": check_takes_nothing,
}
ABOUT_COMPLETIONS = {"RR702", "RR730", "RR731"}


def agree(seeds: range, made: Callable[[Random], str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        text = made(Random(f"lints {seed}"))
        found = load_program(text, f"seed {seed}")
        waits = may_wait(found)
        for warning in lints(found).found:
            if warning.code in CHECKS and (not waits or warning.code in ABOUT_COMPLETIONS):
                counted[warning.code] += 1
                CHECKS[warning.code](found, warning)
    return counted


@pytest.mark.ci
@pytest.mark.parametrize("made", [program, deployed_program])
def test_what_lints_say_is_so(made: Callable[[Random], str]) -> None:
    counted = agree(range(160 if made is program else 40), made)
    assert set(counted) >= set(CHECKS) - ({"RR730", "RR731"} if made is program else {"RR729"})
    assert min(counted.values()) >= (4 if made is program else 1), counted


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("made", [program, deployed_program])
def test_long_what_lints_say_is_so(chunk: int, made: Callable[[Random], str]) -> None:
    agree(range(1_000 * (chunk + 1), 1_000 * (chunk + 1) + 400), made)


def agree_on_needless(seeds: range) -> int:
    """Without what `--remove-needless` takes out the program is robust and hangs where it did; return how often it did."""
    removed = 0
    for seed in seeds:
        text = deployed_program(Random(f"needless {seed}"))
        found = remove_needless(text, "a.rdma")
        for solution in found.solutions:
            before, after = (load_program(each, f"seed {seed}") for each in (text, solution.patched))
            assert by("pivot")(after, False) == "robust"
            assert bool(hangs(before)) == bool(hangs(after))
            if all(row.kind != "get" for row in found.removed):
                assert explore_outcomes(before, RDMA).sc.finals == explore_outcomes(after, RDMA).sc.finals
            removed += 1
    return removed


@pytest.mark.ci
def test_what_is_needless_changes_nothing() -> None:
    assert agree_on_needless(range(60)) >= 5


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_what_is_needless_changes_nothing(chunk: int) -> None:
    agree_on_needless(range(1_000 * (chunk + 1), 1_000 * (chunk + 1) + 500))
