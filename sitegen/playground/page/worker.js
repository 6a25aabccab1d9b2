/* The tool in a worker: Python, the package, and HiGHS where a command asks for it. One question at a time. */
import loadHighs from "highs";
import { loadPyodide } from "pyodide";

const here = new URL(".", self.location.href).href;

async function archive() {
  const answer = await fetch(`${here}python.zip`);
  if (!answer.ok) { throw new Error(`python.zip: ${answer.status}`); }
  return answer.arrayBuffer();
}

async function started() {
  const zip = archive();
  const python = await loadPyodide({ indexURL: here });
  python.unpackArchive(await zip, "zip", { extractDir: "/lib/playground" });
  python.runPython("import sys; sys.path.insert(0, '/lib/playground')");
  const page = python.pyimport("rdma_robust.cli.page_worker");
  page.tell_what_is_absent();
  return page;
}

async function solver() {
  const highs = await loadHighs({ locateFile: () => `${here}highs.wasm` });
  self.solveLinear = (problem, options) => {
    const { Status, ObjectiveValue, Columns } = highs.solve(problem, JSON.parse(options));
    const values = Object.fromEntries(Object.entries(Columns).map(([name, column]) => [name, column.Primal]));
    return JSON.stringify({ status: Status, objective: ObjectiveValue, values });
  };
}

const tool = started();
tool.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ broken: String(error) }));

self.onmessage = async ({ data: { id, call, given } }) => {
  const page = await tool;
  let answer = JSON.parse(page[call](...given));
  if (answer?.needs === "highs") {
    await solver();
    answer = JSON.parse(page[call](...given));
  }
  self.postMessage({ id, answer });
};
