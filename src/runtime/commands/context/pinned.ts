/** `/context add|show|clear|load-dir`. */
import { groupDigits } from "../../../base/group-digits.js";
import { CONTEXT_ADD, CONTEXT_CLEAR, CONTEXT_LOAD_DIR, CONTEXT_SHOW } from "../../../commands/catalogue/context.js";
import { type Command, type CommandResult, refuse } from "../../../commands/command.js";
import type { Opening } from "../../opening.js";
import type { Gatherer } from "./gatherer.js";

const MOST_FILES = 200;
const MOST_CHARACTERS = 400_000;

export function pinnedCommands({ built }: Opening, gatherer: Gatherer): readonly Command[] {
  const { pinned, gathered } = built.all();
  return [
    {
      ...CONTEXT_ADD,
      run: (args) => {
        pinned.add(args.text("TEXT") ?? "");
        return { text: "Pinned. It stays after /clear and compaction.", value: { pinned: pinned.text } };
      },
    },
    {
      ...CONTEXT_SHOW,
      run: () => {
        const waiting = gathered.texts.map(({ label, text }) => `${label}  ${groupDigits(text.length)} characters`);
        const lines = [
          pinned.text === "" ? "Nothing is pinned." : `Pinned:\n${pinned.text}`,
          ...(waiting.length === 0 ? [] : [`With your next input:\n${waiting.join("\n")}`]),
        ];
        const value = { pinned: pinned.text, next: gathered.texts.map(({ label }) => label) };
        return { text: lines.join("\n\n"), value };
      },
    },
    {
      ...CONTEXT_CLEAR,
      run: () => {
        const dropped = gathered.clear();
        pinned.clear();
        return {
          text: "Removed the pinned text, and what waited for your next input.",
          value: { pinned: "", dropped },
        };
      },
    },
    {
      ...CONTEXT_LOAD_DIR,
      run: (args, { signal }) =>
        loadFolder(gatherer, { path: args.text("PATH") ?? ".", glob: args.text("GLOB") }, signal),
    },
  ];
}

/** All text files below a folder that are not ignored, each with its own label. */
async function loadFolder(
  gatherer: Gatherer,
  { path, glob }: { readonly path: string; readonly glob: string | undefined },
  signal: AbortSignal,
): Promise<CommandResult> {
  const command = `/context load-dir ${path}${glob === undefined ? "" : ` ${glob}`}`;
  const listed = await gatherer.call({ command, tool: "glob", args: { path, pattern: glob ?? "**/*" } }, signal);
  if ("problem" in listed) return refuse(listed.problem);
  const files = listed.text.split("\n").filter((line) => line !== "" && !line.startsWith("["));
  if (files.length === 0 || listed.text.startsWith("No file matches")) return refuse(listed.text);
  if (files.length > MOST_FILES) {
    return refuse(`${path} has more than ${MOST_FILES} files. Name a smaller folder, or a pattern such as *.ts.`);
  }
  const texts = new Map<string, string>();
  const skipped: string[] = [];
  let size = 0;
  for (const file of files) {
    const found = await gatherer.call({ command, tool: "read", args: { path: file } }, signal);
    if ("problem" in found) skipped.push(file);
    else texts.set(file, found.text);
    size += "text" in found ? found.text.length : 0;
    if (size > MOST_CHARACTERS)
      return refuse(`${path} has more than ${groupDigits(MOST_CHARACTERS)} characters. Name a smaller part of it.`);
  }
  for (const [file, text] of texts) await gatherer.keep(`/read ${file}`, text);
  const left = skipped.length === 0 ? "" : `\nLeft out: ${skipped.join(", ")}`;
  return {
    text: `${[...texts.keys()].join("\n")}${left}\n\nThe model gets ${texts.size} files with your next input (${groupDigits(size)} characters).`,
    value: { files: [...texts.keys()], skipped },
  };
}
