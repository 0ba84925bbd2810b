/**
 * Executable hooks: `hooks.d/STAGE/NN-name`, one JSON object on stdin, one or nothing on stdout.
 *
 * 1. For each stage and name, the most local file wins.
 * 2. A hook that prints nothing changes nothing. Exit code 2 refuses; its stderr says why.
 * 3. Any other failure is an error with the reason; the caller decides what it means for the stage.
 */
import { shorten } from "../../base/cap-text.js";
import type { ExtensionFile } from "../../base/extension-files.js";
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../../base/json-nesting.js";
import { safeText } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { chosenFiles, shownPath } from "./chosen-files.js";
import type { Containment } from "./containment.js";
import { becauseOf } from "./introspect.js";
import { runProgram } from "./run-program.js";

export const HOOK_STAGES = [
  "sources",
  "resolve",
  "start",
  "assemble",
  "send",
  "receive",
  "tool_exec",
  "tool_done",
  "done",
  "error",
] as const;
export type HookStage = (typeof HOOK_STAGES)[number];

export interface ExecutableHook {
  readonly stage: HookStage;
  /** NN-name, without the ending of a script. */
  readonly name: string;
  readonly file: ExtensionFile;
  readonly shadows: readonly ExtensionFile[];
}

export interface HookAnswer {
  /** Holds what it printed; undefined if it printed nothing. */
  readonly output?: JsonObject;
  /** It refused, with its reason. */
  readonly refusal?: string;
  /** The problem, as the end of "HOOK …". */
  readonly problem?: string;
}

const NAME = /^\d\d-[A-Za-z0-9][A-Za-z0-9_-]*$/;
const ENDING = /\.(?:sh|bash|py|pl|rb|js|mjs|cjs|ts|php|lua|exe)$/i;
/** A payload holds the whole conversation. */
const MAX_BYTES = 16 * 1024 * 1024;
const QUICK_MS = 5_000;
const USUAL_MS = 30_000;
/** It may call a model or run a tool. */
const LONG_MS = 300_000;
const TIMEOUTS: Partial<Record<HookStage, number>> = {
  sources: QUICK_MS,
  resolve: QUICK_MS,
  send: LONG_MS,
  tool_exec: LONG_MS,
};
const REFUSED = 2;

/** Sorted by stage and name. `isKept` says which built-in hooks cannot be replaced. */
export function executableHooks(
  files: readonly ExtensionFile[],
  { report, isKept }: { report: (problem: string) => void; isKept: (stage: HookStage, name: string) => boolean },
): readonly ExecutableHook[] {
  const chosen = chosenFiles(files, (file) => {
    const place = hookPlace(file.name);
    if (place === undefined) return undefined;
    if ("problem" in place) {
      report(`The hook ${shownPath(file)} is left out: ${place.problem}`);
      return undefined;
    }
    const { stage, name } = place;
    if (isKept(stage, name)) {
      report(`The hook ${shownPath(file)} is left out: ${stage}/${name} is built in and keeps sessions safe.`);
      return undefined;
    }
    return `${stage}/${name}`;
  });
  return chosen
    .map(({ name, file, shadows }): ExecutableHook => {
      const [stage, bare = ""] = name.split("/");
      return { stage: stage as HookStage, name: bare, file, shadows };
    })
    .sort((a, b) => (`${a.stage}/${a.name}` < `${b.stage}/${b.name}` ? -1 : 1));
}

/** Undefined for a file that is not a hook, such as `lib/common.sh`. */
export function hookPlace(name: string): { stage: HookStage; name: string } | { problem: string } | undefined {
  const [folder = "", file = "", ...deeper] = name.split("/");
  const bare = file.replace(ENDING, "");
  const stage = HOOK_STAGES.find((each) => each === folder);
  if (stage === undefined) {
    if (!/^\d\d-/.test(file)) return undefined;
    return { problem: `"${safeText(folder).slice(0, 40)}" is not a stage. The stages are ${HOOK_STAGES.join(", ")}.` };
  }
  if (deeper.length > 0 || file.startsWith(".")) return undefined;
  if (NAME.test(bare)) return { stage, name: bare };
  return { problem: "a hook is named NN-name, such as 45-check-style." };
}

export interface RunHookOptions {
  readonly containment: Containment;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Never throws. */
export async function runHook(hook: ExecutableHook, input: JsonObject, options: RunHookOptions): Promise<HookAnswer> {
  const { stage, name, file } = hook;
  let program: string;
  try {
    program = await file.program();
  } catch (error) {
    return { problem: `was not run: ${(error as Error).message}` };
  }
  const result = await runProgram(
    {
      program,
      args: [],
      input: `${JSON.stringify(input)}\n`,
      reach: "acts",
      env: { OXBOW_STAGE: stage, OXBOW_HOOK: name, OXBOW_SOURCE: file.source },
      timeoutMs: options.timeoutMs ?? TIMEOUTS[stage] ?? USUAL_MS,
      maxBytes: MAX_BYTES,
      ...(options.signal && { signal: options.signal }),
    },
    options.containment,
  );
  if (result.exitCode === REFUSED && result.status === "error" && !result.problem.startsWith("printed"))
    return { refusal: result.errors || "it gave no reason" };
  if (result.status !== "ok") return { problem: `${result.problem}${becauseOf(result.errors)}` };
  return parseAnswer(result.output);
}

function parseAnswer(output: string): HookAnswer {
  const text = output.trim();
  if (text === "") return {};
  if (nestingOf(text) > MOST_ARGUMENT_LEVELS * 2) return { problem: "printed JSON that is nested too deep" };
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    const shown = safeText(text).replaceAll("\n", " ");
    return { problem: `printed no JSON: ${shorten(shown, 80)}` };
  }
  return isJsonObject(value) ? { output: value } : { problem: "printed JSON that is not an object" };
}
