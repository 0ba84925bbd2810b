/** The commands that gather context and write answers to files. */
import type { Command } from "../../../commands/command.js";
import type { Opening } from "../../opening.js";
import { gatherCommands } from "./gather.js";
import { Gatherer } from "./gatherer.js";
import { pinnedCommands } from "./pinned.js";
import { templateCommands } from "./template.js";
import { writeCommands } from "./write-answer.js";

export function contextCommands(opening: Opening): readonly Command[] {
  const gatherer = new Gatherer(opening);
  return [
    ...gatherCommands(gatherer),
    ...pinnedCommands(opening, gatherer),
    ...templateCommands(opening),
    ...writeCommands(gatherer),
  ];
}
