"""The recorder of MPI in C: wrappers around calls, made from the table of MPI, for programs in C and in Fortran.

A wrapper says what a call is about, makes it by its other name (`PMPI_Send`, in Fortran `pmpi_send_`), and says what came of
it; `runtime/messages.h` has the words. Fortran has wrappers of its own, as its calls need not go through those of C; with
`use mpi_f08` others again, of the same arguments; those of MPICH that take buffers go through the calls of C.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rdma_robust.c.libraries.mpi import PARAMETERS, ROWS
from rdma_robust.messages.language.collective_kinds import COLLECTIVES

RUNTIME: Final = Path(__file__).parent / "runtime" / "messages.h"

_SEND: Final = "record_send({b}, {n}, {t}, {r}, {tag}, {c});"
_RECEIVE: Final = "record_receive({n}, {t}, {r}, {tag}, {c});"
_LOOK: Final = "record_look({r}, {tag}, {c});"
_STATUS: Final = "record_status(&own, {c});"
_BOTH: Final = f"{{r2}}, {{tag2}}, {{c}}); {{force}} WAITS {{call}} {_STATUS}"
_SEEN: Final = """if (!{ip}) record_silent = 1; else { record_say(", \\"flag\\": 1");"""
_OPEN: Final = "record_open({q}, {at}, 0, {c});"
_ONE: Final = "MPI_Request given = {q}; FOUND(1, &given, {at}, "
_MANY: Final = "FOUND({n}, {qs}, {at}, "
_SOME: Final = "int some = {ip} == MPI_UNDEFINED ? 0 : {ip}; {places} record_completed(found, some, at, owns, 1);"

_BODIES: Final[Mapping[str, str]] = {
    "Finalize": "WAITS {call}",
    "Abort": "record_in({c}); WAITS {call}",
    "Cancel": "WAITS {call}",
    "Recv": f"{_RECEIVE} {{force}} WAITS {{call}} {_STATUS}",
    "Irecv": f"{_RECEIVE} {{force}} {{call}} {_OPEN.replace('0', '1')}",
    "Recv_init": f'{_RECEIVE} {{call}} record_keep({{q}}, {{at}}, "Irecv", 1, {{c}});',
    "Probe": f"{_LOOK} WAITS {{call}} {_STATUS}",
    "Iprobe": f"{_LOOK} {{call}} {_SEEN} {_STATUS} }}",
    "Mprobe": f"{_LOOK} WAITS {{call}} record_hold({{m}}, {{c}}); {_STATUS}",
    "Improbe": f"{_LOOK} {{call}} {_SEEN} record_hold({{m}}, {{c}}); {_STATUS} }}",
    "Mrecv": "record_release({m}); WAITS {call}",
    "Imrecv": "MPI_Comm comm = record_release({m}); {call} record_open({q}, {at}, 1, comm);",
    "Sendrecv": f"record_both({{b}}, {{n}}, {{t}}, {{r}}, {{tag}}, {{n2}}, {{t2}}, {_BOTH}",
    "Sendrecv_replace": f"record_both({{b}}, {{n}}, {{t}}, {{r}}, {{tag}}, {{n}}, {{t}}, {_BOTH}",
    "Start": "{call} record_start({q}, {at}); record_silent = 1;",
    "Startall": "{call} for (int i = 0; i < {n}; i++) record_start({qs}[i], {at} + i); record_silent = 1;",
    "Request_free": "record_freed_request({q}, {at}); {call}",
    "Wait": f'{_ONE} "requests") WAITS {{call}} record_completed(found, 1, NULL, &own, 0);',
    "Waitall": f'{_MANY} "requests") WAITS {{call}} record_completed(found, {{n}}, NULL, owns, 0);',
    "Waitany": f'{_MANY} "among") WAITS {{call}} int at = {{at1}}; record_completed(found, at >= 0, &at, &own, 1);',
    "Waitsome": f'{_MANY} "among") WAITS {{call}} {_SOME}',
    "Test": f"{_ONE} NULL) {{call}} record_completed(found, {{ip}} ? 1 : 0, NULL, &own, 1);",
    "Testall": f"{_MANY} NULL) {{call}} record_completed(found, {{ip}} ? {{n}} : 0, NULL, owns, 1);",
    "Testany": f"{_MANY} NULL) {{call}} int at = {{at1}}; record_completed(found, {{ip2}} && at >= 0, &at, &own, 1);",
    "Testsome": f"{_MANY} NULL) {{call}} {_SOME}",
    "Comm_free": "record_freed({pc}); record_silent = 1; {call}",
    "Win_fence": "record_window({w}); WAITS {call}",
    "Win_free": "record_window({pw}); WAITS {call}",
    **dict.fromkeys(("Win_post", "Win_start", "Win_complete", "Win_wait", "Win_test"), "WAITS {call}"),
}
"""What wrappers do: `{call}` is the call, and before `WAITS` stands what it is about; `{force}` names the sender and the tag
of a receive from any, in a run that is tried. Arguments are named by their letters in the table of MPI, the second of a
letter with a 2; `{at}` is where a request is, and `own` the status."""
_TYPED: Final = ("bcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter_block")
"""Collective operations to which all members give as many elements of one type."""


UNRECORDED: Final = re.compile(
    r"I?neighbor_\w+|Intercomm_\w+|Comm_(?:spawn|accept|connect|join|idup|dup_with_info|create_from_group)\w*|File_\w+"
    r"|(?:Dist_g|G)raph_create\w*|I?alltoallw|P(?:send|recv)_\w+|Isendrecv\w*|Win_allocate_cptr|Comm_disconnect"
    r"|\b(?!(?:[SBR]?send|Recv)_init)\w++(?<=_init)",
    re.IGNORECASE,
)
"""The functions without a wrapper that communicate or wait."""


def _body(name: str, letters: tuple[str, ...]) -> str | None:
    """Return what the wrapper of a function does, None for one that needs none: it neither communicates nor waits."""
    if name in _BODIES or UNRECORDED.fullmatch(name):
        return _BODIES.get(name)
    mode = re.fullmatch(r"(I?)([sbr]?send)(_init)?", name, re.IGNORECASE)
    if mode is not None and mode[3]:
        return f'{_SEND} {{call}} record_keep({{q}}, {{at}}, "I{mode[2].lower()}", 0, {{c}});'
    if mode is not None:
        return f"{_SEND} {{call}} {_OPEN}" if mode[1] else f"{_SEND} WAITS {{call}}"
    if "pc" in letters and "c" in letters:
        return "record_in({c}); WAITS {call} record_created({pc});"
    if "pw" in letters and "c" in letters:
        return "record_in({c}); WAITS {call} record_new_window({pw}, {c});"
    opens = name.startswith("I") and letters[-1] == "q"
    kind = name.removeprefix("I").lower() if opens else name.lower()
    if kind not in COLLECTIVES or "c" not in letters:
        return None
    said = "record_enter({c});" + (' record_peer("root", {r}, {c});' if "r" in letters else "")
    said += ' record_elements("type", "count", {n}, {t});' if kind in _TYPED else ""
    said += " record_operation({o});" if "o" in letters else ""
    return f"{said} {{call}} {_OPEN}" if opens else f"{said} WAITS {{call}}"


WRAPPED: Final[Mapping[str, str]] = {name: body for name, letters in ROWS.items() if (body := _body(name, letters))}
"""The functions that are recorded, each with what its wrapper does."""


def recorder_source() -> str:
    """Return the recorder as one translation unit in C."""
    found = [f'#include "{RUNTIME}"', _initialising("Init"), _initialising("Init_thread")]
    for name, body in WRAPPED.items():
        low = name.lower()
        found += [_in_c(name, body), _in_fortran(name, body, f"mpi_{low}_", f"pmpi_{low}_")]
        which = "WHICH_F08 " if name.endswith(("any", "some")) else ""
        found.append(_in_fortran(name, which + body, f"mpi_{low}_f08_", f"PROFILED_F08({low})"))
    return "\n".join(found)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text)


def _named(letters: tuple[str, ...], shown: Mapping[str, str], first: str) -> dict[str, str]:
    """Return the arguments of a function by their letters, as expressions; `shown` has that of a letter, `{}` in it."""
    found: dict[str, str] = {}
    for number, letter in enumerate(letters):
        key = {"cb": "b"}.get(letter, letter)
        value = shown.get(key, "{}").replace("{}", f"{first}{number}")
        found.setdefault(key if key not in found else f"{key}2", value)
        if letter in ("q", "qs"):
            found["at"] = shown["at"].replace("{}", f"{first}{number}")
        if letter in ("ip", "lp"):
            found.setdefault("at1", shown["at1"].replace("{}", f"{first}{number}"))
            found["places"] = shown["places"].replace("{}", f"{first}{number}")
    return found


def _initialising(name: str) -> str:
    letters = ROWS[name]
    low, words = f"mpi_{name.lower()}_", ["f0", "f1", "ierr"] if name == "Init_thread" else ["ierr"]
    signature = ", ".join(f"void *{each}" for each in words)
    in_fortran = ""
    for other, profiled in ((low, f"p{low}"), (f"{low}f08_", f"PROFILED_F08({name.lower()})")):
        in_fortran += f"""void {profiled}({signature}) __attribute__((weak));
void {other}({signature})
{{
	record_deep++;
	{profiled}({", ".join(words)});
	record_deep--, record_set_up();
}}
"""
    return f"""int MPI_{name}({_parameters(letters)})
{{
	record_deep++;
	int made = PMPI_{name}({", ".join(f"a{number}" for number in range(len(letters)))});
	record_deep--, record_set_up();
	return made;
}}
{in_fortran}"""


def _parameters(letters: tuple[str, ...]) -> str:
    return ", ".join(f"{PARAMETERS[letter]} a{number}" for number, letter in enumerate(letters)) or "void"


_OF_C: Final = {
    **dict.fromkeys(("q", "m", "pc", "pw", "ip"), "(*{})"),
    "at": "{}", "at1": "*{}", "places": "const int *at = {};",
}  # fmt: skip


def _in_c(name: str, body: str) -> str:
    letters = ROWS[name]
    plain = [f"a{number}" for number in range(len(letters))]
    own = {"s": ("&own", "OWN({})", "TELL({})"), "ss": ("owns", "OWNS(a0)", "TELL_ALL({}, a0)")}
    passed, begin, end = _statuses(letters, plain, own)
    named = _named(letters, _OF_C, "a")
    force = f"record_force(&{{source}}, &{{tag}}, {named.get('c')});".format(**_received(named))
    done = _filled(body, {**named, "force": force, "call": f"made = PMPI_{name}({passed});"})
    return f"""int MPI_{name}({_parameters(letters)})
{{
	int made;
	if (!record_begins("{name}", __builtin_return_address(0))) {{
		made = PMPI_{name}({", ".join(plain)});
		record_deep--;
		return made;
	}}
	{begin}{done}
	record_ends();
	{end}record_deep--;
	return made;
}}
"""


def _received(named: Mapping[str, str]) -> dict[str, str]:
    """Return source and tag of the receive that a function is, or has as its second half."""
    return {"source": named.get("r2", named.get("r", "")), "tag": named.get("tag2", named.get("tag", ""))}


def _statuses(letters: tuple[str, ...], plain: list[str], own: Mapping[str, tuple[str, str, str]]) -> tuple[str, str, str]:
    """Return the arguments of a call that has our statuses in the place of those given, and what stands around it."""
    passed, begin, end = list(plain), "", ""
    for number, letter in enumerate(letters):
        if letter in own:
            passed[number], before, behind = (each.replace("{}", plain[number]) for each in own[letter])
            begin, end = f"{before} ", f"{behind} "
    return ", ".join(passed), begin, end


_NUMBER: Final = "(*(MPI_Fint *){})"
_OF_FORTRAN: Final = {
    **dict.fromkeys(("n", "r", "tag", "ip"), _NUMBER),
    **{letter: f"PMPI_{kind}_f2c{_NUMBER}" for letter, kind in {
        "t": "Type", "c": "Comm", "o": "Op", "w": "Win", "q": "Request", "m": "Message", "pc": "Comm", "pw": "Win",
    }.items()},
    "qs": "handles", "at": "(MPI_Fint *){}", "at1": f"{_NUMBER} - 1", "places": "int *at = record_places({}, some);",
}  # fmt: skip


def _in_fortran(name: str, body: str, called: str, profiled: str) -> str:
    letters = ROWS[name]
    plain = [f"f{number}" for number in range(len(letters))]
    count = "(size_t)(*(MPI_Fint *)f0)"
    own = {"s": ("words", "WORDS(1)", "TELL_WORDS({}, 1, STATUS)")}
    own["ss"] = ("words", f"WORDS({count})", f"TELL_WORDS({{}}, {count}, STATUSES)")
    passed, begin, end = _statuses(letters, [*plain, "ierr"], own)
    took = "".join(
        {"s": "TAKE_WORDS(1) MPI_Status own = owns[0];", "ss": f"TAKE_WORDS({count})"}.get(each, "") for each in letters
    )
    if "qs" in letters:
        begin += f"MPI_Request *handles = record_handles(f{letters.index('qs')}, {count}); "
        end += "free(handles); "
    parameters = ", ".join([*(f"void *{each}" for each in plain), "void *ierr"])
    named = _named(letters, _OF_FORTRAN, "f")
    received = _received(named)
    force = f"int forced[] = {{{', '.join(received.values())}}}; record_force(forced, forced + 1, {named.get('c')}); "
    arguments = (each.removeprefix(_NUMBER.partition("{}")[0]).rstrip(")") for each in received.values())
    force += " ".join(f"{each} = forced + {at};" for at, each in enumerate(arguments))
    done = _filled(body, {**named, "force": force, "call": f"{profiled}({passed}); {took}"})
    return f"""void {profiled}({parameters}) __attribute__((weak));
void {called}({parameters})
{{
	if (!record_begins("{name}", __builtin_return_address(0))) {{
		{profiled}({", ".join([*plain, "ierr"])});
		record_deep--;
		return;
	}}
	{begin}{done}
	record_ends();
	{end}record_deep--;
}}
"""
