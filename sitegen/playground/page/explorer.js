/* The explorer: the page that `rdma-robust explore` serves, in a frame. What it asks of its server the worker answers. */
import { element } from "./answers.js";

const MOST_S = 10;

export class Explorer {
  /* `box` gets its frame, `tool` answers, `linkOf` makes a link to the playground from the place that is shown. */
  constructor(box, tool, linkOf) {
    this.box = box;
    this.frame = null;
    this.tool = tool;
    this.shown = "";
    this.leads = false;
    window.explorerHost = {
      ask: (path, body) => this.ask(path, body),
      leads: () => this.led(),
      link: linkOf,
    };
  }

  /* Show a program: { text, file, options }, from a place on; with `lead` from the beginning of the counterexample. */
  open(program, place, lead) {
    const now = JSON.stringify(program);
    if (now === this.shown && !place && !lead) { return; }
    this.tool.free();
    this.shown = now;
    this.program = program;
    this.leads = lead;
    const page = `explore/${program.file.endsWith(".mp") ? "mp" : "rdma"}.html`;
    this.frame = element("iframe", { title: "Explorer", src: `${page}#${place}` });
    this.box.replaceChildren(this.frame);
  }

  /* Return what is behind # in the address of the frame. */
  get place() {
    return this.frame ? this.frame.contentWindow.location.hash.slice(1) : "";
  }

  led() {
    const leads = this.leads;
    this.leads = false;
    return leads;
  }

  async ask(path, body) {
    const asked = { ...this.program, seconds: MOST_S, path, body };
    const answer = await this.tool.call("explored", [JSON.stringify(asked)], path === "api/verdict" ? MOST_S : undefined);
    if (answer.error !== undefined) { throw new Error(answer.error); }
    return answer.value;
  }
}
