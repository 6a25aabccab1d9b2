/* A program, its options and the open tab in a fragment: version, full stop, base64url of deflated JSON.
   The other end is rdma_robust/teaching/playground/page_questions.py. */

export const VERSION = "1";
export const LONGEST = 32000;
const LARGEST = 1 << 20;

/* Return the fragment of a state, without its #. Throws an Error with what to do where it would be too long. */
export async function fragmentOf(state) {
  const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) { binary += String.fromCharCode(byte); }
  const made = `${VERSION}.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  if (made.length > LONGEST) {
    throw new Error(`the link would have ${made.length} characters, and at most ${LONGEST} are read: share the file itself`);
  }
  return made;
}

/* Return the state in a fragment. Throws an Error that says what is wrong with the link. */
export async function stateOf(fragment) {
  const [version, code, ...rest] = fragment.split(".");
  if (!/^\d+$/.test(version) || code === undefined || rest.length) {
    throw new Error("what follows # is no program: a link has a version, a full stop and the program");
  }
  if (version !== VERSION) {
    throw new Error(`it is of version ${version}, and this page reads version ${VERSION}: open it with the page that made it`);
  }
  if (fragment.length > LONGEST) { throw new Error(`it has ${fragment.length} characters, and at most ${LONGEST} are read`); }
  return checked(read(await inflated(code)));
}

const EMPTY = { options: {}, place: "", exercise: "" };
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/* Return a state with all that belongs to it. Throws an Error if something is lacking, of another type, or unknown. */
export function checked(given) {
  const state = { ...EMPTY, ...(isObject(given) ? given : {}) };
  const { options, ...words } = state;
  const strings = [...Object.values(words), ...(isObject(options) ? Object.values(options) : [null])];
  const names = Object.keys(words).sort().join();
  if (names !== "exercise,kind,place,tab,text" || strings.some((each) => typeof each !== "string" || /\p{Surrogate}/u.test(each))) {
    throw new Error("it lacks the program, its kind or its tab, or has what no link has: it was cut short or changed on its way");
  }
  if (!["rdma", "mp"].includes(state.kind)) {
    throw new Error("its program is neither .rdma nor .mp: it was changed on its way");
  }
  return state;
}

const CUT = "it was cut short or changed on its way: ask for it again";

async function inflated(code) {
  const cut = new Error(CUT);
  let binary;
  try {
    if (!/^[\w-]+$/.test(code)) { throw cut; }
    binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    throw cut;
  }
  const bytes = Uint8Array.from(binary, (each) => each.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > LARGEST) { break; }
      parts.push(part.value);
    }
  } catch {
    throw cut;
  }
  if (size > LARGEST) {
    await reader.cancel();
    throw new Error("its program is too large");
  }
  return new Blob(parts).arrayBuffer();
}

function read(bytes) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error(CUT);
  }
}

/* ---- what the tab has, for when it is loaded anew: by the address, so that a link that was opened since counts instead */

const here = () => `rdma-robust ${location.href}`;

export function keepInTab(state) {
  try {
    if (state.text) { sessionStorage.setItem(here(), JSON.stringify(state)); } else { sessionStorage.removeItem(here()); }
  } catch { /* it is only not kept */ }
}

/* Return the state that was kept, null if there is none or the page was not loaded anew but opened. In a frame the browser does
   not tell these apart, and nobody opens a link there: what the reader of a course has typed counts. */
export function keptInTab() {
  const again = ["reload", "back_forward"].includes(performance.getEntriesByType("navigation")[0]?.type);
  if (!again && window.self === window.top) { return null; }
  try {
    return checked(JSON.parse(sessionStorage.getItem(here())));
  } catch {
    return null;
  }
}
