"""The grammar of `.mp`: no conflicts, and words that are keywords in places only, which are names everywhere else."""

from __future__ import annotations

import pytest
from lark.parsers.lalr_analysis import LALR_Analyzer
from lark.parsers.lalr_parser import ParserConf

from rdma_robust.grammar_tables import build
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_words import WORDS, message_grammar

NAMES = sorted(message_grammar().literals[kind] for kind in WORDS - {"LEN"})

EVERY_NAME = """\
program {0}
const {0} = 2
proc P[i in 0..{0}] {{ send {0} to P[{0}] }}
"""

AS_A_REGISTER = """\
reg {0}
fun f({1}) {{ return {1} + {0} }}
proc P {{
  reg r[9]
  send {0} to {0} tag {0}
  send r[{0}] to ({0}) tag {0}
  recv {0}
  recv {0} from {0} tag {0}
  recv r[{0}] from {0} tag any {0}
  {0} = f({0}) // {0}
  {0} += {0} * {0}
  if {0} {{ assert {0} == {0} }}
  for {2} in {0}..{0} {{ assume {2} < {0} }}
}}
"""

AS_A_PORT = """\
port {0}
proc P {{
  reg r
  send 1 to P on {0}
  send 1 to P on {0} tag 1
  recv r on {0}
  recv r from any r on {0} tag any r
}}
expect no race
"""

AS_A_PROCESS = """\
fun {0}() {{ skip }}
proc {1} {{
  req {0}
  send 1 to {1}
  {0} = isend {1} to {1}
  {0}()
  wait {0}
}}
proc {2}[{0} in 0..1] {{
  for k in 0..1 {{ send {0} to {2}[k] }}
}}
"""


def test_the_grammar_has_no_conflicts() -> None:
    """As lark's strict mode finds them, also of shifting and reducing."""
    grammar = build("mp")
    analysis = LALR_Analyzer(ParserConf(grammar.rules, {}, list(grammar.options.start)), strict=True)
    analysis.compute_lalr()


@pytest.mark.parametrize("word", NAMES)
@pytest.mark.parametrize("text", [EVERY_NAME, AS_A_REGISTER, AS_A_PORT, AS_A_PROCESS])
def test_words_that_are_keywords_in_places_are_names_elsewhere(text: str, word: str) -> None:
    others = [each for each in NAMES if each != word]
    program = text.format(word, *others)
    load_messages(program, "t.mp")
    formatted = format_messages(program, "t.mp")
    assert format_messages(formatted, "t.mp") == formatted


def test_every_other_word_is_a_keyword() -> None:
    for kind, word in message_grammar().keywords.items():
        if kind not in WORDS:
            assert not word.isupper() or word in ("PID", "NPROCS")
            with pytest.raises(Exception, match=r"RR10[123]"):
                load_messages(f"const {word} = 1", "t.mp")
