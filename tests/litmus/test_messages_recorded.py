"""The programs of litmus/messages, run and recorded: a trace is about runs of its program, and about its own run."""

from __future__ import annotations

from typing import Final

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.messages.traces.observed import read_trace
from rdma_robust.messages.traces.trace_writing import write_trace
from sitegen.messages_index import FAMILIES, family_programs
from tests.litmus.message_goldens import load
from tests.support.shares import share

LISTED: Final = MessageQuestions(count=True, listed=1_000)
ENDLESS: Final = ("spinning-is-no-deadlock", "loop-idle", "loop-counts")
"""Programs that have runs without an end."""


@pytest.mark.parametrize("family", share(FAMILIES, len(FAMILIES)))
def test_a_trace_has_its_run_and_no_others_than_its_program(family: str) -> None:
    for path in family_programs(family):
        if path.stem in ENDLESS:
            continue
        program = load(path)
        run = random_run(program, "infinite", seed=1)
        recorded = read_trace(write_trace(program, "infinite", run), f"{path.stem}.json")
        ran = replay_schedule(program, "infinite", run)
        of_trace, of_program = (by_states(each, "infinite", LISTED, Limits()) for each in (recorded, program))
        assert of_trace.pairs is not None and of_program.pairs is not None, path
        assert ran.pairs <= of_trace.pairs <= of_program.pairs, path
        assert of_program.violations or not of_trace.violations, path
        if ran.ending == "complete":
            assert of_trace.matchings is not None and of_program.matchings is not None, path
            assert ran.pairs in of_trace.matchings.listed, path
            assert set(of_trace.matchings.listed) <= set(of_program.matchings.listed), path
