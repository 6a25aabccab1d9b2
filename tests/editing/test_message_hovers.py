"""What an editor is told of message programs: every word where it stands, names, and which words may come next."""

from __future__ import annotations

import pytest

from rdma_robust.editing.message_hovers import message_hover, message_offers
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_library import library
from rdma_robust.messages.language.message_words import CONTRACT_WORDS, message_grammar
from rdma_robust.messages.language.word_meanings import MEANINGS, placed_tokens
from sitegen.messages_index import MESSAGES

TEXT = """const N = 2
port ctl
// Twice what is given.
fun twice(x)
contract collective {
  requires 0 <= x;
  ensures \\result == 2 * x;
  quiet to \\all until \\all;
}
{ return 2 * x }
daemon proc Server {
  reg r, any
  recv r from any any on ctl tag any
  any = twice(r)
  r = len(new(1))
  barrier()
}
proc Worker[i in 1..N] { send ready i to Server on ctl tag 3 }
expect holds, no deadlock under any,
  zero
"""


def told(text: str, what: str, at: int = 0) -> str:
    found = message_hover(text, text.index(what) + at)
    return "" if found is None else found.text


HOVERS = {
    ("daemon", 0): "`daemon proc P { .. }`: A process that may wait forever at the end.",
    ("ready", 2): "`send ready v to P`: A fault unless a posted receive can take the message at once (`MPI_Rsend`).",
    ("until", 0): "`until T`: Up to when nothing is sent: until all of these processes have entered.",
    ("\\result", 3): "`\\result`: What the function returns; in `ensures`.",
    ("to \\all", 0): "`quiet to S`: The processes to which nothing is sent.",
    ("to Server", 0): "`to P`: To whom the message goes: the number of a process, or its name.",
    ("from any", 6): "`from any s, tag any t, wait any g into i`: From anyone, or with any tag, or one of the requests; "
    "a register gets which that was.",
    (
        "under any",
        7,
    ): "`under any, verified any n`: The runtime may buffer a message or not; of a contract: for every n.",
    ("zero", 0): "`under zero`: A send completes when a posted receive has taken the message: rendezvous.",
    ("any = ", 0): "",
    ("twice(r)", 0): "`fun twice(x)`: function: Twice what is given.",
    ("barrier()", 0): "`fun barrier()`: function of the library: Goes on when all have come.",
    ("len(", 0): "`len(a)`: how many elements an array has.",
    ("Server on", 0): "`proc Server`: process",
    ("Worker", 0): "`proc Worker[i in 1..N]`: process",
    ("ctl tag", 0): "`port ctl`: port",
    ("N] {", 0): "`N = 2`: constant",
    ("3 }", 0): "",
}


@pytest.mark.parametrize(("what", "at"), HOVERS)
def test_hover(what: str, at: int) -> None:
    load_messages(TEXT, "")
    assert told(TEXT, what, at) == HOVERS[what, at]


def test_hover_works_while_the_program_is_wrong() -> None:
    assert told("proc P { sned 1 to Q\n § recv", "recv").startswith("`recv r from P")
    assert (
        told("fun f() contract collective { requires", "requires")
        == "`requires E;`: Callers see to it that E is true as all enter."
    )


def test_every_word_has_a_meaning_where_it_is_one() -> None:
    """`await` is refused, with a hint."""
    terminals = {*message_grammar().keywords, *(t for t in message_grammar().literals if t.startswith("SL_"))}
    assert {each.terminal for each in MEANINGS} == terminals - {"AWAIT"}
    of_contracts = {each.terminal for each in MEANINGS if each.place != "program"}
    assert of_contracts >= CONTRACT_WORDS - {"CONTRACT"}
    assert len({(each.place, each.terminal) for each in MEANINGS}) == len(MEANINGS)


@pytest.mark.ci
@pytest.mark.parametrize("place", ["program", "contract", "expect"])
def test_words_of_the_suite_stand_where_the_table_says(place: str) -> None:
    """And the suite uses most of the words of each place."""
    known = {each.terminal for each in MEANINGS if each.place == place}
    beside = {each.terminal for each in MEANINGS} - known - {"IF", "PID", "NPROCS", "TRUE", "FALSE"}
    used = set()
    contracts = (MESSAGES.parent / "contracts").glob("*.mp")
    for path in (*MESSAGES.rglob("*.mp"), *contracts):
        for token, where in placed_tokens(path.read_text(encoding="utf-8")):
            if where == place:
                assert token.type not in beside, (path.name, token)
                used.add(token.type)
    assert len(known & used) > 0.7 * len(known)


def test_what_is_offered_is_what_may_stand_there() -> None:
    def offered(what: str) -> set[str]:
        return {each.text for each in message_offers(TEXT, TEXT.index(what))}

    assert {"send", "mprobe", "Server", "twice", "barrier", "ctl", "N"} <= offered("recv r")
    assert not {"requires", "holds"} & offered("recv r")
    assert {"ensures", "\\forall", "waitsfor"} <= offered("ensures") and "send" not in offered("ensures")
    assert {"infinite", "eager", "race"} <= offered("zero") and not {"send", "Server"} & offered("zero")
    assert set(library()) <= offered("recv r")
