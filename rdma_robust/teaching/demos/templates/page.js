"use strict";
(() => {
  const SIZES = [100, 125, 150, 175];
  const root = document.documentElement;
  const say = (text) => { document.getElementById("said").textContent = text; };

  /* ---- how the page looks ---- */

  let size = 0;
  const sizer = document.getElementById("size");
  sizer.addEventListener("click", () => {
    size = (size + 1) % SIZES.length;
    root.style.fontSize = `${SIZES[size]}%`;
    sizer.querySelector("span").textContent = `${SIZES[size]}%`;
    window.dispatchEvent(new Event("resize"));
  });

  /* ---- listings ---- */

  const linesOf = (figure) => [...figure.querySelectorAll("pre > code")].map((line) => line.textContent);

  /* Of a terminal's lines only the commands are of use elsewhere, if there are any. */
  function textOf(figure) {
    const lines = linesOf(figure);
    const commands = figure.querySelector("pre.console") ? lines.filter((line) => line.startsWith("$ ")) : [];
    return commands.length ? commands.map((line) => line.slice(2)).join("") : lines.join("");
  }

  async function copy(button) {
    const figure = button.closest("figure");
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(textOf(figure));
    } catch {
      window.getSelection().selectAllChildren(figure.querySelector("pre"));
      said = "Selected";
    }
    button.textContent = said;
    say(said);
    setTimeout(() => { button.textContent = "Copy"; }, 1800);
  }

  function save(button) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([textOf(button.closest("figure"))], { type: "text/plain" }));
    link.download = button.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do=copy], [data-do=save]");
    if (button) { (button.dataset.do === "copy" ? copy : save)(button); }
  });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
  });
})();
