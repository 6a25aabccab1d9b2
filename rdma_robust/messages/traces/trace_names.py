"""The names in a trace: each is defined once, and before it is used."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.messages.traces.trace_record import TraceEvent, TraceProcess

WORD: Final = re.compile(r"[A-Za-z_]\w*")
_NEVER: Final = re.compile(r"[;{}\"\\]|//|/\*|[^\x20-\x7e]")
"""What an expression cannot have in it, and what would end the line that it is put into."""


class TraceNames:
    """The check of the names in a trace. Errors go to `report`."""

    def __init__(self, report: Reporter) -> None:
        self.report = report

    def wrong(self, event: TraceEvent, name: str, said: str, hint: str = "") -> None:
        self.report.error("RR943", event.spans.get(name, event.span), said, hint=hint)

    def check(self, process: TraceProcess) -> None:
        known: set[str] = set()
        held: set[str] = set()
        pending: dict[str, tuple[str, ...]] = {}
        waiting: set[str] = set()
        later = {name for event in process.events for name in defined_names(event)}
        for event in process.events:
            self.expressions(event, known, later, waiting)
            defined = tuple(defined_names(event))
            for name in defined:
                if name in known or name in waiting:
                    self.wrong(event, _member(event, name), f"{quote(name)} is defined before: a name has one value")
            self.held(event, held, pending)
            request = event.fields.get("request")
            if isinstance(request, str) and event.op == "wait":
                if request not in pending:
                    self.wrong(event, "request", f"no request {quote(request)} is open here")
                received = pending.pop(request, ())
                known.update(received)
                waiting.difference_update(received)
            elif isinstance(request, str):
                self.is_new(event, "request", request, pending, held)
                pending[request] = defined
                waiting.update(defined)
            else:
                known.update(defined)

    def held(self, event: TraceEvent, held: set[str], pending: Collection[str]) -> None:
        """Note which requests hold messages."""
        taken, of = event.fields.get("taken"), event.fields.get("of")
        if isinstance(of, str):
            if of not in held:
                self.wrong(event, "of", f"no request {quote(of)} holds a message here")
            held.discard(of)
        if isinstance(taken, str):
            self.is_new(event, "taken", taken, held, pending)
            held.add(taken)

    def is_new(self, event: TraceEvent, member: str, request: str, *open_: Collection[str]) -> None:
        if any(request in each for each in open_):
            self.wrong(event, member, f"the request {quote(request)} is still open: give this one another name")

    def expressions(self, event: TraceEvent, known: set[str], later: set[str], pending: set[str]) -> None:
        to = event.fields.get("to")
        if event.op == "assign" and isinstance(to, str) and "[" in to and to.partition("[")[0] not in known:
            self.wrong(event, "to", f"{quote(to)} is an element of no array that is defined before")
        for name in ("value", "expr"):
            text = event.fields.get(name)
            if not isinstance(text, str):
                continue
            if _NEVER.search(text) or not _is_balanced(text):
                self.wrong(event, name, f"{quote(name)} is no expression of a program")
                continue
            for word in dict.fromkeys(WORD.findall(text)):
                if word in pending:
                    said = f"{quote(word)} has no value before the wait for its receive"
                    self.wrong(event, name, said)
                elif word in later and word not in known:
                    self.wrong(event, name, f"{quote(word)} has no value yet: it is defined further below")


def defined_names(event: TraceEvent) -> Iterator[str]:
    """Yield the names that an event defines."""
    members = ("to",) if event.op == "assign" else ("into", "sender", "which")
    for member in members:
        name = event.fields.get(member)
        if isinstance(name, str) and "[" not in name:
            yield name


def _member(event: TraceEvent, name: str) -> str:
    return next((member for member, value in event.fields.items() if value == name), "into")


def _is_balanced(text: str) -> bool:
    open_: list[str] = []
    for sign in text:
        if sign in "([":
            open_.append(sign)
        elif sign in ")]" and (not open_ or open_.pop() != {")": "(", "]": "["}[sign]):
            return False
    return not open_
