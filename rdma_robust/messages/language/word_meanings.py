"""The words of `.mp` and what they mean, those of contracts and of `expect` lines too: for editors, and for a page of them.

One word can mean several things: each row says where it stands. Source: docs/messages-language.md ("Messages",
"Functions", "Expectations"); docs/contracts-language.md ("Clauses", "Expressions").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from lark import Token

from rdma_robust.messages.language.message_words import message_grammar, message_tokens

Place = Literal["program", "contract", "expect"]


@dataclass(frozen=True, slots=True)
class WordMeaning:
    """A word, by its terminal, how it is written in one place, and what it says there."""

    terminal: str
    place: Place
    form: str
    says: str

    @property
    def word(self) -> str:
        return message_grammar().literals[self.terminal]


_PROGRAM: Final = {
    "PROGRAM": ("program NAME", "The name of the program; without it, that of its file."),
    "CONST": ("const N = 2, M = N + 1", "Names for integers."),
    "PORT": ("port ctl, data", "Every process has one endpoint for each port, besides the nameless one."),
    "FUN": ("fun f(a, b) { .. }", "A function: parameters are passed by value, and a call has a result."),
    "PROC": ("proc P { .. }, proc P[i in 0..N - 1] { .. }", "A process, or one for each number of a range."),
    "DAEMON": ("daemon proc P { .. }", "A process that may wait forever at the end."),
    "EXPECT": ("expect holds, no deadlock under zero", "What is expected, compared by `messages check --expect`."),
    "REG": ("reg r, s = 5, a[n]", "Registers and arrays, 0 unless given; outside of processes every process has its own."),
    "REQ": ("req h, g[4]", "Requests, inactive from here on: each holds what is issued and not yet waited for."),
    "SEND": (
        "send v to P on ctl tag 3",
        "A message with a value, to a process, on a port, with a tag. Goes on when the buffers allow it (`MPI_Send`).",
    ),
    "ISEND": ("h = isend v to P", "Issues a send, and goes on; `wait h` waits until it is complete (`MPI_Isend`)."),
    "SYNC": (
        "send sync v to P",
        "Completes only when a receive has taken it, whatever the buffers are (`MPI_Ssend`).",
    ),
    "BUFFERED": ("send buffered v to P", "Completes at once, whatever the buffers are (`MPI_Bsend`)."),
    "READY": ("send ready v to P", "A fault unless a posted receive can take the message at once (`MPI_Rsend`)."),
    "RECV": (
        "recv r from P on ctl tag 3",
        "Waits for a message and stores it: from one process or any, on a port, with one tag or any (`MPI_Recv`).",
    ),
    "IRECV": ("h = irecv r from P", "Posts a receive, and goes on; `wait h` stores the message (`MPI_Irecv`)."),
    "WAIT": ("wait h, g", "Waits for requests, one after the other, or for all of an array of them (`MPI_Wait`)."),
    "TEST": (
        "test h into f",
        "Does not wait: `f` is 1 if `h` is complete, and then it is as after `wait h`; or 0, also where that is seen late "
        "only (`MPI_Test`).",
    ),
    "ALL": ("test all g into f", "All of the requests together (`MPI_Testall`)."),
    "SOME": (
        "wait some g into n, a",
        "Waits until some are complete, and completes at least one: `n` are how many, `a` has which (`MPI_Waitsome`).",
    ),
    "COLLECTIVE": (
        "collective bcast on g root 0 give v get r",
        "Enters a collective operation of a group, and leaves when those have entered that it waits for (`MPI_Bcast`).",
    ),
    "ICOLLECTIVE": ("h = icollective barrier", "Enters one, and goes on; `wait h` waits as that does (`MPI_Ibarrier`)."),
    "GROUP": ("group g = {0, 2}", "Processes that call collective operations together, in this order."),
    "ROOT": ("collective reduce root 0", "The process of the group that has what the others get, or gets what they give."),
    "OP": (
        "collective reduce root 0 op sum",
        "What is computed, `sum`, `prod`, `max` or `min`, or a number for another one.",
    ),
    "SIG": ("collective barrier sig 3", "The type of what is given, a number: all that say one have to say the same."),
    "GIVE": ("collective gather root 0 give v", "What the process gives."),
    "GET": ("collective scan op sum give v get r", "The register that gets the result."),
    "ABORT": ("abort 1", "Ends the program with an error: a violation (`MPI_Abort`)."),
    "PROBE": (
        "probe from any s tag any t",
        "Waits until there is a message that such a receive would take, and leaves it where it is (`MPI_Probe`).",
    ),
    "IPROBE": (
        "iprobe from any s tag any t into f",
        "Does not wait: `f` is 1, and `s` and `t` are those of a message; or `f` is 0, also where there is one that is on "
        "its way (`MPI_Iprobe`).",
    ),
    "MPROBE": ("mprobe m from any s tag any t", "As `probe`, and takes the message off: the request `m` holds it."),
    "IMPROBE": (
        "improbe m from any s tag any t into f",
        "As `iprobe`, and where `f` is 1 `m` holds the message.",
    ),
    "MRECV": ("mrecv v of m", "Receives the message that the request `m` holds, which holds none from then on."),
    "IMRECV": ("h = imrecv v of m", "Receives the message that `m` holds, without waiting: `wait h` stores it."),
    "TO": ("to P", "To whom the message goes: the number of a process, or its name."),
    "FROM": (
        "from P, from any s",
        "From whom; without it from anyone. The register behind `any` gets who that was.",
    ),
    "ON": ("on ctl", "On which port; without it on the nameless one."),
    "TAG": ("tag 3, tag any t", "With which tag: a message without has 0, a receive without takes any."),
    "ANY": (
        "from any s, tag any t, wait any g into i",
        "From anyone, or with any tag, or one of the requests; a register gets which that was.",
    ),
    "INTO": ("into f", "The register that gets whether there was a message, or what has completed."),
    "OF": ("of m, of type 3", "The request that holds the message; or before the type of it."),
    "TYPE": ("send v to P of type 3", "The type, a number: a receive that takes a message of another one is a violation."),
    "SIZE": ("send v to P size 4", "How long the message is: longer than the room of its receive is a violation."),
    "ROOM": ("recv r from P room 4", "How long the message may be."),
    "ASSUME": ("assume c", "Sets aside what follows where the condition is false: that is neither an end nor a deadlock."),
    "ASSERT": ("assert c", "A violation where the condition is false; the process goes on."),
    "HALT": ("halt", "Ends the process."),
    "RETURN": ("return e", "Goes on behind the call, with a result; outside of functions it ends the process."),
    "SKIP": ("skip", "Does nothing."),
    "IF": ("if c { .. } else if d { .. } else { .. }", "Branches in order."),
    "ELSE": ("else { .. }", "What is done where no condition before was true."),
    "WHILE": ("while c { .. }", "As long as the condition is true."),
    "LOOP": ("loop { .. }", "Any number of times, also none."),
    "CHOOSE": ("choose { .. } or { .. }", "One of the branches, any of them."),
    "OR": ("or { .. }", "Another branch of a `choose`."),
    "FOR": ("for i in lo..hi { .. }", "Once for each number, both ends included; they are evaluated once."),
    "IN": ("i in lo..hi", "The numbers of a range, both ends included."),
    "PID": ("PID", "The number of the process that evaluates it, counted from 0."),
    "NPROCS": ("NPROCS", "How many processes there are."),
    "CONTRACT": (
        "contract collective { .. }",
        "What a call of the function does, or each round of the loop, for `contracts check`; `messages check` ignores it.",
    ),
}

_CONTRACT: Final = {
    "COLLECTIVE": ("contract collective { .. }", "A contract of all processes together, which all call the function."),
    "LOCAL": ("contract local { .. }", "A contract of one process, which sends and receives nothing in it."),
    "LOOP": ("contract loop NAME { .. }", "A contract of a loop that all processes go through together, and its name."),
    "REQUIRES": ("requires E;", "Callers see to it that E is true as all enter."),
    "ENSURES": ("ensures E;", "E is true as all have left."),
    "ASSIGNS": ("assigns u, v[0..3];", "Only this may change, of the registers declared outside."),
    "WAITSFOR": ("waitsfor S;", "A process does not leave before all of S have entered."),
    "QUIET": (
        "quiet to S until T;, quiet from S;",
        "A process sends nothing to any of S before all of T have entered; or nobody of S sends it anything too early.",
    ),
    "UNTIL": ("until T", "Up to when nothing is sent: until all of these processes have entered."),
    "TO": ("quiet to S", "The processes to which nothing is sent."),
    "FROM": ("quiet from S", "The processes of which nothing comes too early."),
    "ON": ("on PORT", "The port that the clause is about; without it, every one."),
    "TAG": ("tag E", "The tag that the clause is about; without it, every one."),
    "BOUNDS": ("bounds x len 0..2 in 0..3;", "The inputs that are looked at; no requirement."),
    "LEN": ("len lo..hi", "How many elements the array has."),
    "IN": ("in lo..hi", "The numbers of a range, both ends included."),
    "BEHAVIOR": ("behavior NAME:", "What follows, up to the next one, is for processes for which its `assumes` is true."),
    "ASSUMES": ("assumes E;", "For which processes the behavior is: those for which E is true as all enter."),
    "COMPLETE": (
        "complete behaviors a, b;",
        "For each process the `assumes` of one of these, or of all, is true.",
    ),
    "DISJOINT": ("disjoint behaviors a, b;", "For no process those of two of them are true."),
    "BEHAVIORS": ("complete behaviors", "The behaviors that are named, or all."),
    "INVARIANT": ("invariant E;", "E is true at each head of the loop."),
    "DECREASES": ("decreases E;", "E is not negative where a round begins, and smaller where it ends: so the loop ends."),
    "IF": ("if E", "The clause is for processes for which E is true."),
    "PID": ("PID", "The number of the process; in `\\on(p, e)` it is p."),
    "NPROCS": ("NPROCS", "How many processes there are."),
    "SL_RESULT": ("\\result", "What the function returns; in `ensures`."),
    "SL_ON": ("\\on(p, e)", "`e` at the process p: with its number as `PID`, its parameters and registers."),
    "SL_PRE": ("\\pre(e)", "`e` as all enter; in `ensures`."),
    "SL_OLD": ("\\old(e)", "`e` as all enter; in `ensures`."),
    "SL_AGREE": ("\\agree(e)", "Whether `e` is the same at all processes."),
    "SL_MPI_AGREE": ("\\mpi_agree(e)", "Whether `e` is the same at all processes."),
    "SL_LET": ("\\let x = e : f", "`f`, where x is what `e` is here."),
    "SL_FORALL": ("\\forall x in a..b : e, \\forall x; e", "Whether `e` is true for all of these numbers, or processes."),
    "SL_EXISTS": ("\\exists x in a..b : e", "Whether `e` is true for one of these numbers."),
    "SL_SUM": ("\\sum x in a..b : e", "The sum of `e` over these numbers."),
    "SL_COUNT": ("\\count x in a..b : e", "For how many of these numbers `e` is true."),
    "SL_MAX": ("\\max x in a..b : e, \\max(a, b)", "The greatest of them."),
    "SL_MIN": ("\\min x in a..b : e, \\min(a, b)", "The smallest of them."),
    "SL_ALL": ("\\all", "All processes."),
    "SL_OTHERS": ("\\others", "All processes but the one itself."),
    "SL_NAMELESS": ("on \\nameless", "The port without a name."),
    "SL_NOTHING": ("assigns \\nothing;", "Nothing declared outside changes."),
    "SL_I": ("\\i", "The position of an element in its array, or of the array in one of arrays; in `bounds`."),
    "SL_J": ("\\j", "The position of an element in an array in an array; in `bounds`."),
    "SL_MPI_COMM_RANK": (r"\mpi_comm_rank", "The same as `PID`."),
    "SL_MPI_COMM_SIZE": (r"\mpi_comm_size", "The same as `NPROCS`."),
    "SL_NO": (
        "\\no E \\after E \\until E",
        "Between two events there is none: the long form of `quiet` and `waitsfor`.",
    ),
    "SL_AFTER": ("\\after \\enter(PID)", "From which event on."),
    "SL_UNTIL": ("\\until \\enter(S)", "Up to which event."),
    "SL_ENTER": ("\\enter(S)", "That these processes enter the function."),
    "SL_EXIT": ("\\exit(S)", "That they leave it."),
    "SL_SEND": ("\\send(S, T, E)", "That a message goes from one of S to one of T, with the tag E."),
}

_EXPECT: Final = {
    "HOLDS": ("holds", "No assertion fails and nothing faults."),
    "VIOLATED": ("violated", "Some assertion fails, or something faults; of a contract, that some run does not keep it."),
    "DEADLOCK": ("deadlock", "Some execution comes to a deadlock."),
    "RACE": ("race", "Some receive can get one of several messages."),
    "NO": ("no deadlock, no race", "There is none in any execution."),
    "MATCHINGS": ("matchings 6", "In so many ways complete executions match receives with sends."),
    "UNDER": ("under zero, infinite", "Under which buffers; without it, under all of them."),
    "ZERO": ("under zero", "A send completes when a posted receive has taken the message: rendezvous."),
    "INFINITE": ("under infinite", "A send completes at once."),
    "ANY": (
        "under any, verified any n",
        "The runtime may buffer a message or not; of a contract: for every n.",
    ),
    "EAGER": ("under eager 2", "A send completes at once if it has at most so many numbers, else when it was taken."),
    "CONTRACT": ("contract NAME verified", "What is said of the contract of a function."),
    "VERIFIED": ("contract NAME verified", "The contract is kept, for every number of processes that is looked at."),
    "FROM": ("violated from 3", "From so many processes on, and verified below."),
}

_ROWS: Final[dict[Place, dict[str, tuple[str, str]]]] = {"program": _PROGRAM, "contract": _CONTRACT, "expect": _EXPECT}

MEANINGS: Final = tuple(
    WordMeaning(terminal, place, form, says) for place, rows in _ROWS.items() for terminal, (form, says) in rows.items()
)
_BEGINS: Final[dict[str, Place]] = {"CONTRACT": "contract", "EXPECT": "expect"}
_BY_PLACE: Final = {(each.place, each.terminal): each for each in MEANINGS}


def meaning_of(terminal: str, place: Place) -> WordMeaning | None:
    """Return what a word means in a place, or elsewhere if it has no meaning of its own there; None for what is no word."""
    return _BY_PLACE.get((place, terminal)) or _BY_PLACE.get(("program", terminal))


def placed_tokens(text: str) -> Iterator[tuple[Token, Place]]:
    """Yield the tokens of a text, however wrong, without line ends, and in what each stands. Words that are no keywords
    where they stand are names."""
    place: Place = "program"
    braces, previous = 0, ""
    for token in message_tokens([each for each in message_grammar().lex(text) if each.type != "COMMENT"]):
        kind = token.type
        if place == "expect" and (kind == "SEMICOLON" or (kind == "NEWLINE" and previous != "COMMA")):
            place = "program"
        if kind != "NEWLINE":
            yield token, place
            previous = kind
        if place == "contract":
            braces += {"LBRACE": 1, "RBRACE": -1}.get(kind, 0)
            place = "program" if kind == "RBRACE" and braces <= 0 else place
        elif place == "program" and kind in _BEGINS:
            place, braces = _BEGINS[kind], 0
