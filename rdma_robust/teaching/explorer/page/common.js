"use strict";
/* What the pages of the explorer share. */
const explorer = (() => {
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

  async function ask(path, body) {
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
    try { await navigator.clipboard.writeText(location.href); }
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

  return { byId, h, ask, complain, quoted, value, share, keepInView, sourceLine, lightLines };
})();
