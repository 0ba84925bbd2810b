/**
 * `/write` and `/apply`: write the model's answer to files.
 *
 * 1. Files change through the workspace, so undo covers them and guarded paths stay closed.
 * 2. `/apply` shows the files and asks once for all of them; without a person to answer it only shows them. It does not overwrite a file that
 *    changed since the model or the user saw it.
 * 3. An answer that can be understood in two ways is not applied.
 * 4. If a rule refuses one of several files, none is written. If a write itself fails, the answer names the files before it.
 */
import { diffText } from "../../base/diff.js";
import { counted } from "../../base/group-digits.js";
import { BETWEEN_TURNS, type CommandOf, type CommandResult, refuse } from "../../feature/command.js";
import { type Message, plainText } from "../../protocol/content.js";
import type { Workspace } from "../workspace.js";
import { readAnswer } from "./answer-changes.js";
import { codeBlocks, withoutThoughts } from "./code-blocks.js";
import { AnswerError, type PlannedWrite, planAnswer } from "./plan-answer.js";

export interface AnswerPlace {
  readonly conversation: readonly Message[];
  workspace(): Promise<Workspace>;
  /** Tells why a file may not be written. */
  writeRefusalOf(path: string, content: string): Promise<string | undefined>;
  /** Tells whether a text stands for a secret in some place. */
  isRedacted(text: string): boolean;
  /** Asks the person; undefined if no person can answer. */
  confirm(question: AnswerQuestion, signal: AbortSignal): Promise<boolean | undefined>;
}

export interface AnswerQuestion {
  readonly files: readonly string[];
  readonly summary: string;
  readonly preview: string;
}

export const ANSWER_COMMANDS: readonly CommandOf<AnswerPlace>[] = [
  {
    name: "write",
    summary: "write the first code block of the last answer, or all of it, to a file",
    arguments: [{ name: "PATH", kind: "path", complete: "file" }],
    places: BETWEEN_TURNS,
    run: (args, place) => writeAnswer(place, args.text("PATH") ?? ""),
  },
  {
    name: "apply",
    summary: "write the files that the last answer's code blocks name, after a question",
    flags: [{ name: "yes", short: "y", help: "write them without a question" }],
    places: BETWEEN_TURNS,
    run: (args, place, { signal }) => applyAnswer(place, args.hasFlag("yes") ? "write" : "show", signal),
  },
];

const NO_ANSWER = "The model has not answered yet.";
const FENCE = "```";
const NO_FILES = `No code block of the last answer names a file. Ask for blocks that begin with ${FENCE}ts src/a.ts, or use /write PATH.`;
const NOTHING_WRITTEN = "Nothing is written.";

async function writeAnswer(place: AnswerPlace, path: string): Promise<CommandResult> {
  const answer = lastAnswer(place.conversation);
  if (answer === undefined) return refuse(NO_ANSWER);
  // The user names the file, whatever it contains now.
  const workspace = await place.workspace();
  await workspace.readText(path).catch(() => {});
  const content = codeBlocks(answer)[0]?.content ?? `${answer.trimEnd()}\n`;
  return writeAll(place, [{ path, content, added: content }]);
}

async function applyAnswer(place: AnswerPlace, what: "show" | "write", signal: AbortSignal): Promise<CommandResult> {
  const answer = lastAnswer(place.conversation);
  if (answer === undefined) return refuse(NO_ANSWER);
  const { files, problems, notes } = readAnswer(answer);
  if (problems.length > 0) return refuse([...problems, NOTHING_WRITTEN].join("\n"));
  const leftOut = notes.map((note) => `Left out: ${note}.`);
  if (files.length === 0) return refuse([...leftOut, NO_FILES].join("\n"));
  const workspace = await place.workspace();
  try {
    const planned = await planAnswer(workspace, files, { purpose: what === "show" ? "remember" : "look" });
    const result = await (what === "write" ? writeAll(place, planned) : askAndWrite(place, planned, signal));
    if ("failure" in result || leftOut.length === 0) return result;
    return { ...result, text: [result.text, "", ...leftOut].join("\n") };
  } catch (error) {
    if (error instanceof AnswerError) return refuse(`${error.message}\n${NOTHING_WRITTEN}`);
    throw error;
  }
}

async function askAndWrite(
  place: AnswerPlace,
  planned: readonly PlannedWrite[],
  signal: AbortSignal,
): Promise<CommandResult> {
  const shown = planned.map(({ path, before, content }) => {
    const { added, removed } = diffText(before ?? "", content);
    return before === undefined
      ? `new      ${path} (${counted(added, "line")})`
      : `change   ${path} (+${added} -${removed} lines)`;
  });
  const files = planned.map(({ path }) => path);
  const what = planned.length === 1 ? "the file" : `the ${planned.length} files`;
  const question = { files, summary: `write ${what} of the last answer`, preview: shown.join("\n") };
  const isWanted = await place.confirm(question, signal);
  if (isWanted === undefined) {
    const next = `Nothing is written yet. /apply --yes writes ${planned.length === 1 ? "it" : "them"}.`;
    return { text: `${shown.join("\n")}\n\n${next}`, value: { files, written: false } };
  }
  if (!isWanted) return { text: NOTHING_WRITTEN, value: { files, written: false } };
  return writeAll(place, planned);
}

async function writeAll(place: AnswerPlace, planned: readonly PlannedWrite[]): Promise<CommandResult> {
  const workspace = await place.workspace();
  for (const { path, content, added } of planned) {
    if (place.isRedacted(added))
      return refuse(`${path} is not written: the answer quotes «redacted:…», which stands for a secret.`);
    const refusal = await place.writeRefusalOf(path, content);
    if (refusal !== undefined) return refuse(refusal);
  }
  const written: string[] = [];
  for (const { path, content, basis } of planned) {
    try {
      const write = await workspace.writeText(path, content, basis === undefined ? {} : { basis });
      const how = write.created ? "Created" : write.changed ? "Updated" : "Unchanged";
      written.push(`${how} ${write.path.display}`);
    } catch (error) {
      const before = written.length === 0 ? "" : `${written.join("\n")}\n`;
      return refuse(`${before}${(error as Error).message}`);
    }
  }
  return { text: written.join("\n"), value: { files: planned.map(({ path }) => path), written: true } };
}

/** The text of the last answer with text. */
function lastAnswer(conversation: readonly Message[]): string | undefined {
  const last = conversation.findLast(({ role, content }) => role === "assistant" && plainText(content).trim() !== "");
  return last && withoutThoughts(plainText(last.content));
}
