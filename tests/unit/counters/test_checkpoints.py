"""Checkpoints of searches in parts: what is lost is read back, another run goes on, and nobody takes another's."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bench.families import pipeline
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.parts import checkpoint, local, storage
from rdma_robust.counters.parts.all_parts import SearchParts
from rdma_robust.counters.parts.checkpoint import Checkpoint, claim_folder
from rdma_robust.counters.parts.lost_parts import CheckpointError, PartsLostError
from rdma_robust.counters.search import CounterSearch, explore
from rdma_robust.errors import UsageError
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS
from tests.support.random_programs import LARGER, random_program
from tests.support.searches import comparable
from tests.unit.counters.test_parts import gone, started  # noqa: F401 - a fixture
from tests.unit.counters.test_threads import MIXED, instrumented

pytestmark = pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")

Run = Callable[[SearchParts, int, Limits], list[int]]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search in parts from the start, in short rounds, with a checkpoint after each."""
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(local.LocalHosts, "seconds", 0.02)


def before_round(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None]) -> None:
    """Do something before each round, which is given its number."""
    run: Run = SearchParts.run
    rounds: list[int] = []

    def watched(self: SearchParts, budget: int, limits: Limits) -> list[int]:
        rounds.append(1)
        act(len(rounds))
        return run(self, budget, limits)

    monkeypatch.setattr(SearchParts, "run", watched)


def limits(folder: Path | str, **more: Any) -> Limits:
    return Limits(executor="local:2", checkpoint=str(folder), **more)


def same(found: CounterSearch[Any], alone: CounterSearch[Any]) -> bool:
    return bool(comparable(found) == comparable(alone))


def cut_after(program: Any, folder: Path, states: int, engine: str) -> CounterSearch[Any]:
    """Search until a limit of states ends it, with the checkpoint of the round before."""
    return explore(program, limits(folder, states=states), engine=engine)


@pytest.mark.ci
@pytest.mark.parametrize("engine", ["dfs", "bfs"])
def test_another_run_goes_on_from_a_checkpoint(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = instrumented(pipeline(3, 3), ALL_REDUCTIONS)
    alone = explore(program, Limits(), engine=engine)
    cut = cut_after(program, tmp_path, alone.result.states - 5, engine)
    assert cut.result.cut == "states"
    states = [json.loads(each.read_text())["states"] for each in tmp_path.glob("*.json")]
    assert len(states) == 1 and states[0] > 0
    restored: list[int] = []
    begin = SearchParts._begin

    def noted(self: SearchParts) -> None:
        begin(self)
        restored.append(self.states)

    monkeypatch.setattr(SearchParts, "_begin", noted)
    assert same(explore(instrumented(pipeline(3, 3), ALL_REDUCTIONS), limits(tmp_path), engine=engine), alone)
    assert restored[0] >= states[0], "it has begun anew"


@pytest.mark.ci
def test_random_programs_go_on_from_checkpoints(tmp_path: Path) -> None:
    done = 0
    for seed in range(18):
        program = instrumented(
            random_program(Random(seed), LARGER, loops=seed % 3 == 0), (MIXED, ALL_REDUCTIONS, frozenset[str]())[seed % 3]
        )
        alone = explore(program, Limits(states=20_000))
        if alone.result.cut or alone.dimension or alone.result.states < 20:
            continue
        folder = tmp_path / str(seed)
        for part in (3, 2):
            cut_after(program, folder, alone.result.states * (part - 1) // part, "auto")
        assert same(explore(program, limits(folder)), alone)
        done += 1
    assert done > 4


@pytest.mark.parametrize("times", [pytest.param(3, marks=pytest.mark.ci), pytest.param(50, marks=pytest.mark.long)])
def test_parts_that_are_killed_are_read_back(
    times: int,
    tmp_path: Path,
    started: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random, program = Random(times), instrumented(pipeline(3, 6))
    alone = explore(program, Limits())
    at = {random.randrange(1, 12) for _ in range(3)}
    killed: list[int] = []

    def kill(number: int) -> None:
        if number in at:
            victim = started[-random.randrange(1, 3)]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    for attempt in range(times):
        with monkeypatch.context() as patched:
            before_round(patched, kill)
            killed.clear()
            at = {random.randrange(1, 12)}
            assert same(explore(program, limits(tmp_path / str(attempt))), alone)
        assert all(map(gone, started))


@pytest.mark.ci
def test_a_search_that_loses_parts_again_and_again_is_given_up(
    tmp_path: Path,
    started: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY_S", 1000.0)
    before_round(monkeypatch, lambda _: os.kill(started[-1], signal.SIGKILL))
    with pytest.raises(PartsLostError, match="was killed by SIGKILL"):
        explore(instrumented(pipeline(3, 6)), limits(tmp_path))
    assert len(started) == 8 and all(map(gone, started))


@pytest.mark.ci
def test_a_part_that_is_stopped_is_given_up(
    tmp_path: Path,
    started: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It does not answer, which is known after a time; with checkpoints another one takes its place."""
    monkeypatch.setattr(local, "ANSWER_S", 2.0)
    program = instrumented(pipeline(3, 4))
    alone = explore(program, Limits())

    def stop(number: int) -> None:
        if number == 3:
            os.kill(started[-2], signal.SIGSTOP)

    before_round(monkeypatch, stop)
    assert same(explore(program, limits(tmp_path)), alone)
    assert all(map(gone, started))


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A folder with a checkpoint of `pipeline(3, 3)`."""
    assert cut_after(instrumented(pipeline(3, 3)), tmp_path, 1500, "auto").result.cut
    return tmp_path


def damage_list(folder: Path) -> str:
    (at,) = folder.glob("*.json")
    at.write_text(at.read_text()[:-20])
    return "cannot be read"


def half_a_level(folder: Path) -> str:
    next(folder.glob("*-1.states")).unlink()
    return "the file of part 2 is missing"


def shorter(folder: Path) -> str:
    at = next(folder.glob("*-0.states"))
    at.write_bytes(at.read_bytes()[:-8])
    return "the file of part 1 is not what was written"


def other_bit(folder: Path) -> str:
    at = next(folder.glob("*-0.states"))
    content = bytearray(at.read_bytes())
    content[len(content) // 2] ^= 1
    at.write_bytes(content)
    return "the file of part 1 is not what was written"


def another_format(folder: Path) -> str:
    (at,) = folder.glob("*.json")
    at.write_text(json.dumps({**json.loads(at.read_text()), "version": 2}))
    return "it has another format"


@pytest.mark.ci
@pytest.mark.parametrize("harm", [damage_list, half_a_level, shorter, other_bit, another_format])
def test_a_checkpoint_that_is_damaged_is_refused(cut: Path, harm: Callable[[Path], str], started: list[int]) -> None:  # noqa: F811
    said, before = harm(cut), len(started)
    with pytest.raises(UsageError, match=rf"{said}.*; remove that folder, or name another one"):
        explore(instrumented(pipeline(3, 3)), limits(cut))
    assert len(started) == before


@pytest.mark.ci
def test_another_search_does_not_take_it(cut: Path) -> None:
    """Of a program that begins alike, and of the same with other reductions."""
    for text, reductions in ((pipeline(3, 2), None), (pipeline(3, 3), MIXED)):
        program = instrumented(text) if reductions is None else instrumented(text, reductions)
        assert same(explore(program, limits(cut)), explore(program, Limits()))


@pytest.mark.ci
def test_a_checkpoint_of_other_code_is_left_aside(cut: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = instrumented(pipeline(3, 3))
    (at,) = cut.glob("*.json")
    at.write_text(json.dumps({**json.loads(at.read_text()), "text": "another"}))
    assert same(explore(program, limits(cut)), explore(program, Limits()))
    monkeypatch.setattr(checkpoint, "fingerprint", lambda: "another")
    assert same(explore(program, limits(cut)), explore(program, Limits()))


@pytest.mark.ci
def test_no_room_for_a_checkpoint_ends_the_search(
    tmp_path: Path,
    started: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The processes may write files of some KiB only; the checkpoint before stays what it is."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # Half of a module's bytecode would stay for all that come later.
    program = instrumented(pipeline(3, 6))

    def shrink(number: int) -> None:
        if number == 4:
            for pid in started[-2:]:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, 4096))

    with monkeypatch.context() as patched:
        before_round(patched, shrink)
        with pytest.raises(
            CheckpointError, match=f"no checkpoint can be written in .*: {os.strerror(errno.EFBIG)}; make room"
        ):
            explore(program, limits(tmp_path))
    assert all(map(gone, started))
    assert len(list(tmp_path.glob("*.states"))) == 2
    assert same(explore(program, limits(tmp_path)), explore(program, Limits()))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "rdma-robust", str(place)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted: a full disk is not tested")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.ci
def test_a_full_disk_ends_the_search_and_room_lets_it_go_on(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = instrumented(pipeline(3, 6))
    other = small_disk / "other"

    def fill(number: int) -> None:
        if number == 4:
            with suppress(OSError), other.open("wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass

    kept = small_disk / "kept"
    with monkeypatch.context() as patched:
        before_round(patched, fill)
        why = f"no checkpoint can be written in .*: {os.strerror(errno.ENOSPC)}; make room"
        with pytest.raises(CheckpointError, match=why):
            explore(program, limits(kept))
    assert len(list(kept.glob("*.states"))) == 2, "the checkpoint before is there, and nothing of the one that failed"
    other.unlink()
    assert same(explore(program, limits(kept)), explore(program, Limits()))


@pytest.mark.ci
def test_checkpoints_by_fsspec(tmp_path: Path) -> None:
    program = instrumented(pipeline(3, 3))
    place = f"file://{tmp_path}/kept"
    assert explore(program, limits(place, states=1500)).result.cut
    assert len(list((tmp_path / "kept").glob("*.states"))) == 2
    assert same(explore(program, limits(place)), explore(program, Limits()))


def test_an_address_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="nowhere://"):
        storage.storage("nowhere://at/all")


def test_a_folder_is_of_one_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(tmp_path / "kept")
    for _ in range(2):
        claim_folder(place, ("a.rdma",), "this")
    with pytest.raises(UsageError, match=r"of another program, or other options \(a.rdma\): name another folder"):
        claim_folder(place, ("b.rdma",), "that")
    monkeypatch.setattr(checkpoint, "fingerprint", lambda: "0.0.1-other")
    with pytest.raises(UsageError, match="of another version of rdma-robust"):
        claim_folder(place, ("a.rdma",), "this")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").touch()
    with pytest.raises(UsageError, match="has other files"):
        claim_folder(str(tmp_path / "other"), ("a.rdma",), "this")
    with pytest.raises(UsageError, match="Not a directory"):
        claim_folder(str(tmp_path / "other/file/kept"), ("a.rdma",), "this")
    (tmp_path / "kept/question.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        claim_folder(place, ("a.rdma",), "this")


def test_a_checkpoint_is_kept_in_place_of_the_last(tmp_path: Path) -> None:
    plan: Any = instrumented_plan()
    kept = Checkpoint(str(tmp_path), plan, [0], text(), [])
    for content in (b"one", b"two"):
        (name,) = kept.names(1)
        (tmp_path / name).write_bytes(content)
        with (tmp_path / name).open("rb") as file:
            digest = checkpoint.digest_of(file)
        kept.keep(checkpoint.SavedStates([1], [0], [(0, 1)], "t", [(name, digest)], 3))
    assert [each.read_bytes() for each in tmp_path.glob("*.states")] == [b"two"]
    assert Checkpoint(str(tmp_path), plan, [0], text(), []).saved == kept.saved
    assert Checkpoint(str(tmp_path), replace(plan, by_rank=False), [0], text(), []).saved is None


def instrumented_plan() -> Any:
    return driver.SearchPlan(1, (), [(0, 1, 0, 0)], [[0]], [], False, True, 1, None, None, [], [])


def text() -> driver.KernelText:
    return driver.KernelText((), ())
