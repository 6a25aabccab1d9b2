"""Comments that ask for warnings not to be shown."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.lints.lint import linted
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source

USED = "thread T on A { x = 1 }\noutcome A.x == 1 : allowed under sc\n"


def codes(text: str) -> list[tuple[int, str]]:
    return [(each.span.line, each.code) for each in load_program(text, "a.rdma").warnings]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("node A { x, y }\n", [(1, "RR701")]),
        ("node A { x, y } // rdma-robust: ignore RR701\n", []),
        ("node A { x, y } // rdma-robust: ignore rr701 because it is for later\n", []),
        ("node A { x, y }   //rdma-robust:ignore RR701\n", []),
        ("// rdma-robust: ignore RR701\nnode A { x, y }\n", []),
        ("// rdma-robust: ignore RR701\n\n// a comment\nnode A { x, y }\n", []),
        ("// rdma-robust: ignore RR701\nconst N = 1\nnode A { x, y }\n", [(3, "RR701")]),
        ("// rdma-robust: ignore-file RR701\nconst N = 1\nnode A { x, y }\n", []),
        ("const N = 1\nnode A { x, y }\n// rdma-robust: ignore-file RR701\n", []),
        ("domain 0..3\nnode A { x = 9, y } // rdma-robust: ignore RR701, RR704\n", []),
        ("domain 0..3\nnode A { x = 9, y } // rdma-robust: ignore RR701 RR704\n", []),
        ("domain 0..3\nnode A { x = 9, y } // rdma-robust: ignore RR704\n", [(2, "RR701")]),
        ("node A { x } // rdma-robust: ignore RR701\n", [(1, "RR791")]),
        ("node A { x } // rdma-robust: ignore RR721\n", []),
        ("// rdma-robust: ignore-file RR704\nnode A { x }\n", [(1, "RR791")]),
        ("node A { x } // rdma-robust: ignore\n", [(1, "RR792")]),
        ("node A { x } // rdma-robust: ignore all\n", [(1, "RR792")]),
        ("node A { x } // rdma-robust: ignroe RR701\n", [(1, "RR792")]),
        ("node A { x } // rdma-robust: ignore RR999\n", [(1, "RR792")]),
        ("node A { x } // rdma-robust: ignore RR201\n", [(1, "RR792")]),
        ("node A { x } // rdma-robust: ignore RR010\n", [(1, "RR792")]),
        ("node A { x } // rdma-robust: ignore RR791\n", [(1, "RR792")]),
        ("node A { x } // see rdma-robust: it is a tool\n", []),
        ("node A { x } /* rdma-robust: ignore RR701 */\n", []),
    ],
)
def test_what_is_left(text: str, left: list[tuple[int, str]]) -> None:
    assert codes(text + USED) == left
    laid_out = format_source(text + USED, "a.rdma")
    assert [code for _, code in codes(laid_out)] == [code for _, code in left]
    assert format_source(laid_out, "a.rdma") == laid_out


def test_the_places_and_words_of_what_is_wrong() -> None:
    found = load_program(f"node A {{ x }} // rdma-robust: ignore RR701, RR72\n{USED}", "a.rdma").warnings
    assert [(each.code, each.span.column, each.span.end_column) for each in found] == [("RR791", 37, 42), ("RR792", 44, 48)]
    assert found[0].message == "RR701 is ignored without need: there is none on line 1"
    assert found[1].hint == "did you mean `RR792`?"
    (wrong,) = load_program(f"node A {{ x }} // rdma-robust: ignore RR201\n{USED}", "a.rdma").warnings
    assert wrong.message == "RR201 cannot be ignored: it is an error"
    (wrong,) = load_program(f"node A {{ x }} // rdma-robust: ignor RR701\n{USED}", "a.rdma").warnings
    assert wrong.hint == "did you mean `ignore`?"


def test_errors_are_not_suppressed() -> None:
    with pytest.raises(ProgramError, match="RR201"):
        load_program("node A { x }\nthread T on A { y = 1 } // rdma-robust: ignore RR201\n", "a.rdma")


LINTED = """node A {{ v = 1 }}
node B {{ d = 0 }}
thread T on A {{
  put B.d = v
  v = 2{comment}
}}
outcome B.d == 1 : allowed under sc
"""


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("", ["RR722"]),
        (" // rdma-robust: ignore RR722", []),
        (" // rdma-robust: ignore RR721", ["RR722", "RR791"]),
        (" // rdma-robust: ignore RR727", ["RR722"]),
        (" // rdma-robust: ignore RR722, RR702", ["RR791"]),
    ],
)
def test_lints_are_ignored_too(comment: str, left: list[str]) -> None:
    text = LINTED.format(comment=comment)
    assert [each.code for each in linted(text, "a.rdma").found] == left
    assert [each.code for each in linted(format_source(text, "a.rdma"), "a.rdma").found] == left
    assert codes(text) == []
