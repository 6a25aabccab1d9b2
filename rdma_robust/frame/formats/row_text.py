"""What the tables of all commands about many programs say alike: what stands beneath a row, and the last line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdma_robust.frame.formats.columns import sentence


def beneath(lines: Iterable[str]) -> list[str]:
    """Return what explains a row, indented, between empty lines; nothing if there is nothing to say."""
    body = [f"  {line}".rstrip() for line in lines]
    return ["", *body, ""] if body else []


def expected_cell(as_expected: bool | None, *, claimed: bool) -> str:
    """Return whether an answer is the expected one: `yes`, `NO`, `?` (open), or `-` if nothing is claimed of it."""
    return {True: "yes", False: "NO", None: "?"}[as_expected] if claimed else "-"


def last_line(
    counted: str,
    numbers: Sequence[tuple[str, int]],
    errors: int,
    *,
    done: int,
    requested: int,
    interrupted: bool,
    time_s: float,
    expected: tuple[int, int] | None = None,
    note: str = "",
    further: str = "",
    width: int | None = None,
) -> list[str]:
    """Return the totals: what was `counted`, as in `3 programs`, and the numbers of each answer that there is.

    `expected` are the answers that are as expected and those that are not, where that counts. A `note` is said of the
    numbers, `further` before the time. Of `requested` inputs so many are `done`, which is said if the run was `interrupted`.
    """
    every = [*numbers, ("error" if errors == 1 else "errors", errors)]
    line = f"{counted}: {', '.join(f'{number} {word}' for word, number in every if number) or 'none decided'}{note}"
    if expected is not None:
        line += f"; {expected[0]} as expected, {expected[1]} not"
    if interrupted:
        line = f"interrupted: {done} of {requested} done; {line}"
    return sentence(f"{line}{further}; {time_s:.2f} s", width)
