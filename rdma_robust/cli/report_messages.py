"""The message programs of `report`: decided beside the others, and reported in the same forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.inputs import MESSAGES_SUFFIX, Item, Source
from rdma_robust.cli.options.defaults import processors
from rdma_robust.cli.processes.decide_messages import (
    MessagesAsking,
    answer_messages,
    load_messages_room,
    lost_messages,
)
from rdma_robust.cli.stderr import warn
from rdma_robust.language.value_ranges import file_of
from rdma_robust.reports.messages.messages_record import MessagesRecord
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import count

WITHOUT: Final = ("csv", "sarif")
"""The forms that have no place for message programs."""


def split(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items that share memory, and those that pass messages, by their suffix."""
    messages = [each for each in items if isinstance(each, Source) and file_of(each.name).endswith(MESSAGES_SUFFIX)]
    return [each for each in items if each not in messages], list(messages)


def decide_messages(
    items: Sequence[Item], asking: MessagesAsking, jobs: int | None, *, quiet: bool
) -> tuple[list[MessagesRecord], Exit | None]:
    """Return the records of message programs, in their order; when stopped those there are, and the exit code it means."""
    if not items:
        return [], None
    question = Question(lambda item, *_tell: answer_messages(item, asking), lost_messages, asking.limits, load_messages_room)

    def report(answer: object) -> None:
        for message in getattr(answer, "messages", ()):
            warn(message)

    answers, stopped = answer_all(items, question, jobs or processors(), report, quiet=quiet)
    return [answer.record for answer in answers], stopped


def left_out(forms: Sequence[str], records: Sequence[MessagesRecord]) -> list[str]:
    """Return what to say of forms that leave message programs out."""
    return [
        f"warning: {form} has no place for message programs: {count(len(records), 'program')} left out [RR006]"
        for form in forms
        if form in WITHOUT and records
    ]
