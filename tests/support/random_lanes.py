"""Programs with lanes made of programs without: requests, polls, fences and messages spread over several queue pairs.

    text = with_lanes(program.source, Random(seed))
    text = with_shared_queues(text, Random(seed))
    for program, model in on_lanes(random_deployed("messages", range(100))): ...
    for program, model in on_lanes(random_deployed("completions", range(100)), shared=True): ...

Every thread gets two lanes to each node that it could name, and each statement that is about a queue pair is left on the one
without a name or is put on a lane. Polls mostly follow requests of their thread, and receives the messages of their sender,
so that most programs go on; others hang, which is no less a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program, named_lane
from rdma_robust.model import Model
from tests.support.random_deployed import EVENTS, loaded, most_events

_THREAD: Final = re.compile(r"^(\s*)thread (\w+) on (\w+) \{(.*)$")
_REQUEST: Final = re.compile(r"^\s*(?:put |get \w+(?:\[\w+\])? = (?:\w+\()?|(?:cas|faa|swap)\()(\w+)\.")
_SEND: Final = re.compile(r"^\s*send .* to (\w+)")
_WAIT: Final = re.compile(r"\b(poll|rfence|flush|order) (\w+)(?! or)\b(?!\[)")
_POLL: Final = re.compile(r"^\s*poll (\w+)$")
_SIMPLE: Final = re.compile(r"^\s*(?:put|get|poll|rfence|flush|order|cas|faa|swap|\w+ =)\s[^{}]*$")
_RECEIVE: Final = re.compile(r"^\s*(?:(?:posted|recv) .* from|(?:\w+ = )?rpoll) (\w+)")


class _Lanes:
    def __init__(self, text: str, rng: Random) -> None:
        self.rng = rng
        self.lines = text.splitlines()
        self.nodes = [line.split()[1] for line in self.lines if line.startswith("node ")]
        found = (_THREAD.match(line) for line in self.lines)
        self.place = {match[2]: match[3] for match in found if match is not None}
        self.used: dict[tuple[str, str], list[str]] = {}
        self.mostly: dict[tuple[str, str], list[str]] = {}

    def of(self, thread: str, node: str) -> str:
        """A lane of a thread to a node, "" for the queue pair without a name; most connections have a few of them only."""
        lanes = ["", f"{node}_0", f"{node}_1"]
        mine = self.mostly.setdefault((thread, node), self.rng.sample(lanes, self.rng.choice([1, 2, 2, 3])))
        return self.rng.choice(mine if self.rng.random() < 0.95 else lanes)

    def text(self) -> str:
        made, thread = [], ""
        for line in self.lines:
            opening = _THREAD.match(line)
            if opening is None:
                made.append(self.line(line, thread) if thread else line)
                continue
            indent, thread, node, rest = opening.groups()
            others = [each for each in self.nodes if each != node]
            made.append(f"{indent}thread {thread} on {node} {{")
            if others:
                made.append(f"{indent}  qp " + ", ".join(f"{each}_{k} to {each}" for each in others for k in range(2)))
            made += [f"{indent}  {rest.strip()}"] if rest.strip() else []
        return "\n".join(made) + "\n"

    def line(self, line: str, thread: str) -> str:
        request, send, receive = _REQUEST.match(line), _SEND.match(line), _RECEIVE.match(line)
        if request is not None and request[1] == self.place[thread]:
            return line  # an atomic of the processor
        if request is not None or send is not None:
            node = self.place[send[1]] if send is not None else request[1] if request is not None else ""
            lane = self.of(thread, node)
            self.used.setdefault((thread, node), []).append(lane)
            return line + (f" on {lane}" if lane else "")
        if receive is not None:
            lane = self.of(receive[1], self.place[thread])
            return line + (f" on {lane}" if lane else "")
        return _WAIT.sub(lambda wait: f"{wait[1]} {self.waited(thread, wait[2])}", line)

    def waited(self, thread: str, node: str) -> str:
        """The queue pair of a poll or fence, mostly one that has been used."""
        if node == self.place[thread]:
            return node
        used = self.used.get((thread, node), [])
        lane = self.rng.choice(used) if used and self.rng.random() < 0.9 else self.of(thread, node)
        return lane or node


def with_lanes(text: str, rng: Random) -> str:
    """Return the text of a program without lanes with some; every declaration of a thread or node begins its line."""
    return _Lanes(text, rng).text()


def with_shared_queues(text: str, rng: Random) -> str:
    """Return the text with some polls made polls of a completion queue that queue pairs share, or looks that do not wait;
    what is behind one may depend on which completion it was, or on whether there was one."""
    lines, made, pairs, nodes = text.splitlines(), [], list[str](), re.findall(r"(?m)^node (\w+)", text)
    while lines:
        line = lines.pop(0)
        opening, polled = _THREAD.match(line), _POLL.match(line)
        if opening is not None:
            pairs = [node for node in nodes if node != opening[3]]
            made += [f"{opening[1]}thread {opening[2]} on {opening[3]} {{", "  reg queue", f"  {opening[4].strip()}"]
            continue
        pairs += re.findall(r"(\w+) to \w+", line) if line.lstrip().startswith("qp ") else []
        if polled is None or rng.random() < 0.4:
            made.append(line)
            continue
        either = [polled[1], *rng.sample([pair for pair in pairs if pair != polled[1]], min(1, len(pairs) - 1))]
        rng.shuffle(either)
        polls = [f"poll {' or '.join(either)}", f"queue = poll {' or '.join(either)}"] if len(either) > 1 else []
        made.append("  " + rng.choice([*polls, f"queue = trypoll {polled[1]}"]))
        if "queue" in made[-1] and rng.random() < 0.6 and _SIMPLE.match(lines[0]):
            made.append(f"  if queue == {rng.choice([0, 1, 1])} {{ {lines.pop(0).strip()} }}")
    return "\n".join(made) + "\n"


def on_lanes(programs: Iterable[tuple[Program, Model]], *, shared: bool = False) -> Iterator[tuple[Program, Model]]:
    """Yield programs with lanes, made of these, with their models: only those in which some operation is on one, and that
    have a moderate number of events. With `shared` they have polls of completion queues that queue pairs share, or looks."""
    for program, _ in programs:
        made = with_lanes(program.source, Random(program.file))
        made = with_shared_queues(made, Random(f"{program.file} shared")) if shared else made
        try:
            found, model = loaded(made, f"{program.file}, on lanes")
        except ProgramError as error:
            raise AssertionError(made) from error
        on_one = any(named_lane(step.op) for thread in found.threads for _, _, step in thread.edges)
        if shared and not re.search(r"poll \w+ or |= trypoll", made):
            continue
        if on_one and most_events(found, model) <= EVENTS:
            yield found, model
