"""Reports on message programs: rows, JSON, and sequence charts as text, drawings and a page.

In: programs with the answers of engines, whose schedules were replayed. Out: text, JSON, SVG, HTML, DOT.
"""
