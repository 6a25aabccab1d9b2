"""The walk-through of `demo pcp`: an instance of Post's problem as a program, and the search for a run that solves it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rdma_robust.hardness.pcp import BOTTOM, INDEX, LETTER, NODES, SENT, THREADS, TOP, PcpInstance, pcp_program
from rdma_robust.hardness.pcp_search import PcpAnswer, PcpSolution, solve
from rdma_robust.language.flow.cfg import Program, Put, Read
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.teaching.demos.walk import Animation, Block, CodeListing, Paragraph, WalkSection, WalkTable, Walkthrough

CLASSIC = PcpInstance(("a", "ab", "bba"), ("baa", "aa", "bb"))
FILE = "pcp.rdma"


def pcp_walk(
    instance: PcpInstance, indices: int, max_states: int | None = None, timeout: float | None = None
) -> Walkthrough:
    """Return the walk-through: the theorem, the program of `instance`, and what a search of its runs finds.

    It searches sequences of up to so many `indices`, within so many visited states and seconds; None means no limit.
    """
    limits = Limits.of(timeout, max_states, depth=indices)
    program = load_decidable(pcp_program(instance), FILE)
    answer = solve(instance, program, limits)
    return Walkthrough(
        "pcp",
        "Post's problem as an RDMA program: why reachability is undecidable",
        f"rdma-robust demo pcp {_options(instance)}",
        (
            _theorem(instance),
            _construction(program),
            _search(answer),
            _result(instance, program, answer),
            _try(instance),
        ),
    )


def _options(instance: PcpInstance) -> str:
    """Return the options that ask for the instance, quoted for a shell."""
    return f"--top {shlex.quote(','.join(instance.top))} --bottom {shlex.quote(','.join(instance.bottom))}"


def _theorem(instance: PcpInstance) -> WalkSection:
    rows = [(str(k), t, b) for k, (t, b) in enumerate(zip(instance.top, instance.bottom, strict=True), 1)]
    return WalkSection(
        "The theorem",
        (
            Paragraph(
                "Theorem 3.1: no procedure decides, for every RDMA program, whether a thread can come to a given "
                "point. The proof turns an instance of Post's Correspondence Problem into a program one of whose "
                "threads can end if and only if the instance has a solution. Whether it has one is undecidable (Post "
                "1946)."
            ),
            Paragraph(
                "An instance is a list of pairs of words, each as often at hand as one likes. A solution is a sequence "
                "of one or more pairs whose top words, one after the other, spell the same word as the bottom words."
            ),
            WalkTable("This instance:", ("index", "top", "bottom"), tuple(rows)),
        ),
    )


def _construction(program: Program) -> WalkSection:
    return WalkSection(
        "The program",
        (
            Paragraph(
                "Four threads on four nodes. Guesser sends any indices, at least one, and then an end symbol to both "
                "Top and Bottom. For each index these send the letters of their word to Checker, then an end symbol. "
                "Checker takes one symbol from each in turn and goes on while the two are the same. It ends after two "
                "end symbols."
            ),
            Paragraph(
                "One side can be ahead of the other by any number of letters. They wait in the buffers of the network, "
                "which have no bound: with puts alone the program has a queue, and a finite-state program with a queue "
                "can compute anything. What makes a queue out of puts is the alternating-bit protocol of `rdma-robust "
                "demo abp`, the seven lines that begin by reading `index`, `top` or `bottom`. There is no get, no poll "
                f"and no fence. `{SENT}` only shows which index was sent last."
            ),
            CodeListing("The program of this instance:", "rdma", program.source, FILE),
        ),
    )


def _search(answer: PcpAnswer) -> WalkSection:
    search = answer.search
    return WalkSection(
        "The search",
        (
            Paragraph(
                "The machine can deliver puts in very many orders, nearly all of which end in a receiver that waits "
                "forever. So the search makes only moves that follow the protocol: a put is delivered when its "
                "receiver waits for it, and Guesser goes on only when nothing else can be done. What is left to choose "
                "are the indices. A letter is compared as soon as both sides have sent one, so a wrong guess is given "
                "up at once, and a state that has been met before is not followed again."
            ),
            Paragraph(
                "That loses no solution: the run in which Guesser sends a solution and everything else follows the "
                "protocol is among those considered. And it invents none: each move is checked to be one of the "
                "machine's, and if Checker ends, in whatever order the puts arrived, then every symbol was received as "
                "it was sent."
            ),
            Paragraph(f"Here it visits {search.states:,} states, {search.kept:,} of them choices{_how_far(answer)}."),
        ),
    )


def _how_far(answer: PcpAnswer) -> str:
    indices = "1 index" if answer.search.depth == 1 else f"{answer.search.depth} indices"
    if answer.solution is not None:
        return f", and finds a run with {indices} after it has followed all shorter sequences"
    if answer.search.cut is not None:
        return f", and has followed every sequence of up to {indices}"
    return f". After {indices} nothing is left to follow"


def _result(instance: PcpInstance, program: Program, answer: PcpAnswer) -> WalkSection:
    if answer.solution is not None:
        return WalkSection("The run", tuple(_solved(instance, program, answer.solution)))
    if answer.search.cut is None:
        return WalkSection(
            "No solution",
            (
                Paragraph(
                    "Every guess ends in a mismatch or comes back to a state that was met before: no sequence of "
                    "indices is left that could become a solution. The search considers every solution, so there is "
                    "none, and Checker cannot end in any run of the program."
                ),
                Paragraph(
                    "Such a proof exists for some instances only. There is no procedure that finds one whenever there "
                    "is no solution."
                ),
            ),
        )
    return WalkSection(
        "No answer",
        (
            Paragraph(
                f"The search was ended by its limit ({answer.search.cut}). No sequence of up to {answer.search.depth} "
                f"indices is a solution; those that have met no mismatch have led to {answer.search.alive:,} different "
                "states and could go on. A longer one may be a solution, or none."
            ),
            Paragraph(
                "This is not a weakness of the search. A procedure that always told the two cases apart would decide "
                "Post's problem. Searching further finds a solution if there is one, and may run forever if there is "
                "none."
            ),
        ),
    )


def _solved(instance: PcpInstance, program: Program, solution: PcpSolution) -> Iterator[Block]:
    sequence = ", ".join(map(str, solution.indices))
    yield Paragraph(
        f"Checker can end: the solution is {sequence}, and no shorter one exists. Both sides spell {solution.word}."
    )
    rows = [
        (side, *(words[i - 1] for i in solution.indices))
        for side, words in (("top", instance.top), ("bottom", instance.bottom))
    ]
    yield WalkTable("", ("index", *map(str, solution.indices)), tuple(rows))
    notes = tuple(_notes(instance, solution))
    yield Animation("The run, from the start to Checker's end:", program, solution.run, notes)
    yield Paragraph(
        "Checked in the final state and along the run: Checker has ended, with the end symbol from both sides; both "
        f"expanders have received {sequence} and the end symbol; Checker has read {solution.word} from Top and from "
        "Bottom, which is what the words of the instance spell. Each move was compared with all that the machine can "
        "do in its state."
    )


def _notes(instance: PcpInstance, solution: PcpSolution) -> Iterator[str]:
    guesses = iter(range(1, len(solution.indices) + 1))
    letters = {t: iter(range(1, len(solution.word) + 2)) for t in LETTER}
    side = {channel.symbol: t for t, channel in LETTER.items()}
    for move in solution.run:
        action = move.action
        match action.verb, None if action.step is None else action.step.op:
            case Verb.ISSUE, Put(target, source) if target.node == NODES[TOP] and target.name == INDEX[TOP].symbol:
                index = source.init
                last = "The end: the end symbol to both sides."
                yield (
                    last if index == instance.end else f"Guess {next(guesses)}: {index}, the pair {_pair(instance, index)}."
                )
            case Verb.ACCESS, Read(cell) if cell.name == INDEX[TOP].symbol and _takes(action):
                yield _index_note(instance, action)
            case Verb.ACCESS, Read(cell) if cell.name in side and _takes(action):
                yield _letter_note(instance, side[cell.name], action.read or 0, next(letters[side[cell.name]]))
            case _:
                yield ""


def _pair(instance: PcpInstance, index: int) -> str:
    return f"{instance.top[index - 1]} / {instance.bottom[index - 1]}"


def _takes(action: Action) -> bool:
    """Return whether a read takes a symbol into a register, rather than look whether there is none."""
    return action.step is not None and bool(action.step.assigns)


def _index_note(instance: PcpInstance, action: Action) -> str:
    name = THREADS[action.thread]
    if action.read == instance.end:
        return f"{name} receives the end symbol, and sends one."
    return f"{name} receives {action.read}, and sends {instance.words(action.thread)[(action.read or 0) - 1]}."


def _letter_note(instance: PcpInstance, side: int, value: int, number: int) -> str:
    what = "the end symbol" if value == instance.end else f"letter {number}, {instance.letters[value - 1]},"
    if side == TOP:
        return f"Checker has {what} from {THREADS[TOP]}."
    return f"The same from {THREADS[BOTTOM]}."


def _try(instance: PcpInstance) -> WalkSection:
    mine = _options(instance)
    commands = [
        f"demo pcp {mine} -o {FILE}",
        f"reach {FILE} -t 'Checker ended' --max-states 20000",
        f"explore {FILE}",
        f"demo pcp {mine} --all-moves | less",
        "demo pcp --top a,ab --bottom ab,ba",
        "demo pcp --top a,b --bottom aa,bb --indices 30",
        "demo abp",
    ]
    return WalkSection(
        "What to try next",
        (
            Paragraph("`reach` searches without knowing the protocol."),
            CodeListing("", "console", "".join(f"$ rdma-robust {each}\n" for each in commands)),
        ),
    )
