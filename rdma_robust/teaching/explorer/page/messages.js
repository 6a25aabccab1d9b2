"use strict";
(() => {
  const KEYED = 9;
  const { byId, h, quoted, value, keepInView, sourceLine, transport, fill, focusedKey, refocus, badge, drawTitle, LONGEST_NAME } = explorer;
  let program = null;
  let verdict = null;
  let now = null;
  let auto = false;

  /* ---- what the reader does ---- */

  const act = (what) => exploration.act(what);
  const step = (choice) => act(auto ? ["step", choice, "local"] : ["step", choice]);
  const go = (at) => { if (at >= 0 && at <= now.steps.length && at !== now.at) { act(["go", at]); } };

  /* Where local steps go by themselves, back and forward go to where something was to be chosen. */
  function before() {
    let at = now.at - 1;
    while (auto && at > 0 && now.steps[at].local) { at -= 1; }
    return at;
  }

  function behind() {
    let at = now.at + 1;
    while (auto && at < now.steps.length && now.steps[at].local) { at += 1; }
    return at;
  }

  function setAuto(on) {
    auto = on;
    if (auto && now.moves.some((move) => move.local)) { act(["local"]); } else { render(now); }
  }

  function showRun(found) {
    if (found) { exploration.lead(found.address); }
  }

  /* ---- drawing ---- */

  function render(found) {
    now = found;
    const focused = focusedKey();
    document.querySelector(`#buffers input[value="${now.buffer}"]`).checked = true;
    document.querySelector("#run .transport").replaceChildren(...transport({ ...now, name: "", back: before(), forward: behind(), go }));
    fill(document.querySelector("#run .body"), [...banners(), next(), processes(), endpoints(), steps()]);
    drawSource();
    drawChart();
    byId("restart").disabled = now.steps.length === 0;
    if (focused) { refocus(byId("run"), focused); }
  }

  function announce() {
    const last = now.at > 0 ? now.steps[now.at - 1] : null;
    const end = now.end.kind ? ` ${ENDS[now.end.kind][0]} ${now.end.text}` : "";
    byId("live").textContent = `Step ${now.at} of ${now.steps.length}. ${last ? `${last.process} ${last.label}.` : ""}${end}`.replaceAll("`", "");
  }

  const ENDS = { complete: ["Complete.", "ok"], deadlock: ["Deadlock.", "bad"], stopped: ["Stopped.", "warn"] };

  function banners() {
    const found = [];
    if (now.end.kind) {
      const [head, kind] = ENDS[now.end.kind];
      found.push(h("div", { class: `banner ${kind}`, "data-ending": now.end.kind }, h("p", {}, h("b", {}, head), " ", now.end.text),
        now.end.reasons.length ? h("ul", {}, now.end.reasons.map((each) => h("li", {}, each))) : null,
        now.end.advice ? h("p", { class: "quiet" }, ...quoted(now.end.advice)) : null));
    }
    if (now.violations.length) {
      found.push(h("div", { class: "banner bad", "data-violations": now.violations.length }, h("p", {}, h("b", {}, "Something went wrong on the way:")),
        h("ul", {}, now.violations.map((each) => h("li", {}, ...quoted(each))))));
    }
    return found;
  }

  function next() {
    if (!now.moves.length) { return null; }
    const planned = now.at < now.steps.length ? now.steps[now.at].choice : -1;
    const groups = new Map();
    for (const move of now.moves) {
      if (!groups.has(move.process)) { groups.set(move.process, []); }
      groups.get(move.process).push(move);
    }
    const local = now.moves.some((move) => move.local);
    return h("section", { class: "next", "aria-label": "What can happen next" }, h("h3", {}, "What can happen next"),
      h("div", { class: "local" },
        h("button", { type: "button", id: "local", "data-key": "local", disabled: !local, onclick: () => act(["local"]) }, "Run local steps"),
        h("label", {}, h("input", { type: "checkbox", id: "auto", "data-key": "auto", checked: auto, onclick: (event) => setAuto(event.target.checked) }), "by themselves")),
      [...groups].map(([name, moves]) => h("div", { class: `agent ${moves[0].kind === "step" ? "cpu" : "nic"}` }, h("h4", {}, name),
        moves.map((move) => moveButton(move, planned)))));
  }

  function moveButton(move, planned) {
    return h("button", {
      type: "button", class: `move by-${move.kind}${move.choice === planned ? " planned" : ""}${move.faults.length ? " faulty" : ""}`,
      "data-key": `move${move.choice}`, "data-line": move.line, onclick: () => step(move.choice),
    },
    h("span", { class: "number", "aria-hidden": "true" }, move.choice < KEYED ? String(move.choice + 1) : "·"),
    h("span", { class: "what" }, ...quoted(move.label), move.hint ? h("small", {}, ...quoted(move.hint)) : null,
      move.faults.map((fault) => h("small", { class: "fault" }, fault))),
    h("span", { class: "where" }, move.line ? `line ${move.line}` : ""),
    move.choice === planned ? h("span", { class: "tag" }, "this run") : null);
  }

  function processes() {
    if (!now.processes.length) { return null; }
    return h("section", { class: "threads" }, h("h3", {}, "Processes"), now.processes.map((each) =>
      h("div", { class: `thread ${each.status}`, "data-process": each.name },
        h("p", { class: "who" }, h("b", {}, each.name), each.daemon ? " (daemon)" : "", h("span", { class: `status ${each.status}` }, each.status)),
        h("p", { class: "at" }, each.line ? h("span", { class: "where" }, `line ${each.line} `) : null,
          each.line ? h("code", {}, each.text) : each.text),
        each.note ? h("p", { class: "note" }, each.note) : null,
        each.registers.length ? h("p", { class: "values" }, each.registers.map((one) => value(one))) : null,
        each.requests.length ? h("p", { class: "values" }, each.requests.map((one) => value(one))) : null)));
  }

  function endpoints() {
    if (!now.endpoints.length) { return null; }
    const lane = (title, kind, items) => (items.length ? h("div", { class: "lane" }, h("span", { class: "lane-name short" }, title),
      h("ol", {}, items.map((each) => h("li", { class: `operation ${kind}`, "data-line": each.line, title: each.line ? `line ${each.line}` : "" }, each.text)))) : null);
    return h("section", { class: "queues" }, h("h3", {}, "Not matched yet"), now.endpoints.map((each) =>
      h("div", { class: "queue", "data-endpoint": each.name }, h("h4", {}, "to " + each.name),
        lane("messages", "send", each.sends), lane("receives", "receive", each.receives))));
  }

  function steps() {
    if (!now.steps.length) { return null; }
    const item = (each, i) => {
      const number = i + 1;
      const classes = `step${number === now.at ? " current" : ""}${number > now.at ? " ahead" : ""}${each.local ? "" : " effect"}${each.faults.length ? " breaks" : ""}`;
      return h("li", { class: classes, "data-step": number },
        h("button", { type: "button", "data-key": `step${number}`, "aria-current": number === now.at ? "step" : null, onclick: () => go(number) },
          h("span", { class: "number" }, String(number)), h("span", { class: "what" }, h("span", { class: "agent-name" }, each.process + " "), ...quoted(each.label),
            each.faults.map((fault) => h("small", { class: "fault" }, fault))),
          h("span", { class: "where" }, each.line ? `line ${each.line}` : "")));
    };
    return h("section", { class: "log" }, h("h3", {}, "The run"), h("ol", { tabindex: "0", "aria-label": "The run" }, now.steps.map(item)));
  }

  /* A name that fits into the gutter, with the number of a process of a family. */
  function short(name) {
    const [, family, number] = name.match(/^(.*?)(\[[^\]]*\])?$/);
    const room = LONGEST_NAME - (number || "").length;
    return (family.length > room ? family.slice(0, Math.max(1, room - 1)) + "…" : family) + (number || "");
  }

  function drawSource() {
    const marks = new Map();
    for (const each of now.processes.filter((one) => one.line)) {
      if (!marks.has(each.line)) { marks.set(each.line, []); }
      const waits = each.status === "waiting";
      marks.get(each.line).push(h("span", { class: `chip ${waits ? "sc" : "rdma"}`, title: `${each.name} ${waits ? each.note : "is here"}` }, short(each.name)));
    }
    const last = now.at ? now.steps[now.at - 1].line : null;
    const box = byId("code");
    const fresh = box.childElementCount === 0;
    const lines = program.coloured.map((text, i) => sourceLine(i + 1, text,
      `line${marks.has(i + 1) ? " here" : ""}${i + 1 === last ? " last" : ""}`, marks.get(i + 1) || []));
    const scrolled = box.scrollTop;
    box.replaceChildren(...lines);
    box.scrollTop = scrolled;
    const wanted = fresh || !last ? box.querySelector(".here") : lines[last - 1];
    if (wanted) { keepInView(box, wanted); }
  }

  /* The policy of the page allows no styles in texts: the drawing's are set one by one. */
  function drawChart() {
    const box = byId("drawing");
    const image = document.importNode(new DOMParser().parseFromString(now.drawing, "image/svg+xml").documentElement, true);
    image.querySelectorAll("[data-style]").forEach((each) => { each.style.cssText = each.dataset.style; });
    const low = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    box.replaceChildren(image);
    if (low) { box.scrollTop = box.scrollHeight; }
  }

  function drawProgram(found) {
    program = found;
    drawTitle(program, program.processes, program.file);
  }

  function drawVerdict(found) {
    verdict = found;
    const words = { fine: ["OK", "robust"], wrong: ["goes wrong", "not-robust"], unknown: ["undecided", "unknown"] };
    const [said, kind] = found ? words[found.verdict] : ["deciding …", ""];
    badge(kind, said, found ? found.text : "");
    byId("found").replaceChildren(...(found ? found.runs : []).map((run) => h("button", {
      type: "button", class: run.kind === "leak" ? null : "primary", "data-run": run.kind, title: run.text, onclick: () => showRun(run),
    }, `Show the ${run.kind}`)));
  }

  /* ---- wiring ---- */

  const exploration = explorer.exploration({
    render, announce, drawProgram, drawVerdict,
    take: (choice) => { if (choice < now.moves.length) { step(choice); } },
    pane: "run", lit: "#run [data-line], #chart [data-line]",
    paned: () => {},
    commands: {
      ArrowLeft: () => go(before()), ArrowRight: () => go(behind()), Home: () => go(0), End: () => go(now.steps.length),
      l: () => act(["local"]), a: () => setAuto(!auto), w: () => showRun(verdict && verdict.runs[0]),
    },
  });
  byId("buffers").addEventListener("change", (event) => act(["buffer", event.target.value]));
  exploration.begin();
})();
