/** Short names for slash commands and prompts (`aliases.toml`). A session without such files loads nothing. */
import { extensionStamp } from "../../base/extension-files.js";
import type { FeatureContext, SessionPart } from "../../feature/part.js";

export function aliases(context: FeatureContext): SessionPart {
  const { extensions } = context;
  const reported = new Set<string>();
  const report = (problem: string) => {
    if (reported.has(problem)) return;
    reported.add(problem);
    context.notify(problem);
  };
  return {
    name: "aliases",
    commandsStamp: () => extensionStamp(extensions, ["alias"]),
    laterCommands: async (known) => {
      const files = extensions.of("alias");
      if (files.length === 0) return [];
      const { aliasCommands } = await import("./commands.js");
      return aliasCommands(files, { known, report, asPrompt: context.asPrompt });
    },
  };
}
