"""Importing logs of MPI: JSON lines, one call a line, the calls of one rank in their order.

| member | of | what |
|---|---|---|
| `rank` | all | who calls; left out, the number of the file |
| `call` | all | `MPI_Send`, `MPI_Irecv`, .. |
| `dest`, `tag` | sends | world rank; a number |
| `source`, `tag` | receives | world rank or "any"; a number or "any" |
| `status` | receives that block, probes, `MPI_Wait` | {"source": .., "tag": ..}: who really sent |
| `flag` | `MPI_Iprobe`, `MPI_Improbe` | whether there was a message: a number |
| `message` | `MPI_Mprobe`, .., `MPI_Imrecv` | a name or a number |
| `request` | nonblocking calls, `MPI_Wait` | a name or a number |
| `requests`, `statuses` | `MPI_Waitall` | lists of these |
| `sendtag`, `recvtag` | `MPI_Sendrecv` | the tags of its two halves |
| `root` | collective calls | world rank |
| `value` | sends | a number; left out, 0 |
| `comm`, `line` | all | a communicator, left out the world; a line of the source |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.diagnose import Reporter, did_you_mean, listing, quote
from rdma_robust.errors import ProgramError
from rdma_robust.messages.traces.located_json import LineStarts, LocatedValue, located_json
from rdma_robust.messages.traces.logged_calls import CALLS, RankEvents, RecordedCall, RecordedCalls, port_of
from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess

AS_LOGGED: Final = (
    "Decided are the calls of the log, with every other matching. What a process does about a received message, such as "
    "whom it answers, and which payload, is as the log has it."
)
_UNREAD: Final = ("MPI_Cancel", *(f"MPI_Win_{each}" for each in ("post", "start", "complete", "wait", "test")))
"""What a recorder writes because others depend on it, and what is not followed."""
_MEMBERS: Final = (
    *("rank", "call", "dest", "source", "tag", "status", "request", "requests", "statuses"),
    *("flag", "message", "among", "size", "at", "returned"),
    *("sendtag", "recvtag", "root", "value", "comm", "line", "count", "time", "type", "recvtype", "room", "op"),
    *("newcomm", "group"),
)


def import_mpi_log(files: Sequence[tuple[str, str]], name: str = "log") -> MessageTrace:
    """Return the trace in logs, given as (file, text). Raises ProgramError with all errors of the first file that has some.

    A receive from any source must say who really sent: as one of which that is not known it could not be told from one
    that names its source, and tools that write the source that a run had into the log hide exactly that.
    """
    reports = [Reporter(file, _closed(text)) for file, text in files]
    read = [_calls(report, number) for number, report in enumerate(reports)]
    _raise(reports)
    every = [(rank, call) for calls in read for rank, call in calls]
    said = (call["size"].whole for _, call in every if "size" in call)
    count = max([1, *(each for each in said if each), *(rank + 1 for rank, _ in every)])
    groups, types = _groups(every, count), dict[object, int]()
    ranks = [RankEvents() for _ in range(count)]
    sends: dict[tuple[Field, ...], list[tuple[int, int]]] = {}
    for report, calls in zip(reports, read, strict=True):
        for rank, call in calls:
            RecordedCall(RecordedCalls(report, count, groups, sends, types), rank, ranks[rank], call).write()
    _raise(reports)
    for rank, made in enumerate(ranks):
        _match(rank, made, sends)
    _raise(reports)
    begun = any(each.begun for each in ranks)
    processes = tuple(
        TraceProcess(f"rank {rank}", tuple(each.events), unfinished=begun and not each.ended)
        for rank, each in enumerate(ranks)
    )
    return MessageTrace(name, processes, (AS_LOGGED,), logged=True)


def _closed(text: str) -> str:
    """Return a log with an end of its last line, which has none where a process was within a call when the run ended."""
    last = text.rpartition("\n")[2].rstrip()
    return f'{text.rstrip()}, "returned": 0}}\n' if last.startswith('{"') and not last.endswith("}") else text


def _groups(calls: Sequence[tuple[int, Mapping[str, LocatedValue]]], count: int) -> dict[str, tuple[int, ...]]:
    """Return who is in which communicator, as far as the calls that make them say it, in the order of its ranks."""
    found: dict[str, tuple[int, ...]] = {}
    for _, call in calls:
        if "newcomm" in call and "group" in call:
            members = [each.whole for each in call["group"].elements or []]
            known = tuple(each for each in members if each is not None and 0 <= each < count)
            if known and len(set(known)) == len(members):
                found[port_of(call["newcomm"].value)] = known
    return found


def _raise(reports: Sequence[Reporter]) -> None:
    for report in reports:
        report.raise_errors()


def _calls(report: Reporter, number: int) -> list[tuple[int, Mapping[str, LocatedValue]]]:
    """Return the calls in a log, each with its rank, which is the number of the file if it is left out."""
    lines, start = LineStarts(report.source), 0
    found: list[tuple[int, Mapping[str, LocatedValue]]] = []
    for line in report.source.split("\n"):
        if line.strip():
            try:
                value = located_json(report.source, report, start, start + len(line.rstrip()), lines)
            except ProgramError:
                return found
            call = _checked(value, report)
            rank = call.get("rank")
            at = number if rank is None else rank.whole
            if at is None or not 0 <= at < 10_000:
                report.error("RR947", value.span if rank is None else rank.span, "`rank` is a number from 0 to 9,999")
            elif call:
                found.append((at, call))
        start += len(line) + 1
    return found


def _checked(value: LocatedValue, report: Reporter) -> Mapping[str, LocatedValue]:
    members = value.members
    if members is None or "call" not in members:
        report.error("RR947", value.span, "a line of a log is an object with a `call`", expected='{"call": "MPI_..", ..}')
        return {}
    for name, member in members.items():
        if name not in _MEMBERS:
            hint = did_you_mean(name, _MEMBERS)
            report.error("RR947", member.span, f"a call has no {quote(name)}", expected=listing(sorted(_MEMBERS)), hint=hint)
    call = members["call"]
    if call.text not in CALLS:
        unread = "others may wait for what it does, and that is not followed: record a run without it"
        hint = unread if call.text in _UNREAD else did_you_mean(call.text or "", CALLS)
        hint = hint or "leave out what neither sends nor receives"
        report.error("RR947", call.span, "this call cannot be read here", expected=listing(CALLS), hint=hint)
        return {}
    return members


def _match(rank: int, made: RankEvents, sends: dict[tuple[Field, ...], list[tuple[int, int]]]) -> None:
    """Write what each receive took: of one channel and tag the sends in their order, to the receives in theirs.

    What a receive from any took that nothing completes is not known, nor then what those behind it took.
    """
    unknown: set[Field] = set()
    for receive in made.receives:
        source, tag = (receive.source, receive.tag) if receive.took == (None, None) else receive.took
        if "any" in (source, tag):
            unknown.add(receive.port)
        if receive.port in unknown:
            continue
        waiting = sends.get((source, rank, receive.port, tag), [])
        if not waiting and receive.is_over:
            said = f"the log has no send of rank {source} with tag {tag} for this receive"
            receive.report.error("RR948", receive.span, said, hint="give the logs of all ranks, to their ends")
        if not waiting:
            continue
        send = waiting.pop(0)
        if receive.at is not None:
            event = made.events[receive.at]
            made.events[receive.at] = TraceEvent(event.op, {**event.fields, "matched": send}, event.line)
