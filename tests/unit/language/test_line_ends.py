"""Lines end with LF or CRLF; what ends them elsewhere stands in no file, so that nothing is seen and not run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.hardness.pcp import read_instance
from rdma_robust.language.load import load_program, load_with_all_warnings
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.text import lines_of

STRAY = ["\r", "\r\r\n"]
PROGRAM = "node A {{ x = 0 }}\nnode B {{ y = 0 }}\nthread T on A {{\n  // send{0}  put B.y = x\n  x = 1\n}}\n"
MESSAGES = "proc P {{\n  // send{0}  halt\n  assert 0\n}}\n"
NET = "vars a\nrules a >= 1 -> a' = a - 1;\n# more{0} a >= 0 -> a' = a + 1;\ninit a = 1\ntarget a >= 2\n"
TRENCHER = "memory_size 1\nthread T\ninitial a\n# more{0} transition a b write 0 1\nend\n"


@pytest.mark.parametrize("stray", STRAY)
@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (load_program, PROGRAM, 4),
        (load_with_all_warnings, PROGRAM, 4),
        (format_source, PROGRAM, 4),
        (load_messages, MESSAGES, 2),
        (format_messages, MESSAGES, 2),
        (read_spec, NET, 3),
        (load_program, TRENCHER, 4),
        (read_instance, "1, 0\n# a{0}, b\n", 2),
    ],
)
def test_a_line_end_of_others_is_an_error_where_it_stands(
    read: Callable[[str, str], object], text: str, line: int, stray: str
) -> None:
    file = "f.trencher" if text == TRENCHER else "f"
    with pytest.raises(ProgramError) as found:
        read(text.format(stray), file)
    (said,) = found.value.diagnostics
    assert (said.code, said.span.line) == ("RR112", line)
    assert said.span.column == text.split("\n")[line - 1].index("{0}") + 1
    caret = said.render(file, text.format(stray)).split("\n")[2]
    assert caret.index("^") == len(f"  {line} | ") + said.span.column - 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lf_and_crlf_are_read_alike(end: str) -> None:
    text = PROGRAM.format("").replace("\n", end)
    program = load_program(text, "f")
    assert [step.span.line for _, _, step in program.threads[0].edges] == [5]
    assert format_source(text, "f").replace("\r", "") == format_source(PROGRAM.format(""), "f")
    with pytest.raises(ProgramError) as found:
        load_program(text.replace("x = 1", "  y = 1"), "f")
    assert (found.value.diagnostics[0].span.line, found.value.diagnostics[0].span.column) == (5, 5)
    assert lines_of(text) == lines_of(PROGRAM.format(""))


def test_lines_are_those_of_spans() -> None:
    assert lines_of("") == [""]
    assert lines_of("a\n") == ["a"]
    assert lines_of("a\fb\n\nc\x1cd") == ["a\fb", "", "c\x1cd"]
