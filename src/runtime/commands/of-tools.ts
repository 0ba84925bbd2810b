/** The commands about tools: what they may do, what they did, and a shell command by a person. */
import { safeLine } from "../../base/terminal-text.js";
import type { Run } from "../../control/run.js";
import { asValue, type Command, withPort } from "../../feature/command.js";
import { planCommands } from "../../security/permissions/commands.js";
import { workspaceRules } from "../../security/permissions/workspace-state.js";
import { PORT_COMMANDS } from "../../security/ports/commands.js";
import { ANSWER_COMMANDS } from "../../tools/answer/commands.js";
import { BACKGROUND_COMMANDS } from "../../tools/background-commands.js";
import { Gatherer } from "../gatherer.js";
import { type Opening, runOf } from "../opening.js";
import type { SessionFolders } from "../parts/folders.js";
import { envCommand, keepCommand, modeCommand, shellCommand } from "./conversation.js";
import { TOOLS } from "./program.js";
import { safeModeRefusal, securityCommands } from "./security.js";
import { ADD_DIR } from "./specs.js";

/** Tells what the model of this session can call now, with the tools of its MCP servers. */
function toolsCommand(run: Run): Command {
  return {
    ...TOOLS,
    run: () => {
      const tools = run.tools.list().map(({ name, set, mutating, description }) => {
        // The words of a server are in marks.
        const summary = description.split("\n").find((line) => line.trim() !== "" && !line.startsWith("<")) ?? "";
        return { name, set, mutating, summary: safeLine(summary.trim()) };
      });
      const width = Math.max(0, ...tools.map(({ name }) => name.length));
      const lines = tools.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}`.trimEnd());
      return { text: lines.join("\n") || "The model of this session has no tools.", value: asValue(tools) };
    },
  };
}

function addDirCommand(folders: SessionFolders): Command {
  return {
    ...ADD_DIR,
    run: async (args) => {
      const typed = args.text("DIR");
      const added = typed === undefined ? undefined : await folders.add(typed);
      if (added !== undefined && "failure" in added) return added;
      const text =
        added === undefined
          ? folders.roots.join("\n") || "The session uses its workspace alone. /add-dir DIR adds a folder."
          : `The session uses ${added.folder} like its workspace. It keeps it when it is resumed.`;
      return { text, value: { folders: [...folders.roots] } };
    },
  };
}

export async function toolPartCommands(opening: Opening): Promise<readonly Command[]> {
  const run = runOf(opening);
  const { audit, permissions, sandbox, toolbox } = opening.built.all();
  const { sessions, variables, loaded, withheld } = opening.engine;
  const person = { id: run.bus.originator, identity: "human" } as const;
  const ruleFiles = { user: loaded.profilePath, project: workspaceRules(loaded.roots.config, opening.root) };
  return [
    ...securityCommands({
      ...{ audit, permissions, sandbox, sessions, variables, ruleFiles, toolbox },
      tools: run.tools,
    }),
    ...planCommands({
      isOn: () => permissions.planning,
      enter: () => run.enterPlan(person),
      exit: () => run.exitPlan(person, { approve: true }),
    }),
    modeCommand({
      run,
      mode: () => (permissions.planning ? "plan" : permissions.mode),
      person: run.bus.originator,
    }),
    ...withPort(PORT_COMMANDS, () => sandbox.ports()),
    ...withPort(BACKGROUND_COMMANDS, () => toolbox.background()),
    keepCommand(sandbox),
    envCommand({ variables, atHome: withheld, policy: loaded.settings.environment.value }),
    addDirCommand(opening.folders),
    toolsCommand(run),
    ...withPort(ANSWER_COMMANDS, () => new Gatherer(opening)),
    shellCommand({ run, root: opening.root, refusalOf: (command) => safeModeRefusal(permissions, command) }),
  ];
}
