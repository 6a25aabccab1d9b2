/* The tool in a worker: Python, the package, and HiGHS where a command asks for it. One question at a time. */
import loadHighs from "highs";
import { loadPyodide } from "pyodide";

const here = new URL(".", self.location.href).href;

/* Return a file that was compressed when the page was made, as not all servers compress. */
async function unpacked(name, headers = {}) {
  const answer = await load(`${here}${name}.packed`);
  if (!answer.ok) { throw new Error(`${name}.packed: ${answer.status}`); }
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip")), { headers });
}

/* Pyodide and HiGHS fetch their WebAssembly themselves, and compile it while it comes. */
const load = self.fetch.bind(self);
self.fetch = (what, ...how) => {
  const name = /\/([a-z.]+)\.wasm$/.exec(String(what));
  return name ? unpacked(name[1], { "Content-Type": "application/wasm" }) : load(what, ...how);
};

/* Write the files of python.packed: a line of JSON has their names and sizes, and what they have follows. */
function write(files, bytes, folder) {
  let at = bytes.indexOf(10) + 1;
  for (const [name, size] of JSON.parse(new TextDecoder().decode(bytes.subarray(0, at)))) {
    const path = `${folder}/${name}`;
    files.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    files.writeFile(path, bytes.subarray(at, at + size), { canOwn: true });
    at += size;
  }
}

async function started() {
  const packed = unpacked("python").then((answer) => answer.arrayBuffer());
  packed.catch(() => {});  // said below, where it is waited for
  const python = await loadPyodide({ indexURL: here });
  write(python.FS, new Uint8Array(await packed), "/lib/playground");
  python.runPython("import sys; sys.path.insert(0, '/lib/playground')");
  const page = python.pyimport("rdma_robust.cli.page_worker");
  page.tell_what_is_absent();
  return page;
}

async function solver() {
  const highs = await loadHighs({ locateFile: (name) => `${here}${name}` });
  self.solveLinear = (problem, options) => {
    const { Status, ObjectiveValue, Columns } = highs.solve(problem, JSON.parse(options));
    const values = Object.fromEntries(Object.entries(Columns).map(([name, column]) => [name, column.Primal]));
    return JSON.stringify({ status: Status, objective: ObjectiveValue, values });
  };
}

const tool = started();
tool.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ broken: String(error) }));

async function answer(call, given) {
  const page = await tool;
  const found = JSON.parse(page[call](...given));
  if (found?.needs !== "highs") { return found; }
  await solver();
  return JSON.parse(page[call](...given));
}

self.onmessage = ({ data: { id, call, given } }) => answer(call, given).then(
  (found) => self.postMessage({ id, answer: found }),
  (error) => self.postMessage({ id, lost: String(error) }),
);
