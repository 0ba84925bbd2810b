/**
 * Executable tools: `tools/NAME --schema`, `--describe` and `--exec`.
 *
 * 1. The name is that of the file. For each name, the most local file wins.
 * 2. A project cannot replace a built-in tool; the user's own folder can.
 * 3. A file that cannot be used is reported once and left out; the others work.
 */
import type { ExtensionFile } from "../../base/extension-files.js";
import { safeLine } from "../../base/terminal-text.js";
import type { Tool, ToolOutcome } from "../../engine/ports.js";
import { ownText, type ResultContent, text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { type Chosen, chosenFiles, programName, shownPath } from "./chosen-files.js";
import { type IntrospectOptions, introspect } from "./introspect.js";
import { runProgram } from "./run-program.js";
import { parseToolSchema, type ToolSchema } from "./tool-schema.js";

export interface ToolOptions extends IntrospectOptions {
  /** Tells whether a built-in tool has this name or alias. */
  readonly isBuiltIn: (name: string) => boolean;
  /** For a tool without a deadline. */
  readonly timeoutMs: number;
  /** A problem with a file, one line. */
  readonly report: (problem: string) => void;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_BYTES = 1024 * 1024;
/** Sets how many programs run at once to describe themselves. */
const AT_ONCE = 4;

/** The tools of these files; runs each new file once to get its schema. */
export async function executableTools(files: readonly ExtensionFile[], options: ToolOptions): Promise<readonly Tool[]> {
  const usable = chosenTools(files, options);
  const tools: (Tool | undefined)[] = [];
  const waiting = [...usable.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, chosen] = next;
      tools[index] = await createTool(chosen, options);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return tools.filter((tool) => tool !== undefined);
}

/** The chosen files by name, without running them. */
function chosenTools(
  files: readonly ExtensionFile[],
  { isBuiltIn, report }: Pick<ToolOptions, "isBuiltIn" | "report">,
): readonly Chosen[] {
  const allowed = files.filter((file) => {
    const name = programName(file);
    if (name === undefined || !file.executable) return false;
    if (!NAME.test(name)) {
      report(`${shownPath(file)} is left out: a tool's name has only letters, digits, - and _, at most 64.`);
      return false;
    }
    if (file.scope === "project" && isBuiltIn(name)) {
      report(`${shownPath(file)} is left out: "${name}" is a built-in tool, which only your own folder may replace.`);
      return false;
    }
    return true;
  });
  return chosenFiles(allowed, programName);
}

async function createTool({ name, file }: Chosen, options: ToolOptions): Promise<Tool | undefined> {
  const answers = await introspect(file, "tool", options);
  try {
    if (answers.problem !== undefined) throw new Error(answers.problem);
    const schema = parseToolSchema(answers.schema ?? "", name);
    return toolOf(name, { file, schema, description: schema.description || answers.description || name, options });
  } catch (error) {
    if (options.signal?.aborted) return undefined;
    options.report(`The tool ${shownPath(file)} is left out: it ${(error as Error).message}.`);
    return undefined;
  }
}

interface Made {
  readonly file: ExtensionFile;
  readonly schema: ToolSchema;
  readonly description: string;
  readonly options: ToolOptions;
}

function toolOf(name: string, made: Made): Tool {
  const { inputSchema, concurrencySafe, mutating, network } = made.schema;
  return {
    ...{ name, description: made.description, inputSchema, concurrencySafe, mutating },
    set: "command",
    extension: { path: made.file.path, needs: network ? ["network"] : [] },
    run: (args, context) => execute(name, args, { ...made, context }),
  };
}

type Context = Parameters<Tool["run"]>[1];

async function execute(
  name: string,
  args: JsonObject,
  { file, schema, options, context }: Made & { readonly context: Context },
): Promise<ToolOutcome> {
  let program: string;
  try {
    program = await file.program();
  } catch (error) {
    return { status: "error", content: [ownText(`Not run: ${(error as Error).message}`)] };
  }
  const result = await runProgram(
    {
      program,
      args: ["--exec"],
      input: `${JSON.stringify(args)}\n`,
      reach: "acts",
      openings: context.openings ?? [],
      context,
      env: { OXBOW_TOOL: name, OXBOW_SOURCE: file.source },
      timeoutMs: schema.timeoutMs ?? options.timeoutMs,
      maxBytes: MAX_BYTES,
      signal: context.signal,
      onMessage: (message) => context.progress(message),
    },
    options.containment,
  );
  const { status, output, errors, problem, exitCode, durationMs, leftBehind } = result;
  const shown = output.replace(/\n+$/, "");
  const content: ResultContent[] = shown === "" ? [] : [text(shown)];
  if (problem !== "") {
    if (errors !== "") content.push(text(errors));
    content.push(ownText(`The tool ${safeLine(name)} ${problem}.`));
  }
  if (leftBehind !== undefined) content.push(ownText(leftBehind));
  if (content.length === 0) content.push(ownText("(no output)"));
  const details = { exit_code: exitCode ?? null, duration_ms: Math.round(durationMs) };
  return { status, content, details };
}
