/** The commands that gather context and write answers to files. */
import { INIT } from "../../../commands/catalogue/context.js";
import type { Command } from "../../../commands/command.js";
import init from "../../../context/instructions/init.md";
import { text } from "../../../protocol/content.js";
import type { Opening } from "../../opening.js";
import { hookedPrompt } from "../prompt-expansion.js";
import { gatherCommands } from "./gather.js";
import { Gatherer } from "./gatherer.js";
import { pinnedCommands } from "./pinned.js";
import { writeCommands } from "./write-answer.js";

export function contextCommands(opening: Opening): readonly Command[] {
  const gatherer = new Gatherer(opening);
  return [
    ...gatherCommands(gatherer),
    ...pinnedCommands(opening, gatherer),
    ...writeCommands(gatherer),
    initCommand(opening),
  ];
}

function initCommand({ built }: Opening): Command {
  return {
    ...INIT,
    run: (args, { signal }) => {
      const line = args.text("WISHES") ?? "";
      const wishes = line === "" ? "" : `\n\nThe user adds: ${line}`;
      const notice = `/init stands for this prompt of the user:\n\n${init.trim()}${wishes}`;
      const turn = { input: [text(line === "" ? "/init" : `/init ${line}`)], notice };
      const expand = () => ({ text: "", value: { command: "init" }, turn });
      return hookedPrompt({ name: "init", line, source: "built-in", signal }, { events: built.get("events"), expand });
    },
  };
}
