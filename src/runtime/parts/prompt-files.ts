/** Slash commands that people write as Markdown files. A session without such files loads nothing. */
import type { CreateBuiltIn } from "./built-in.js";
import { extensionStamp } from "./skills.js";

export const promptFiles: CreateBuiltIn = (opening) => {
  const { extensions } = opening;
  return {
    name: "prompt files",
    commandsStamp: () => extensionStamp(extensions, ["prompt"]),
    commands: async () => {
      const files = extensions.of("prompt");
      if (files.length === 0) return [];
      const { promptFileCommands } = await import("../commands/prompt-files.js");
      return promptFileCommands(files, opening);
    },
  };
};
