/* Answers of commands as the page shows them: a report whose lines lead to the program, or a drawing. */

export function element(name, attributes, text) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  if (text !== undefined) { made.textContent = text; }
  return made;
}

/* Return the pieces of a report, in which `line 7` calls `go` with the line. */
export function linked(report, go) {
  return report.split(/(\blines? \d+)/).map((piece) => {
    const found = /^lines? (\d+)$/.exec(piece);
    if (!found) { return document.createTextNode(piece); }
    const button = element("button", { type: "button" }, piece);
    button.addEventListener("click", () => go(Number(found[1])));
    return button;
  });
}

/* Return an answer that is an SVG image as an element whose parts with a line call `go`, or null if it is none. The policy of
   the page allows no styles in texts: they are set one by one, and the sheet `shared.css` has what all drawings have. */
export function drawing(text, go) {
  if (!text.startsWith("<svg")) { return null; }
  const given = text.replace(/<style>.*?<\/style>/s, "").replaceAll(' style="', ' data-style="');
  const image = document.importNode(new DOMParser().parseFromString(given, "image/svg+xml").documentElement, true);
  image.querySelectorAll("[data-style]").forEach((each) => { each.style.cssText = each.dataset.style; });
  image.querySelectorAll("[data-line]").forEach((each) => {
    const there = () => go(Number(each.dataset.line));
    each.addEventListener("click", there);
    each.addEventListener("keydown", (event) => { if (event.key === "Enter") { there(); } });
  });
  return image;
}
