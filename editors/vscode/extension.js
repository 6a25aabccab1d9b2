// Starts `rdma-robust lsp` for `.rdma`, `.mp` and C files. Everything else is done by the language server.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function activate(context) {
  const settings = vscode.workspace.getConfiguration("rdma-robust");
  const command = settings.get("command", "rdma-robust");
  const args = ["lsp", "--stdio", "--timeout", String(settings.get("timeout", 10))];
  const server = { command, args, transport: TransportKind.stdio };
  const tables = vscode.workspace.createFileSystemWatcher("**/*.toml");
  context.subscriptions.push(tables);
  const options = {
    documentSelector: [{ language: "rdma" }, { language: "mp" }, { language: "c" }],
    synchronize: { fileEvents: tables },
  };
  client = new LanguageClient("rdma-robust", "rdma-robust", { run: server, debug: server }, options);
  context.subscriptions.push({ dispose: deactivate });
  return client.start().catch((error) => {
    const hint = "Is it installed with the extra [lsp]? Otherwise set rdma-robust.command.";
    vscode.window.showErrorMessage(`rdma-robust: ${command} lsp cannot be started: ${error.message}. ${hint}`);
  });
}

function deactivate() {
  const stopped = client;
  client = undefined;
  return stopped && stopped.stop();
}

module.exports = { activate, deactivate };
