"""What every page has once: its colours for light and dark, the colours of programs, the switch between the two."""

from __future__ import annotations

from typing import Final

from rdma_robust.reports.share.coloured import STYLE as TOKENS
from rdma_robust.reports.share.html_templates import HERE, asset
from rdma_robust.reports.share.svg import COLOURS, MONO, SANS, themed

PAGE: Final = ".rr-page"
LIGHT: Final = (
    "--rr-soft:#f0f3f6;--rr-hover:#e7ecf1;--rr-cpu-bg:#e4f0ff;--rr-nic-bg:#f3ecff;--rr-shade:#f3eefc;--rr-flow:#c9b8ea;"
    "--rr-next:#d9e8fb;--rr-served:#eae2fa;--rr-glow:#ffe08a;--rr-on:#1f2328;--rr-pink:#b02e7c;"
)
DARK: Final = (
    "--rr-soft:#1d242d;--rr-hover:#28313c;--rr-cpu-bg:#152a45;--rr-nic-bg:#2b2140;--rr-shade:#1b1829;--rr-flow:#6d5a93;"
    "--rr-next:#15304f;--rr-served:#2b2140;--rr-glow:#e3b341;--rr-on:#1f2328;--rr-pink:#f98bc4;"
)
"""What pages need beyond the colours of drawings."""

SOURCE_STYLE: Final = (
    TOKENS
    + f""".rr-source{{font-family:{MONO};font-size:13px;line-height:1.55;color:var(--rr-fg);background:var(--rr-band);
border:1px solid var(--rr-rule);border-radius:8px;overflow-x:auto;padding:8px 0}}
.rr-source .rr-line{{display:flex;gap:12px;padding:0 12px 0 0;border-left:4px solid transparent;min-width:max-content}}
.rr-source .rr-number{{flex:none;width:3.2em;text-align:right;color:var(--rr-muted);user-select:none}}
.rr-source code{{font:inherit;white-space:pre;background:none;padding:0}}
.rr-source .rr-badge{{flex:none;margin-left:auto;padding-left:24px;font:12px {SANS};color:var(--rr-muted);align-self:center}}
.rr-source .rr-line-cycle{{background:var(--rr-cycle-bg);border-left-color:var(--rr-cycle)}}
.rr-source .rr-line-cycle .rr-badge{{color:var(--rr-cycle);font-weight:600}}
.rr-source .rr-line-keeps{{background:var(--rr-ok-bg);border-left-color:var(--rr-ok)}}
.rr-source .rr-line-keeps .rr-badge{{color:var(--rr-ok)}}
.rr-source .rr-line-fault{{border-left-color:var(--rr-warn);background:var(--rr-warn-bg)}}
.rr-source .rr-lit{{outline:2px solid var(--rr-mo);outline-offset:-2px}}
""".replace("\n", "")
)
"""A listing with its marks, in a page or by itself."""

PAGE_STYLE: Final = (
    COLOURS
    + themed((PAGE,), LIGHT, DARK)
    + "[data-theme=dark]{color-scheme:dark}[data-theme=light]{color-scheme:light}"
    + """.rr-theme{font:inherit;font-size:14px;color:var(--rr-fg);background:var(--rr-bg);border:1px solid var(--rr-rule);
border-radius:8px;padding:4px 12px;cursor:pointer}
.rr-theme:hover{background:var(--rr-band)}.rr-theme[hidden]{display:none}
@media print{.rr-theme{display:none}}
""".replace("\n", "")
    + SOURCE_STYLE
)
"""What the style sheet of a page begins with; its body has the class `rr-page`."""


def page_script(own: str = "") -> str:
    """Return the script of a page: the switch between light and dark, then its own."""
    return asset(HERE, "theme.js") + own
