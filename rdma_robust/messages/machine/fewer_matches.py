"""Which matches of a state have to be tried: some that nothing can get in the way of are enough (persistent sets).

Let R be an unmatched receive. Take all enabled matches of R, where

1. R names its source: then there is at most one, with the first send S of that channel that R accepts; or
2. R is the first unmatched receive of its endpoint, and every process that has no send for it now cannot issue any to
   this endpoint from where it is.

Then in every run from here, as long as none of these matches is made, R and the sends S that it can take stay unmatched: R
takes nothing else, since of each channel only the first send that it accepts comes into question, and further channels can
have none (2) or do not fit (1); and S is taken by no other receive, since one that is posted earlier and accepts S would
make the match not enabled now (1) or is not there (2), and one posted later has to wait for R. So a match in question stays
enabled until one of them is made. Hence a run to a state in which no rule applies has one of them, and to make it first
changes nothing but that processes come further before other matches, which by Lemma 1 disables nothing. And a run to a
violation, a pair or a call of a library procedure without any of them is still one after one of them. So deadlocks, complete
executions with their matchings and leaks, violations, pairs and differences of calls are found, if no match is put off for
ever: with names no state comes twice, and without names all matches are tried where one of these leads to a state that was
expanded before. So each state that was left to later was expanded later. Under `any` only deadlocks are asked for, to which
runs are finite: matches that need no buffer are enough in the same way, and no send gets one where they are. That runs are
as short as can be is lost.
"""

from __future__ import annotations

from rdma_robust.messages.machine.local_table import Hop, LocalTable, State


def enough_of(table: LocalTable, state: State, hops: list[Hop]) -> list[Hop]:
    """Return hops of a state that are enough to try, as few as are found; none if it is not known that some are."""
    by_receive: dict[tuple[int, int], list[Hop]] = {}
    for hop in hops:
        is_named, is_first, _ = hop.kind
        if is_named:
            return [hop]
        if is_first:
            by_receive.setdefault((hop.receiver, hop.meeting.receive), []).append(hop)
    best: list[Hop] = []
    for found in by_receive.values():
        if (not best or len(found) < len(best)) and _are_all(table, state, found):
            best = found
    return best


def _are_all(table: LocalTable, state: State, found: list[Hop]) -> bool:
    """Whether no process but the senders of these hops may still send to their endpoint."""
    senders = {hop.sender for hop in found}
    endpoint = found[0].kind[2]
    return not any(table.may_send(state, each, endpoint) for each in range(len(state)) if each not in senders)
