"""The units of a C program: the functions, globals and annotations of all its files, read when they are asked for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rdma_robust.c.code import Call, CType, Fresh, Function, FunctionAddress, Leaf, SourcePlace, Variable
from rdma_robust.c.front.c_options import COptions, with_commands
from rdma_robust.c.front.cursors import c_type, children, cursor_kind, cursor_place, plain_name
from rdma_robust.c.front.expression_code import EFFECTS, VALUES
from rdma_robust.c.front.function_reader import FunctionReader, Rules
from rdma_robust.c.front.initialisers import initialise
from rdma_robust.c.front.layouts import leaves_of
from rdma_robust.c.front.libclang import ClangType, Cursor, initial_expression
from rdma_robust.c.front.objects import PLACES
from rdma_robust.c.front.parsing import errors_of, is_of_system, parse_c, place_span
from rdma_robust.c.front.statement_code import STATEMENTS
from rdma_robust.c.front.written_text import use_texts
from rdma_robust.c.libraries import mpi, openshmem
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic, ProgramError, UsageError

RULES: Final = Rules(STATEMENTS, VALUES, PLACES, EFFECTS)
_LIBRARIES: Final = {**dict.fromkeys(openshmem.FUNCTIONS, "OpenSHMEM"), **dict.fromkeys(mpi.DECLARATIONS, "MPI")}
"""The library of each function that our headers declare."""
_NOTHING: Final = CType("void", 0, False, "void")
_RECORDS: Final = ("ibv_", "rdma_", "mlx5dv_")
"""How records begin whose fields evaluation asks for by their names, whether or not the program has a variable of them."""


@dataclass(slots=True)
class GlobalObject:
    """A global with the declaration that has its initial value, or else one; `initial` may also be of a compound literal."""

    variable: Variable
    declared: Cursor
    initial: Cursor | None
    is_defined: bool


@dataclass(slots=True)
class CUnit:
    """One file with all that it includes, and the functions of which it has the body."""

    file: str
    parsed: Any
    bodies: dict[str, Cursor] = field(default_factory=dict)


class CUnits:
    """All files of a program that are read together; see `rdma_robust.c.evaluate` for what is asked of them."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.units: list[CUnit] = []
        self.expected: list[tuple[str, SourcePlace]] = []
        self.hardware: dict[str, SourcePlace] = {}
        self._functions: dict[str, tuple[CUnit, Cursor]] = {}
        self._compiled: dict[str, Function] = {}
        self._globals: dict[str, GlobalObject] = {}
        self._types: dict[str, ClangType] = {}
        self._leaves: dict[str, tuple[Leaf, ...]] = {}
        self._declared: dict[str, SourcePlace] = {}
        self._annotations: dict[str, list[str]] = {}
        self._instead: dict[str, str] = {}
        self._any: set[tuple[str, str]] = set()
        self._twice: set[str] = set()
        self.processes_asked: int | None = None
        self.processes_given = 2
        self.arguments: tuple[str, ...] = ()
        self.libraries: set[str] = set()

    # What evaluation asks.

    def function(self, name: str) -> Function | None:
        """Return the function of this name, or None if no unit has its body."""
        if name not in self._functions:
            return None
        if name not in self._compiled:
            unit, cursor = self._functions[name]
            reader = FunctionReader(UnitScope(self, unit), name, RULES)
            body = [each for each in children(cursor) if cursor_kind(each) == "COMPOUND_STMT"]
            parameters = tuple(reader.local(each) for each in cursor.get_arguments())
            self.note_type(cursor.result_type)
            reader.statement(body[-1])
            self._compiled[name] = reader.function(parameters, c_type(cursor.result_type), cursor)
        return self._compiled[name]

    def initialiser(self, variable: Variable) -> Function:
        """Return code without parameters that stores the initial value of a global; what it does not store is zero."""
        name = f"={variable.unique}"
        if name not in self._compiled:
            found = self._globals[variable.unique]
            reader = FunctionReader(UnitScope(self, self._unit_of(found.declared)), variable.unique, RULES, outside=True)
            if not found.is_defined:
                reader.emit(Fresh(found.variable), found.declared)
            elif found.initial is not None:
                initialise(reader, found.variable, found.declared.type, found.initial, found.declared)
            self._compiled[name] = reader.function((), _NOTHING, found.declared)
        return self._compiled[name]

    def globals(self) -> tuple[Variable, ...]:
        """Return the globals of all units, static locals of all functions that a process may call among them."""
        self._read_reachable()
        return tuple(each.variable for each in self._globals.values())

    def leaves(self, type_name: str) -> tuple[Leaf, ...]:
        """Return the scalars in an object of a type, () if there is no such type or it has too many."""
        if type_name not in self._leaves:
            found = self._types.get(type_name)
            self._leaves[type_name] = () if found is None else leaves_of(found)
        return self._leaves[type_name]

    def annotations(self, function: str) -> tuple[str, ...]:
        """Return what rdma_robust.h says of a function: `rr_process:A`, `rr_instead:g`, `rr_setup`."""
        return tuple(self._annotations.get(function, ()))

    def instead(self, name: str) -> str | None:
        """Return the function that stands for calls of `name` (RR_INSTEAD), if there is one."""
        return self._instead.get(name)

    def declared(self, name: str) -> SourcePlace | None:
        """Return where a function or global is declared."""
        return self._declared.get(name)

    def processes(self) -> tuple[tuple[str, str], ...]:
        """Return each process with the function that it runs (RR_PROCESS), in the order of the text.

        Without any, a program of OpenSHMEM or MPI is as many processes as are asked for, which run `main`.
        """
        said = tuple(
            (note.partition(":")[2], function)
            for function, notes in self._annotations.items()
            for note in notes
            if note.startswith("rr_process:")
        )
        if said or not self.libraries or "main" not in self._functions:
            return said
        return tuple((f"P{number}", "main") for number in range(self.processes_asked or self.processes_given))

    def bodies(self) -> tuple[Cursor, ...]:
        """Return the functions of all units of which there is the body."""
        return tuple(cursor for _, cursor in self._functions.values())

    def any_locals(self) -> frozenset[tuple[str, str]]:
        """Return the locals that may have any value (RR_ANY): function, and name."""
        return frozenset(self._any)

    def files(self) -> tuple[str, ...]:
        """Return the files that were read, without headers of the system and ours."""
        found = dict.fromkeys(unit.file for unit in self.units)
        for unit in self.units:
            found.update(dict.fromkeys(str(each.include.name) for each in unit.parsed.get_includes()))
        return tuple(each for each in found if not is_of_system(each))

    def _read_reachable(self) -> None:
        """Read the functions that may be called: from processes, else `main`, and what stands for others."""
        begun = [name for name, notes in self._annotations.items() if set(notes) - {"rr_setup"}]
        todo: list[Function] = [made for name in begun or ["main"] if (made := self.function(name)) is not None]
        todo += [self.initialiser(each.variable) for each in list(self._globals.values())]
        seen: set[str] = set()
        while todo:
            for each in todo.pop().code:
                name = each.callee if isinstance(each, Call) else each.name if isinstance(each, FunctionAddress) else ""
                if isinstance(name, str) and name and name not in seen:
                    seen.add(name)
                    todo += [made for made in [self.function(name)] if made is not None]

    # How they are read.

    def add(self, file: str, texts: Mapping[str, str], arguments: tuple[str, ...]) -> list[Diagnostic]:
        """Parse one more file; return its errors. `texts` are those of files that are not what is saved."""
        unit = CUnit(file, parse_c(file, texts, arguments))
        self.units.append(unit)
        return errors_of(unit.parsed)

    def collect(self) -> None:
        """Find the functions, globals and annotations of all units, which have been added."""
        self._twice = _names_twice(self.units)
        for unit in self.units:
            scope = UnitScope(self, unit)
            for each in children(unit.parsed.cursor):
                if cursor_kind(each) == "FUNCTION_DECL":
                    if each.spelling in _LIBRARIES and not each.is_definition():
                        self.libraries.add(_LIBRARIES[each.spelling])
                    else:
                        self._note_function(unit, scope, each)
                elif cursor_kind(each) == "VAR_DECL" and not self.note(each):
                    scope.global_variable(each)
                elif cursor_kind(each) == "STRUCT_DECL" and str(each.spelling).startswith(_RECORDS):
                    self.note_type(each.type)
        for name in self._functions:
            for note in self._annotations.get(name, ()):
                if note.startswith("rr_instead:"):
                    self._instead.setdefault(note.partition(":")[2], name)

    def _note_function(self, unit: CUnit, scope: UnitScope, each: Cursor) -> None:
        name = scope.function_name(each)
        notes = [str(one.spelling) for one in children(each) if cursor_kind(one) == "ANNOTATE_ATTR"]
        known = self._annotations.setdefault(name, [])
        known += [note for note in notes if note.startswith("rr_") and note not in known]
        self._declared.setdefault(name, cursor_place(each))
        if each.is_definition() and name not in self._functions:
            self._functions[name] = (unit, each)
            self._declared[name] = cursor_place(each)

    def note(self, each: Cursor) -> bool:
        """Take in an annotation that is a declaration; return whether it is one."""
        notes = [str(one.spelling) for one in children(each) if cursor_kind(one) == "ANNOTATE_ATTR"]
        for note in notes:
            said, *values = note.split(":")
            if said == "rr_any":
                self._any.add((values[0], values[1]))
            elif said == "rr_processes":
                self.processes_asked = int(values[0], 0)
            elif said == "rr_expect":
                self.expected.append((note.partition(":")[2], cursor_place(each)))
            elif said == "rr_hardware":
                self.hardware.setdefault(note.partition(":")[2], cursor_place(each))
        return any(note.startswith("rr_") for note in notes)

    def note_type(self, found: ClangType) -> None:
        """Remember a type, and what it points to, by its name."""
        canonical = found.get_canonical()
        while canonical.kind.name == "POINTER":
            canonical = canonical.get_pointee().get_canonical()
        if canonical.kind.name in ("RECORD", "CONSTANTARRAY"):
            self._types.setdefault(plain_name(canonical), canonical)

    def own_global(self, unique: str, declared: Cursor, initial: Cursor | None, *, defined: bool) -> Variable:
        """Return the global of a unique name, which is added or learns of its initial value."""
        known = self._globals.get(unique)
        if known is None:
            self.note_type(declared.type)
            name = str(declared.spelling) or "literal"
            known = GlobalObject(Variable(name, unique, c_type(declared.type), True), declared, initial, defined)
            self._globals[unique] = known
            self._declared.setdefault(unique, cursor_place(declared))
        elif (initial is not None and known.initial is None) or (defined and not known.is_defined):
            kind = c_type(declared.type)
            known.variable = known.variable if kind.size <= known.variable.type.size else _typed(known.variable, kind)
            known.declared, known.initial, known.is_defined = declared, initial, True
        return known.variable

    def _unit_of(self, declared: Cursor) -> CUnit:
        return next(unit for unit in self.units if unit.parsed is declared.translation_unit)

    def unique(self, unit: CUnit, name: str, *, internal: bool) -> str:
        """Return the name of a function or global among all units."""
        return f"{name}@{Path(unit.file).stem}" if internal and name in self._twice else name


class UnitScope:
    """The names of one unit as functions of it see them."""

    def __init__(self, units: CUnits, unit: CUnit) -> None:
        self.units, self.unit = units, unit
        self.note_type, self.note = units.note_type, units.note

    def global_variable(self, declared: Cursor) -> Variable:
        """Return the global that is declared so."""
        name = self.units.unique(self.unit, str(declared.spelling), internal=_is_internal(declared))
        initial = initial_expression(declared)
        defined = initial is not None or declared.storage_class.name != "EXTERN"
        return self.units.own_global(name, declared, initial, defined=defined)

    def static_local(self, function: str, declared: Cursor) -> Variable:
        """Return the static local of a function as a global."""
        place = cursor_place(declared)
        unique = f"{function}.{declared.spelling}:{place.line}:{place.column}"
        return self.units.own_global(unique, declared, initial_expression(declared), defined=True)

    def file_literal(self, owner: str, literal: Cursor) -> Variable:
        """Return the object of a compound literal outside of functions as a global."""
        place = cursor_place(literal)
        return self.units.own_global(f"{owner}.literal:{place.line}:{place.column}", literal, None, defined=True)

    def function_name(self, declared: Cursor) -> str:
        """Return the name of a function. One of a system's header, as `ibv_post_send`, is one in all units."""
        internal = _is_internal(declared) and not declared.location.is_in_system_header
        return self.units.unique(self.unit, str(declared.spelling), internal=internal)


def _typed(variable: Variable, kind: CType) -> Variable:
    return Variable(variable.name, variable.unique, kind, True)


def _is_internal(declared: Cursor) -> bool:
    return str(declared.linkage.name) == "INTERNAL"


def _names_twice(units: list[CUnit]) -> set[str]:
    """Return the names of one unit alone that another unit has too."""
    found: Counter[str] = Counter()
    for unit in units:
        tops = [each for each in children(unit.parsed.cursor) if cursor_kind(each) in ("FUNCTION_DECL", "VAR_DECL")]
        found.update({str(each.spelling) for each in tops if each.is_definition() and _is_internal(each)})
    return {name for name, count in found.items() if count > 1}


def read_units(path: str, options: COptions, text: str | None = None, changed: Mapping[str, str] | None = None) -> CUnits:
    """Return the units of a program: `path`, as `text` if that is not what is saved, and the further files of `options`.
    `changed` are the texts of other files, by their names, that are not what is saved.

    Raises ProgramError with all errors of all files (RR810), and of what rdma_robust.h says (RR818), and UsageError.
    """
    units, errors = parsed_units(path, options, text, changed)
    if not errors:
        units.collect()
        errors += _wrong_processes(units)
    if errors:
        raise ProgramError(path, units.text, tuple(dict.fromkeys(errors)))
    return units


def parsed_units(
    path: str, options: COptions, text: str | None = None, changed: Mapping[str, str] | None = None
) -> tuple[CUnits, list[Diagnostic]]:
    """Return the units as :func:`read_units` does, parsed and no more, with the errors of libclang. Raises UsageError."""
    options, commands = with_commands(options, path)
    source = Path(path).read_text(encoding="utf-8", errors="replace") if text is None else text
    texts = {**(changed or {}), path: source}
    use_texts(texts)
    units = CUnits(path, source)
    units.processes_given, units.arguments = options.processes or 2, options.program_arguments
    errors = []
    for file in (path, *options.more_files):
        if file not in texts and not os.path.isfile(file):
            raise UsageError(f"there is no file {quote(file)}, which `--with` or compile_commands.json names")
        own = commands.get(file, commands.get(str(Path(file).resolve()), ()))
        errors += units.add(file, texts, (*own, *options.arguments))
    return units, errors


def _wrong_processes(units: CUnits) -> Iterator[Diagnostic]:
    seen: dict[str, str] = {}
    for process, function in units.processes():
        place = units.declared(function)
        if place is not None and process in seen:
            said = f"process {process} is to run `{seen[process]}` and `{function}`"
            yield Diagnostic("error", "RR818", said, place_span(place), hint="give each process one function")
        seen.setdefault(process, function)
