/** Records turns to the file of the first argument until the disk takes no more; prints what was said about it. */
import { writeSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { MarkdownRecorder } from "../markdown-recorder.js";

const [file = ""] = process.argv.slice(2);
const problems: string[] = [];
const recorder = new MarkdownRecorder({
  workspace: dirname(file),
  model: () => "test:mock",
  redact: (value) => value,
  wall: () => 0,
  onProblem: (message) => problems.push(message),
});
await recorder.start(file);
let id = 0;
function take(event: Pick<Envelope, "kind" | "payload">): void {
  recorder.take({ ...event, id: ++id, session: "sess_1", originator: "cli_1", ts: "" } as Envelope);
}
const usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
for (let turn = 1; turn <= 50; turn++) {
  take({ kind: "TurnStarted", payload: { turn: `turn_${turn}`, input: [text("question")] } });
  take({ kind: "TextDelta", payload: { text: "answer ".repeat(200) } });
  take({ kind: "TurnEnded", payload: { turn: `turn_${turn}`, outcome: "answered", text: "", iterations: 1, usage } });
}
while (problems.length === 0) await new Promise((resolve) => setImmediate(resolve));
const stopped = await recorder.stop();
writeSync(1, JSON.stringify({ problems, stopped: stopped ?? null, status: recorder.status() }));
