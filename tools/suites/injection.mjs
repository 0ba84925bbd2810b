/**
 * The suite `injection/prompt.json`, which the suites' own runner does not support: each text is wrapped as untrusted content and must
 * neither close the wrapper, nor appear outside it, nor hide anything from a reader.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const HIDDEN =
  /\p{Default_Ignorable_Code_Point}|[\0-\x08\v-\x1f\x7f-\x9f\u2028\u2029\u2800\ufff9-\ufffc]|\p{Surrogate}/u;

export async function askInjection(runner, adapter) {
  const { cases } = JSON.parse(readFileSync(join(dirname(runner), "..", "injection", "prompt.json"), "utf8"));
  const requests = cases.map(({ text, carrier }, n) => ({
    n,
    op: "wrap_untrusted",
    text,
    kind: carrier,
    source: carrier,
  }));
  const answers = await ask(adapter, requests);
  const failures = [];
  let unsupported = 0;
  for (const [n, { id }] of cases.entries()) {
    const answer = answers.get(n);
    if (answer?.unsupported) unsupported++;
    else if (problemOf(answer) !== undefined) failures.push({ id, info: problemOf(answer) });
  }
  return { pass: cases.length - failures.length - unsupported, fp: 0, contested: 0, unsupported, failures };
}

function problemOf({ text, mark } = {}) {
  if (typeof text !== "string" || typeof mark !== "string") return "no answer";
  const open = text.indexOf("\n") + 1;
  const close = text.lastIndexOf("\n");
  const inside = text.slice(open, close).replaceAll("\r\n", "\n");
  if (!text.startsWith(`<untrusted-${mark} `) || text.slice(close + 1) !== `</untrusted-${mark}>`)
    return "not delimited";
  if (inside.includes(mark) || /<[\s/]*untrusted/i.test(inside)) return "can be closed from inside";
  return HIDDEN.test(inside) ? "something hidden is left" : undefined;
}

/** Answers by number. */
async function ask([program, ...args], requests) {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
  const answers = new Map();
  for await (const line of createInterface({ input: child.stdout })) {
    const answer = JSON.parse(line);
    answers.set(answer.n, answer);
  }
  return answers;
}
