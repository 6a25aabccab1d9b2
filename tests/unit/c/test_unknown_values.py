"""Values that are not known in C: they may be sent; what is drawn goes every way, and what is not decides nothing."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
from tests.support.c_automata import evaluated, statements


def program(zero: str, one: str = "") -> str:
    """Return C in which process 0 does something, then process 1, behind a barrier."""
    return (
        "#include <shmem.h>\nstatic long x; int main(void) { shmem_init(); shmem_barrier_all();\n"
        f"if (shmem_my_pe() == 0) {{ {zero} }}\nif (shmem_my_pe() == 1) {{ {one} }}\nreturn 0; }}\n"
    )


def test_what_is_not_known_may_be_sent_and_decides_nothing() -> None:
    head = "#include <time.h>\nstatic long double wide[2];\n"
    body = "shmem_p(&x, time(0), 1); shmem_longdouble_put(wide, wide + 1, 1, 1);"
    found = evaluated(head + program(body, "wide[0] = wide[0] + 1;"))
    assert "put P1.x = 0 inline unsignaled" in statements(found, "main_P0")
    assert statements(found, "main_P1") == ["wide = wide_o0", "wide_o0 = 0", "wide2 = wide_o8", "wide_o8 = 0"]
    assert any("not followed" in each.message and "`time`" in each.message for each in found.remarks)
    with pytest.raises(ProgramError) as refused:
        evaluated(head + program("shmem_p(&x, time(0), 1);", "if (x == 1) shmem_p(&x, 1, 0);"))
    assert {each.code for each in refused.value.diagnostics} == {"RR819"}


def test_numbers_that_are_drawn_go_every_way() -> None:
    head = "#include <stdlib.h>\n"
    found = evaluated(head + program("shmem_p(&x, rand() % 3, 1);"))
    assert {each for each in statements(found, "main_P0") if "put" in each} == {
        f"put P1.x = {number} inline unsignaled" for number in range(3)
    }
    found = evaluated(head + program("if (rand() > 7) shmem_p(&x, 1, 1); else shmem_p(&x, 2, 1);"))
    assert {each for each in statements(found, "main_P0") if "put" in each} == {
        f"put P1.x = {number} inline unsignaled" for number in (1, 2)
    }
    assert any("both ways" in each.message and "`rand`" in each.message for each in found.remarks)


@pytest.mark.parametrize(
    ("body", "is_refused"),
    [
        ("int r = rand(); if (r > 7) shmem_p(&x, 1, 1); if (r <= 7) shmem_p(&x, 2, 1);", True),
        ("int r = rand(); shmem_p(&x, r % 2, 1); if (r % 3) shmem_p(&x, 2, 1);", True),
        ("int r[2]; r[1] = rand(); long s = 2 * r[1]; if (r[1] > 7) shmem_p(&x, 1, 1); if (s % 5) shmem_p(&x, 2, 1);", True),
        ("for (int i = 0; i < 2; i++) if (rand() > 7) shmem_p(&x, 1, 1);", False),
        ("int r = rand(), s = r % 2; if (s) shmem_p(&x, 1, 1); if (!s) shmem_p(&x, 2, 1);", False),
    ],
)
def test_what_is_drawn_decides_once(body: str, is_refused: bool) -> None:
    """A second decision by the same number would go ways that no run takes."""
    text = "#include <stdlib.h>\n" + program(body)
    if not is_refused:
        evaluated(text)
        return
    with pytest.raises(ProgramError) as refused:
        evaluated(text)
    assert {each.code for each in refused.value.diagnostics} == {"RR819"}
    assert "decided before" in refused.value.diagnostics[0].message


def test_a_number_of_two_words_is_put_and_got_in_both() -> None:
    head = "static long double wide;\n"
    found = evaluated(head + program("shmem_longdouble_p(&wide, 2, 1);", "long double v = shmem_longdouble_g(&wide, 0);"))
    puts = [f"put P1.wide_o{at} = 0 inline unsignaled" for at in (0, 8)]
    assert [each for each in statements(found, "main_P0") if "put" in each] == puts
    gets = [each for each in statements(found, "main_P1") if "P0.wide" in each]
    assert [each.partition(" = ")[2] for each in gets] == ["P0.wide_o0", "P0.wide_o8"]
