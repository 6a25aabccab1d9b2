"use strict";
/* The switch between light and dark. It starts as the system is; a choice that differs is kept for the next page. */
(() => {
  const KEY = "rdma-robust-theme";
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const system = () => (dark.matches ? "dark" : "light");
  const shown = () => root.dataset.theme || system();

  function kept() {
    try { return localStorage.getItem(KEY); } catch { return null; }
  }

  function keep(theme) {
    try {
      if (theme === system()) { localStorage.removeItem(KEY); } else { localStorage.setItem(KEY, theme); }
    } catch { /* Nothing can be kept here: the page itself has changed all the same. */ }
  }

  function name() {
    const other = shown() === "dark" ? "light" : "dark";
    document.querySelectorAll(".rr-theme").forEach((button) => {
      button.textContent = other === "dark" ? "Dark" : "Light";
      button.title = `Show the page ${other}`;
      button.hidden = false;
    });
  }

  function switched() {
    const other = shown() === "dark" ? "light" : "dark";
    if (other === system()) { delete root.dataset.theme; } else { root.dataset.theme = other; }
    keep(other);
    name();
  }

  /* Paper is white: printed, a page is as it is in the light. */
  let before;
  window.addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; });
  window.addEventListener("afterprint", () => { if (before) { root.dataset.theme = before; } else { delete root.dataset.theme; } });

  const wanted = kept();
  if (wanted === "dark" || wanted === "light") { root.dataset.theme = wanted; }
  document.querySelectorAll(".rr-theme").forEach((button) => button.addEventListener("click", switched));
  dark.addEventListener("change", name);
  name();
})();
