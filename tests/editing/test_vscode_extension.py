"""The extension for Visual Studio Code starts the language server: its code runs in Node, with stand-ins for the editor."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

EXTENSION = ROOT / "editors/vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))

SCRIPT = """
const Module = require("module");
const seen = {};
class LanguageClient {
  constructor(id, name, server, options) { Object.assign(seen, { id, server, options }); }
  start() { seen.started = true; return seen.fails ? Promise.reject(new Error("not found")) : Promise.resolve(); }
  stop() { seen.stopped = true; return Promise.resolve(); }
}
const settings = { command: "my-rdma-robust", timeout: 7 };
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
    createFileSystemWatcher: (pattern) => ({ pattern, dispose() {} }),
  },
  window: { showErrorMessage: (text) => { seen.message = text; } },
};
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode
  : name === "vscode-languageclient/node" ? { LanguageClient, TransportKind: { stdio: 0 } }
  : load(name, ...rest);
const extension = require(process.argv[1]);
seen.fails = process.argv[2] === "fails";
const context = { subscriptions: [] };
Promise.resolve(extension.activate(context))
  .then(() => extension.deactivate())
  .then(() => console.log(JSON.stringify(seen)));
"""


def activated(*arguments: str) -> dict[str, object]:
    if shutil.which("node") is None:
        pytest.skip("NOT RUN: without node the extension's code is not tried")
    command = ["node", "-e", SCRIPT, str(EXTENSION / MANIFEST["main"]), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_it_starts_and_stops_the_server_of_the_settings() -> None:
    seen = activated()
    assert seen["server"] == {
        way: {"command": "my-rdma-robust", "args": ["lsp", "--stdio", "--timeout", "7"], "transport": 0}
        for way in ("run", "debug")
    }
    assert seen["options"] == {
        "documentSelector": [{"language": "rdma"}, {"language": "mp"}, {"language": "c"}],
        "synchronize": {"fileEvents": {"pattern": "**/*.toml"}},
    }
    assert (seen["started"], seen["stopped"]) == (True, True)


def test_it_says_what_to_do_without_the_command() -> None:
    message = str(activated("fails")["message"])
    assert "my-rdma-robust lsp cannot be started: not found" in message
    assert "[lsp]" in message


def test_its_manifest_names_what_its_code_needs() -> None:
    assert (EXTENSION / MANIFEST["main"]).is_file()
    assert "vscode-languageclient" in MANIFEST["dependencies"]
    assert set(MANIFEST["contributes"]["configuration"]["properties"]) == {"rdma-robust.command", "rdma-robust.timeout"}


def test_a_checkout_cannot_say_which_command_is_run() -> None:
    """Settings of a workspace come with the checkout; those of the machine do not."""
    assert MANIFEST["contributes"]["configuration"]["properties"]["rdma-robust.command"]["scope"] == "machine"
