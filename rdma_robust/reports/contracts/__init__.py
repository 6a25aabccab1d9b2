"""Reports about contracts: rows, counterexamples as sequence charts, pages, JSON.

In: the answers for the functions of a file. Out: text, HTML, SVG, Mermaid and JSON.
"""
