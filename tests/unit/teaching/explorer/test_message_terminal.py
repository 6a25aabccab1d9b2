"""The explorer of message programs in the terminal, driven by keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.message_answers import MessageQuestions
from rdma_robust.messages.traces.observed import read_recorded
from rdma_robust.teaching.explorer.message_session import MessageSession, found_runs
from rdma_robust.teaching.explorer.message_terminal import MessageExplorer
from rdma_robust.teaching.explorer.view import MessageVerdictView
from tests.support.explored import message_litmus
from tests.support.message_texts import TRACE


def decided(session: MessageSession) -> MessageVerdictView:
    answers = [answered(session.program, buffer, MessageQuestions(pairs=False), Limits()) for buffer in BUFFERS]
    return found_runs(MessageSession(session.program), answers)


def drive(
    session: MessageSession, script: Callable[[MessageExplorer, Pilot[None]], Awaitable[None]], width: int = 140
) -> None:
    async def run() -> None:
        app = MessageExplorer(session, decided, session.place(""))
        async with app.run_test(size=(width, 36)) as pilot:
            while app.verdict is None:
                await pilot.pause(0.02)
            await script(app, pilot)

    asyncio.run(run())


def text(app: MessageExplorer, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


@pytest.mark.ci
def test_to_the_run_of_the_paper_by_keys() -> None:
    async def script(app: MessageExplorer, pilot: Pilot[None]) -> None:
        assert "GOES WRONG violated under infinite, any" in text(app, "top") and "buffer any" in text(app, "top")
        await pilot.press("a")
        assert [move.kind for move in app.seen.moves] == ["grant", "match"] and "receives: from any" in text(app, "state")
        await pilot.press("1")
        for wanted in ("takes 9 from T2", "takes 1 from T1", "takes 4 from T2"):
            (choice,) = [move.choice for move in app.seen.moves if wanted in move.label]
            await pilot.press(str(choice + 1))
        state = text(app, "state")
        assert "Complete. Every process has ended." in state and "assert a == 4: the assertion is false" in state
        assert "T0 takes 1 from T1 (line 18)" in text(app, "picture") and "◂" not in text(app, "code")
        at = app.place.run.at
        await pilot.press("left")
        assert app.place.run.at < at - 1 and [move.kind for move in app.seen.moves] == ["match"]
        await pilot.press("right")
        assert app.place.run.at == at
        await pilot.press("b")
        assert app.place.buffer == "zero" and app.place.run.at < at

    drive(message_litmus("paper/figure-1"), script)


def test_a_recorded_run_in_a_narrow_terminal() -> None:
    async def script(app: MessageExplorer, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        moves = {move.label: str(move.choice + 1) for move in app.seen.moves}
        assert {"its message is buffered", "takes 1 from Q (line 7)", "takes 5 from R (line 9)"} == set(moves)
        await pilot.press(moves["takes 5 from R (line 9)"])
        assert "assert a == 1: the assertion is false" not in text(app, "state")
        await pilot.press(str(next(move.choice for move in app.seen.moves if move.label.startswith("takes 1")) + 1))
        assert "assert a == 1: the assertion is false" in text(app, "state")
        await pilot.press("p")
        assert '"op": "recv"' in text(app, "code") and "R sends 5 to P" in text(app, "picture")
        assert "line  P   Q   R" in text(app, "picture"), "there is room for lifelines"
        assert sum(len(f"{each.key_display} {each.description} ") for each in app.query("FooterKey")) <= 80  # type: ignore[attr-defined]
        assert app.query_one("#chart").region.right <= 80 and app.query_one("#source").region.width > 20

    drive(MessageSession(read_recorded(TRACE, "run.json").program), script, width=80)


def test_found_runs_shared_states_a_changed_file_and_texts_that_look_like_markup() -> None:
    async def script(app: MessageExplorer, pilot: Pilot[None]) -> None:
        said: list[str] = []
        app.say = said.append  # type: ignore[method-assign]
        assert "[bold]none[/bold]" in text(app, "code")
        await pilot.press("w")
        assert "a run of" in said[-1] and app.place.run.at == 0 and app.place.run.choices
        app.to(partial(app.session.go, app.place, len(app.place.run.choices)))
        assert "Deadlock." in text(app, "state") and "waits forever" in text(app, "state")
        await pilot.press("s")
        assert app.session.place(said[-1].split("'")[1]) == app.place
        await pilot.press("n", "enter", "l")
        assert app.place.run.at > 1 and app.seen.steps[0].local
        await pilot.press("left", "left")
        assert app.place.run.at == len(app.seen.steps) - 2
        before = app.place
        app.changed("two.mp:1:1: error: no")
        assert said[-1] == "two.mp:1:1: error: no" and app.place == before
        app.changed(MessageSession(load_messages("proc R { }\n", "two.mp")))
        assert app.place.run.choices == () and "R ended" in text(app, "state")

    source = message_litmus("buffers/head-to-head").program.source
    drive(MessageSession(load_messages(f"{source}// [bold]none[/bold]\n", "one.mp")), script, width=80)
