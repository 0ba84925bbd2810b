/**
 * Your own tools, a time limit, and what to do when it fails.
 *
 *     ANTHROPIC_API_KEY=… tsx examples/library/file-tools.ts "what is in this folder?"
 *
 * (Any other TypeScript runner will do.) In your own project the import is `from "oxbow"`.
 */
import { readdir, readFile } from "node:fs/promises";
import { Harness, HarnessError, type HarnessTool } from "../../src/library/index.js";

const list: HarnessTool = {
  name: "list",
  description: "Lists the files of a folder.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: async ({ path }: { path: string }) => (await readdir(path)).join("\n"),
};

const read: HarnessTool = {
  name: "read",
  description: "Reads a text file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: ({ path }: { path: string }, { signal }) => readFile(path, { encoding: "utf8", signal }),
};

const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = process.env;
const harness = new Harness({ apiKey, baseUrl, systemPrompt: "Look before you answer. Be brief." }, [list, read], {
  onText: (text) => console.log(text),
  onToolCall: (_id, name, input) => console.log(`→ ${name} ${JSON.stringify(input)}`),
  onToolResult: (_id, result, isError) => console.log(`${isError ? "✗" : "←"} ${result.split("\n")[0]}`),
});

try {
  const prompt = process.argv[2] ?? "What is in this folder?";
  const { outcome, turns } = await harness.prompt(prompt, { signal: AbortSignal.timeout(60_000) });
  console.log(`(${outcome} after ${turns} model calls)`);
} catch (error) {
  console.error(error instanceof HarnessError ? `${error.failure.reason}: ${error.message}` : error);
  process.exitCode = 1;
}
