"use strict";
/* What the pages of the explorer share. */
const explorer = (() => {
  const LONGEST_NAME = 10;
  const byId = (id) => document.getElementById(id);

  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") { element.addEventListener("click", value); }
      else if (value === true) { element.setAttribute(name, ""); }
      else if (value !== false && value !== null && value !== undefined) { element.setAttribute(name, value); }
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false && child !== ""));
    return element;
  }

  /* The playground, where this page is a part of it: it asks the tool in the tab. Else a server answers. */
  const host = window.parent === window ? null : window.parent.explorerHost;

  async function ask(path, body) {
    if (host) { return host.ask(path, body); }
    let answer;
    try {
      answer = await fetch(path, body === undefined ? {} : {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      });
    } catch (error) {
      throw new Error("The server does not answer. Start rdma-robust explore again and open the address it prints.", { cause: error });
    }
    const value = await answer.json().catch(() => ({ error: "the server's answer cannot be read" }));
    if (!answer.ok) { throw new Error(value.error); }
    return value;
  }

  function complain(text) {
    byId("message-text").textContent = text;
    byId("message").hidden = text === "";
  }

  function quoted(text) {
    return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
  }

  function value(each) {
    return h("span", { class: `value${each.changed ? " changed" : ""}`, "data-name": each.name }, h("i", {}, each.name), h("b", {}, String(each.value)));
  }

  async function share() {
    const button = byId("share");
    let said = "Link copied";
    try { await navigator.clipboard.writeText(host ? await host.link() : location.href); }
    catch { said = "Copy the address above"; }
    button.textContent = said;
    byId("live").textContent = said;
    setTimeout(() => { button.textContent = "Copy link"; }, 1800);
  }

  function keepInView(box, item) {
    const top = item.offsetTop;
    if (top < box.scrollTop) { box.scrollTop = top; }
    else if (top + item.offsetHeight > box.scrollTop + box.clientHeight) { box.scrollTop = top + item.offsetHeight - box.clientHeight; }
  }

  /* A line of the source: its number, the marks in its gutter, and its text in pieces that are told apart. */
  function sourceLine(number, pieces, classes, marks) {
    const gutter = h("span", { class: "gutter" }, h("span", { class: "number" }, String(number)), h("span", { class: "marks" }, marks));
    return h("div", { class: classes, "data-line": number }, gutter,
      h("code", {}, pieces.map(([kind, piece]) => (kind ? h("i", { class: `rr-t-${kind}` }, piece) : piece || " "))));
  }

  /* Whoever points at something that has a line sees that line of the source. */
  function lightLines(selector) {
    const light = (target, on) => {
      const near = target instanceof Element ? target.closest(selector) : null;
      const line = near && byId("code").querySelector(`[data-line="${near.dataset.line}"]`);
      if (line) { line.classList.toggle("lit", on); }
    };
    for (const [name, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
      document.addEventListener(name, (event) => light(event.target, on));
    }
  }

  /* The buttons that go through a run: `run` says where they lead, and how it is called. */
  function transport(run) {
    const total = run.steps.length;
    const button = (key, sign, label, at) => h("button", {
      type: "button", class: "icon", "data-key": key, "aria-label": run.name ? `${run.name}: ${label}` : label, title: label,
      disabled: at < 0 || at > total || at === run.at, onclick: () => run.go(at),
    }, sign);
    return [
      button("first", "⇤", "to the beginning", 0), button("back", "←", "one step back", run.back),
      h("span", { class: "count" }, `step ${run.at} of ${total}`),
      button("forward", "→", "one step forward", run.forward), button("last", "⇥", "to the end of this run", total),
    ];
  }

  /* Fill a side of the page; the list of steps stays where it was scrolled to, with the current one in view. */
  function fill(body, parts) {
    const log = body.querySelector(".log ol");
    const scrolled = log ? log.scrollTop : 0;
    body.replaceChildren(...parts.filter(Boolean));
    const fresh = body.querySelector(".log ol");
    if (!fresh) { return; }
    fresh.scrollTop = scrolled;
    const current = fresh.querySelector(".current");
    if (current) { keepInView(fresh, current); }
  }

  const focusedKey = () => (document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : undefined);

  /* What had the focus is drawn anew: give it to what stands in its place. */
  function refocus(side, key) {
    const wanted = key.startsWith("move") ? [".planned", "[data-key^=move]", "[data-key=back]"] : [`[data-key=${key}]`, "[data-key=back]", "[data-key^=move]"];
    const found = wanted.map((each) => side.querySelector(`${each}:not(:disabled)`)).find(Boolean);
    (found || side).focus({ preventScroll: true });
  }

  function badge(kind, said, text) {
    byId("verdict").className = `badge ${kind}`.trim();
    byId("verdict").textContent = said;
    byId("verdict-text").textContent = text;
  }

  function drawTitle(program, names, about) {
    byId("name").textContent = program.name;
    byId("code").style.setProperty("--names", Math.min(LONGEST_NAME, Math.max(3, ...names.map((each) => each.length))));
    byId("file").textContent = about;
    document.title = `${program.name} · rdma-robust explore`;
  }

  /* An exploration asks the server what is to be seen at a place, one question after the other, and has its page draw that.
     Of the page it needs: render(now), announce(before, now), drawProgram(program), drawVerdict(verdict), whose null is one
     that is not known yet, take(choice), commands by keys, pane, the part with its moves, paned(name), and lit, what has lines. */
  function exploration(page) {
    let program = null;
    let now = null;
    let said = "";
    let queue = Promise.resolve();

    function later(task) {
      queue = queue.then(task).catch((error) => {
        if (!now) { badge("", "undecided", ""); }
        complain(error.message);
      });
      return queue;
    }

    async function come(address, what, push = true) {
      now = await ask("api/view", what ? { address, do: what } : { address });
      if (push && location.hash !== "#" + now.address) { history.pushState(null, "", "#" + now.address); }
      complain("");
      page.render(now);
    }

    const act = (what) => later(async () => { const before = now; if (before) { await come(now.address, what); page.announce(before, now); } });
    const open = (address) => later(() => come(address));

    /* Go to where a run begins that was found, ready to go forward. */
    function lead(address) {
      open(address).then(() => {
        setPane(page.pane);
        const next = byId(page.pane).querySelector('[data-key="forward"]');
        if (next) { next.focus(); }
      });
    }

    async function openHash() {
      try { await come(location.hash.slice(1), null, false); }
      catch (error) {
        await come("", null, false);
        history.replaceState(null, "", location.pathname);
        complain("This link cannot be opened: " + error.message + ". So this is the beginning.");
      }
    }

    function setPane(name) {
      document.body.dataset.pane = name;
      document.querySelectorAll("[data-show]").forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.show === name)));
      page.paned(name);
    }

    const commands = { n: () => open(""), "?": () => byId("keys").showModal(), ...page.commands };

    function onKey(event) {
      if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open || !now) { return; }
      if (event.target.matches && event.target.matches("input[type=radio]") && event.key.startsWith("Arrow")) { return; }
      if (/^[1-9]$/.test(event.key)) { page.take(Number(event.key) - 1); }
      else if (Object.hasOwn(commands, event.key)) { commands[event.key](); }
      else { return; }
      event.preventDefault();
    }

    function wire() {
      byId("restart").addEventListener("click", () => open(""));
      byId("share").addEventListener("click", share);
      byId("help").addEventListener("click", () => byId("keys").showModal());
      byId("dismiss").addEventListener("click", () => complain(""));
      byId("skip").addEventListener("click", (event) => {
        event.preventDefault();
        (byId(page.pane).querySelector("[data-key^=move]") || byId(page.pane)).focus();
      });
      document.querySelectorAll("[data-show]").forEach((each) => each.addEventListener("click", () => setPane(each.dataset.show)));
      lightLines(page.lit);
      document.addEventListener("keydown", onKey);
      window.addEventListener("hashchange", () => later(openHash));
      setPane(page.pane);
    }

    function decide() {
      const asked = program.number;
      ask("api/verdict").then((answer) => {
        if (asked !== program.number) { return; }
        page.drawVerdict(answer);
        if (host && host.leads()) { page.commands.w(); }
      }).catch((error) => {
        byId("verdict").textContent = "undecided";
        byId("verdict-text").textContent = error.message;
      });
    }

    /* The file is watched: ask whether the program is another one by now, or what is wrong with it. */
    function look() {
      later(async () => {
        const found = await ask("api/now");
        if (found.number !== program.number) {
          program = await ask("api/program");
          page.drawProgram(program);
          page.drawVerdict(null);
          byId("code").replaceChildren();
          try { await come(location.hash.slice(1), null, false); }
          catch {
            await come("", null, false);
            history.replaceState(null, "", location.pathname);
          }
          decide();
        } else if (found.error !== said) { complain(found.error); }
        said = found.error;
      });
    }

    function begin() {
      later(async () => {
        program = await ask("api/program");
        page.drawProgram(program);
        wire();
        await openHash();
        decide();
        if (program.watched) { setInterval(look, 1000); }
      });
    }

    return { act, open, lead, setPane, begin };
  }

  return { byId, h, quoted, value, keepInView, sourceLine, transport, fill, focusedKey, refocus, badge, drawTitle, exploration, LONGEST_NAME };
})();
