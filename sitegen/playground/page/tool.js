/* The worker as the page sees it: questions that can be stopped, each with a limit of time of its own. */

const GRACE_S = 5;

export class Stopped extends Error {}

export class Tool {
  /* `said` is told what the worker does: "loading", "ready", "working", or "broken" and why. */
  constructor(said) {
    this.said = said;
    this.number = 0;
    this.start();
  }

  get waiting() {
    return [...this.asked.values()].some((each) => each.seconds);
  }

  start() {
    this.asked = new Map();
    this.ready = false;
    this.broken = false;
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => { if (worker === this.worker) { this.heard(data); } };
    worker.onerror = (event) => { if (worker === this.worker) { this.fail(event.message || "the worker cannot be loaded"); } };
    this.worker = worker;
    this.tell();
  }

  tell() {
    this.said(!this.ready ? "loading" : this.waiting ? "working" : "ready");
  }

  heard(data) {
    if (data.broken) { this.fail(data.broken); return; }
    if (data.lost) { this.stop(`the tool broke off: ${data.lost}`); return; }
    if (data.ready) {
      this.ready = true;
      this.asked.forEach((each) => this.watch(each));
    }
    const one = this.asked.get(data.id);
    if (one) {
      clearTimeout(one.timer);
      this.asked.delete(data.id);
      one.done(data.answer);
    }
    this.tell();
  }

  /* Return what a command answers: { exit, out, err, files }. `seconds` is what the command was given; beyond that and a
     little more it is ended, and another question ends it too. Reports have lines of so many `columns`, or as long as they
     are. Throws Stopped, or an Error where there is no Python. */
  ask(args, files, read, seconds, columns) {
    this.free();
    return this.call("ask", [JSON.stringify({ arguments: args, files, read, columns })], seconds);
  }

  /* End a search, as something else is wanted now. */
  free() {
    if (this.waiting) { this.stop("another question was asked"); }
  }

  /* Return what a function of cli/page_worker.py answers; without `seconds` it is quick and waits for its turn. */
  call(call, given, seconds) {
    if (this.broken) { this.start(); }
    this.number += 1;
    const id = this.number;
    return new Promise((done, failed) => {
      const one = { done, failed, seconds };
      this.asked.set(id, one);
      this.worker.postMessage({ id, call, given });
      if (this.ready) { this.watch(one); }
      this.tell();
    });
  }

  watch(one) {
    if (!one.seconds || one.timer) { return; }
    one.timer = setTimeout(() => this.stop(`no answer within ${one.seconds} s`), (one.seconds * 1.2 + GRACE_S) * 1000);
  }

  /* End what is asked, and the worker with it: a search in Python hears of nothing before its end. */
  stop(why) {
    this.worker.terminate();
    this.give(new Stopped(why));
    this.start();
  }

  fail(why) {
    this.broken = true;
    this.give(new Error(why));
    this.said("broken", why);
  }

  give(error) {
    for (const each of this.asked.values()) {
      clearTimeout(each.timer);
      each.failed(error);
    }
    this.asked.clear();
  }
}
