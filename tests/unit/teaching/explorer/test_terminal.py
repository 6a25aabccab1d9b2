"""The explorer in the terminal, driven by keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from rdma_robust.options import CheckOptions
from rdma_robust.teaching.explorer.address import ExplorerPlace
from rdma_robust.teaching.explorer.session import Session, session_verdict
from rdma_robust.teaching.explorer.terminal import Explorer
from rdma_robust.teaching.explorer.terminal_app import RDMA
from tests.support.explored import litmus, session


def drive(explored: Session, script: Callable[[Explorer, Pilot[None]], Awaitable[None]], width: int = 140) -> None:
    async def run() -> None:
        app = Explorer(explored, partial(session_verdict, options=CheckOptions(timeout=20)), ExplorerPlace())
        async with app.run_test(size=(width, 36)) as pilot:
            while app.verdict is None:
                await pilot.pause(0.02)
            await script(app, pilot)

    asyncio.run(run())


def text(app: Explorer, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


def weak_end(explored: Session, place: ExplorerPlace) -> ExplorerPlace:
    """Return an end of the run in which all happens in the order in which the machine lists it."""
    while explored.view(place).rdma.moves:
        place = explored.step(place, "rdma", 0)
    return place


def test_to_the_weak_outcome_by_keys() -> None:
    async def script(app: Explorer, pilot: Pilot[None]) -> None:
        assert "NOT ROBUST" in text(app, "top")
        # v = 1; post; v = 2; then the NIC, which is second after the CPU's next post.
        for key in ("enter", "1", "1"):
            await pilot.press(key)
        assert "SC cannot follow RDMA step 3" in text(app, "sc-state")
        assert "From step 3 on" in text(app, "rdma-state")
        app.to(lambda: app.session.place(app.session.address(weak_end(app.session, app.place))))
        await pilot.pause()
        shown = text(app, "rdma-state")
        assert "r = 2" in shown and "line 20: outcome Receiver.r == 2" in shown and "holds" in shown

    drive(litmus("mailbox-plain"), script)


def test_the_witness_back_forward_and_the_other_side() -> None:
    async def script(app: Explorer, pilot: Pilot[None]) -> None:
        await pilot.press("w", "right", "right")
        assert app.place.rdma.at == 2 and len(app.place.rdma.choices) == 6
        await pilot.press("left")
        assert app.place.rdma.at == 1
        await pilot.press("tab")
        assert app.active == "rdma" and app.place.mode == "follow"
        await pilot.press("m", "tab")
        assert app.active == "sc" and app.place.mode == "free"
        before = app.place.sc.at
        await pilot.press("enter")
        assert app.place.sc.at == before + 1 and app.place.rdma.at == 1
        await pilot.press("left", "left", "left")
        assert app.place.sc.at == 0
        await pilot.press("n")
        assert app.place == ExplorerPlace("free")

    drive(litmus("mailbox-plain"), script)


def test_the_state_is_told_and_robust_programs_have_no_witness() -> None:
    async def script(app: Explorer, pilot: Pilot[None]) -> None:
        said: list[str] = []
        app.say = said.append  # type: ignore[method-assign]
        await pilot.press("1", "w", "s")
        assert "robust" in said[0]
        assert said[1] == f"--state '{app.session.address(app.place)}'"
        assert app.session.place(said[1].split("'")[1]) == app.place

    drive(litmus("mailbox-polled"), script)


def test_programs_are_not_taken_for_markup_and_a_narrow_terminal_shows_them_on_demand() -> None:
    async def script(app: Explorer, pilot: Pilot[None]) -> None:
        assert "[bold red]x[/]" in text(app, "code")
        moves = app.query_one("#rdma-moves", OptionList)
        assert "a[0] = 1" in str(moves.get_option_at_index(0).prompt)
        await pilot.press("enter")
        assert app.seen.rdma.at == 1
        assert not app.query_one("#source").display and app.query_one("#rdma").display
        await pilot.press("p")
        assert app.query_one("#source").display and not app.query_one("#rdma").display

    drive(
        session("// [bold red]x[/] [/nothing] [@click=app.quit]\nnode A { a[1] }\nthread T on A { a[0] = 1 }\n"), script, 80
    )
    assert RDMA.startswith("#")


def test_the_key_help_fits_80_columns_and_there_is_more() -> None:
    async def script(app: Explorer, pilot: Pilot[None]) -> None:
        await pilot.pause()
        keys = list(app.query("FooterKey"))
        assert len(keys) >= 8 and all(key.region.width and key.region.right <= 80 for key in keys)
        assert {"counterexample", "help"} <= {str(binding.description) for _, binding, *_ in app.active_bindings.values()}
        await pilot.press("?")
        told = str(app.screen.query_one("#keys", Static).render())
        assert "the counterexample" in told and "start again" in told
        assert app.screen.query_one("#keys").region.right <= 80
        before = app.place
        await pilot.press("1")
        assert len(app.screen_stack) == 1 and app.place == before, "a key closes the help and does nothing else"
        await pilot.press("1")
        assert app.place != before

    drive(litmus("mailbox-plain"), script, 80)


def test_a_changed_file_is_explored_and_an_error_is_said() -> None:
    changes: list[Callable[[Session | str], None]] = []

    async def run() -> None:
        app = Explorer(
            litmus("mailbox-plain"),
            partial(session_verdict, options=CheckOptions(timeout=20)),
            ExplorerPlace(),
            changes.append,
        )
        async with app.run_test(size=(140, 36)) as pilot:
            while app.verdict is None or not changes:
                await pilot.pause(0.02)
            await pilot.press("enter")
            await asyncio.to_thread(changes[0], "one.rdma:3:1: error: no")
            await pilot.pause()
            assert app.session.program.name == "mailbox-plain" and app.seen.rdma.steps
            await asyncio.to_thread(changes[0], litmus("mailbox-polled"))
            while app.verdict is None:
                await pilot.pause(0.02)
            assert "poll B" in text(app, "code")
            assert app.verdict.verdict == "robust" and len(app.seen.rdma.steps) == 1

    asyncio.run(run())
