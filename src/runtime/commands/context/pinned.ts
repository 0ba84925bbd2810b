/** `/context add|show|clear|load-dir`. */
import { resolve } from "node:path";
import { counted, groupDigits } from "../../../base/group-digits.js";
import { CONTEXT_ADD, CONTEXT_CLEAR, CONTEXT_LOAD_DIR, CONTEXT_SHOW } from "../../../commands/catalogue/context.js";
import { asValue, type Command, type CommandResult, refuse } from "../../../commands/command.js";
import { windowParts, windowText } from "../../../context/compaction/window-parts.js";
import type { InstructionFile } from "../../content/instruction-files.js";
import { type Opening, runOf } from "../../opening.js";
import type { Gatherer } from "./gatherer.js";

const MOST_FILES = 200;
const MOST_CHARACTERS = 400_000;

export function pinnedCommands(opening: Opening, gatherer: Gatherer): readonly Command[] {
  const { built, engine } = opening;
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
      run: async () => {
        const instructions = await instructionsOf(engine);
        const waiting = gathered.texts.map(({ label, text }) => `${label}  ${groupDigits(text.length)} characters`);
        const window = await windowOf(opening);
        const lines = [
          windowText(window),
          pinned.text === "" ? "Nothing is pinned." : `Pinned:\n${pinned.text}`,
          ...(waiting.length === 0 ? [] : [`With your next input:\n${waiting.join("\n")}`]),
          ...(instructions.lines.length === 0 ? [] : [`Instruction files:\n${instructions.lines.join("\n")}`]),
        ];
        const next = gathered.texts.map(({ label }) => label);
        const value = {
          window: asValue(windowParts(window)),
          pinned: pinned.text,
          next,
          instructions: asValue(instructions.files),
        };
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

async function windowOf(opening: Opening) {
  const { built, engine, current } = opening;
  const sections = (current.parts ?? []).flatMap((part) => part.promptSection?.("full") ?? []);
  const facts = await built.get("compaction").windowFacts(runOf(opening));
  return { ...facts, instructions: engine.content?.instructions ?? "", sections: sections.join("\n\n") };
}

/** Those that the session has, and those that it does not have, with the reason. */
async function instructionsOf(engine: Opening["engine"]) {
  const { listInstructions, wantedSources } = await import("../../content/instruction-files.js");
  const { instructionState, shownPath } = await import("../sources.js");
  const { loaded, variables, root, content } = engine;
  const place = { loaded, variables, root };
  const has = (content?.files ?? []).map((path): InstructionFile => ({ path: resolve(root, path), state: "read" }));
  const all = await listInstructions(place);
  const others = all.filter((file) => file.state !== "read");
  const files = [...has, ...others.filter(({ path }) => !has.some((file) => file.path === path))];
  const wanted = wantedSources(files, place);
  const lines = files.map((file) => `${shownPath(file.path, place)}  ${instructionState(file)}`);
  return { files, lines: wanted === undefined ? lines : [...lines, `To read all of them: ${wanted}`] };
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
    text: `${[...texts.keys()].join("\n")}${left}\n\nThe model gets ${counted(texts.size, "file")} with your next input (${groupDigits(size)} characters).`,
    value: { files: [...texts.keys()], skipped },
  };
}
