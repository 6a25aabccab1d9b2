"""`python -m sitegen` writes the reference pages anew (make promote)."""

from __future__ import annotations

from sitegen.reference import DOCS, pages


def main() -> None:
    for name, text in pages().items():
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
