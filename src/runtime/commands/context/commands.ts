/** The commands with which the user gathers context and writes what the model answers. */
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
