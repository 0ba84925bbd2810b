/** `kb export` and `kb import`. */

import { resolve } from "node:path";
import { counted } from "../../base/group-digits.js";
import { type CommandArguments, type CommandContext, type CommandResult, refuse } from "../../commands/command.js";
import { fromJsonLines, toJsonLines } from "../../context/knowledge-base/json-lines.js";
import { fromMarkdown, toMarkdown } from "../../context/knowledge-base/markdown.js";
import { redact } from "../../security/redact/redact.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { readRegularFile } from "../../system/regular-file.js";
import type { KnowledgePort } from "./knowledge-base.js";

/** Without a file it is the answer. */
export async function exportAll(
  { base, root, refusalOf }: KnowledgePort,
  args: CommandArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const file = args.text("FILE");
  const format =
    args.flag("format") ?? (file !== undefined && /\.(jsonl|ndjson|json)$/i.test(file) ? "jsonl" : "markdown");
  if (format !== "markdown" && format !== "jsonl")
    return refuse(`--format: expected markdown or jsonl, got "${format}".`);
  const dump = base.dump();
  const text = format === "jsonl" ? toJsonLines(dump) : toMarkdown(dump);
  const counts = {
    projects: dump.projects.length,
    concepts: dump.concepts.length,
    observations: dump.observations.length,
  };
  if (file === undefined) {
    await context.write(text);
    return { text: "", value: counts };
  }
  const refusal = await refusalOf?.("write", file);
  if (refusal !== undefined) return refuse(refusal);
  const path = resolve(root, file);
  try {
    await writeFileAtomic(path, text, { mode: 0o600, when: args.hasFlag("force") ? "replace" : "create" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return refuse(`${path} exists. --force replaces it.`);
    return refuse(`Oxbow cannot write ${path}: ${(error as Error).message}`);
  }
  return {
    text: `${path} has ${counted(counts.observations, "observation")} of ${counted(counts.projects, "project")}, not encrypted.`,
    value: { ...counts, path },
  };
}

const MOST_BYTES = 256 * 1024 * 1024;

export async function importFile(
  { base, root, refusalOf }: KnowledgePort,
  args: CommandArguments,
): Promise<CommandResult> {
  const file = args.text("FILE") ?? "";
  const refusal = await refusalOf?.("read", file);
  if (refusal !== undefined) return refuse(refusal);
  const path = resolve(root, file);
  const bytes = await readRegularFile(path).catch(() => undefined);
  if (bytes === undefined) return refuse(`There is no file ${path}.`);
  if (bytes.length > MOST_BYTES) return refuse(`${path} is too large.`);
  const text = redact(bytes.toString("utf8").replace(/^\ufeff/, ""));
  try {
    const dump = /^\s*\{/.test(text) ? fromJsonLines(text) : fromMarkdown(text);
    const { projects, observations } = base.import(dump);
    return {
      text: `New: ${counted(projects, "project")}, ${counted(observations, "observation")}.`,
      value: { projects, observations },
    };
  } catch (error) {
    return refuse(`Oxbow cannot import ${path}: ${(error as Error).message}. Nothing was changed.`);
  }
}
