/* The parts of a program by the rules of reports/share/program_colours.py, which also colour reports, the site and editors. */

/* Return [from, to, kind] of the coloured parts of a text, by a table of states to rules: [pattern, kinds, next]. */
export function tokens(table, text) {
  const found = [];
  const stack = ["root"];
  let at = 0;
  while (at < text.length) {
    const rule = first(table[stack.at(-1)], text, at);
    if (rule === null) {
      at += 1;
      continue;
    }
    const { match, kinds, next } = rule;
    const groups = match.length > 1 ? match.indices.slice(1) : match.indices;
    kinds.forEach((kind, group) => {
      const span = groups[group];
      if (kind && span && span[0] < span[1]) { found.push([...span, kind]); }
    });
    at += match[0].length;
    if (next === "#pop") { stack.pop(); } else if (next) { stack.push(next); }
  }
  return found;
}

function first(rules, text, at) {
  for (const [pattern, kinds, next] of rules) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) { return { match, kinds, next }; }
  }
  return null;
}

/* Return a table as it is stored, with its patterns compiled. */
export function compiled(stored) {
  return Object.fromEntries(Object.entries(stored).map(([state, rules]) => [
    state, rules.map(([pattern, kinds, next]) => [new RegExp(pattern, "ydm"), kinds, next]),
  ]));
}
