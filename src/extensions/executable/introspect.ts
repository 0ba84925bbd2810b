/**
 * Reads a program's own description: `--schema` and `--describe`. Oxbow runs these once for each version of the file and stores the
 * answers by the hash of the approved bytes. They run in a read-only sandbox.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { safeLine } from "../../base/terminal-text.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { Containment } from "./containment.js";
import { runProgram } from "./run-program.js";

export interface Answers {
  /** The output of `--schema`; absent if it was not called or failed. */
  readonly schema?: string;
  /** The reason why there is none, as the end of "FILE …". */
  readonly problem?: string;
  /** One line; empty if the program prints none. */
  readonly description: string;
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 256 * 1024;
const MAX_DESCRIPTION = 200;

export interface IntrospectOptions {
  readonly containment: Containment;
  /** Oxbow's folder for the answers. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** Never throws. */
export async function introspect(
  file: ExtensionFile,
  what: "tool" | "command",
  { containment, folder, signal }: IntrospectOptions,
): Promise<Answers> {
  const place = join(folder, `${what}-${file.sha256}.json`);
  const known = kept(place);
  if (known !== undefined) return known;
  let program: string;
  try {
    program = await file.program();
  } catch (error) {
    return { description: "", problem: `cannot be used: ${(error as Error).message}` };
  }
  const ask = (flag: string) =>
    runProgram(
      { program, args: [flag], reach: "reads", timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, ...(signal && { signal }) },
      containment,
    );
  const [schema, described] = await Promise.all([what === "tool" ? ask("--schema") : undefined, ask("--describe")]);
  const description = described.status === "ok" ? oneLine(described.output) : "";
  const answers: Answers =
    schema === undefined || schema.status === "ok"
      ? { description, ...(schema && { schema: schema.output }) }
      : { description, problem: `${schema.problem} for --schema${becauseOf(schema.errors)}` };
  // A failure may be temporary, so it is not stored, and neither is an empty answer.
  const isWhole = answers.problem === undefined && described.status === "ok" && answers.schema?.trim() !== "";
  if (isWhole) await keep(place, folder, answers);
  return answers;
}

export function becauseOf(errors: string): string {
  const line = errors.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${safeLine(line).slice(0, 300)}`;
}

function oneLine(text: string): string {
  return safeLine(text.trim().split("\n", 1)[0] ?? "").slice(0, MAX_DESCRIPTION);
}

function kept(place: string): Answers | undefined {
  try {
    return JSON.parse(readFileSync(place, "utf8")) as Answers;
  } catch {
    return undefined;
  }
}

async function keep(place: string, folder: string, answers: Answers): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await writeFileAtomic(place, JSON.stringify(answers), { mode: 0o600 });
  } catch {
    // The next start calls the program again.
  }
}
