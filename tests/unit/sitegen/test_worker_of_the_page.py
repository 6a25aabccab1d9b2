"""The workers of the page: how it sees the one that answers (`tool.js`), in Node, with one that does what the test says; and
what the one that keeps files (`offline.js`) leaves of other copies."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from sitegen.playground.bundle import PAGE

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: workers were not tried")

_BEGIN = """
const workers = [], said = [], got = [];
globalThis.Worker = class {
  constructor() { workers.push(this); this.asked = []; }
  postMessage(asked) { this.asked.push(asked); }
  terminate() { this.ended = true; }
  says(data) { this.onmessage({ data }); }
};
const { Tool } = await import(process.argv[1]);
const tool = new Tool((what) => said.push(what));
const ask = (text) => tool.ask([text], {}, [], 9).then((found) => got.push(found), (error) => got.push(error.message));
const soon = () => new Promise((done) => setTimeout(done));
"""
_END = """
await soon();
console.log(JSON.stringify({ got, said, ended: workers.map((each) => Boolean(each.ended)) }));
process.exit();  // limits of time still wait
"""


def played(script: str) -> dict[str, Any]:
    found: dict[str, Any] = in_node(_BEGIN + script + _END, (PAGE / "tool.js").as_uri())
    return found


def in_node(script: str, *given: str) -> Any:
    command = ["node", "--input-type=module", "--eval", script, *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_cannot_be_loaded_is_tried_again_by_the_next_question() -> None:
    found = played("""
        ask("a");
        workers[0].says({ broken: "404" });
        await soon();
        ask("b");
        workers[1].says({ ready: true });
        workers[1].says({ id: workers[1].asked[0].id, answer: "found" });
    """)
    assert found["got"] == ["404", "found"]
    assert found["said"][-1] == "ready"


def test_a_worker_that_breaks_off_is_replaced() -> None:
    found = played("""
        workers[0].says({ ready: true });
        ask("a");
        workers[0].says({ id: 1, lost: "RuntimeError: memory access out of bounds" });
        await soon();
        ask("b");
        workers[1].says({ ready: true });
        workers[0].says({ id: 2, answer: "late" });
        workers[1].says({ id: 2, answer: "found" });
    """)
    assert found["got"] == ["the tool broke off: RuntimeError: memory access out of bounds", "found"]
    assert found["ended"] == [True, False]


def test_a_search_is_ended_where_something_else_is_wanted() -> None:
    found = played("""
        workers[0].says({ ready: true });
        tool.free();
        ask("a");
        tool.free();
    """)
    assert found["got"] == ["another question was asked"]
    assert found["ended"] == [True, False]


def test_files_of_other_copies_on_the_same_origin_are_left() -> None:
    names = [f"playground https://a.org/{each}" for each in (" 1", "old/ 1", "old/ @VERSION@", "old/er/ 1")]
    worker = (PAGE / "offline.js").read_text(encoding="utf-8").replace("@FILES@", "[]")
    script = f"""
        const heard = {{}}, deleted = [];
        globalThis.self = {{
          registration: {{ scope: "https://a.org/old/" }}, clients: {{ claim() {{}} }},
          addEventListener: (name, work) => {{ heard[name] = work; }},
        }};
        globalThis.caches = {{ keys: async () => {json.dumps(names)}, delete: async (name) => deleted.push(name) }};
        {worker}
        let done;
        heard.activate({{ waitUntil: (work) => {{ done = work; }} }});
        await done;
        console.log(JSON.stringify(deleted));
    """
    assert in_node(script) == ["playground https://a.org/old/ 1"]
