/** All commands of one session: each part registers its own. Loaded with the first command that a client sends. */

import { UsageError } from "../../base/usage-error.js";
import { CommandRegistry, helpCommand, runSlash } from "../../commands/registry.js";
import type { CustomRequest } from "../../control/host.js";
import {
  asValue,
  type Command,
  type CommandContext,
  type CommandSpec,
  type CommandTurn,
  namespaceOf,
  refuse,
} from "../../feature/command.js";
import type { CommandReply } from "../../protocol/client.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject } from "../../protocol/json.js";
import { CredentialError } from "../../security/credentials/credential-error.js";
import { StoreError } from "../../sessions/store.js";
import { inWords } from "../../system/errno-words.js";
import { commandsOf, type SessionPart } from "../part.js";
import { DECLARED, HELP_GROUPS, helpGroupOf, PROGRAM_SPECS } from "./catalogue.js";
import * as program from "./program.js";
import { SCREEN_COMMANDS } from "./screen.js";
import { SESSION_COMPACT, SESSION_NAMESPACE, SESSION_REPLAY } from "./sessions/specs.js";
import { CLIENT_COMMANDS, HELP, RECORD_NAMESPACE } from "./specs.js";

/** Namespaces that the help shows on one line. */
const NAMESPACES = {
  ...SESSION_NAMESPACE,
  ...RECORD_NAMESPACE,
  ...program.CONFIG_NAMESPACE,
};

/** `more`: those of the engine that hosts the session. */
export async function sessionCommands(
  parts: readonly SessionPart[],
  more: readonly Command[] = [],
): Promise<CommandRegistry> {
  const registry = new CommandRegistry()
    .describe(NAMESPACES)
    .knowProgram(PROGRAM_SPECS.map(({ name }) => namespaceOf(name) ?? name))
    .describe(Object.fromEntries(DECLARED.map(({ name, summary }) => [name, summary])));
  registry.register(
    helpCommand(HELP, registry, { headings: HELP_GROUPS, headingOf: helpGroupOf }),
    ...[...CLIENT_COMMANDS, ...SCREEN_COMMANDS, ...SHELL_COMMANDS].map(elsewhere),
    ...more,
    ...(await commandsOf(parts)),
  );
  const later = await Promise.all(parts.map((part) => part.laterCommands?.(registry) ?? []));
  return registry.register(...later.flat());
}

/** Commands that only `oxbow NAME` can run: the list contains them with a note. */
const SHELL_COMMANDS = [
  SESSION_REPLAY,
  SESSION_COMPACT,
  ...DECLARED.flatMap(({ specs }) =>
    specs.filter(({ places }) => places.every((place) => place === "without a session")),
  ),
  program.ACK,
  program.VERIFY_ACK,
  program.CONFIG_SHOW,
  program.DOCTOR,
  program.DEBUG,
  program.VERSION_COMMAND,
];

/** The registry refuses these before they run. */
function elsewhere(spec: CommandSpec): Command {
  return { ...spec, run: () => ({ text: "", value: null }) };
}

/** Answers the `slash` commands of clients. Cancelling a turn also stops them. */
export function answerSlash(registry: CommandRegistry, request: CustomRequest): Promise<CommandReply> {
  return request.run.aside((signal) => answer(registry, request, signal));
}

async function answer(registry: CommandRegistry, request: CustomRequest, signal: AbortSignal): Promise<CommandReply> {
  const { verb, payload, run, client } = request;
  const { args = "", columns } = isJsonObject(payload) ? payload : {};
  const written = new WrittenText();
  const context: CommandContext = {
    surface: "slash",
    signal,
    progress: (message) => run.bus.publish("Notice", { level: "progress", message }),
    warn: (message) => run.bus.publish("Notice", { level: "warning", message }),
    write: async (text) => written.add(text),
    limits: request.limits,
    ...(typeof columns === "number" && columns > 0 && { screen: { width: Math.floor(columns), color: false } }),
  };
  try {
    const result = await runSlash(registry, `${verb} ${typeof args === "string" ? args : ""}`, {
      identity: client.identity,
      context,
      busy: run.busy,
    });
    if ("failure" in result) return { ok: false, failure: withWords(result.failure) };
    const { text, value, exitCode = 0, turn, follow } = result;
    if (turn !== undefined && request.limits?.may("SendInput") === false) {
      return { ok: false, failure: failure("Forbidden", { detail: "SendInput is not among its commands." }) };
    }
    const refused = turn && (await begin(turn, request));
    if (refused !== undefined) return { ok: false, failure: refused };
    return {
      ok: true,
      value: {
        text: written.before(text),
        value,
        ...(exitCode !== 0 && { exit_code: exitCode }),
        ...(turn !== undefined && { state: "started" }),
        ...(follow !== undefined && { follow: asValue(follow) }),
      },
    };
  } catch (error) {
    if (signal.aborted) return { ok: false, failure: refuse("Cancelled.").failure };
    // What the system refuses is no defect of the command.
    const isOfSystem = error instanceof Error && "syscall" in error;
    const isMeant = [UsageError, StoreError, CredentialError].some((kind) => error instanceof kind);
    if (!isMeant && !isOfSystem) throw error;
    return { ok: false, failure: withWords(failure("InvalidInput", { detail: (error as Error).message })) };
  }
}

/** Errors of the operating system in words, as `oxbow NAME` prints them. */
function withWords(cause: Failure): Failure {
  return { ...cause, message: inWords(cause.message) };
}

/** A command that starts a turn: the turn belongs to the client that sent it. */
async function begin({ input, ...more }: CommandTurn, { run, client }: CustomRequest): Promise<Failure | undefined> {
  const started = run.start({ content: input, originator: client, ...more });
  return "refused" in started ? started.refused : run.kept(started);
}

/** A client gets the whole answer at once, so a long one is cut. */
const MOST_TEXT = 200_000;

class WrittenText {
  #text = "";
  #isCut = false;

  add(text: string): void {
    this.#isCut ||= this.#text.length + text.length > MOST_TEXT;
    if (!this.#isCut) this.#text += text;
  }

  before(text: string): string {
    const cut = this.#isCut ? "… The rest is left out. 'oxbow session' shows all of it." : "";
    return [this.#text.trimEnd(), cut, text].filter((part) => part !== "").join("\n");
  }
}
