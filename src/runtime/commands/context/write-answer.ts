/**
 * `/write` and `/apply`: write the model's answer to files.
 *
 * 1. Files change through the workspace, so undo covers them and guarded paths stay closed.
 * 2. `/apply` does not overwrite a file that changed since the model or the user saw it; `/apply` without `--yes` shows it.
 * 3. If a rule refuses one of several files, none is written. If a write itself fails, the answer names the files before it.
 */
import { diffText } from "../../../base/diff.js";
import { APPLY, WRITE } from "../../../commands/catalogue/context.js";
import { type Command, type CommandResult, refuse } from "../../../commands/command.js";
import { codeBlocks, type TaggedBlock, taggedBlocks } from "../../../context/pinned/code-blocks.js";
import { type Message, plainText } from "../../../protocol/content.js";
import { MARKER } from "../../../security/redact/marker.js";
import { CATALOG } from "../../../tools/catalog.js";
import { runOf } from "../../opening.js";
import type { Gatherer } from "./gatherer.js";

export function writeCommands(gatherer: Gatherer): readonly Command[] {
  return [
    { ...WRITE, run: (args) => writeAnswer(gatherer, args.text("PATH") ?? "") },
    { ...APPLY, run: (args) => applyAnswer(gatherer, args.hasFlag("yes") ? "write" : "show") },
  ];
}

const NO_ANSWER = "The model has not answered yet.";
const FENCE = "```";

async function writeAnswer(gatherer: Gatherer, path: string): Promise<CommandResult> {
  const answer = lastAnswer(runOf(gatherer.opening).conversation);
  if (answer === undefined) return refuse(NO_ANSWER);
  // The user names the file, whatever it contains now.
  const workspace = await gatherer.opening.built.get("toolbox").workspace();
  await workspace.readText(path).catch(() => {});
  const content = codeBlocks(answer)[0]?.content ?? `${answer.trimEnd()}\n`;
  return writeAll(gatherer, [{ path, content }]);
}

async function applyAnswer(gatherer: Gatherer, what: "show" | "write"): Promise<CommandResult> {
  const answer = lastAnswer(runOf(gatherer.opening).conversation);
  if (answer === undefined) return refuse(NO_ANSWER);
  const blocks = taggedBlocks(answer);
  if (blocks.length === 0)
    return refuse(
      `No code block of the last answer names a file. Ask for blocks that begin with ${FENCE}ts src/a.ts, or use /write PATH.`,
    );
  if (what === "write") return writeAll(gatherer, blocks);
  const workspace = await gatherer.opening.built.get("toolbox").workspace();
  const lines = [];
  for (const { path, content } of blocks) {
    const before = await workspace.readText(path).then(
      ({ text }) => text,
      () => undefined,
    );
    const { added, removed } = diffText(before ?? "", content);
    lines.push(
      before === undefined ? `new      ${path} (${added} lines)` : `change   ${path} (+${added} -${removed} lines)`,
    );
  }
  return {
    text: `${lines.join("\n")}\n\nNothing is written yet. /apply --yes writes ${blocks.length === 1 ? "it" : "them"}.`,
    value: { files: blocks.map(({ path }) => path), written: false },
  };
}

async function writeAll(gatherer: Gatherer, blocks: readonly TaggedBlock[]): Promise<CommandResult> {
  const toolbox = gatherer.opening.built.get("toolbox");
  const workspace = await toolbox.workspace();
  for (const { path, content } of blocks) {
    if (MARKER.test(content))
      return refuse(`${path} is not written: the answer quotes «redacted:…», which stands for a secret.`);
    const refusal = await gatherer.refusalOf(CATALOG.write, { path, content });
    if (refusal !== undefined) return refuse(refusal);
    const outside = await workspace.resolve(path, "write").then(
      () => undefined,
      (error: Error) => error.message,
    );
    const guarded = outside ?? (await guardedReason(gatherer, path));
    if (guarded !== undefined) return refuse(guarded);
  }
  const written: string[] = [];
  for (const { path, content } of blocks) {
    try {
      const { created, changed, path: at } = await workspace.writeText(path, content);
      const how = created ? "Created" : changed ? "Updated" : "Unchanged";
      written.push(`${how} ${at.display}`);
    } catch (error) {
      const before = written.length === 0 ? "" : `${written.join("\n")}\n`;
      return refuse(`${before}${(error as Error).message}`);
    }
  }
  return { text: written.join("\n"), value: { files: blocks.map(({ path }) => path), written: true } };
}

/** A file that other programs run or obey: the user edits it directly, or lets the model write it. */
async function guardedReason(gatherer: Gatherer, path: string): Promise<string | undefined> {
  const { engine } = await gatherer.opening.built.get("permissions").parts();
  const verdict = await engine.test({ tool: CATALOG.write, args: { path, content: "" } });
  return verdict.law === "guarded" ? `${path} is not written: ${verdict.reason}` : undefined;
}

/** The text of the last answer with text. */
function lastAnswer(conversation: readonly Message[]): string | undefined {
  const last = conversation.findLast(({ role, content }) => role === "assistant" && plainText(content).trim() !== "");
  return last && plainText(last.content);
}
