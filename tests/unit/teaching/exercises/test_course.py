"""The course of exercises: every solution is judged as solved, every wrong answer and the program itself as not."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement
from types import ModuleType

import pytest

from rdma_robust import Status, Verdict, check, verify
from rdma_robust.analyses.repair.repairs import Costs
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.teaching.exercises import KINDS, Exercise, course, exercise_named
from rdma_robust.teaching.exercises import judge as real_judge
from rdma_robust.teaching.exercises.judge import Assessment, judge
from tests.conftest import Cli

FILE = "answer.rdma"


def judged(exercise: Exercise, text: str) -> Assessment:
    return judge(exercise, text, FILE, timeout=60)


def test_the_course_goes_from_a_mailbox_to_a_sequence_lock() -> None:
    assert [each.number for each in course()] == [*range(1, len(course()) + 1)]
    assert len(course()) >= 15
    assert {each.kind for each in course()} == set(KINDS)
    assert course()[0].name.startswith("mailbox") and course()[-1].name.startswith("sequence-lock")
    for each in course():
        assert exercise_named(str(each.number)) is exercise_named(each.name) is each
        assert each.title and each.task and each.hint and each.why


@pytest.mark.ci
@pytest.mark.parametrize("exercise", course(), ids=lambda each: each.name)
def test_solutions_solve_and_wrong_answers_do_not(exercise: Exercise) -> None:
    assert judged(exercise, exercise.solution).solved is True
    assert judged(exercise, exercise.wrong).solved is False
    assert judged(exercise, exercise.program).solved is False


WRONG = [
    ("mailbox-mended", ("  await f == 2\n", ""), "`await f == 2` is missing"),
    ("mailbox-mended", ("put B.d = v", "put B.d = v inline"), "`put B.d = v inline` is new"),
    ("mailbox-mended", ("  v = 2", "  poll B\n  rfence B\n  v = 2"), "at cost 3; it can be done for less"),
    ("mailbox-mended", ("  v = 2", "  poll B 2\n  v = 2"), "no hang under rdma"),
    ("mailbox-mended", ("  v = 2", "  flush B\n  v = 2"), "`flush B` is new"),
    ("mailbox-seen", ("  r = d\n}\n", "  r = d\n}\noutcome Receiver.r == 1 : allowed under rdma\n"), "consistency too"),
    ("mailbox-seen", ("v = 2", "v = 3"), "`v = 3` is new"),
    ("polls-left-over", ("  put B.b = y\n", ""), "`put B.b = y` is missing"),
    ("flags-on-one-machine", ("node A", "hardware cpu sc\nnode A"), "it is robust on that hardware"),
    ("lock-broken", ("  lock = 0\n", ""), "does not do it"),
    ("lock-broken", ("  get scrap1 = D.probe\n  poll D\n", ""), "2 lines taken out"),
]
"""An exercise, what stands there and instead, and what is said of it."""


@pytest.mark.ci
@pytest.mark.parametrize(("name", "changed", "said"), WRONG)
def test_what_is_said_of_other_answers(name: str, changed: tuple[str, str], said: str) -> None:
    exercise = exercise_named(name)
    found = judged(exercise, exercise.program.replace(*changed, 1))
    assert found.solved is False
    assert said in found.said


LETTER = "outcome Receiver.r == %d : allowed under rdma"
MUTANTS = [
    ("if mine > least:", "if mine > least + 1:", "mailbox-mended", ("  v = 2", "  poll B\n  rfence B\n  v = 2")),
    ("verdict is Verdict.NOT_ROBUST:", "verdict is None:", "mailbox-mended", ("put B.f = v", "put B.f = v\n  poll B")),
    ("if before == after else f", "if before else f", "mailbox-seen", ("r = d\n}", f"r = d\n  r = d\n}}\n{LETTER % 2}")),
    ("not _is_part(now, given):", "not given:", "lock-broken", ("scrap1 = D.probe\n  poll D\n", "scrap2 = D.probe\n")),
    ("0 < gone <= exercise.most", "0 < gone", "lock-broken", ("  get scrap1 = D.probe\n  poll D\n", "")),
    ("if held.solved:", "if held:", "lock-broken", ("  lock = 0\n", "")),
    ("robust == (answer", "robust != (answer", "flags-on-one-machine", ("node A", "hardware cpu sc\nnode A")),
    (' ("allowed under rdma"', ' ("forbidden under sc"', "mailbox-seen", ("r = d\n}", f"r = d\n}}\n{LETTER % 7}")),
    (' ("forbidden under sc"', ' ("allowed under rdma"', "mailbox-seen", ("r = d\n}", f"r = d\n}}\n{LETTER % 1}")),
]
"""What stands in the judge and instead, so that it accepts an answer to an exercise: what stands there and instead."""


@pytest.mark.ci
@pytest.mark.parametrize(("rule", "weaker", "name", "changed"), MUTANTS)
def test_a_judge_that_accepts_a_wrong_answer_is_noticed(
    rule: str, weaker: str, name: str, changed: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = inspect.getsource(real_judge)
    assert source.count(rule) == 1
    mutant = ModuleType("mutated_judge")
    monkeypatch.setitem(sys.modules, mutant.__name__, mutant)
    exec(compile(source.replace(rule, weaker), mutant.__name__, "exec"), vars(mutant))
    exercise = exercise_named(name)
    answer = exercise.program.replace(*changed, 1)
    assert judged(exercise, answer).solved is False
    assert mutant.judge(exercise, answer, FILE, 60).solved is True


def test_another_layout_and_comments_do_not_matter() -> None:
    exercise = exercise_named("flags-on-one-machine")
    text = exercise.solution.replace("\n  ", " ;\n      ").replace("{ ;", "{ // by me\n /* indeed */")
    assert text != exercise.solution
    assert judged(exercise, text).solved


def test_what_is_no_answer_is_an_error() -> None:
    exercise = exercise_named("mailbox-mended")
    with pytest.raises(ProgramError):
        judged(exercise, exercise.program.replace("{", "(", 1))
    with pytest.raises(UsageError, match="another language"):
        judge(exercise, "int main(void) { return 0; }\n", "answer.c")
    with pytest.raises(UsageError, match="no exercise is called 99"):
        exercise_named("99")


@pytest.mark.parametrize("limit", [1e-9])
def test_a_limit_leaves_an_answer_undecided(limit: float) -> None:
    exercise = exercise_named("sequence-lock-mended")
    assert judge(exercise, exercise.solution, FILE, limit).solved is None


def _placements(text: str) -> Iterator[tuple[int, str]]:
    """Yield a program with up to two waits added behind the first request of its first thread, with their cost."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if re.match(r"\s+(put|get) ", line))
    end = next(n for n in range(start, len(lines)) if lines[n] == "}")
    node = re.search(r"(?:put |= )(\w+)\.", "\n".join(lines[start:end]))
    assert node
    waits = {f"poll {node[1]}": Costs().poll, f"rfence {node[1]}": Costs().rfence}
    single = [(place, wait) for place in range(start, end + 1) for wait in waits]
    for many in range(3):
        for chosen in combinations_with_replacement(single, many):
            made = [*lines]
            for place, wait in sorted(chosen, key=lambda each: -each[0]):
                made.insert(place, wait)
            yield sum(waits[wait] for _, wait in chosen), "\n".join([*made, ""])


@pytest.mark.long
@pytest.mark.parametrize("name", ["mailbox-mended", "two-gets-mended", "ring", "sequence-lock-mended"])
def test_the_judge_takes_the_cheapest_of_all_placements(name: str) -> None:
    """All programs with up to two more waits: solved are those that are robust, do not hang, and cost least."""
    exercise = exercise_named(name)
    good: dict[str, int] = {}
    answers = {text: cost for cost, text in _placements(exercise.program)}
    for text, cost in answers.items():
        robust = check(text).verdict is Verdict.ROBUST
        if robust and verify(text).status is not Status.VIOLATED:
            good[text] = cost
    least = min(good.values())
    expected = {text for text, cost in good.items() if cost == least}
    found = {text for text in answers if answers[text] <= least and judged(exercise, text).solved}
    assert found == expected
    assert not any(judged(exercise, text).solved for text in sorted(good) if good[text] > least)


def test_the_command(cli: Cli) -> None:
    listed = cli("exercise")
    assert listed.returncode == 0 and all(each.name in listed.stdout for each in course())
    begun = cli("exercise", "flags-on-one-machine")
    assert begun.stdout.startswith("// Exercise 6: ") and begun.stdout.endswith(course()[5].program)
    assert cli("exercise", "6", "--hint").stdout == f"{course()[5].hint}\n"
    assert cli("exercise", "--hint").returncode == 2
    assert cli("exercise", "6", "--hint", "--solution").returncode == 2


def test_the_command_judges(cli: Cli) -> None:
    answer = cli("exercise", "6", "--solution").stdout
    for text, code, said in (
        (answer, 0, "Solved: it is not robust on that hardware"),
        (course()[5].program, 1, "Not solved: there is no hardware yet"),
        ("node", 2, "error"),
    ):
        done = cli("exercise", "6", "-", stdin=text)
        assert done.returncode == code, done.stderr
        assert said in done.stdout + done.stderr
