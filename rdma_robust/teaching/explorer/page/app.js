"use strict";
(() => {
  const SIDES = ["rdma", "sc"];
  const NAMES = { rdma: "RDMA", sc: "SC" };
  const KEYED = 9;
  const { byId, h, quoted, value, keepInView, sourceLine, transport, fill, focusedKey, refocus, badge, drawTitle } = explorer;
  let program = null;
  let verdict = null;
  let now = null;
  let active = "rdma";

  /* ---- what the reader does ---- */

  function act(what, side) {
    if (side) { active = side; }
    exploration.act(what);
  }

  const canStep = (side) => side === "rdma" || now.mode === "free";
  const go = (side, at) => {
    if (canStep(side) && at >= 0 && at <= now[side].steps.length && at !== now[side].at) { act(["go", side, at], side); }
  };
  const back = (side) => go(side, now[side].at - 1);
  const forward = (side) => go(side, now[side].at + 1);

  function showWitness() {
    if (verdict && verdict.address) { exploration.lead(verdict.address); }
  }

  /* ---- drawing ---- */

  function render(found) {
    now = found;
    const focused = focusedKey();
    const side = document.activeElement && document.activeElement.closest ? document.activeElement.closest(".side") : null;
    document.body.dataset.mode = now.mode;
    document.querySelector(`#modes input[value="${now.mode}"]`).checked = true;
    for (const each of SIDES) { drawSide(each); }
    drawSource();
    byId("restart").disabled = now.rdma.steps.length === 0 && now.sc.steps.length === 0;
    if (side && focused) { refocus(side, focused); }
    for (const each of SIDES) { byId(each).classList.toggle("active", each === active && now.mode === "free"); }
  }

  function announce(before) {
    for (const side of SIDES) {
      if (!canStep(side) || before[side].at === now[side].at) { continue; }
      const at = now[side].at;
      const step = at > 0 ? now[side].steps[at - 1] : null;
      const broken = side === "rdma" && now.broken && now.broken.step === at ? " Sequential consistency can follow no further." : "";
      byId("live").textContent = `${NAMES[side]} step ${at} of ${now[side].steps.length}. ${step ? who(step) + " " + step.label : ""}.${broken}`;
    }
  }

  function who(move) {
    if (move.agent === "start") { return "Start"; }
    return move.agent === "cpu" ? `${move.thread} CPU` : `${move.thread} NIC to ${move.remote}`;
  }

  function drawSide(name) {
    const side = now[name];
    const by = byId(name);
    by.querySelector(".transport").replaceChildren(...progress(name, side));
    fill(by.querySelector(".body"), [
      ...banners(name, side), next(name, side), threads(side), memory(side), queues(name, side), steps(name, side),
    ]);
  }

  function progress(name, side) {
    if (canStep(name)) {
      return transport({ ...side, name: NAMES[name], back: side.at - 1, forward: side.at + 1, go: (at) => go(name, at) });
    }
    return [h("span", { class: "tag" }, "follows"), h("span", { class: "count" }, `${side.at} ${side.at === 1 ? "step" : "steps"}`)];
  }

  function banners(name, side) {
    const found = [];
    if (now.broken && (name === "rdma" || now.mode === "follow")) { found.push(broken(name)); }
    if (side.ending) {
      const weak = side.ending_text.includes("No run under");
      found.push(h("div", { class: `banner ${side.ending === "stuck" || weak ? "warn" : "ok"}`, "data-ending": side.ending },
        h("p", {}, h("b", {}, side.ending === "stuck" ? "Stuck. " : "Final state. "), side.ending_text.replace(/^(The end: |Stuck: )/, "").replace(/^./, (c) => c.toUpperCase())),
        side.claims.map((claim) => h("p", { class: "claim" }, h("span", { class: claim.holds ? "yes" : "no" }, claim.holds ? "holds" : "does not hold"),
          " ", h("code", {}, claim.text), h("span", { class: "where" }, ` line ${claim.line}`)))));
    }
    if (side.faults.length) {
      found.push(h("div", { class: "banner warn" }, h("p", {}, h("b", {}, "Something went wrong on the way:")), h("ul", {}, side.faults.map((fault) => h("li", {}, fault)))));
    }
    return found;
  }

  function broken(name) {
    if (name === "rdma") {
      return h("div", { class: "banner bad" }, h("p", {}, `From step ${now.broken.step} on, no run under sequential consistency has these effects.`));
    }
    return h("div", { class: "banner bad", "data-broken": now.broken.step },
      h("p", {}, h("b", {}, `SC cannot follow RDMA step ${now.broken.step}. `), "Each of these would have to come before the next, in a circle:"),
      h("ol", { class: "reasons" }, now.broken.cycle.map((link) => h("li", {}, ...quoted(link)))),
      h("p", { class: "quiet" }, "The state below is that of the last step that SC could follow."));
  }

  function next(name, side) {
    if (!canStep(name)) {
      return now.broken ? null : h("p", { class: "quiet follows" }, side.at
        ? "A run under sequential consistency with the same reads and the same order of writes to each word as the RDMA run so far."
        : "Make a move on the RDMA side: this side follows it as long as sequential consistency can.");
    }
    if (!side.moves.length) { return null; }
    const planned = side.at < side.steps.length ? side.steps[side.at].choice : -1;
    const groups = new Map();
    side.moves.forEach((move) => {
      const key = who(move);
      if (!groups.has(key)) { groups.set(key, []); }
      groups.get(key).push(move);
    });
    return h("section", { class: "next", "aria-label": `${NAMES[name]}: what can happen next` },
      h("h3", {}, "What can happen next"),
      [...groups].map(([agent, moves]) => h("div", { class: `agent ${moves[0].agent}` }, h("h4", {}, agent),
        moves.map((move) => moveButton(name, move, planned)))));
  }

  function moveButton(name, move, planned) {
    return h("button", {
      type: "button", class: `move${move.choice === planned ? " planned" : ""}${move.faults.length ? " faulty" : ""}`,
      "data-key": `move${move.choice}`, "data-line": move.line, onclick: () => act(["step", name, move.choice], name),
    },
    h("span", { class: "number", "aria-hidden": "true" }, move.choice < KEYED ? String(move.choice + 1) : "·"),
    h("span", { class: "what" }, move.operation && move.agent === "nic" ? h("span", { class: "op" }, `#${move.operation} `) : null, move.label,
      move.then ? h("small", {}, move.then) : null, move.hint ? h("small", {}, move.hint) : null,
      move.faults.map((fault) => h("small", { class: "fault" }, fault))),
    h("span", { class: "where" }, move.line ? `line ${move.line}` : ""),
    move.choice === planned ? h("span", { class: "tag" }, "this run") : null);
  }

  function threads(side) {
    if (!side.threads.length) { return null; }
    return h("section", { class: "threads" }, h("h3", {}, "Threads"), side.threads.map((thread) =>
      h("div", { class: `thread ${thread.status}`, "data-thread": thread.name },
        h("p", { class: "who" }, h("b", {}, thread.name), ` on ${thread.node}`, h("span", { class: `status ${thread.status}` }, thread.status)),
        h("p", { class: "at" }, thread.lines.length ? h("span", { class: "where" }, `line ${thread.lines.join(", ")} `) : null, h("code", {}, thread.text)),
        thread.carries ? h("p", { class: "at carries" }, h("code", {}, thread.carries)) : null,
        thread.registers.length ? h("p", { class: "values" }, thread.registers.map((each) => value(each))) : null)));
  }

  function memory(side) {
    const nodes = side.nodes.filter((node) => node.cells.length);
    return h("section", { class: "memory" }, h("h3", {}, "Memory"), h("div", { class: "nodes" }, nodes.map((node) =>
      h("div", { class: "node", "data-node": node.name }, h("h4", {}, node.name), h("p", { class: "values" }, node.cells.map((each) => value(each)))))));
  }

  function queues(name, side) {
    if (!side.queues.length) { return null; }
    if (name === "sc") {
      const counted = side.queues.filter((each) => each.complete);
      return counted.length ? h("section", { class: "queues" }, h("h3", {}, "Completions to poll"), h("p", { class: "values" }, counted.map((each) =>
        h("span", { class: "value" }, h("i", {}, `${each.thread} → ${each.remote}`), h("b", {}, String(each.complete)))))) : null;
    }
    return h("section", { class: "queues" }, h("h3", {}, "Queue pairs"), side.queues.map((each) =>
      h("div", { class: `queue${isIdle(each) ? " idle" : ""}`, "data-queue": `${each.thread}>${each.remote}` }, h("h4", {}, `${each.thread} → ${each.remote}`),
        each.pipe.length ? lane("pipe", each.pipe) : null,
        each.remote_writes.length ? lane("write buffer to " + each.remote, each.remote_writes) : null,
        each.local_writes.length ? lane("write buffer to own memory", each.local_writes) : null,
        completions(each),
        isIdle(each) ? h("span", { class: "empty" }, "idle") : null)));
  }

  function isIdle(queue) {
    return queue.pipe.length + queue.remote_writes.length + queue.local_writes.length + queue.unpolled.length === 0;
  }

  function lane(title, operations) {
    return h("div", { class: "lane" }, h("span", { class: "lane-name" }, title),
      h("ol", {}, operations.map((each) => h("li", { class: "operation", title: `line ${each.line}` }, h("span", { class: "op" }, `#${each.number} `),
        each.value && each.value.includes("=") ? each.value : each.text, each.value && !each.value.includes("=") ? h("em", {}, ` ${each.value}`) : null))));
  }

  function completions(each) {
    if (!each.unpolled.length) { return null; }
    return h("div", { class: "lane" }, h("span", { class: "lane-name" }, "to be polled"), h("ol", {}, each.unpolled.map((operation, i) =>
      h("li", { class: `operation ${i < each.complete ? "complete" : "open"}` }, `#${operation.number} ${i < each.complete ? "complete" : "not complete"}`))));
  }

  function steps(name, side) {
    if (!side.steps.length) { return null; }
    const item = (step, i) => {
      const number = i + 1;
      const isBroken = name === "rdma" && now.broken && now.broken.step === number;
      const content = [h("span", { class: "number" }, String(number)), h("span", { class: "what" }, h("span", { class: "agent-name" }, who(step) + " "),
        step.operation && step.agent === "nic" ? h("span", { class: "op" }, `#${step.operation} `) : null, step.label,
        step.faults.map((fault) => h("small", { class: "fault" }, fault)), isBroken ? h("small", { class: "fault" }, "SC cannot follow from here on") : null),
      h("span", { class: "where" }, step.line ? `line ${step.line}` : "")];
      const classes = `step ${step.agent}${number === side.at ? " current" : ""}${number > side.at ? " ahead" : ""}${step.effect ? " effect" : ""}${isBroken ? " breaks" : ""}`;
      return h("li", { class: classes, "data-step": number }, canStep(name)
        ? h("button", { type: "button", "data-key": `step${number}`, "aria-current": number === side.at ? "step" : null, onclick: () => go(name, number) }, content)
        : h("div", { class: "row" }, content));
    };
    return h("section", { class: "log" }, h("h3", {}, "The run"), h("ol", { tabindex: "0", "aria-label": `${NAMES[name]}: the run` }, side.steps.map(item)));
  }

  /* What stands in the gutter: a thread once where it is at the same line on both sides, and the operations under way. */
  function marksOfLines() {
    const marks = new Map();
    const mark = (line, kind, text, title) => {
      if (!marks.has(line)) { marks.set(line, []); }
      marks.get(line).push(h("span", { class: `chip ${kind}`, title }, text));
    };
    const places = Object.fromEntries(SIDES.map((side) => [side, new Map(now[side].threads.map((each) => [each.name, each.lines]))]));
    for (const name of new Set([...places.rdma.keys(), ...places.sc.keys()])) {
      const [here, there] = [places.rdma.get(name) || [], places.sc.get(name) || []];
      for (const line of new Set([...here, ...there])) {
        const kind = !there.includes(line) ? "rdma" : here.includes(line) ? "both" : "sc";
        const where = kind === "both" ? "on both sides" : `on the ${NAMES[kind]} side`;
        mark(line, kind, name, `${name} is here ${where}`);
      }
    }
    for (const each of now.rdma.queues) {
      for (const operation of [...each.pipe, ...each.remote_writes, ...each.local_writes]) {
        mark(operation.line, "nic", `#${operation.number}`, `under way on the queue pair ${each.thread} to ${each.remote}`);
      }
    }
    return marks;
  }

  function drawSource() {
    const marks = marksOfLines();
    const last = now.rdma.at ? now.rdma.steps[now.rdma.at - 1].line : null;
    const cycle = new Set(now.broken ? now.broken.lines : []);
    const box = byId("code");
    const fresh = box.childElementCount === 0;
    const lines = program.coloured.map((text, i) => {
      const number = i + 1;
      const classes = `line${marks.has(number) ? " here" : ""}${number === last ? " last" : ""}${cycle.has(number) ? " cycle" : ""}`;
      return sourceLine(number, text, classes, marks.get(number) || []);
    });
    box.replaceChildren(...lines);
    const wanted = lines[(last || 1) - 1];
    if (wanted && !fresh) { keepInView(box, wanted); }
    else {
      const first = box.querySelector(".here");
      if (first) { keepInView(box, first); }
    }
  }

  function drawProgram(found) {
    program = found;
    const options = [program.ordered_reads ? "ordered reads" : "", program.await_loops ? "await loops" : ""].filter(Boolean);
    drawTitle(program, program.threads, [program.file, ...options].join(" · "));
  }

  function drawVerdict(found) {
    verdict = found;
    const words = { robust: "robust", "not-robust": "not robust", unknown: "undecided" };
    if (found) { badge(found.verdict, words[found.verdict], found.text); }
    else { badge("", "deciding …", ""); }
    byId("witness").hidden = !found || !found.address;
  }

  /* ---- wiring ---- */

  function take(choice) {
    const side = canStep(active) ? active : "rdma";
    if (choice < now[side].moves.length) { act(["step", side, choice], side); }
  }

  const onSide = (what) => () => {
    if (!canStep(active)) { active = "rdma"; }
    what();
  };
  const beAt = (side) => onSide(() => { exploration.setPane(side); byId(side).focus(); render(now); });

  const exploration = explorer.exploration({
    render, announce, drawProgram, drawVerdict, take,
    pane: "rdma", lit: ".move[data-line]",
    paned: (name) => { if (name !== "source") { active = name; } },
    commands: {
      ArrowLeft: onSide(() => back(active)), ArrowRight: onSide(() => forward(active)), Home: onSide(() => go(active, 0)),
      End: onSide(() => go(active, now[active].steps.length)), w: onSide(showWitness),
      m: onSide(() => act(["mode", now.mode === "follow" ? "free" : "follow"])), r: beAt("rdma"), c: beAt("sc"),
    },
  });
  byId("witness").addEventListener("click", showWitness);
  byId("modes").addEventListener("change", (event) => act(["mode", event.target.value]));
  for (const side of SIDES) {
    byId(side).addEventListener("focusin", () => { if (now && canStep(side)) { active = side; } });
  }
  exploration.begin();
})();
