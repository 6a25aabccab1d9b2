"""Answers to what the pages of the explorer ask, whatever carries it: the server, or the worker of the playground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rdma_robust.teaching.explorer.address import AddressError

if TYPE_CHECKING:
    from rdma_robust.teaching.explorer.live import Explorable


def program_answer(session: Explorable, number: int = 0, *, watched: bool = False) -> dict[str, Any]:
    """Return what does not change of the version `number` of what is explored."""
    return {**asdict(session.about()), "number": number, "watched": watched}


def view_answer(session: Explorable, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be seen at the `address` in a request, after what is to be done there. Raises UsageError."""
    address = body.get("address")
    if not isinstance(address, str):
        raise AddressError("a request has the text address")
    return asdict(session.seen(address, body.get("do")))
