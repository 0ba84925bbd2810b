/** Slash commands that people write as Markdown files. A session without such files loads nothing before a command is sent. */
import { extensionStamp } from "../../base/extension-files.js";
import type { FeatureContext, SessionPart } from "../../feature/part.js";
import type { PromptPlace } from "./commands.js";

export interface PromptFilesContext extends FeatureContext {
  promptPlace(): Promise<PromptPlace>;
}

export function promptFiles(context: PromptFilesContext): SessionPart {
  const { extensions, bus } = context;
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
    commands: async () => (await import("./commands.js")).sessionCommands(context),
  };
}
