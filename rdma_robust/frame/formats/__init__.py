"""One writer for each form of report, whatever the question.

In: answers, and the view of their question. Out: text, JSON, SARIF, JUnit, CSV, Markdown, HTML.
"""
