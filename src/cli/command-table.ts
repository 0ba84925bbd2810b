/** The command line as a table: a name and where to load it from. runtime/commands/catalogue.ts describes the commands. */

import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { OpenShell, Subject } from "../feature/command.js";
import { failure } from "../protocol/errors.js";
import { noteKeyVariables } from "../system/own-secrets.js";
import { EXIT } from "./exit-codes.js";
import { FailedRun, reportFailure } from "./failed-run.js";
import { faultSentence } from "./fault-sentence.js";
import { folderCommand, type TypedCommand } from "./folder-commands.js";
import { withSecretsFile } from "./secrets.js";
import type { ShellCommand } from "./shell-command.js";

export { outputGuard } from "./output-guard.js";

export interface CliCommand {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly load: () => Promise<CliModule>;
}

export interface CliModule {
  run(args: readonly string[], variables: Variables): Promise<number>;
  /** Absent for the modules that start a run: they load little before the first request. */
  readonly shell?: ShellCommand;
}

/** A subject declares its commands itself; `open` joins it with other features. */
function ofSubject(
  load: () => Promise<{ readonly subject: Subject }>,
  open?: () => Promise<{ readonly openShell: OpenShell }>,
): CliCommand["load"] {
  return async () => {
    const [{ subjectModule }, { subject }, joint] = await Promise.all([
      import("./subject-command.js"),
      load(),
      open?.(),
    ]);
    return subjectModule(subject, joint?.openShell);
  };
}

const sources = () => import("../runtime/commands/sources.js");
const keys = () => import("../security/credentials/commands.js");
const auth = () => import("./commands/auth/open-commands.js");
const models = () => import("../runtime/models/commands.js");
const ollama = async () => ({ openShell: (await models()).openOllama });

export const COMMANDS: readonly CliCommand[] = [
  { name: "run", load: () => import("./commands/run.js") },
  { name: "resume", load: () => import("./commands/resume.js") },
  { name: "session", aliases: ["sessions"], load: () => import("./commands/session.js") },
  {
    name: "permissions",
    load: ofSubject(
      () => import("../security/permissions/commands.js"),
      () => import("./commands/permissions.js"),
    ),
  },
  { name: "ack", load: () => import("./commands/ack.js") },
  { name: "verify-ack", load: () => import("./commands/verify-ack.js") },
  { name: "auth", load: ofSubject(keys, auth) },
  { name: "creds", load: ofSubject(async () => ({ subject: (await keys()).creds }), auth) },
  {
    name: "cost",
    load: ofSubject(
      () => import("../costs/commands.js"),
      () => import("./commands/cost.js"),
    ),
  },
  { name: "models", load: ofSubject(() => import("../providers/selection/commands.js"), models) },
  { name: "ollama", load: ofSubject(() => import("../providers/ollama/commands.js"), ollama) },
  { name: "route", load: ofSubject(() => import("../providers/routing/commands.js"), models) },
  { name: "bench", load: ofSubject(() => import("../providers/bench/commands.js"), models) },
  { name: "agents", load: ofSubject(() => import("../extensions/subagents/commands.js")) },
  { name: "skills", load: ofSubject(() => import("../context/skills/commands.js")) },
  { name: "memory", load: ofSubject(() => import("../context/memory/commands.js")) },
  { name: "kb", load: ofSubject(() => import("../context/knowledge-base/commands.js")) },
  {
    name: "rag",
    load: ofSubject(
      () => import("../context/retrieval/commands.js"),
      () => import("../runtime/retrieval.js"),
    ),
  },
  {
    name: "mcp",
    load: ofSubject(
      () => import("../extensions/mcp/commands.js"),
      () => import("./commands/mcp.js"),
    ),
  },
  { name: "sources", load: ofSubject(sources) },
  { name: "hooks", load: ofSubject(async () => ({ subject: (await sources()).hooksSubject })) },
  { name: "tools", load: () => import("./commands/tools.js") },
  { name: "config", load: () => import("./commands/config.js") },
  { name: "profiles", aliases: ["profile"], load: ofSubject(() => import("../runtime/commands/profiles.js")) },
  { name: "doctor", load: () => import("./commands/doctor.js") },
  { name: "update", load: () => import("./commands/update.js") },
  { name: "uninstall", load: () => import("./commands/uninstall.js") },
  { name: "attach", load: () => import("./commands/attach.js") },
  { name: "engine", load: () => import("./commands/engine.js") },
  { name: "stop", load: () => import("./commands/stop.js") },
  { name: "status", load: () => import("./commands/status.js") },
  { name: "debug", load: () => import("./commands/debug.js") },
  { name: "acp", load: () => import("./commands/acp.js") },
  { name: "mcp-server", load: () => import("./commands/mcp-server.js") },
  { name: "serve", load: () => import("./commands/serve.js") },
  { name: "web", load: () => import("./commands/web.js") },
  { name: "conformance", load: () => import("./commands/conformance.js") },
  { name: "token", aliases: ["tokens"], load: () => import("./commands/token.js") },
  { name: "mock-model", load: () => import("./commands/mock-model.js") },
  { name: "mx", load: () => import("./commands/mx.js") },
  { name: "completion", load: () => import("./commands/completion.js") },
  { name: "help", load: () => import("./commands/help.js") },
  { name: "version", load: () => import("./commands/version.js") },
];

export async function main(args: readonly string[], ofProcess: Variables): Promise<number> {
  let variables = ofProcess;
  try {
    const { command, rest } = choose(args);
    variables = await withSecretsFile(ofProcess, command.name);
    noteKeyVariables(variables);
    const typed = folderCommand(args, variables);
    const code = typed && (await runFolderCommand(typed, variables));
    if (code !== undefined) return code;
    return await (await command.load()).run(rest, variables);
  } catch (error) {
    if (error instanceof FailedRun) return reportFailure(error.failure, args);
    if (error instanceof UsageError) return reportFailure(failure("InvalidInput", { detail: error.message }), args);
    if ((error as NodeJS.ErrnoException)?.code === "EPIPE") return EXIT.cancelled;
    const exit = reportFailure({ ...failure("Internal"), message: await faultSentence(error, variables) }, args);
    if (args.includes("--verbose") && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return exit;
  }
}

/** Undefined if the word stands for a built-in command after all. */
async function runFolderCommand(typed: TypedCommand, variables: Variables): Promise<number | undefined> {
  const { runExecutable } = await import("./commands/executable.js");
  return runExecutable({ ...typed, isBuiltIn }, variables);
}

function isBuiltIn(word: string): boolean {
  return COMMANDS.some(({ name, aliases }) => name === word || aliases?.includes(word));
}

/** A first word that names a command runs it; anything else that looks like a prompt is one. */
function choose(args: readonly string[]): { command: CliCommand; rest: readonly string[] } {
  const [first, ...rest] = args;
  const named = COMMANDS.find(
    ({ name, aliases }) => name === first || (first !== undefined && aliases?.includes(first)),
  );
  if (named !== undefined) return { command: named, rest };
  if (first === "--help" || first === "-h") return { command: find("help"), rest };
  if (first !== undefined && /^sess_\S*$/.test(first)) {
    return { command: find("run"), rest: ["--resume", first, ...rest] };
  }
  return { command: { name: "", load: () => import("./commands/bare-prompt.js") }, rest: args };
}

function find(name: string): CliCommand {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  return command;
}
