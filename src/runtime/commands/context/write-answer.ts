/**
 * `/write` and `/apply`: write the model's answer to files.
 *
 * 1. Files change through the workspace, so undo covers them and guarded paths stay closed.
 * 2. `/apply` shows the files and asks once for all of them; without a person to answer it only shows them. It does not overwrite a file that
 *    changed since the model or the user saw it.
 * 3. An answer that can be understood in two ways is not applied.
 * 4. If a rule refuses one of several files, none is written. If a write itself fails, the answer names the files before it.
 */
import { diffText } from "../../../base/diff.js";
import { counted } from "../../../base/group-digits.js";
import { APPLY, WRITE } from "../../../commands/catalogue/context.js";
import { type Command, type CommandResult, refuse } from "../../../commands/command.js";
import { type Message, plainText } from "../../../protocol/content.js";
import { MARKER } from "../../../security/redact/marker.js";
import { readAnswer } from "../../../tools/answer/answer-changes.js";
import { codeBlocks, withoutThoughts } from "../../../tools/answer/code-blocks.js";
import { AnswerError, type PlannedWrite, planAnswer } from "../../../tools/answer/plan-answer.js";
import { runOf } from "../../opening.js";
import type { Gatherer } from "./gatherer.js";

export function writeCommands(gatherer: Gatherer): readonly Command[] {
  return [
    { ...WRITE, run: (args) => writeAnswer(gatherer, args.text("PATH") ?? "") },
    { ...APPLY, run: (args, { signal }) => applyAnswer(gatherer, args.hasFlag("yes") ? "write" : "show", signal) },
  ];
}

const NO_ANSWER = "The model has not answered yet.";
const FENCE = "```";
const NO_FILES = `No code block of the last answer names a file. Ask for blocks that begin with ${FENCE}ts src/a.ts, or use /write PATH.`;
const NOTHING_WRITTEN = "Nothing is written.";

async function writeAnswer(gatherer: Gatherer, path: string): Promise<CommandResult> {
  const answer = lastAnswer(runOf(gatherer.opening).conversation);
  if (answer === undefined) return refuse(NO_ANSWER);
  // The user names the file, whatever it contains now.
  const workspace = await gatherer.opening.built.get("toolbox").workspace();
  await workspace.readText(path).catch(() => {});
  const content = codeBlocks(answer)[0]?.content ?? `${answer.trimEnd()}\n`;
  return writeAll(gatherer, [{ path, content, added: content }]);
}

async function applyAnswer(gatherer: Gatherer, what: "show" | "write", signal: AbortSignal): Promise<CommandResult> {
  const answer = lastAnswer(runOf(gatherer.opening).conversation);
  if (answer === undefined) return refuse(NO_ANSWER);
  const { files, problems, notes } = readAnswer(answer);
  if (problems.length > 0) return refuse([...problems, NOTHING_WRITTEN].join("\n"));
  const leftOut = notes.map((note) => `Left out: ${note}.`);
  if (files.length === 0) return refuse([...leftOut, NO_FILES].join("\n"));
  const workspace = await gatherer.opening.built.get("toolbox").workspace();
  try {
    const planned = await planAnswer(workspace, files, { purpose: what === "show" ? "remember" : "look" });
    const result = await (what === "write" ? writeAll(gatherer, planned) : askAndWrite(gatherer, planned, signal));
    if ("failure" in result || leftOut.length === 0) return result;
    return { ...result, text: [result.text, "", ...leftOut].join("\n") };
  } catch (error) {
    if (error instanceof AnswerError) return refuse(`${error.message}\n${NOTHING_WRITTEN}`);
    throw error;
  }
}

async function askAndWrite(
  gatherer: Gatherer,
  planned: readonly PlannedWrite[],
  signal: AbortSignal,
): Promise<CommandResult> {
  const { person, engine } = gatherer.opening;
  const shown = planned.map(({ path, before, content }) => {
    const { added, removed } = diffText(before ?? "", content);
    return before === undefined
      ? `new      ${path} (${counted(added, "line")})`
      : `change   ${path} (+${added} -${removed} lines)`;
  });
  const files = planned.map(({ path }) => path);
  if (!person.present()) {
    const next = `Nothing is written yet. /apply --yes writes ${planned.length === 1 ? "it" : "them"}.`;
    return { text: `${shown.join("\n")}\n\n${next}`, value: { files, written: false } };
  }
  const { decision } = await person.ask(
    {
      call: engine.ids.next("call"),
      tool: "apply",
      args: { files },
      summary: `write ${planned.length === 1 ? "the file" : `the ${planned.length} files`} of the last answer`,
      preview: shown.join("\n"),
      once_only: true,
    },
    signal,
  );
  if (decision === "deny") return { text: NOTHING_WRITTEN, value: { files, written: false } };
  return writeAll(gatherer, planned);
}

async function writeAll(gatherer: Gatherer, planned: readonly PlannedWrite[]): Promise<CommandResult> {
  const toolbox = gatherer.opening.built.get("toolbox");
  const workspace = await toolbox.workspace();
  for (const { path, content, added } of planned) {
    if (MARKER.test(added))
      return refuse(`${path} is not written: the answer quotes «redacted:…», which stands for a secret.`);
    const refusal = await gatherer.writeRefusalOf(path, content);
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
