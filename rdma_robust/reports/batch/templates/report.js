"use strict";
(function () {
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.querySelectorAll("tr.row"));
  const packed = JSON.parse(document.getElementById("details").textContent);
  const search = document.getElementById("search");
  const family = document.getElementById("family");
  const status = document.getElementById("status");
  const empty = document.getElementById("empty");
  const filters = Array.from(document.querySelectorAll(".filter"));
  const verdicts = ["error", "unknown", "not-robust", "robust"];
  const numbers = new Set(["states", "pivots", "time"]);
  const collator = new Intl.Collator("en", { numeric: true });
  let chosen = "all";

  async function unpack(number) {
    const bytes = Uint8Array.from(atob(packed[number]), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  function detailOf(row) {
    const next = row.nextElementSibling;
    return next && next.classList.contains("detail") ? next : null;
  }

  function button(row) {
    return row.querySelector(".open");
  }

  function close(row) {
    const detail = detailOf(row);
    if (detail) {
      detail.remove();
    }
    button(row).setAttribute("aria-expanded", "false");
    row.classList.remove("opened");
  }

  async function open(row) {
    if (detailOf(row)) {
      return;
    }
    const detail = document.createElement("tr");
    const cell = document.createElement("td");
    detail.className = "detail";
    detail.id = "detail-" + row.dataset.number;
    cell.colSpan = table.tHead.rows[0].cells.length;
    cell.textContent = "…";
    detail.append(cell);
    row.after(detail);
    row.classList.add("opened");
    button(row).setAttribute("aria-expanded", "true");
    button(row).setAttribute("aria-controls", detail.id);
    history.replaceState(null, "", "#" + encodeURIComponent(row.dataset.file));
    try {
      cell.innerHTML = await unpack(row.dataset.number);
    } catch (error) {
      cell.textContent = "This browser cannot unpack the details: " + error;
    }
  }

  function toggle(row) {
    return detailOf(row) ? close(row) : open(row);
  }

  function shown() {
    return rows.filter((row) => !row.hidden);
  }

  function matches(row, words) {
    const data = row.dataset;
    const verdict =
      chosen === "all" || (chosen === "unexpected" ? data.expected === "NO"
        : chosen === "violated" ? data.violated !== "0" : data.verdict === chosen);
    return verdict && (!family.value || data.family === family.value) && words.every((word) => data.search.includes(word));
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.hidden = !matches(row, words);
      const detail = detailOf(row);
      if (detail) {
        detail.hidden = row.hidden;
      }
      count += row.hidden ? 0 : 1;
    }
    const all = rows.length.toLocaleString("en") + (rows.length === 1 ? " program" : " programs");
    status.textContent = count === rows.length ? all : count.toLocaleString("en") + " of " + all;
    empty.hidden = count > 0;
    table.hidden = count === 0;
  }

  function choose(name) {
    chosen = name;
    filters.forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.filter === name)));
    filter();
  }

  function key(row, name) {
    return name === "verdict" ? verdicts.indexOf(row.dataset.verdict) : numbers.has(name) ? Number(row.dataset[name]) : row.dataset[name];
  }

  function sort(heading, name) {
    const ascending = heading.getAttribute("aria-sort")
      ? heading.getAttribute("aria-sort") !== "ascending"
      : !numbers.has(name);
    for (const each of table.tHead.rows[0].cells) {
      each.removeAttribute("aria-sort");
    }
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const order = (a, b) => {
      const [x, y] = [key(a, name), key(b, name)];
      const found = typeof x === "number" ? x - y : collator.compare(x, y);
      return (ascending ? found : -found) || a.dataset.number - b.dataset.number;
    };
    const details = new Map(rows.map((row) => [row, detailOf(row)]));
    rows.sort(order);
    body.append(...rows.flatMap((row) => (details.get(row) ? [row, details.get(row)] : [row])));
  }

  function reset() {
    search.value = "";
    family.value = "";
    choose("all");
    search.focus();
  }

  function step(row, by) {
    const list = shown();
    const next = list[list.indexOf(row) + by];
    if (next) {
      button(next).focus();
    } else if (by < 0) {
      search.focus();
    }
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const target = event.target;
    const row = target.closest ? target.closest("tr.row") : null;
    if (event.key === "/" && target !== search && target !== family) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && target.closest && target.closest("tr.detail")) {
      const owner = target.closest("tr.detail").previousElementSibling;
      close(owner);
      button(owner).focus();
    } else if (row && event.key === "Escape") {
      close(row);
    } else if (row && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      step(row, event.key === "ArrowDown" ? 1 : -1);
    } else if (target === search && event.key === "ArrowDown" && shown().length) {
      event.preventDefault();
      button(shown()[0]).focus();
    }
  }

  function light(event, on) {
    const near = event.target instanceof Element ? event.target.closest("[data-line]") : null;
    const page = near && near.closest(".page");
    if (page) {
      page.querySelectorAll('[data-line="' + near.dataset.line + '"]').forEach((each) => each.classList.toggle("rr-lit", on));
    }
  }

  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr.row");
    if (row && !window.getSelection().toString()) {
      toggle(row);
    }
  });
  table.tHead.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-sort]");
    if (pressed) {
      sort(pressed.closest("th"), pressed.dataset.sort);
    }
  });
  document.querySelectorAll("[data-only]").forEach((each) =>
    each.addEventListener("click", () => {
      family.value = each.dataset.only;
      filter();
      document.getElementById("programs").scrollIntoView();
    })
  );
  filters.forEach((each) => each.addEventListener("click", () => choose(each.dataset.filter)));
  search.addEventListener("input", filter);
  family.addEventListener("change", filter);
  document.getElementById("reset").addEventListener("click", reset);
  document.addEventListener("keydown", onKey);
  [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]].forEach(([name, on]) =>
    document.addEventListener(name, (event) => light(event, on))
  );

  function follow() {
    let wanted = "";
    try {
      wanted = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    const row = wanted && rows.find((each) => each.dataset.file === wanted);
    if (row) {
      open(row).then(() => row.scrollIntoView());
    } else if (rows.length === 1) {
      open(rows[0]);
    }
  }

  filter();
  follow();
}());
