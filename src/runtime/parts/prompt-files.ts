/** Slash commands that people write as Markdown files. A session without such files loads nothing. */
import { extensionStamp } from "../../base/extension-files.js";
import type { CreateBuiltIn } from "./built-in.js";

export const promptFiles: CreateBuiltIn = (opening) => {
  const { extensions, bus } = opening;
  const stamp = () => extensionStamp(extensions, ["prompt"]);
  let known = stamp();
  return {
    name: "prompt files",
    commandsStamp: stamp,
    // Clients ask for the commands again when they see this event.
    refresh: async () => {
      if (stamp() === known) return;
      known = stamp();
      bus.publish("SkillRegistryChanged", { added: [], removed: [] });
    },
    commands: async () => {
      const files = extensions.of("prompt");
      if (files.length === 0) return [];
      const { promptFileCommands } = await import("../commands/prompt-files.js");
      return promptFileCommands(files, opening);
    },
  };
};
