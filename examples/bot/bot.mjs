// A bot that works through tasks in one session of a running engine, and asks a person before anything needs permission.
//
//   oxbow serve                                            # in one terminal, or a conversation: oxbow
//   node examples/bot/bot.mjs "list the files" "add a license"
//
// With the owner's token the person answers here. With the token of an agent (OXBOW_TOKEN) the bot may not answer: the
// question waits for a person who attaches to the session.
import { createInterface } from "node:readline/promises";
import { connect, ownEngine } from "oxbow/sdk/node";

const { OXBOW_TOKEN: token, OXBOW_URL: url } = process.env;
// Both are for an engine elsewhere.
const place = url && token ? { url } : ownEngine(process.env);

const tasks = process.argv.slice(2);
if (tasks.length === 0) {
  console.error('Give tasks: node bot.mjs "TASK" "TASK" …');
  process.exit(2);
}

const oxbow = await connect({ ...place, ...(token && { token }), name: "task bot" });
const session = await oxbow.createSession({ cwd: process.cwd() });
const person = createInterface({ input: process.stdin, output: process.stderr });
session.onPermission(ask);

let spent = 0;
let failed = 0;
for (const task of tasks) {
  const { text, outcome, cost } = await session.prompt(task);
  spent += cost?.usd ?? 0;
  if (outcome !== "answered") failed += 1;
  console.log(`${outcome === "answered" ? "✓" : "✗"} ${task}\n${text}\n`);
}
console.log(
  `${tasks.length - failed} of ${tasks.length} tasks, $${spent.toFixed(4)}. Read it again: oxbow session show ${session.id}`,
);

person.close();
await session.end();
await oxbow.close();
process.exitCode = failed === 0 ? 0 : 1;

/** The signal is aborted when another client has answered: then there is nothing left to ask here. */
async function ask(question, signal) {
  if (oxbow.client.identity === "agent") {
    console.error(`A person has to allow this: ${question.summary}. Attach: oxbow --attach --resume ${session.id}`);
    return undefined;
  }
  const answer = await person.question(`${question.summary}\nAllow it? (y, or a reason against it) `, { signal });
  return answer.trim().toLowerCase() === "y" ? "allow_once" : { decision: "deny", message: answer };
}
