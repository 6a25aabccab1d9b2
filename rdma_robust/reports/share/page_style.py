"""The style sheets and scripts of pages, with nothing from outside in them: colours, listings, explanations."""

from __future__ import annotations

from typing import Final

from rdma_robust.reports.share.html_templates import HERE, asset
from rdma_robust.reports.share.html_templates import STYLE as TOKENS
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


STYLE = f"""
*{{box-sizing:border-box}}
body{{margin:0;background:var(--rr-bg);color:var(--rr-fg);font:16px/1.6 {SANS}}}
header,main{{max-width:1120px;margin:0 auto;padding:0 20px}}
header{{display:flex;flex-wrap:wrap;align-items:center;gap:4px 14px;padding-top:28px}}header .rr-theme{{margin-left:auto}}
h1{{font-size:26px;line-height:1.2;margin:0;overflow-wrap:anywhere}}
h2{{font-size:19px;margin:0 0 12px}}
.file{{flex-basis:100%;margin:0;color:var(--rr-muted);font:13px {MONO};overflow-wrap:anywhere}}
.verdict{{margin:0;padding:3px 12px;border-radius:99px;font-size:13px;font-weight:700;letter-spacing:.03em;border:1px solid}}
.verdict.robust{{color:var(--rr-ok);background:var(--rr-ok-bg)}}
.verdict.not-robust{{color:var(--rr-cycle);background:var(--rr-cycle-bg)}}
.verdict.unknown{{color:var(--rr-warn);background:var(--rr-warn-bg)}}
section{{margin:30px 0}}
.story{{max-width:78ch;margin-top:18px}}.story p{{margin:0 0 12px}}.lead{{font-size:18px;font-weight:600;line-height:1.45}}
code{{font:.88em {MONO};background:var(--rr-band);border-radius:4px;padding:.12em .35em;overflow-wrap:anywhere}}
.scroll{{overflow-x:auto;border:1px solid var(--rr-rule);border-radius:8px;padding:8px}}
.scroll svg{{display:block}}
.legend{{color:var(--rr-muted);font-size:14px;max-width:85ch;margin:10px 0 0}}
.toggles{{border:0;padding:0;margin:0 0 12px;display:flex;flex-wrap:wrap;gap:4px 20px;font-size:14px}}
.toggles legend{{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}}
.toggles label{{display:inline-flex;align-items:center;gap:6px;font-family:{MONO};cursor:pointer}}
.toggles .told{{font-family:{SANS};color:var(--rr-muted)}}
.key{{width:16px;height:3px;border-radius:2px;background:var(--c)}}
input{{accent-color:var(--rr-mo);width:16px;height:16px;margin:0}}
table{{border-collapse:collapse;font-size:14px}}caption{{text-align:left;color:var(--rr-muted);padding:0 0 6px}}
th,td{{text-align:left;padding:6px 14px 6px 6px;border-bottom:1px solid var(--rr-rule);vertical-align:top;font-weight:400}}
thead th{{font-weight:600;color:var(--rr-muted)}}
.pairs td:first-child{{white-space:nowrap}}.pairs{{min-width:760px;width:100%}}
.telling{{background:var(--rr-cycle-bg)}}.telling th,.telling td{{font-weight:700;color:var(--rr-cycle)}}
.why{{display:inline-block;font-size:13px;padding:1px 10px;margin-right:8px;
 border-radius:99px;background:var(--rr-ok-bg);color:var(--rr-ok)}}
.why.cycle{{background:var(--rr-cycle-bg);color:var(--rr-cycle)}}
.why.open{{background:var(--rr-warn-bg);color:var(--rr-warn)}}
details{{margin:0 0 14px}}summary{{cursor:pointer;margin-bottom:8px;width:max-content;max-width:100%}}
.why{{font-weight:600}}
dl{{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;margin:0;font-size:14px}}
dt{{color:var(--rr-muted)}}dd{{margin:0;overflow-wrap:anywhere}}
.skip{{position:absolute;left:-9999px}}.skip:focus{{left:8px;top:8px;background:var(--rr-bg);padding:6px 10px}}
:focus-visible{{outline:2px solid var(--rr-mo);outline-offset:2px}}
.rr-off{{display:none}}
@media (max-width:640px){{
header,main{{padding-left:14px;padding-right:14px}}h1{{font-size:22px}}.lead{{font-size:17px}}
dl{{grid-template-columns:1fr}}dd{{margin-bottom:8px}}.toggles{{flex-direction:column}}
.pairs{{min-width:0}}.pairs thead{{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}}
.pairs tr{{display:block;border-bottom:1px solid var(--rr-rule);padding:8px 0}}
.pairs td{{display:block;border:0;padding:2px 6px}}
.pairs td:nth-child(2)::before{{content:"earlier: ";color:var(--rr-muted)}}
.pairs td:nth-child(3)::before{{content:"later: ";color:var(--rr-muted)}}
}}
@media print{{.scroll{{overflow:visible}}.skip,.toggles{{display:none}}}}
""".replace("\n", "")

SCRIPT = """
"use strict";
(function () {
  function light(line, on) {
    document.querySelectorAll('[data-line="' + line + '"]').forEach(function (each) {
      each.classList.toggle("rr-lit", on);
    });
  }
  function lineOf(target) {
    var near = target instanceof Element ? target.closest("svg [data-line], .rr-source [data-line]") : null;
    return near ? near.getAttribute("data-line") : null;
  }
  [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]].forEach(function (pair) {
    document.addEventListener(pair[0], function (event) {
      var line = lineOf(event.target);
      if (line !== null) { light(line, pair[1]); }
    });
  });
  var boxes = Array.from(document.querySelectorAll("input[data-relation]"));
  function show() {
    var wanted = boxes.filter(function (box) { return box.checked; }).map(function (box) { return box.dataset.relation; });
    document.querySelectorAll(".rr-relation").forEach(function (edge) {
      var shown = wanted.some(function (name) { return edge.classList.contains("rr-is-" + name); });
      edge.classList.toggle("rr-off", !shown);
    });
  }
  boxes.forEach(function (box) { box.addEventListener("change", show); });
}());
"""
