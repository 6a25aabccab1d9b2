"""What can be seen of Coq files, and of the pages of the theory, as text."""

from __future__ import annotations

import re

from tests.conftest import ROOT

NOT_PROVEN = re.compile(
    r"\b(?:Admitted|Admit|admit|give_up|bypass_check|type-in-type|Declare ML)\b|\b(?:Guard|Positivity|Universe) Checking\b"
)
"""Words by which something is taken for proven that is not, or a check is switched off."""

ASSUMED = re.compile(r"(?:Local |Global |Polymorphic |#\[[^]]*\] *)*(Variables?|Hypothes[ei]s|Context)\b")
"""How a sentence begins that assumes something: until the end of its section, or for good if it is in none."""

ASSUMED_FOR_GOOD = re.compile(r"(?:Local |Global |Polymorphic |#\[[^]]*\] *)*(Axioms?|Parameters?|Conjectures?)\b")
"""How a sentence begins that assumes something for good, wherever it stands."""

NAMED = re.compile(
    r"(?:Local |Global |Program |#\[[^]]*\] *)*"
    r"(?:Theorem|Lemma|Corollary|Fact|Remark|Proposition|Definition|Fixpoint|Inductive|Record|Class|Instance)\s+([\w']+)"
)


def without_comments(text: str) -> str:
    """Return Coq `text` without comments, which may be nested, and without strings."""
    kept, depth = [], 0
    for piece in re.split(r'(\(\*|\*\)|"(?:[^"]|"")*")', text):
        if piece == "(*":
            depth += 1
        elif piece == "*)" and depth:
            depth -= 1
        elif not depth and not piece.startswith('"'):
            kept.append(piece)
    return "".join(kept)


def sentences(text: str) -> list[str]:
    """Return the sentences of Coq `text`, each on one line, without bullets and braces before them."""
    found = re.split(r"\.(?=\s|$)", without_comments(text))
    return [re.sub(r"^[-+*{}\s]+", "", " ".join(each.split())) for each in found if each.strip()]


def flaws(text: str) -> list[str]:
    """Return what in Coq `text` is assumed or admitted: sentences, as they stand there."""
    wrong, opened = [], []
    for sentence in sentences(text):
        if begun := re.fullmatch(r"(Section|Module(?: Type)?) ([\w']+).*", sentence):
            if ":=" not in sentence:
                opened.append((begun[1], begun[2]))
        elif (ended := re.fullmatch(r"End ([\w']+)", sentence)) and opened and opened[-1][1] == ended[1]:
            opened.pop()
        else:
            in_section = bool(opened) and opened[-1][0] == "Section"
            assumed = ASSUMED_FOR_GOOD.match(sentence) or (not in_section and ASSUMED.match(sentence))
            if assumed or NOT_PROVEN.search(sentence):
                wrong.append(sentence)
    return wrong


def names(text: str) -> set[str]:
    """Return the names that Coq `text` gives to theorems and definitions."""
    return {found[1] for sentence in sentences(text) if (found := NAMED.match(sentence))}


def theory_pages() -> dict[str, str]:
    """Return the pages on deciding robustness, by name; the other pages of the theory are about other questions."""
    others = ("theory-contracts", "theory-crowds", "theory-messages", "theory-safety")
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("theory*.md"))}
    return {name: text for name, text in found.items() if name not in others}


def statements(page: str) -> dict[str, str]:
    """Return the statements of a page, by what it calls them (`Lemma 3`), each to where its proof begins."""
    found = re.findall(
        r"^\*\*((?:Lemma|Corollary|Theorem) \d+)(?: \([^)]*\))?\.\*\*(.*?)(?=^\*Proof|^\*\*|^#|\Z)",
        page,
        re.MULTILINE | re.DOTALL,
    )
    assert len(dict(found)) == len(found), "two statements of one name"
    return dict(found)


def formal_names(statement: str) -> list[str]:
    """Return the formal names of a statement: links in brackets to docs/proof.md."""
    return re.findall(r"\[`([\w.']+)`\]\(proof\.md#[\w-]+\)", statement)
