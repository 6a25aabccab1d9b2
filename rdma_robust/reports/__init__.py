"""Results as text, JSON, HTML, SARIF, JUnit, CSV and drawings; one writer a file, what they share in `share`.

In: plain records. Out: text. No verdict is made here.
"""
