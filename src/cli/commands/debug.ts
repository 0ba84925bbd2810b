import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { asValue, type CommandArguments, type CommandResult } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { SessionId } from "../../protocol/ids.js";
import { DEBUG, DEBUG_SHOW } from "../../runtime/commands/program.js";
import { keyFor } from "../../runtime/feature-context.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { RUN_FLAGS } from "./run-flags.js";

export const shell: ShellCommand = {
  name: "debug",
  specs: [{ ...DEBUG, shellFlags: [...(DEBUG.shellFlags ?? []), ...RUN_FLAGS] }, DEBUG_SHOW],
  about:
    "Runs a prompt and writes the raw model traffic to an encrypted file of its session. In a conversation, /debug:raw on does it.",
  printsItself: true,
  open: async (flags, variables) => ({
    commands: [{ ...DEBUG_SHOW, run: (args) => show(args, flags, variables) }],
    terminalCommands: [
      {
        ...DEBUG,
        take: async () => {
          if (!flags.has("raw")) throw new UsageError("Give a prompt: oxbow debug --raw PROMPT");
          const { runPrompt } = await import("./run.js");
          return runPrompt(flags, { variables, rawTrace: true });
        },
      },
    ],
  }),
};

export const run = shellRunner(shell);

async function show(args: CommandArguments, flags: ParsedFlags, variables: Variables): Promise<CommandResult> {
  const { settings, roots } = await loadSettings(flags, variables);
  const { keyPurpose, listRawTraffic, RawTraffic } = await import("../../providers/raw-traffic/traffic.js");
  const files = listRawTraffic(roots);
  const asked = args.text("SESSION");
  if (asked === undefined) {
    const lines = files.map(({ session, bytes, changed }) => `${session}  ${changed}  ${bytes} bytes`);
    return {
      text: lines.join("\n") || "There is no raw model traffic. 'oxbow debug --raw PROMPT' writes it.",
      value: asValue(files),
    };
  }
  const found = files.filter(({ session }) => session === asked || session.endsWith(asked));
  const [file] = found;
  if (file === undefined || found.length > 1)
    throw new UsageError(`There is no raw model traffic of ${asked}. 'oxbow debug show' lists what is there.`);
  const notify = (message: string) => printMessage(message);
  const stores = new SessionStores({ settings, roots, variables, root: process.cwd(), notify, hint: notify });
  const id = file.session as SessionId;
  const key = await keyFor(keyPurpose(id), stores);
  const traffic = new RawTraffic({ roots, session: id, key });
  const { lines, damaged } = traffic.read();
  if (damaged > 0)
    notify(`${damaged === 1 ? "A line" : `${damaged} lines`} cannot be read: damaged, or written with another key.`);
  return { text: lines.join("\n"), value: asValue(lines.map((line) => JSON.parse(line))) };
}
