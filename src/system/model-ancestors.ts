/**
 * Decides whether a model started this process. A command can remove a variable from its environment, but it cannot change the processes that it
 * descends from. A process that leaves its parents and clears its environment is not seen: only the sandbox contains that one.
 */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import type { Variables } from "../base/variables.js";
import { type Ancestor, ancestors } from "./process-ancestry.js";

const MARK = "OXBOW_AGENT=";
const NAMES = ["oxbow", "ox"];
/** Commands that run a model. Another single word is a command that runs none, or one of the user's own, which may start Oxbow for its person. */
const ENGINES = new Set(["run", "resume", "attach", "engine", "serve", "acp", "mcp-server"]);
/** Takes arguments, runs no model, and starts Oxbow as a server to look at. */
const CONFORMANCE = "conformance";

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
export function isInsideEngine(
  variables: Variables,
  {
    from = process.pid,
    program = process.argv[1] ?? "oxbow",
  }: { readonly from?: number; readonly program?: string } = {},
): boolean {
  if (isAgent(variables)) return true;
  const own = realPath(program);
  for (const ancestor of ancestors(from)) {
    if (ancestor.variables.some((each) => each.startsWith(MARK))) return true;
    if (ancestor.pid !== from && isEngine(ancestor, own)) return true;
  }
  return false;
}

function isEngine({ isNode, words }: Ancestor, own: string): boolean {
  const at = words.findIndex((word, index) => index > 0 && (NAMES.includes(basename(word)) || realPath(word) === own));
  // Node's own options come before the program, some with a value.
  const options = words.slice(1, Math.max(1, at));
  const isOption = (word: string, index: number) =>
    word.startsWith("-") || options[index - 1]?.startsWith("-") === true;
  if (!isNode || at < 0 || !options.every(isOption)) return false;
  const [first, ...more] = words.slice(at + 1);
  if (first === CONFORMANCE) return false;
  return first === undefined || ENGINES.has(first) || more.length > 0 || !/^[a-z][\w:-]*$/.test(first);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
