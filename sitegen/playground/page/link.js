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
  const state = read(await inflated(code));
  const words = ["text", "kind", "tab"].every((key) => typeof state?.[key] === "string");
  const options = state?.options ?? {};
  if (!words || !["rdma", "mp"].includes(state.kind) || Object.values(options).some((value) => typeof value !== "string")) {
    throw new Error("it lacks the program, its kind or its tab: it was cut short or changed on its way");
  }
  const [place, exercise] = [state.place, state.exercise].map((each) => (typeof each === "string" ? each : ""));
  return { text: state.text, kind: state.kind, tab: state.tab, options, place, exercise };
}

async function inflated(code) {
  const cut = new Error("it was cut short or changed on its way: ask for it again");
  let binary;
  try {
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
  return new Blob(parts).text();
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it was cut short or changed on its way: ask for it again");
  }
}
