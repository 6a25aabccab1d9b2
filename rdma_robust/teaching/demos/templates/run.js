(() => {
  const GONE = 0, READ = 2, BUFFERED = 3, DONE = 4, POLLABLE = 8;
  const SHOWN = { pipe: 8, buffer: 5, return: 6 };
  const AHEAD = { cpu: "CPU", nic: "NIC" };
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

  class Run {
    constructor(box) {
      this.box = box;
      this.data = JSON.parse(box.querySelector("script.data").textContent);
      this.last = this.data.frames.length - 1;
      this.find = (selector) => box.querySelector(selector);
      this.values = [...box.querySelectorAll("[data-slot]")].sort((a, b) => a.dataset.slot - b.dataset.slot);
      this.threads = [...box.querySelectorAll("[data-thread]")].sort((a, b) => a.dataset.thread - b.dataset.thread);
      this.lanes = [...box.querySelectorAll("[data-queue]")];
      this.stops = new Map([...box.querySelectorAll(".stops a")].map((link) => [Number(link.dataset.step), link]));
      this.firstOperation = this.values.length + this.threads.length;
      this.posted = this.lanes.map(() => []);
      this.data.operations.forEach((operation, number) => this.posted[operation[0]].push(number));
      this.chips = new Map();
      this.at = -1;
      this.timer = 0;
      this.slider = this.find("input[type=range]");
      this.speed = this.find(".speed select");
      this.keepRoom();
      this.slider.addEventListener("input", () => { this.pause(); this.go(Number(this.slider.value)); });
      box.addEventListener("click", (event) => this.click(event));
      this.go(0, false);
    }

    /* A thread that says somewhere in more words where it is has room for them everywhere, so that nothing jumps. */
    keepRoom() {
      for (const frame of this.data.frames) {
        for (let i = 0; i < frame[12].length; i += 2) {
          const thread = this.threads[frame[12][i] - this.values.length];
          if (thread && tells(this.data.places[frame[12][i + 1]], thread.querySelector(".lines"))) { thread.dataset.tells = ""; }
        }
      }
    }

    /* ---- where the run is ---- */

    go(step, remember = true) {
      const to = Math.max(0, Math.min(this.last, step));
      if (to === this.at) { return; }
      const one = to === this.at + 1 && this.at >= 0;
      const moving = one && !calm.matches && (!this.timer || Number(this.speed.value) >= 400 || this.speed.value === "notes");
      const before = moving ? this.rectangles() : null;
      if (to < this.at || this.at < 0) {
        this.slots = new Array(this.firstOperation + this.data.operations.length).fill(0);
        this.at = -1;
      }
      while (this.at < to) {
        this.at += 1;
        const changes = this.data.frames[this.at][12];
        for (let i = 0; i < changes.length; i += 2) { this.slots[changes[i]] = changes[i + 1]; }
      }
      this.draw();
      if (before) { this.glide(before); }
      if (remember) {
        remembered(this);
        if (!this.timer) { document.getElementById("said").textContent = `${this.find(".move").textContent} ${this.find(".note:not(.far)")?.textContent || ""}`; }
      }
    }

    frame() {
      const [agent, thread, verb, line, queue, operation, word, label, hint, then, event, faults, changes] = this.data.frames[this.at];
      const text = (number) => this.data.texts[number];
      return {
        agent, thread, verb, line, queue, operation, word, label: text(label), hint: text(hint), then: text(then),
        event: text(event), faults: faults.map(text), changed: new Set(changes.filter((_, i) => i % 2 === 0)),
      };
    }

    stop(direction) {
      const stops = this.data.stops;
      const found = direction > 0 ? stops.find((step) => step > this.at) : stops.findLast((step) => step < this.at);
      this.go(found === undefined ? (direction > 0 ? this.last : 0) : found);
    }

    /* ---- playing ---- */

    play() {
      if (this.at === this.last) { this.go(0); }
      const byNotes = this.speed.value === "notes";
      const note = this.find(".note").textContent.length;
      const wait = byNotes ? 1200 + 35 * note : Number(this.speed.value);
      this.timer = setTimeout(() => {
        if (byNotes) { this.stop(1); } else { this.go(this.at + 1); }
        if (this.at < this.last) { this.play(); } else { this.pause(); }
      }, wait);
      this.drawTransport();
    }

    pause() {
      clearTimeout(this.timer);
      this.timer = 0;
      this.drawTransport();
    }

    toggle() {
      if (this.timer) { this.pause(); } else { this.play(); }
    }

    click(event) {
      activate(this);
      const link = event.target.closest(".stops a");
      if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        this.pause();
        this.go(Number(link.dataset.step));
      }
      const button = event.target.closest("button[data-do]");
      if (button) { this.act(button.dataset.do); }
    }

    act(what) {
      const acts = {
        first: () => this.go(0), last: () => this.go(this.last), back: () => this.go(this.at - 1), forward: () => this.go(this.at + 1),
        "stop-before": () => this.stop(-1), "stop-after": () => this.stop(1),
      };
      if (what === "play") { this.toggle(); }
      else if (what === "screen") { this.wholeScreen(); }
      else { this.pause(); acts[what](); }
    }

    wholeScreen() {
      if (document.fullscreenElement) { document.exitFullscreen(); }
      else if (this.box.requestFullscreen) { this.box.requestFullscreen().catch(() => {}); }
    }

    /* ---- drawing ---- */

    draw() {
      const frame = this.frame();
      this.box.dataset.agent = frame.agent;
      this.drawCaption(frame);
      this.values.forEach((element, slot) => this.drawValue(element, slot, frame));
      this.threads.forEach((element, number) => this.drawThread(element, number, frame));
      this.lanes.forEach((element, number) => this.drawLane(element, number, frame));
      this.drawTransport();
      this.slider.value = this.at;
      this.slider.setAttribute("aria-valuetext", `step ${this.at} of ${this.last}`);
    }

    drawCaption(frame) {
      const who = frame.agent === "start" ? "Start" : `${this.nameOf(frame.thread)} ${AHEAD[frame.agent]}`;
      const to = frame.agent === "nic" ? ` → ${this.data.queues[frame.queue][1]}` : "";
      this.find(".count b").textContent = this.at;
      this.find(".agent").textContent = who + to;
      const numbered = frame.agent === "nic" && this.lanes[frame.queue].classList.contains("polled");
      this.find(".number").textContent = numbered ? `#${frame.operation + 1} ` : "";
      this.find(".label").textContent = frame.agent === "start" ? "" : frame.label;
      this.find(".where").textContent = frame.line === null ? "" : `line ${frame.line}`;
      this.find(".label").title = frame.event;
      this.find(".then").textContent = frame.then ? `then ${frame.then}` : "";
      this.find(".hint").textContent = this.at === 0 ? "Play, or press the right arrow key, to see the first move." : frame.hint;
      const end = { "": "", final: "", stuck: "Here nothing can go on, and not all threads have ended." };
      this.find(".faults").textContent = [...frame.faults, this.at === this.last ? end[this.data.ending] : ""].filter(Boolean).join("; ");
      this.drawNote();
    }

    drawNote() {
      const step = this.data.stops.findLast((each) => each <= this.at);
      const note = this.find(".note");
      note.classList.toggle("far", step !== this.at);
      note.replaceChildren(...(step === undefined ? [] : this.stops.get(step).querySelector("span").cloneNode(true).childNodes));
      for (const [each, link] of this.stops) {
        const current = each === step;
        if (link.classList.contains("current") !== current) {
          link.classList.toggle("current", current);
          if (current) { keepInView(link.closest("ol"), link.parentElement); }
        }
      }
    }

    nameOf(thread) {
      return this.threads[thread].querySelector(".who b").textContent;
    }

    drawValue(element, slot, frame) {
      const value = String(this.slots[slot]);
      const shown = element.lastElementChild;
      if (shown.textContent !== value) { shown.textContent = value; }
      element.classList.toggle("zero", value === "0");
      element.classList.toggle("changed", this.at > 0 && frame.changed.has(slot));
      element.classList.toggle("used", frame.word === slot);
    }

    drawThread(element, number, frame) {
      const place = this.slots[this.values.length + number];
      const [status, lines, text] = this.data.places[place];
      const acting = frame.thread === number;
      element.className = `thread ${status}${acting ? ` acting ${frame.agent}` : ""}`;
      const box = element.querySelector(".lines");
      const shown = element.querySelector(".status");
      shown.className = `status ${status}`;
      shown.textContent = text.endsWith("(no completion yet)") ? "waiting for a completion" : status;
      const where = element.querySelector(".at");
      where.textContent = tells(this.data.places[place], box) ? text : "";
      where.title = where.textContent;
      if (!box) { return; }
      box.querySelectorAll("[class]:not(i)").forEach((line) => line.removeAttribute("class"));
      const marked = lines.map((line) => mark(box, line, "next")).filter(Boolean);
      const done = acting && frame.line !== null ? mark(box, frame.line, frame.agent === "nic" ? "served" : "done") : null;
      if (marked.length || done) { keepInMiddle(box, marked[0] || done); } else { box.scrollTop = box.scrollHeight; }
    }

    drawTransport() {
      const at = this.at;
      const off = {
        first: at === 0, back: at === 0, "stop-before": at === 0, forward: at === this.last, "stop-after": at === this.last,
        last: at === this.last,
      };
      this.box.querySelectorAll(".transport button").forEach((button) => {
        const disabled = Boolean(off[button.dataset.do]);
        if (disabled && button === document.activeElement) { this.find(".play").focus({ preventScroll: true }); }
        button.disabled = disabled;
      });
      const play = this.find(".play");
      play.textContent = this.timer ? "Pause" : "Play";
      play.setAttribute("aria-pressed", String(Boolean(this.timer)));
    }

    /* ---- queue pairs ---- */

    distance(number) {
      return this.slots[this.firstOperation + number] % POLLABLE;
    }

    drawLane(element, number, frame) {
      const present = this.posted[number].filter((each) => this.slots[this.firstOperation + each] !== GONE);
      const kind = (each) => this.data.operations[each][3];
      const far = (each) => this.distance(each);
      element.classList.toggle("acting", frame.queue === number && frame.agent === "nic");
      const places = {
        pipe: present.filter((each) => far(each) < BUFFERED),
        buffer: present.filter((each) => far(each) === BUFFERED && kind(each) === "put"),
        return: present.filter((each) => far(each) === BUFFERED && kind(each) === "get"),
      };
      for (const [place, operations] of Object.entries(places)) {
        const list = element.querySelector(`.${place}`);
        if (list) { this.fill(list, operations, SHOWN[place], frame); }
      }
      for (const each of this.posted[number]) {
        const over = far(each) === DONE || far(each) === GONE;
        if (over && this.chips.has(each)) { this.chips.get(each).remove(); this.chips.delete(each); }
      }
      this.drawCompletions(element.querySelector(".completions"), present);
    }

    fill(list, operations, most, frame) {
      const shown = operations.slice(0, most);
      const items = shown.map((each) => this.chip(each, frame));
      for (const each of operations.slice(most)) {
        if (this.chips.has(each)) { this.chips.get(each).remove(); this.chips.delete(each); }
      }
      if (operations.length > most) {
        const more = document.createElement("li");
        more.className = "more";
        const rest = operations.length - most;
        const squares = document.createElement("span");
        squares.textContent = "▪".repeat(Math.min(rest, 60));
        squares.setAttribute("aria-hidden", "true");
        more.append(squares, ` ${rest} more`);
        items.push(more);
      }
      list.replaceChildren(...items);
    }

    chip(number, frame) {
      const [, line, text, kind, target, source, value] = this.data.operations[number];
      const words = (each) => this.data.texts[each];
      const far = this.distance(number);
      let chip = this.chips.get(number);
      if (!chip) {
        chip = document.createElement("li");
        chip.dataset.operation = number + 1;
        chip.title = `#${number + 1}: ${words(text)} (line ${line})`;
        this.chips.set(number, chip);
      }
      const name = kind === "fence" ? words(text) : far >= READ ? `${words(target)} = ${value}` : `${words(target)} ← ${words(source)}`;
      if (chip.textContent !== name) { chip.textContent = name; }
      const state = far === BUFFERED ? "buffered" : far === READ ? "read" : "posted";
      chip.className = `operation ${state}${frame.operation === number ? " acting" : ""}`;
      return chip;
    }

    drawCompletions(element, present) {
      if (!element) { return; }
      const open = present.filter((each) => this.slots[this.firstOperation + each] >= POLLABLE);
      const until = { put: BUFFERED, get: DONE };
      const first = open.findIndex((each) => this.distance(each) < until[this.data.operations[each][3]]);
      const complete = first < 0 ? open.length : first;
      const ready = document.createElement("b");
      ready.textContent = complete ? `✓ ${listed(open.slice(0, complete))} can be polled` : "";
      const rest = open.length > complete ? `${listed(open.slice(complete))} not complete` : "";
      element.replaceChildren(ready, complete && rest ? "; " : "", open.length ? rest : "nothing to poll");
      element.dataset.complete = complete;
      element.dataset.open = open.length;
    }

    /* ---- what moves from one place to another ---- */

    rectangles() {
      return new Map([...this.chips].map(([number, chip]) => [number, chip.getBoundingClientRect()]));
    }

    glide(before) {
      const frame = this.frame();
      for (const [number, chip] of this.chips) {
        const old = before.get(number);
        const now = chip.getBoundingClientRect();
        if (old && (Math.abs(old.left - now.left) > 1 || Math.abs(old.top - now.top) > 1)) {
          slide(chip, `translate(${old.left - now.left}px, ${old.top - now.top}px)`, 1);
        } else if (!old && frame.operation === number) {
          slide(chip, "translateX(-2.5rem)", 0);
        }
      }
      const chip = this.chips.get(frame.operation);
      const word = frame.word === null ? null : this.values[frame.word];
      if (!word || frame.agent !== "nic") { return; }
      const value = String(this.data.operations[frame.operation][6]);
      const place = word.lastElementChild.getBoundingClientRect();
      if (frame.verb === "nic read" && chip) { this.fly(value, place, chip.getBoundingClientRect()); }
      if (frame.verb === "flush" && before.has(frame.operation)) { this.fly(value, before.get(frame.operation), place); }
    }

    fly(text, from, to) {
      const ghost = document.createElement("span");
      ghost.className = "ghost";
      ghost.textContent = text;
      ghost.setAttribute("aria-hidden", "true");
      this.box.append(ghost);
      const at = (place) => `translate(${place.left}px, ${place.top}px)`;
      const motion = ghost.animate([{ transform: at(from), opacity: 1 }, { transform: at(to), opacity: .9 }], { duration: 480, easing: "ease-in-out" });
      motion.onfinish = () => ghost.remove();
      motion.oncancel = () => ghost.remove();
    }
  }

  /* Mostly the marked line says it already. */
  function tells([status, lines], box) {
    return status !== "ended" && (!box || lines.length !== 1);
  }

  function listed(operations) {
    const most = 6;
    const numbers = operations.slice(0, most).map((each) => `#${each + 1}`).join(" ");
    return operations.length > most ? `${numbers} and ${operations.length - most} more` : numbers;
  }

  function slide(element, from, opacity) {
    element.animate([{ transform: from, opacity }, { transform: "none", opacity: 1 }], { duration: 260, easing: "ease-out" });
  }

  function mark(box, line, name) {
    const found = box.querySelector(`[data-line="${line}"]`);
    if (found) { found.classList.add(name); }
    return found;
  }

  function keepInMiddle(box, item) {
    const lines = Math.floor(box.clientHeight / item.offsetHeight);
    box.scrollTop = item.offsetTop - Math.floor((lines - 1) / 2) * item.offsetHeight;
  }

  function keepInView(box, item) {
    const top = item.offsetTop;
    if (top < box.scrollTop) { box.scrollTop = top; }
    else if (top + item.offsetHeight > box.scrollTop + box.clientHeight) { box.scrollTop = top + item.offsetHeight - box.clientHeight; }
  }

  /* ---- the page: keys, and the address ---- */

  const runs = [...document.querySelectorAll(".run")].map((box) => new Run(box));
  let active = runs[0] || null;
  let waiting = 0;

  function activate(run) {
    active = run;
    runs.forEach((each) => each.box.classList.toggle("active", each === run && runs.length > 1));
  }

  function remembered(run) {
    clearTimeout(waiting);
    // Browsers refuse to change the address hundreds of times in a row.
    waiting = setTimeout(() => history.replaceState(null, "", `#${run.box.id}-${run.at}`), 200);
  }

  function open() {
    const found = /^#(run\d+)-(\d+)$/.exec(location.hash);
    const run = found && runs.find((each) => each.box.id === found[1]);
    if (!run) { return; }
    activate(run);
    run.pause();
    run.go(Number(found[2]), false);
    run.box.scrollIntoView();
  }

  function inSight(run) {
    const { top, bottom } = run.box.getBoundingClientRect();
    return Math.min(bottom, window.innerHeight) - Math.max(top, 0);
  }

  function meant(target) {
    const inside = runs.find((run) => run.box.contains(target));
    if (inside) { return inside; }
    const best = [active, ...runs].filter(Boolean).reduce((a, b) => (inSight(b) > inSight(a) ? b : a), active);
    return best && inSight(best) > window.innerHeight / 4 ? best : null;
  }

  const KEYS = {
    ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", n: "stop-after", p: "stop-before", " ": "play", f: "screen",
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    const what = KEYS[event.key];
    const typing = target.matches("select, input:not([type=range])");
    const pressing = event.key === " " && target.closest("button, summary, a");
    const ends = event.key === "Home" || event.key === "End";
    const scrolling = target.closest("pre, .scroll") || (ends && target.closest(".lines, .stops"));
    if (!what || typing || pressing || scrolling || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) { return; }
    const run = meant(target);
    if (!run) { return; }
    event.preventDefault();
    activate(run);
    run.act(what);
  });
  window.addEventListener("hashchange", open);
  // Other sizes show other lines of the listings.
  window.addEventListener("resize", () => runs.forEach((run) => run.draw()));
  open();
})();
