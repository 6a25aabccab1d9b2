/* The playground: an editor, and tabs that ask the tool in the worker about what is in it. */
import { drawing, element, linked } from "./answers.js";
import { editorIn } from "./editor.js";
import { Exercises } from "./exercises.js";
import { Explorer } from "./explorer.js";
import { fragmentOf, keepInTab, keptInTab, stateOf } from "./link.js";
import { Stopped, Tool } from "./tool.js";
import { compiled } from "./tokens.js";

const byId = (id) => document.getElementById(id);
const parts = Object.fromEntries(
  ["examples", "kind", "hardware", "seconds", "editor", "run", "stop", "state", "tabs", "panel", "lacks", "badge", "forms", "actions", "apply",
    "step", "said", "drawn", "explorer", "share", "notice", "exercise", "exercises"].map((id) => [id, byId(id)]),
);
const EMBEDDED = window.self !== window.top || new URLSearchParams(location.search).has("embed");
const STATES = { loading: "loading Python …", ready: "ready", working: "working …" };

let data;
let editor;
let tool;
let explorer;
let exercises;
let tab;
let form = 0;
let typing;
let wanted = "";  // what is asked now; the answer to anything else is not shown
const answers = new Map();
const asking = new Set();

async function json(name) {
  const answer = await fetch(name);
  if (!answer.ok) { throw new Error(`${name}: ${answer.status}`); }
  return answer.json();
}

function notice(text) {
  parts.notice.textContent = text;
  parts.notice.hidden = !text;
}

/* ---- what is asked */

const kind = () => parts.kind.value;
const file = () => `program.${kind()}`;
const options = () => Object.fromEntries(
  [...parts.hardware.querySelectorAll("select")].filter((each) => kind() === "rdma" && each.value).map((each) => [each.name, each.value]),
);

function question(which) {
  const { words } = which[kind()].forms[form];
  const hardware = which.hardware ? Object.entries(options()).map(([name, value]) => `--${name}=${value}`) : [];
  return [...words, ...hardware, "--timeout", parts.seconds.value, file()];
}

async function run() {
  const which = tab;
  if (which.explored) { explore("", false); return; }
  const text = editor.text();
  const asked = question(which);
  const key = JSON.stringify([asked, text]);
  notice("");
  wanted = key;
  parts.panel.classList.add("old");
  if (asking.has(key)) { return; }
  const known = answers.get(key);
  if (known) { tool.free(); }
  const answer = known ?? await answered(key, asked, { [file()]: text }, which.writes ? [which.writes] : []);
  if (wanted === key) { show(answer, which, text === editor.text()); }
}

/* Return how many characters of a report fit beside each other. */
function columns() {
  const context = document.createElement("canvas").getContext("2d");
  context.font = getComputedStyle(parts.said).font;
  return Math.floor((parts.panel.clientWidth - 24) / context.measureText("0").width);
}

/* Return what the tool answers, which is kept but where a limit came first; what was stopped has an answer that says so. */
async function answered(key, asked, files, read) {
  asking.add(key);
  try {
    const answer = await tool.ask(asked, files, read, Number(parts.seconds.value), columns());
    if (answer.exit !== 3) { answers.set(key, answer); }
    return answer;
  } catch (error) {
    if (!(error instanceof Stopped)) { notice(`The tool cannot be loaded: ${error.message}. Run tries again.`); }
    return { exit: 3, out: "", err: `unknown: ${error.message}`, files: {} };
  } finally {
    asking.delete(key);
  }
}

/* Open the explorer at a place, with `lead` at the counterexample. */
function explore(place, lead) {
  parts.panel.classList.remove("old");
  explorer.open({ text: editor.text(), file: file(), options: options() }, place, lead);
}

/* ---- what is shown */

const C = /^\s*#\s*(include|define)\b|^\s*(int|void)\s+\w+\s*\(/m;
const PLACED = /^program\.\w+:\d+:/m;
const MEANINGS = { 0: ["ok", 0], 1: ["wrong", 1], 3: ["unknown", 2] };

/* Return what the badge says of an answer, and its meaning. A report may have the place of a mistake, too. */
function verdictOf({ exit, out, err }, { said, vacant }) {
  if (vacant && exit === 0 && err.includes(`[${vacant[0]}]`)) { return ["unknown", vacant[1]]; }
  const [meaning, number] = MEANINGS[exit] ?? ["unknown"];
  return [meaning, said[number] ?? (PLACED.test(`${err}\n${out}`) ? "not well-formed" : "no answer")];
}

/* Show an answer, to the text as it is or as it was. */
function show(answer, which, current) {
  const [meaning, said] = verdictOf(answer, which[kind()]);
  parts.panel.classList.toggle("old", !current);
  parts.badge.textContent = said;
  parts.badge.className = `verdict ${meaning}`;
  parts.badge.hidden = false;
  lacking(answer.exit === 3 ? data.said.cut : answer.exit === 2 && C.test(editor.text()) ? data.said.c : "");
  const drawn = drawing(answer.out, editor.go);
  parts.drawn.replaceChildren(...(drawn ? [drawn] : []));
  parts.drawn.hidden = !drawn;
  parts.said.replaceChildren(...linked([drawn ? "" : answer.out, answer.err].filter(Boolean).join("\n"), editor.go));
  parts.apply.dataset.text = answer.files[which.writes] ?? "";
  parts.apply.hidden = !answer.files[which.writes];
  parts.step.hidden = answer.exit !== 1 || !["verdict", "messages", "explanation"].includes(which.name);
  parts.actions.hidden = !current || (parts.apply.hidden && parts.step.hidden);
}

/* Say what answers of this tab lack, and what the one that is shown does. */
function lacking(more) {
  parts.lacks.textContent = [tab[kind()].lacks, more].filter(Boolean).join(" ");
  parts.lacks.hidden = !parts.lacks.textContent;
}

/* Show nothing, as no answer is here yet. */
function clear() {
  wanted = "";
  [parts.badge, parts.actions, parts.drawn].forEach((each) => { each.hidden = true; });
  parts.said.replaceChildren();
  parts.drawn.replaceChildren();
}

/* The forms of an answer, if it has more than one. */
function offerForms() {
  const { forms } = tab[kind()];
  parts.forms.hidden = forms.length < 2;
  parts.forms.replaceChildren(...forms.map((each, number) => {
    const button = element("button", { type: "button", "aria-pressed": String(number === form) }, each.title);
    button.addEventListener("click", () => { chooseForm(number); run(); });
    return button;
  }));
}

function chooseForm(number) {
  form = number;
  [...parts.forms.children].forEach((each, at) => each.setAttribute("aria-pressed", String(at === form)));
  clear();
}

/* ---- tabs: arrows move, as the pattern for tab lists has it */

function choose(name, focus) {
  tab = data.tabs.find((each) => each.name === name && each[kind()]) ?? data.tabs.find((each) => each[kind()]);
  form = 0;
  for (const each of parts.tabs.children) {
    const chosen = each.dataset.name === tab.name;
    each.setAttribute("aria-selected", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    if (chosen) {
      parts.panel.setAttribute("aria-labelledby", each.id);
      if (focus) { each.focus(); }
    }
  }
  lacking("");
  document.body.classList.toggle("exploring", tab.explored);
  parts.explorer.hidden = !tab.explored;
  parts.said.hidden = tab.explored;
  offerForms();
  clear();
}

function offered() {
  if (parts.tabs.dataset.kind === kind()) { return; }
  parts.tabs.dataset.kind = kind();
  parts.tabs.replaceChildren(...data.tabs.filter((each) => each[kind()]).map((each) => {
    const button = element("button", { type: "button", role: "tab", id: `tab-${each.name}`, "aria-controls": "panel" }, each.title);
    button.dataset.name = each.name;
    button.addEventListener("click", () => { choose(each.name, false); run(); });
    return button;
  }));
  parts.hardware.hidden = kind() !== "rdma";
}

function moved(event) {
  const all = [...parts.tabs.children];
  const at = all.findIndex((each) => each.dataset.name === tab.name);
  const to = { ArrowRight: (at + 1) % all.length, ArrowLeft: (at + all.length - 1) % all.length, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) { return; }
  event.preventDefault();
  choose(all[to].dataset.name, true);
  run();
}

/* ---- programs: examples, links, changes */

function load(given) {
  parts.kind.value = given.kind;
  offered();
  for (const select of parts.hardware.querySelectorAll("select")) {
    select.value = given.options[select.name] ?? "";
    if (select.selectedIndex < 0) { select.value = ""; }
  }
  editor.set(given.text, given.kind);
  choose(given.tab, false);
  exercises.open(given.exercise ?? "");
}

function example(path) {
  const shelf = data.examples.find((each) => each.programs.some((one) => one.path === path));
  const { text } = shelf.programs.find((one) => one.path === path);
  load({ text, kind: path.endsWith(".mp") ? "mp" : "rdma", options: {}, tab: tab?.name ?? "verdict" });
  run();
}

/* Return what a link has in it. */
function state() {
  const place = tab.explored ? explorer.place : "";
  return { text: editor.text(), kind: kind(), tab: tab.name, options: options(), place, exercise: exercises.name };
}

/* Put into the address what is shown, and return the address. */
async function linkHere() {
  history.replaceState(null, "", `#${await fragmentOf(state())}`);
  return location.href;
}

/* Load a state, and ask what its tab asks. */
function open(given) {
  load(given);
  if (tab.explored) { explore(given.place, false); } else { run(); }
}

async function share() {
  try {
    await linkHere();
    if (EMBEDDED) { window.open(`${location.pathname}${location.hash}`, "_blank", "noopener"); return; }
    await navigator.clipboard.writeText(location.href).then(
      () => notice("The link is copied. It has the program in it; nothing was sent anywhere."),
      () => notice("The link is in the address bar. It has the program in it; nothing was sent anywhere."),
    );
  } catch (error) {
    notice(`There is no link: ${error.message}.`);
  }
}

/* Load what the address says. Where that cannot be read there is nothing to show: an example would look as if it was sent. */
async function fromAddress() {
  const fragment = location.hash.slice(1);
  if (!fragment) { return; }
  try {
    const given = await stateOf(fragment);
    if (fragment !== location.hash.slice(1)) { return; }
    notice("");
    open(given);
    const unknown = unknownIn(given);
    if (unknown.length) { notice(`The link names what this page does not have: ${unknown.join(", ")}. It was left out.`); }
  } catch (error) {
    if (!tab) { load({ text: "", kind: "rdma", options: {}, tab: "verdict" }); }
    notice(`This link cannot be opened: ${error.message}. What is in the editor is not what was sent.`);
  }
}

/* What a link of another version names: a tab, options of the hardware, an exercise. */
function unknownIn({ kind: language, tab: name, options: given, exercise: asked }) {
  const offers = (option, value) => data.hardware.some((each) => each.name === option && each.values.includes(value));
  return [
    ...(data.tabs.some((each) => each.name === name && each[language]) ? [] : [`the tab ${name}`]),
    ...Object.entries(given).filter(([option, value]) => !offers(option, value)).map(([option, value]) => `${option} ${value}`),
    ...(asked && !exercises.name ? [`the exercise ${asked}`] : []),
  ];
}

function changed() {
  parts.actions.hidden = true;
  parts.panel.classList.add("old");
  clearTimeout(typing);
  typing = setTimeout(() => look().catch(() => { /* the worker was ended: the next change asks again */ }), 300);
}

/* Show what is wrong with the text, without deciding anything. */
async function look() {
  const text = editor.text();
  keepInTab(state());
  const found = await tool.call("findings", [text, file()]);
  if (text === editor.text()) { editor.mark(found); }
}

const told = (text, offset) => tool.call("hover_at", [text, file(), offset]).catch(() => null);

/* ---- the page */

function fill() {
  for (const shelf of data.examples) {
    const group = element("optgroup", { label: shelf.title });
    group.append(...shelf.programs.map((each) => element("option", { value: each.path }, each.path.replace(/^.*\//, ""))));
    parts.examples.append(group);
  }
  parts.hardware.append(...data.hardware.map(({ name, label, values }) => {
    const select = element("select", { name });
    select.append(element("option", { value: "" }, "as it says"), ...values.map((each) => element("option", { value: each }, each)));
    select.addEventListener("change", run);
    const around = element("label", {}, `${label} `);
    around.append(select);
    return around;
  }));
}

function listen() {
  parts.run.addEventListener("click", run);
  parts.stop.addEventListener("click", () => tool.stop("stopped"));
  parts.share.addEventListener("click", share);
  parts.apply.addEventListener("click", () => {
    editor.set(parts.apply.dataset.text, kind());
    choose("verdict", true);
    run();
  });
  parts.step.addEventListener("click", () => { choose("explorer", true); explore("", true); });
  parts.tabs.addEventListener("keydown", moved);
  parts.examples.addEventListener("change", () => { if (parts.examples.value) { example(parts.examples.value); } });
  parts.kind.addEventListener("change", () => { offered(); editor.set(editor.text(), kind()); choose(tab.name, false); run(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  }, true);
  window.addEventListener("hashchange", fromAddress);
  window.addEventListener("pagehide", () => { if (tab) { keepInTab(state()); } });
}

function heard(what, why) {
  parts.state.textContent = STATES[what] ?? `broken: ${why}`;
  document.body.dataset.tool = what;
  if (what === "ready") { keep(); }
  parts.stop.disabled = !(tool?.waiting);
}

/* Keep the files of the page for when there is no network, after they were needed for the first time. */
function keep() {
  navigator.serviceWorker?.register("offline.js").catch(() => { /* it needs https or this machine; the page works without */ });
}

async function begin() {
  document.body.classList.toggle("embedded", EMBEDDED);
  if (EMBEDDED) { parts.share.textContent = "Open in a tab"; }
  tool = new Tool(heard);
  explorer = new Explorer(parts.explorer, tool, linkHere);
  data = await json("playground.json");
  const tables = Object.fromEntries(Object.entries(data.colours).map(([name, stored]) => [name, compiled(stored)]));
  editor = editorIn(parts.editor, tables, changed, told);
  exercises = new Exercises(parts.exercise, parts.exercises, data.exercises, tool, {
    begin: (text) => { const { name } = exercises; load({ text, kind: "rdma", options: {}, tab: "verdict", exercise: name }); },
    text: () => editor.text(),
    seconds: () => Number(parts.seconds.value),
  });
  fill();
  listen();
  const before = keptInTab();
  if (before) { open(before); } else if (location.hash.length > 1) { await fromAddress(); } else { example(data.first); }
}

begin().catch((error) => notice(`The page cannot be loaded: ${error.message}.`));
