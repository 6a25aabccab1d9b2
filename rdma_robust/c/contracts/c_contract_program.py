"""The way from the text of a C file with contracts in comments to the syntax tree of a program of `.mp`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rdma_robust.c.code import SourcePlace
from rdma_robust.c.contracts.acsl_comments import AcslComment, Universe, read_comment
from rdma_robust.c.contracts.acsl_regions import RegionReader
from rdma_robust.c.contracts.body_collectives import NEEDED
from rdma_robust.c.contracts.body_messages import MPI_CALLS, receives_from_any
from rdma_robust.c.contracts.body_statements import BodyReader
from rdma_robust.c.contracts.body_values import ValueReader, is_pointer, is_whole, number_operand
from rdma_robust.c.contracts.c_functions import CFunction, c_function, is_communicator, with_outs
from rdma_robust.c.contracts.contract_clauses import ClauseReader
from rdma_robust.c.contracts.loop_clauses import LoopReader
from rdma_robust.c.contracts.message_buffers import is_single
from rdma_robust.c.front.c_comments import CComments, c_comments, comments_in
from rdma_robust.c.front.c_units import CUnits, read_units
from rdma_robust.c.front.cursors import c_type, children, cursor_kind, cursor_place
from rdma_robust.c.front.libclang import Cursor, constant_value, initial_expression
from rdma_robust.c.front.parsing import is_of_system, place_span
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.read_c import TextPlaces
from rdma_robust.diagnose import Reporter, quote
from rdma_robust.digraph import closure
from rdma_robust.errors import Span
from rdma_robust.language.suppressions import Suppressions
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.value_ranges import file_of

_MARKS: Final = ("/*@", "//@")
_CLAIM: Final = re.compile(r"expect\s+contract\b")


def read_c_contracts(text: str, file: str, report: Reporter) -> tuple[ast.ProgramTree, Suppressions, frozenset[str]]:
    """Return the program that the functions with contracts in `text` are, the comments that ignore warnings, and the
    functions that are about collective operations alone.

    `file` is its name for messages. What is wrong goes to `report`. Raises ProgramError for C that does not compile, and
    UsageError without libclang.
    """
    path, places = file_of(file), TextPlaces(text, file_of(file))
    comments = c_comments(text, path, of_messages=True)
    units = read_units(path, comments.options, text)
    reader = _FileReader(text, report, units, places)
    found = ast.ProgramTree(tuple(tree.as_part(each) for each in reader.items(comments)))
    return found, comments.ignored, reader.collectives()


@dataclass
class _FileReader:
    """Reads one file."""

    text: str
    report: Reporter
    units: CUnits
    places: TextPlaces
    cursors: dict[str, Cursor] = field(default_factory=dict)
    globals: dict[str, Cursor] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    contracts: dict[int, tuple[Span, AcslComment]] = field(default_factory=dict)
    loops: dict[int, AcslComment] = field(default_factory=dict)

    def at(self, cursor: Cursor) -> Span:
        """Return where a cursor is."""
        return self.places.of(place_span(cursor_place(cursor)))

    def start(self, cursor: Cursor) -> int:
        """Return where the first character of a cursor stands in the text."""
        begun = cursor.extent.start
        file = "" if begun.file is None else str(begun.file.name)
        return self.places.of(place_span(SourcePlace(file, begun.line, begun.column))).start

    def items(self, comments: CComments) -> Iterator[tree.Declaration]:
        """Yield the declarations of the program."""
        self._declared()
        self._comments()
        owned = {name: each for name, each in self.cursors.items() if self.start(each) in self.contracts}
        functions = with_outs({name: c_function(each) for name, each in self._reached(owned).items()})
        self._check(functions)
        used = self._used_globals(functions)
        yield from self._registers(used)
        yield from self._named_constants()
        single = is_single(each.cursor for each in functions.values())
        has_any_source = self._stores_any_source(functions)
        datatypes: dict[str, Span] = {}
        for name, function in functions.items():
            yield self._function(
                function, functions, used, single, datatypes, has_contract=name in owned, has_any_source=has_any_source
            )
        for line, span in comments.lines:
            if _CLAIM.match(line):
                yield from self._claims(line, span)

    def collectives(self) -> frozenset[str]:
        """Return the functions all of whose universes are those of collective operations."""
        found = set[str]()
        for name, cursor in self.cursors.items():
            _, comment = self.contracts.get(self.start(cursor), (None, AcslComment(())))
            kinds = {each.kind.text for each in comment.items if isinstance(each, Universe)}
            found |= {name} if kinds == {"COL"} else set()
        return frozenset(found)

    # What there is.

    def _declared(self) -> None:
        for unit in self.units.units:
            for each in children(unit.parsed.cursor):
                place = cursor_place(each)
                if cursor_kind(each) == "FUNCTION_DECL" and each.is_definition() and not is_of_system(place.file):
                    self.cursors.setdefault(str(each.spelling), each)
                elif cursor_kind(each) == "VAR_DECL" and not is_of_system(place.file):
                    initial = initial_expression(each)
                    value = constant_value(initial) if each.type.is_const_qualified() and initial is not None else None
                    if isinstance(value, int) and is_whole(each.type):
                        self.constants[each.hash] = value
                    self.globals.setdefault(str(each.spelling), each)

    def _comments(self) -> None:
        """Read the contracts: each belongs to what begins behind it."""
        heads = {self.start(each) for each in self.cursors.values()}
        loops = {
            self.start(each)
            for function in self.cursors.values()
            for each in function.walk_preorder()
            if cursor_kind(each) in ("FOR_STMT", "WHILE_STMT", "DO_STMT")
        }
        for start, end in comments_in(self.text):
            if not self.text.startswith(_MARKS, start):
                continue
            behind = self._behind(end)
            found = read_comment(self.text, start, end, self.report)
            if found is None:
                continue
            span = found.span
            if behind in loops:
                self.loops[behind] = found
            elif behind not in heads:
                hint = "write it right before the definition of a function, or before a loop"
                self.report.error("RR963", span, "this contract belongs to nothing", hint=hint)
            elif behind in self.contracts:
                self.report.error("RR963", span, "this function has a contract already", hint="write one comment")
            else:
                self.contracts[behind] = span, found

    def _behind(self, end: int) -> int:
        """Return where what is behind a comment begins, other comments left out."""
        rest = re.compile(r"(?:\s+|//[^\n]*|/\*(?!@)(?:[^*]|\*(?!/))*\*/)*").match(self.text, end)
        return end if rest is None else rest.end()

    def _reached(self, owned: Mapping[str, Cursor]) -> dict[str, Cursor]:
        """Return functions with contracts and what they call, in the order of the file."""
        seen = closure(owned, lambda name: _called(self.cursors[name]) & self.cursors.keys())
        return {name: each for name, each in self.cursors.items() if name in seen}

    def _check(self, functions: Mapping[str, CFunction]) -> None:
        """Report functions that are not read, and names that mean another thing in the library."""
        calls = {one for each in functions.values() for one in _called(each.cursor)}
        needed = {name for call in calls & NEEDED.keys() for name in NEEDED[call]}
        for name, each in functions.items():
            if name in needed:
                said = f"{quote(name)} has the name that a collective operation of MPI has in contracts"
                self.report.error("RR964", self.at(each.cursor), said, hint="give the function another name")
            more = [one for one in each.cursor.get_arguments() if is_communicator(one)][1:]
            for one in more:
                hint = "a function with a contract uses one communicator"
                self.report.error("RR964", self.at(one), "a second communicator is not read", hint=hint)
            for declared in each.cursor.get_arguments():
                if not (is_communicator(declared) or is_whole(declared.type) or is_pointer(declared.type)):
                    said = f"parameters of type {quote(str(declared.type.spelling))} are not read"
                    hint = "parameters are `int`, `long`, pointers to these, and one communicator"
                    self.report.error("RR964", self.at(declared), said, hint=hint)
            if c_type(each.cursor.result_type).kind != "void" and not is_whole(each.cursor.result_type):
                said = f"results of type {quote(str(each.cursor.result_type.spelling))} are not read"
                self.report.error("RR964", self.at(each.cursor), said, hint="functions return `int`, `long` or nothing")

    # What is made of it.

    def _used_globals(self, functions: Mapping[str, CFunction]) -> dict[str, Cursor]:
        """Return the variables outside of functions that these, or their contracts, name."""
        named = {
            each.referenced.hash
            for function in functions.values()
            for each in function.cursor.walk_preorder()
            if cursor_kind(each) == "DECL_REF_EXPR" and each.referenced is not None
        }
        return {
            name: each
            for name, each in self.globals.items()
            if (each.hash in named or name in self._said_names) and (is_whole(each.type) or is_pointer(each.type))
        }

    def _registers(self, used: Mapping[str, Cursor]) -> Iterator[tree.Declaration]:
        for name, each in used.items():
            span = self.at(each)
            ident = ast.Ident(name, span)
            if each.hash in self.constants:
                yield ast.Constants(
                    (ast.Binding(ident, tree.as_part(number_operand(self.constants[each.hash], span)), span),), span
                )
                continue
            length = _length(each)
            size = None if length is None else number_operand(length, span)
            yield tree.RegisterLine((tree.Declarator(ident, size, None, span),), span)

    def _named_constants(self) -> Iterator[tree.Declaration]:
        """Yield the constants that contracts name and the file does not declare as variables."""
        for name, value in self._known_constants.items():
            if name not in self.globals:
                span = next(iter(self.contracts.values()))[0]
                yield ast.Constants(
                    (ast.Binding(ast.Ident(name, span), tree.as_part(number_operand(value, span)), span),), span
                )

    @cached_property
    def _known_constants(self) -> dict[str, int]:
        """Return the constants that contracts name: of MPI, of enumerations, macros, and of variables that are constant.

        Comments are not preprocessed.
        """
        of_variables = {
            name: self.constants[each.hash] for name, each in self.globals.items() if each.hash in self.constants
        }
        known = {f"MPI_{name}": value for name, value in NUMBERS.items()} | self._macros() | of_variables
        return {name: known[name] for name in sorted(self._said_names & known.keys())}

    def _macros(self) -> dict[str, int]:
        """Return the macros and the constants of enumerations that are one number."""
        found: dict[str, int] = {}
        for unit in self.units.units:
            for each in children(unit.parsed.cursor):
                if cursor_kind(each) == "ENUM_DECL":
                    found |= {str(one.spelling): int(one.enum_value) for one in children(each)}
                elif cursor_kind(each) == "MACRO_DEFINITION" and str(each.spelling) in self._said_names:
                    tokens = [str(one.spelling) for one in each.get_tokens()]
                    if len(tokens) == 2 and tokens[1].isdecimal():
                        found[tokens[0]] = int(tokens[1])
        return found

    @cached_property
    def _said_names(self) -> set[str]:
        """Return the words of all contracts."""
        spans = (span for span, _ in self.contracts.values())
        return {word for span in spans for word in re.findall(r"\w+", self.text[span.start : span.end])}

    def _function(
        self,
        function: CFunction,
        functions: Mapping[str, CFunction],
        used: Mapping[str, Cursor],
        single: bool,
        datatypes: dict[str, Span],
        *,
        has_contract: bool,
        has_any_source: bool,
    ) -> tree.FunctionItem:
        names = {each.hash: name for name, each in used.items() if each.hash not in self.constants}
        names |= {each.hash: str(each.spelling) for each in function.cursor.get_arguments() if not is_communicator(each)}
        values = ValueReader(self.places.of, names, self.constants)
        body = BodyReader(function, functions, values, MPI_CALLS, self.report, single)
        body.globals, body.datatypes = frozenset(used), datatypes
        body.has_no_process = "MPI_PROC_NULL" in self.text
        body.has_any_source = has_any_source
        body.has_any_tag = "MPI_ANY_TAG" in self.text
        span = self._name_span(function)
        lengths = {name: size for name, each in used.items() if (size := _length(each)) is not None}
        regions = RegionReader(_element_sizes(function, used), self.report)
        reader = ClauseReader(function, self.report, span, lengths, regions, frozenset(self._known_constants))
        comment = self.contracts[self.start(function.cursor)][1] if has_contract else None
        contract = None if comment is None else reader.contract(comment)
        body.loop_contract = LoopReader(self.loops, self.start, reader, body, contract).contract
        inner = next(each for each in children(function.cursor) if cursor_kind(each) == "COMPOUND_STMT")
        block = body.whole(inner, self.at(inner))
        parameters = tuple(ast.Ident(each, span) for each in function.parameters)
        return tree.FunctionItem(ast.Ident(function.name, span), parameters, block, contract, self.at(function.cursor))

    def _stores_any_source(self, functions: Mapping[str, CFunction]) -> bool:
        """Whether MPI_ANY_SOURCE stands elsewhere than in receives, so that a variable may have it."""
        code = self.text
        for start, end in reversed(list(comments_in(code))):
            code = code[:start] + code[end:]
        return code.count("MPI_ANY_SOURCE") > sum(receives_from_any(each.cursor) for each in functions.values())

    def _name_span(self, function: CFunction) -> Span:
        """Return where the name of a function stands."""
        start = self.at(function.cursor)
        length = len(function.name)
        return replace(start, end=start.start + length, end_line=start.line, end_column=start.column + length)

    def _claims(self, line: str, span: Span) -> Iterator[tree.Declaration]:
        before = "".join(each if each == "\n" else " " for each in self.text[: span.start])
        found, _, _ = parse_tree(f"{before}{line}\n", self.report, message_grammar())
        yield from () if found is None else tree.declarations(found)


def _called(function: Cursor) -> set[str]:
    """Return the names of what a function calls."""
    return {str(each.spelling) for each in function.walk_preorder() if cursor_kind(each) == "CALL_EXPR"}


def _element_sizes(function: CFunction, used: Mapping[str, Cursor]) -> dict[str, int]:
    """Return how many bytes an element of each array has that a function reaches by a name."""
    parameters = {str(each.spelling): each for each in function.cursor.get_arguments()}
    found: dict[str, int] = {}
    for name, each in {**used, **parameters}.items():
        if is_pointer(each.type):
            canonical = each.type.get_canonical()
            element = canonical.get_pointee() if canonical.kind.name == "POINTER" else canonical.element_type
            found[name] = c_type(element).size
    return found


def _length(declared: Cursor) -> int | None:
    """Return how many elements an array has, None of what is none."""
    canonical = declared.type.get_canonical()
    return int(canonical.element_count) if canonical.kind.name == "CONSTANTARRAY" else None
