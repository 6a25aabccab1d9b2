"""What a number in the text multiplies is refused before it is made."""

from __future__ import annotations

import tracemalloc

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program, load_with_all_warnings, written_out_tree
from rdma_robust.messages.language.load_messages import load_messages

MANY = 3_000_000_000
NODES = "node A {{ x }}\nnode B {{ z }}\n"
PROGRAMS = [
    (NODES + "thread T on A {{ put B.z = x\npoll B {0} }}", "RR414"),
    (NODES + "thread T on A {{ put B.z = x\npoll B 40000\npoll B 40000 }}", "RR215"),
    (NODES + "thread T on A {{ for i in 0..{0} {{ }} }}", "RR215"),
    ("node A {{ x[{0}] }}", "RR214"),
    ("node A[i in 0..{0}] {{ x }}", "RR214"),
    ("node A {{ x }}\nthread T[i in 0..{0}] on A {{ x = 1 }}", "RR214"),
    ("node A {{ x }}\nthread T[* in 1..{0}] on A {{ x = 1 }}", "RR214"),
]
MESSAGES = ["proc P[i in 0..{0}] {{ skip }}", "proc P {{ reg a[{0}] }}", "proc P {{ req h[{0}] }}", "reg a[{0}] = 1"]


@pytest.mark.ci
@pytest.mark.parametrize(("text", "code"), PROGRAMS)
def test_programs(text: str, code: str) -> None:
    for read in (load_program, load_with_all_warnings, written_out_tree) if code != "RR215" else (load_program,):
        assert code in refused(read, text)


@pytest.mark.parametrize("text", MESSAGES)
def test_message_programs(text: str) -> None:
    assert refused(load_messages, text)


def refused(read: object, text: str) -> set[str]:
    """Return the codes of what is wrong, found with little memory."""
    load_program("node A { x }", "f")  # what is made once
    tracemalloc.start()
    try:
        with pytest.raises(ProgramError) as found:
            read(text.format(MANY), "f")  # type: ignore[operator]
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    return {each.code for each in found.value.diagnostics}


def test_a_number_of_polls_that_fits_is_made() -> None:
    program = load_program((NODES + "thread T on A {{ put B.z = x\npoll B 1000 }}").format(), "f")
    assert len(program.threads[0].edges) == 1001
