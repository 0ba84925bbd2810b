/** `oxbow tools`: what the model may call, by set, and what of it runs unasked. */
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags, refuseWords } from "../../commands/flags.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Decision } from "../../security/permissions/facts.js";
import { EXIT } from "../exit-codes.js";
import { openPlace } from "./permissions.js";

export const FLAGS: readonly Flag[] = [
  { name: "tool-set", value: "SET[,SET]", repeatable: true as const, help: "only these sets" },
  { name: "permission-mode", value: "MODE", help: "as a run with this mode would decide" },
  { name: "strict-permissions", help: "as a run with this flag would decide" },
  { name: "sandbox", value: "MODE", help: "as a run with this sandbox would decide" },
  { name: "cwd", value: "DIR", help: "the workspace (default: where you are)" },
  { name: "json", help: "with descriptions and schemas, as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

const EPILOGUE = `
free: runs unasked · asks: a person is asked · denied · depends: on the command or the path, 'oxbow permissions test COMMAND' tells
The decisions are those of your settings and rules in this folder, for usual calls.
`;

/** Usual calls of each tool: what only looks and what does more, where a tool can do both. */
const SAMPLES: Readonly<Record<string, readonly JsonObject[]>> = {
  read: [{ path: "notes.txt" }],
  ls: [{}],
  glob: [{ pattern: "*.txt" }],
  grep: [{ pattern: "word" }],
  write: [{ path: "notes.txt", content: "" }],
  edit: [{ path: "notes.txt", edits: [{ old: "a", new: "b" }] }],
  apply_patch: [{ patch: "*** Begin Patch\n*** Add File: notes.txt\n+a\n*** End Patch" }],
  bash: [{ command: "ls" }, { command: "make" }, { command: "curl https://example.com" }],
  background: [{ action: "list" }],
  git: [{ action: "log" }],
  web_fetch: [{ url: "https://example.com/" }],
};

const WORDS: Readonly<Record<Decision, string>> = { allow: "free", ask: "asks", deny: "denied" };

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "tools");
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow tools [flags]\n\n${helpLines(FLAGS)}\n${EPILOGUE}`);
    return EXIT.answered;
  }
  refuseWords(flags, "tools");
  const place = await openPlace(flags, variables);
  try {
    const tools = place.tools.list();
    const permissions = new Map<string, string>();
    for (const { name } of tools) permissions.set(name, await permissionOf(name, place.judge));
    if (flags.has("json")) {
      const shown = tools.map(({ name, set, mutating, description, inputSchema }) => ({
        ...{ name, set, mutating, permission: permissions.get(name) },
        ...{ description, inputSchema },
      }));
      process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      return EXIT.answered;
    }
    const width = Math.max(...tools.map((tool) => tool.name.length));
    for (const { name, set, description } of tools) {
      const summary = description.trim().split("\n")[0] ?? "";
      process.stdout.write(
        `${name.padEnd(width)}  ${set.padEnd(7)}  ${(permissions.get(name) ?? "").padEnd(7)}  ${summary}\n`,
      );
    }
    return EXIT.answered;
  } finally {
    await place.close();
  }
}

/** From the decisions themselves, so that it cannot differ from what happens. */
async function permissionOf(name: string, judge: Awaited<ReturnType<typeof openPlace>>["judge"]): Promise<string> {
  const verdicts = await Promise.all((SAMPLES[name] ?? [{}]).map((args) => judge(name, args)));
  const words = new Set(verdicts.flatMap((verdict) => (verdict === undefined ? [] : [WORDS[verdict.decision]])));
  const [only] = words;
  return words.size === 1 && only !== undefined ? only : "depends";
}
