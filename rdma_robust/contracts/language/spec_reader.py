"""Expressions of contracts: names resolved, words where they may stand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.spec_terms import Spec, known_value
from rdma_robust.diagnose import Hint, Reporter, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as written
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.collective_loops import entry_parameter
from rdma_robust.messages.language.message_words import PATH_FORMS
from rdma_robust.messages.language.message_world import BUILT_IN, TRUTHS, GlobalScope


@dataclass(frozen=True, slots=True)
class SpecContext:
    """Where an expression stands, in words, and what may stand there besides numbers and names of constants.

    `state`: parameters and registers; `result`: `\\result` and `\\pre`; `others`: `\\on` and `\\agree`; `indices`:
    so many of `\\i` and `\\j`. `why` is said where one of them may not.
    """

    where: str
    state: bool = True
    result: bool = False
    others: bool = True
    indices: int = 0
    why: str = ""


AT_ENTRY = SpecContext("`requires`")
AT_EXIT = SpecContext("`ensures`", result=True)
FRAME = SpecContext("`assigns`")
PATH = SpecContext(
    "a path clause",
    others=False,
    why="these clauses are evaluated in the own state of a process when it enters, and no other is known there",
)
_POSITIONS = ("i", "j")
_NOTHING = spec.SpecNumber(0)
_LAST = spec.Apply("-", (spec.SpecCount(), spec.SpecNumber(1)))
_DIRECTIONS = (frozenset({"<", "<=", "=="}), frozenset({">", ">=", "=="}))


@dataclass(frozen=True, slots=True)
class Owner:
    """The function whose contract is read; `result` says whether it gives a value."""

    name: str
    parameters: frozenset[str]
    result: bool
    is_local: bool
    remembered: frozenset[str] | None = None
    """Of a loop what it looks at by `\\pre`: each is a parameter of its own."""


class SpecReader:
    """The expressions of one contract."""

    def __init__(self, world: GlobalScope, report: Reporter, owner: Owner) -> None:
        self.world = world
        self.report = report
        self.owner = owner
        self.unknown: set[str] = set()
        """Names that mean nothing, each reported once."""

    def spec(self, node: object, setting: SpecContext, bound: frozenset[str] = frozenset(), *, entry: bool = False) -> Spec:
        """Return the meaning of an expression in which `bound` are variables; `entry` is inside of `\\pre`.

        What is wrong is reported, and stands for 0.
        """
        return _Reading(self, setting).read(node, bound, entry)


class _Reading:
    """One expression."""

    def __init__(self, reader: SpecReader, setting: SpecContext) -> None:
        self.world = reader.world
        self.report = reader.report
        self.owner = reader.owner
        self.setting = setting
        self.said = reader.unknown

    def read(self, node: object, bound: frozenset[str], entry: bool) -> Spec:
        match cast("tree.Operand | written.NameTerm", node):
            case ast.NumberLiteral(value):
                return spec.SpecNumber(value)
            case tree.OwnNumber():
                return spec.SpecPid()
            case tree.ProcessCount():
                return spec.SpecCount()
            case ast.Unary(op, arg):
                return spec.Apply(op, (self.read(arg, bound, entry),))
            case ast.Binary(op, left, right):
                operands = self.read(left, bound, entry), self.read(right, bound, entry)
                self._check_division(op, operands[1], right)
                return spec.Apply(op, operands)
            case tree.FunctionCall() as call:
                return self._call(call, bound, entry)
            case written.NameTerm(name):
                return self._named(name, bound, entry)
            case tree.IndexedName(name, indices):
                found = self._named(name, bound, entry)
                for index in indices:
                    found = spec.Item(found, self.read(index, bound, entry))
                return found
            case _:
                return self._of_contracts(node, bound, entry)

    def _of_contracts(self, node: object, bound: frozenset[str], entry: bool) -> Spec:
        match node:
            case written.CellTerm(array, index):
                return spec.Item(self.read(array, bound, entry), self.read(index, bound, entry))
            case written.Conditional(test, then, other):
                return spec.Apply("?", tuple(self.read(each, bound, entry) for each in (test, then, other)))
            case written.LetIn(name, value, inner):
                first = self.read(value, bound, entry)
                return spec.LetBinding(name.text, first, self.read(inner, self._bind(name, bound), entry))
            case written.ComparisonChain():
                return self._row(node, bound, entry)
            case written.ExtremeTerm(word, arguments):
                return _extreme(word, [self.read(each, bound, entry) for each in arguments])
            case written.OverRange(word, name, low, high, inner, span, type_):
                if type_ is not None and type_.text not in ("int", "integer"):
                    said = f"a variable of `\\{word}` is no {quote(type_.text)}"
                    self.report.error("RR951", type_.span, said, hint="they are integers: leave it out")
                ends: tuple[Spec, Spec] = _NOTHING, _LAST
                if low is not None:
                    ends = self.read(low, bound, entry), self.read(high, bound, entry)
                self._check_range(word, ends, span)
                return spec.Quantification(word, name.text, *ends, self.read(inner, self._bind(name, bound), entry))
            case written.ResultWord(span):
                return self._result(span, entry)
            case written.Position(name, span):
                return self._position(name, span)
            case written.AtProcess(process, value, span):
                self._check_others("\\on", span)
                return spec.On(self.read(process, bound, entry), self.read(value, bound, entry))
            case written.AgreeTerm(value, span):
                self._check_others("\\agree", span)
                return spec.Agree(self.read(value, bound, entry))
            case written.AtEntry(value, word, span):
                return self._before(value, word, span, bound)
            case written.AbsenceClause(span=span):
                said = "`\\no` is no value: it stands in `requires` and `ensures`, joined by `&&` or behind `==>`"
                self.report.error("RR955", span, said, hint=PATH_FORMS)
                return _NOTHING
        raise TypeError(node)

    def _row(self, row: written.ComparisonChain, bound: frozenset[str], entry: bool) -> Spec:
        """Return the conjunction that comparisons in a row are."""
        found = [self.read(each, bound, entry) for each in row.operands]
        pairs = (spec.Apply(op, pair) for op, pair in zip(row.operators, pairwise(found), strict=True))
        if not any(each.issuperset(row.operators) for each in _DIRECTIONS):
            texts = [self._text(each) for each in row.operands]
            joined = " && ".join(f"{a} {op} {b}" for op, (a, b) in zip(row.operators, pairwise(texts), strict=True))
            expected = "all of them `<`, `<=` and `==`, or all `>`, `>=` and `==`"
            hint = f"write `{joined}`, or put parentheses around what is compared first"
            self.report.error("RR111", row.span, "comparisons in a row", expected=expected, hint=hint)
        return _conjunction(list(pairs))

    def _text(self, node: object) -> str:
        span = cast(ast.NumberLiteral, node).span
        return " ".join(self.report.source[span.start : span.end].split())

    def _check_division(self, op: str, divisor: Spec, node: object) -> None:
        if op in "/%" and known_value(divisor) == 0:
            self.report.error("RR917", cast(ast.NumberLiteral, node).span, "division by zero")

    def _check_range(self, word: str, ends: tuple[Spec, Spec], span: Span) -> None:
        low, high = map(known_value, ends)
        if low is None or high is None or low <= high:
            return
        said = f"from {low} to {high} there is no number"
        if word in ("max", "min"):
            self.report.error("RR958", span, f"{said}, and so no `\\{word}`", hint="write the smaller number first")
        else:
            worth = {"forall": "is true", "exists": "is false"}.get(word, "is 0")
            self.report.warn("RR754", span, f"{said}: this {worth} always", hint="both ends belong to a range")

    def _bind(self, name: ast.Ident, bound: frozenset[str]) -> frozenset[str]:
        text = name.text
        if text in bound:
            self.report.error("RR904", name.span, f"{quote(text)} is a variable of what is around this already")
        elif text in self.owner.parameters:
            self.report.error("RR904", name.span, f"{quote(text)} is a parameter of {quote(self.owner.name)} already")
        elif text in self.world.first:
            line = self.world.first[text].line
            self.report.error("RR904", name.span, f"{quote(text)} was declared before, on line {line}")
        elif text in BUILT_IN:
            self.report.error("RR904", name.span, f"{quote(text)} has a meaning of its own in expressions")
        elif self.setting.indices and text in _POSITIONS:
            self.report.error("RR904", name.span, f"{quote(text)} is too like `\\{text}` here", hint="take another name")
        return bound | {text}

    def _call(self, call: tree.FunctionCall, bound: frozenset[str], entry: bool) -> Spec:
        name, arguments = call.name.text, [self.read(each, bound, entry) for each in call.arguments]
        if name not in BUILT_IN:
            self._no_call(call)
            return _NOTHING
        if len(arguments) != 1:
            self.report.error("RR906", call.span, f"`{name}` takes one argument, and here are {len(arguments) or 'none'}")
            return _NOTHING
        size = known_value(arguments[0]) if name == "new" else None
        if size is not None and size < 0:
            self.report.error("RR922", call.arguments[0].span, f"an array of {size} elements")
        return spec.NewArray(arguments[0]) if name == "new" else spec.LengthOf(arguments[0])

    def _no_call(self, call: tree.FunctionCall) -> None:
        name = call.name
        if name.text in self.world.poisoned:
            return
        if self.world.function(name.text) is not None:
            hint = "say what it gives, as its own contract does"
            self.report.error("RR905", call.span, "no function is called in a contract", hint=hint)
            return
        words = {"on": "\\on", "pre": "\\pre", "old": "\\old", "agree": "\\agree"}
        meant = Hint(f"keywords of contracts have a backslash: `{words[name.text]}(...)`") if name.text in words else None
        hint_at = meant or meant_at(name.span, name.text, BUILT_IN)
        self.report.error("RR902", name.span, f"there is no function {quote(name.text)}", hint=hint_at)

    def _named(self, name: ast.Ident, bound: frozenset[str], entry: bool) -> Spec:
        text = name.text
        if text in bound:
            return spec.BoundVariable(text)
        if entry and self.owner.remembered is not None and text not in self.world.constants:
            if text not in self.owner.remembered and text in self.owner.parameters:
                said = f"{quote(text)} is a register of the function, and has no value at its entry"
                hint = "`\\pre` is about parameters and registers declared outside"
                self.report.error("RR951", name.span, said, hint=hint)
            return spec.Parameter(entry_parameter(text))
        if text in self.owner.parameters:
            return self._of_state(spec.Parameter(text), "a parameter", name)
        if text in self.world.globals:
            return self._of_state(spec.Global(text), "a register", name)
        if text in self.world.constants:
            return spec.SpecNumber(self.world.constants[text].value or 0)
        if text in TRUTHS:
            return spec.SpecNumber(TRUTHS[text])
        self._unknown(name, bound)
        return _NOTHING

    def _of_state(self, found: Spec, what: str, name: ast.Ident) -> Spec:
        if not self.setting.state:
            said = f"{quote(name.text)} is {what}, and not known in {self.setting.where}"
            self.report.error("RR951", name.span, said, hint=self.setting.why)
        return found

    def _unknown(self, name: ast.Ident, bound: frozenset[str]) -> None:
        text = name.text
        if text in self.world.poisoned or text in self.said:
            return
        self.said.add(text)
        if text == "result" and self.setting.result:
            self.report.error("RR901", name.span, "there is nothing called `result` here", hint="write `\\result`")
            return
        if text in self.world.families:
            said = f"{quote(text)} is a process of this file; a contract is for any number of processes"
            self.report.error("RR901", name.span, said, hint="write its number")
            return
        known = [*bound, *self.owner.parameters, *self.world.globals, *self.world.constants]
        hint = meant_at(name.span, text, known) or "known are parameters, registers declared outside, and constants"
        self.report.error("RR901", name.span, f"there is nothing called {quote(text)} here", hint=hint)

    def _result(self, span: Span, entry: bool) -> Spec:
        if not self.setting.result:
            self._misplaced("\\result", span, "only `ensures` knows it")
        elif entry:
            self._misplaced("\\result", span, "there is no result at entry", "`\\pre`")
        elif not self.owner.result:
            said = f"{quote(self.owner.name)} returns nothing, so there is no `\\result`"
            self.report.error("RR951", span, said, hint="`return` with a value gives one")
        return spec.FunctionResult()

    def _before(self, value: object, word: str, span: Span, bound: frozenset[str]) -> Spec:
        if self.owner.remembered is not None and self.setting.others:
            return self.read(value, bound, True)
        if not self.setting.result:
            self._misplaced(word, span, "everything here is at entry already")
        return spec.OldValue(self.read(value, bound, True))

    def _position(self, name: str, span: Span) -> Spec:
        known = _POSITIONS[: self.setting.indices]
        if name not in known:
            only = "here is only `\\i`: there is one `len`" if known else "only `bounds` has it, behind a `len`"
            self._misplaced(f"\\{name}", span, only)
        return spec.BoundVariable(name)

    def _check_others(self, word: str, span: Span) -> None:
        if self.owner.is_local:
            hint = "a local function is called by one process on its own"
            self._misplaced(word, span, hint, "the contract of a local function")
        elif not self.setting.others:
            self._misplaced(word, span, self.setting.why)

    def _misplaced(self, word: str, span: Span, why: str, where: str = "") -> None:
        said = f"{quote(word)} cannot stand in {where or self.setting.where}"
        self.report.error("RR951", span, said, hint=why)


def _conjunction(parts: list[Spec]) -> Spec:
    """Return what is true if all are, as deep as the logarithm of their number."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return spec.Apply("&&", (_conjunction(parts[:half]), _conjunction(parts[half:])))


def _extreme(word: str, values: list[Spec]) -> Spec:
    """Return the greatest or smallest of some numbers, each of which is evaluated once."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    one, other = spec.BoundVariable("$one"), spec.BoundVariable("$other")
    better = spec.Apply(">=" if word == "max" else "<=", (one, other))
    chosen = spec.LetBinding(other.name, _extreme(word, values[half:]), spec.Apply("?", (better, one, other)))
    return spec.LetBinding(one.name, _extreme(word, values[:half]), chosen)
