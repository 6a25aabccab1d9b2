/* The editor: CodeMirror, with the colours of the site. It lives in a shadow root, whose style sheets a strict policy allows. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap,
  lineNumbers,
} from "@codemirror/view";
import { tokens } from "./tokens.js";

const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--rr-fg)", backgroundColor: "var(--rr-band)", fontSize: "14px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--rr-fg)" },
  ".cm-gutters": { backgroundColor: "var(--rr-band)", color: "var(--rr-muted)", borderRight: "1px solid var(--rr-rule)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--rr-hover)" },
  "&.cm-focused": { outline: "2px solid var(--rr-mo)", outlineOffset: "-2px" },
  ".cm-cursor": { borderLeftColor: "var(--rr-fg)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--rr-next) !important" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--rr-bg)", color: "var(--rr-fg)", border: "1px solid var(--rr-rule)" },
  ".told": { padding: "6px 10px", maxWidth: "60ch", whiteSpace: "pre-wrap", font: "13px/1.5 var(--mono)" },
  ".tok-keyword": { color: "var(--keyword)", fontWeight: "600" },
  ".tok-builtin": { color: "var(--builtin)" },
  ".tok-comment": { color: "var(--rr-muted)", fontStyle: "italic" },
  ".tok-number": { color: "var(--number)" },
  ".tok-name": { color: "var(--named)" },
  ".tok-error": { color: "var(--rr-cycle)", textDecoration: "underline wavy" },
});

/* Characters of a text with colours at most: each change paints all of it, and the tool refuses what is much longer. */
const MOST_COLOURED = 100000;

function colours(tables) {
  const painted = (state) => {
    if (state.doc.length > MOST_COLOURED) { return Decoration.none; }
    const table = tables[state.field(kindField)];
    const marks = tokens(table, state.doc.toString());
    return Decoration.set(marks.map(([from, to, kind]) => Decoration.mark({ class: `tok-${kind}` }).range(from, to)));
  };
  return StateField.define({
    create: painted,
    update: (old, change) => (change.docChanged || change.effects.some((each) => each.is(setKind)) ? painted(change.state) : old),
    provide: (field) => EditorView.decorations.from(field),
  });
}

const setKind = StateEffect.define();
const kindField = StateField.define({
  create: () => "rdma",
  update: (old, change) => change.effects.reduce((kind, each) => (each.is(setKind) ? each.value : kind), old),
});

/* Return a function from offsets in characters, as Python counts, to those in code units. */
function places(text) {
  const found = [0];
  for (const each of text) { found.push(found.at(-1) + each.length); }
  return (offset) => found[Math.min(Math.max(offset, 0), found.length - 1)];
}

function hovers(told) {
  return hoverTooltip(async (view, position) => {
    const text = view.state.doc.toString();
    const found = await told(text, [...text.slice(0, position)].length);
    if (!found) { return null; }
    const at = places(text);
    const dom = document.createElement("div");
    dom.className = "told";
    dom.textContent = found.text.replace(/^```\w*$/gm, "").replace(/\*\*(.+?)\*\*/g, "$1").replace(/`/g, "").trim();
    return { pos: at(found.from), end: at(found.to), above: true, create: () => ({ dom }) };
  });
}

/* Return an editor in `host`. `tables` are the rules of colours by the kind of program; `changed` is told of each
   change; `told` says what there is to say of an offset in a text, from, to and Markdown, or null. */
export function editorIn(host, tables, changed, told) {
  const root = host.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      extensions: [
        kindField, colours(tables), lineNumbers(), history(), drawSelection(), highlightActiveLine(),
        highlightActiveLineGutter(), highlightSelectionMatches(), lintGutter(), THEME,
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
        EditorState.tabSize.of(2), hovers(told),
        EditorView.contentAttributes.of({ "aria-label": "Program", spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) { changed(); } }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    set: (text, kind) => view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: text }, effects: setKind.of(kind),
    }),
    /* Show findings: { from, to, severity, message }, as page_worker.py counts, by characters and not by halves of them. */
    mark: (found) => {
      const at = places(view.state.doc.toString());
      const shown = found.map((each) => ({ ...each, from: at(each.from), to: at(each.to) }));
      view.dispatch(setDiagnostics(view.state, shown));
    },
    /* Put the cursor at the beginning of a line, counted from 1, and show it. */
    go: (number) => {
      const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
      view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
      view.focus();
    },
  };
}
