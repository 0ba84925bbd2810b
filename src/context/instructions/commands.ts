/** `/init`. */
import { BETWEEN_TURNS, type Command, type CommandOf, withPort } from "../../feature/command.js";
import type { FeatureContext } from "../../feature/part.js";
import { text } from "../../protocol/content.js";
import init from "./init.md";

export const INSTRUCTION_COMMANDS: readonly CommandOf<FeatureContext>[] = [
  {
    name: "init",
    summary: "let the model write an AGENTS.md from what the repository shows, for your review",
    arguments: [{ name: "WISHES", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    sends: "SendInput",
    places: BETWEEN_TURNS,
    run: (args, session, { signal }) => {
      const line = args.text("WISHES") ?? "";
      const wishes = line === "" ? "" : `\n\nThe user adds: ${line}`;
      const notice = `/init stands for this prompt of the user:\n\n${init.trim()}${wishes}`;
      const turn = { input: [text(line === "" ? "/init" : `/init ${line}`)], notice };
      const command = { name: "init", line, source: "built-in", signal } as const;
      return session.asPrompt(command, () => ({ text: "", value: { command: "init" }, turn }));
    },
  },
];

export function sessionCommands(context: FeatureContext): readonly Command[] {
  return withPort(INSTRUCTION_COMMANDS, () => context);
}
