"""A trace made from another has all of its relations."""

from __future__ import annotations

from dataclasses import fields

from rdma_robust.semantics.trace import Event, EventType, Relation, Trace

RELATIONS = [each.name for each in fields(Trace) if each.name != "events"]


def test_every_relation_is_carried_over() -> None:
    """With a relation of its own under each name, none is lost or mixed up, whatever names there will be."""
    size = 2 * len(RELATIONS)
    events = tuple(Event(k, EventType.LR) for k in range(size))
    whole = Trace(events, **{name: Relation.of(size, [(k, k + len(RELATIONS))]) for k, name in enumerate(RELATIONS)})
    turned = {k: size - 1 - k for k in range(size) if k != 0}
    nothing = Relation.of(size, ())
    other = whole.over(events, turned, nfo=nothing)
    for k, name in enumerate(RELATIONS):
        wanted = [] if k == 0 or name == "nfo" else [(size - 1 - k, size - 1 - k - len(RELATIONS))]
        found = getattr(other, name)
        assert list(found) == wanted
