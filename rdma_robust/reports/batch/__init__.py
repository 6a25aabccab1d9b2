"""Many programs as one report, and two reports compared.

In: records of `reports.check` and pages. Out: HTML, Markdown, CSV, JSON, SARIF 2.1.0, JUnit.
"""
