/* The parts of a program by the tables of sitegen/lexer.py and message_lexer.py, which also colour the site. */

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
    if (Array.isArray(kinds)) {
      kinds.forEach((kind, group) => {
        const span = match.indices[group + 1];
        if (kind && span && span[0] < span[1]) { found.push([...span, kind]); }
      });
    } else if (kinds && match[0]) {
      found.push([at, at + match[0].length, kinds]);
    }
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
    state, rules.map(([pattern, kinds, next]) => [new RegExp(pattern, "yds"), kinds, next]),
  ]));
}
