/** Short names for slash commands and prompts (`aliases.toml`). A session without such files loads nothing. */
import { extensionStamp } from "../../base/extension-files.js";
import type { CreateBuiltIn } from "./built-in.js";

export const aliases: CreateBuiltIn = ({ extensions, engine, built }) => {
  const reported = new Set<string>();
  const report = (problem: string) => {
    if (reported.has(problem)) return;
    reported.add(problem);
    engine.notify(problem);
  };
  return {
    name: "aliases",
    commandsStamp: () => extensionStamp(extensions, ["alias"]),
    laterCommands: async (known) => {
      const files = extensions.of("alias");
      if (files.length === 0) return [];
      const { aliasCommands } = await import("../commands/aliases.js");
      return aliasCommands(files, { known, report, events: built.get("events") });
    },
  };
};
