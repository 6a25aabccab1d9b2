/* The exercises: a task above the program, and a judge, which is the command `exercise` of the tool. */
import { element } from "./answers.js";
import { Stopped } from "./tool.js";

const SOLVED = "rdma-robust-solved";
const MEANINGS = { 0: "ok", 1: "wrong", 3: "unknown" };

export class Exercises {
  /* `box` and `chooser` are elements of the page, `all` is what playground.json says of the exercises. `page` has begin(text),
     text() and seconds(). */
  constructor(box, chooser, all, tool, page) {
    Object.assign(this, { box, chooser, all, tool, page, current: null });
    [this.title, this.task, this.hint, this.said] = ["h2", ".task", ".hint p", ".judgement"].map((each) => box.querySelector(each));
    this.progress();
    chooser.addEventListener("change", () => { if (chooser.value) { this.begin(chooser.value); } else { this.open(""); } });
    const on = (selector, work) => box.querySelector(selector).addEventListener("click", work);
    on(".judge", () => this.judge());
    on(".solution", () => this.solution());
    on(".next", () => this.begin(all[(all.indexOf(this.current) + 1) % all.length].name));
    on(".leave", () => { this.open(""); chooser.focus(); });
  }

  get name() { return this.current ? this.current.name : ""; }

  /* Show the task of an exercise, without changing the program; of none where there is none of this name. */
  open(name) {
    this.current = this.all.find((each) => each.name === name) ?? null;
    this.box.hidden = !this.current;
    this.chooser.value = this.name;
    this.say("", "");
    if (!this.current) { return; }
    this.title.textContent = `Exercise ${this.current.number}: ${this.current.title}`;
    this.task.textContent = this.current.task;
    this.hint.textContent = this.current.hint;
    this.hint.parentElement.open = false;
  }

  begin(name) {
    this.open(name);
    this.page.begin(this.current.program);
    this.title.focus();
  }

  async judge() {
    this.say("", "judging …");
    const answer = await this.asked(["--timeout", String(this.page.seconds()), "answer.rdma"]);
    if (!answer) { return; }
    if (answer.exit === 0) {
      this.remember(this.name);
      this.progress();
    }
    this.say(MEANINGS[answer.exit] ?? "unknown", [answer.out, answer.err].filter(Boolean).join("\n"));
  }

  async solution() {
    const answer = await this.asked(["--solution"]);
    if (answer && answer.exit === 0) { this.page.begin(answer.out); }
  }

  /* Return what the command answers, or null where the question was stopped or another exercise was opened. */
  async asked(words) {
    const { name } = this;
    const text = this.page.text();
    try {
      const answer = await this.tool.ask(["exercise", name, ...words], { "answer.rdma": text }, [], this.page.seconds());
      if (name !== this.name) { return null; }
      if (text === this.page.text()) { return answer; }
      this.say("unknown", "The program has changed meanwhile.");
      return null;
    } catch (error) {
      if (name !== this.name) { return null; }
      this.say("unknown", error instanceof Stopped ? `Undecided: ${error.message}.` : `The tool cannot be loaded: ${error.message}.`);
      return null;
    }
  }

  say(meaning, text) {
    this.said.className = `judgement ${meaning}`;
    this.said.textContent = text;
  }

  /* ---- what was solved is kept in this browser, where it lets one keep anything */

  solved() {
    try {
      return new Set(JSON.parse(localStorage.getItem(SOLVED) ?? "[]"));
    } catch {
      return new Set();
    }
  }

  remember(name) {
    try {
      localStorage.setItem(SOLVED, JSON.stringify([...this.solved().add(name)]));
    } catch { /* it is only not remembered */ }
  }

  progress() {
    const solved = this.solved();
    const options = this.all.map((each) => element("option", { value: each.name }, `${each.number}. ${each.title}${solved.has(each.name) ? " ✓" : ""}`));
    this.chooser.replaceChildren(element("option", { value: "" }, "no exercise"), ...options);
    this.chooser.value = this.name;
  }
}
