/**
 * Whether a model started this process. A command can remove a variable from its environment, but it cannot change the processes that it
 * descends from. A process that leaves its parents and clears its environment is not seen: only the sandbox contains that one.
 */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import type { Variables } from "../base/variables.js";
import { type Ancestor, ancestors } from "../system/process-ancestry.js";

const MARK = "OXBOW_AGENT=";
const NAMES = ["oxbow", "ox"];
/** Commands that run no model. Any other single word is a command of the user's own, which may start Oxbow for its person. */
const ENGINES = new Set(["run", "resume", "attach", "serve", "acp", "mcp-server"]);

/** An empty value counts too: `OXBOW_AGENT= oxbow …` must not turn a model into a person. */
export function isAgent(variables: Variables): boolean {
  return variables.OXBOW_AGENT !== undefined;
}

/** This process, or one that it descends from, was started with the variable that marks a model's commands. */
export function startedByModel(variables: Variables): boolean {
  if (isAgent(variables)) return true;
  for (const { variables: own } of ancestors()) if (own.some((each) => each.startsWith(MARK))) return true;
  return false;
}

/** The same, or it descends from an Oxbow that runs a model. Then a person may have started it too, but that is not certain. */
export function isInsideEngine(variables: Variables, from: number = process.pid): boolean {
  if (isAgent(variables)) return true;
  const own = realPath(process.argv[1] ?? "");
  for (const ancestor of ancestors(from)) {
    if (ancestor.variables.some((each) => each.startsWith(MARK))) return true;
    if (ancestor.pid !== from && isEngine(ancestor, own)) return true;
  }
  return false;
}

function isEngine({ isNode, words }: Ancestor, own: string): boolean {
  const at = words.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  const program = words[at] ?? "";
  if (!isNode || !(NAMES.includes(basename(program)) || realPath(program) === own)) return false;
  const [first, ...more] = words.slice(at + 1);
  return first === undefined || ENGINES.has(first) || more.length > 0 || !/^[a-z][\w:-]*$/.test(first);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
