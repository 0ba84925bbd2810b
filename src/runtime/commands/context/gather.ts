/** `/read`, `/search`, `/files`, `/git` and `/run`. */
import { FILES, GIT, READ, RUN, SEARCH } from "../../../commands/catalogue/context.js";
import { type Command, type CommandContext, type CommandResult, refuse } from "../../../commands/command.js";
import type { Gatherer } from "./gatherer.js";

export function gatherCommands(gatherer: Gatherer): readonly Command[] {
  return [
    { ...READ, run: (args, { signal }) => readFiles(gatherer, args.list("FILE"), signal) },
    {
      ...SEARCH,
      run: (args, { signal }) => {
        const [pattern = "", path] = [args.text("PATTERN"), args.text("PATH")];
        const command = `/search ${pattern}${path === undefined ? "" : ` ${path}`}`;
        const where = path === undefined ? {} : { path };
        return gatherer.gather({ command, tool: "grep", args: { pattern, limit: 100, ...where } }, signal);
      },
    },
    {
      ...FILES,
      run: (args, { signal }) => {
        const path = args.text("PATH");
        const command = path === undefined ? "/files" : `/files ${path}`;
        return gatherer.gather({ command, tool: "ls", args: path === undefined ? {} : { path } }, signal);
      },
    },
    {
      ...GIT,
      run: (args, { signal }) => {
        const action = args.text("ACTION") ?? "";
        const words = args.list("ARGUMENTS");
        const command = ["/git", action, ...words].join(" ");
        return gatherer.gather({ command, tool: "git", args: { action, args: words } }, signal);
      },
    },
    { ...RUN, run: (args, context) => runCommand(gatherer, args.text("COMMAND") ?? "", context) },
  ];
}

async function readFiles(gatherer: Gatherer, paths: readonly string[], signal: AbortSignal): Promise<CommandResult> {
  const texts: string[] = [];
  for (const path of paths) {
    const command = `/read ${path}`;
    const found = await gatherer.call({ command, tool: "read", args: { path } }, signal);
    // If one file fails, none is kept: the user names the files again.
    if ("problem" in found) return refuse(found.problem);
    texts.push(found.text);
  }
  for (const [index, path] of paths.entries()) await gatherer.keep(`/read ${path}`, texts[index] ?? "");
  return gatherer.answer(`/read ${paths.join(" ")}`, texts.join("\n\n"));
}

/** With the network. Its changes are checked as those of the model's commands; `!COMMAND` has all rights of the user. */
async function runCommand(gatherer: Gatherer, typed: string, { signal }: CommandContext): Promise<CommandResult> {
  return gatherer.gather({ command: `/run ${typed}`, tool: "bash", args: { command: typed } }, signal);
}
