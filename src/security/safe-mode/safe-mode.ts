/**
 * Safe mode: when it is on, only listed commands run, for every caller: a user with `!` or `/run`, or the
 * model with `bash`.
 *
 * 1. Programs are judged, not text: every simple command of the parsed text, wherever it is nested, and what `timeout` and its
 *    like start. A text that is not understood does not run.
 * 2. A program is on the list by exactly the name it is called with: `ls` is not `./ls`.
 * 3. A listed program is refused with options by which it runs others or writes, with variables that change what runs, and with
 *    a redirect into a file: these would bypass the list.
 * 4. It only refuses. A command that passes still needs its usual permission.
 */
import type { CommandFacts, CommandPart } from "../permissions/facts.js";
import { StateFile, type StateFileOptions, type StateFormat } from "../permissions/state-file.js";

export interface SafeModeState {
  readonly on: boolean;
  readonly allowed: readonly string[];
}

/** Programs that only read. */
export const DEFAULT_SAFE_COMMANDS: readonly string[] = [
  ..."basename cat cd cmp comm cut date df diff dirname du echo expr false file find fold grep head id join jq".split(
    " ",
  ),
  ..."ls md5sum nl od pwd readlink realpath rg seq sha1sum sha256sum sort stat strings tac tail test tr tree".split(
    " ",
  ),
  ..."true type uname uptime wc which whoami [".split(" "),
];

export const SAFE_MODE_OFF: SafeModeState = { on: false, allowed: DEFAULT_SAFE_COMMANDS };

/** Tells why the command does not run in safe mode; undefined when it may, or when safe mode is off. */
export function safeModeRefusal(state: SafeModeState, command: CommandFacts): string | undefined {
  if (!state.on) return undefined;
  if (command.parts.length === 0) return `${command.reason} Safe mode runs only what it understands.`;
  const allowed = new Set(state.allowed);
  for (const part of command.parts) {
    const refusal = partRefusal(part, allowed);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function partRefusal(part: CommandPart, allowed: ReadonlySet<string>): string | undefined {
  for (const program of part.programs) {
    if (program === undefined) {
      return `Safe mode cannot tell which program "${part.text}" runs. ${permitted(allowed)}`;
    }
    if (!allowed.has(program)) return `"${program}" is not on the list of safe mode. ${permitted(allowed)}`;
  }
  const [variable] = part.variables;
  if (variable !== undefined) return `It sets ${variable}, which can change what runs. Leave the variable out.`;
  const [file] = part.writes;
  if (file !== undefined) return `It writes to ${file}. Commands only read in safe mode.`;
  if (part.refusedOption === undefined) return undefined;
  const [program = "", action = ""] = part.words;
  const name = program === "git" && !action.startsWith("-") ? `git ${action}` : part.programs[0];
  return `"${name} ${part.refusedOption}" can run other programs or write files.`;
}

function permitted(allowed: ReadonlySet<string>): string {
  return allowed.size === 0 ? "It permits no program." : `It permits: ${[...allowed].join(" ")}`;
}

/** Programs that run others: safe mode cannot see what they start. */
const RUNS_ANYTHING = new Set(
  [
    "sh bash dash zsh ksh fish python python3 node deno bun perl ruby php lua awk gawk sed env xargs parallel sudo doas su",
    "ssh eval exec source . nohup setsid time watch make npm npx pnpm yarn docker podman kubectl git vi vim nvim emacs less man",
  ]
    .join(" ")
    .split(" "),
);

export type SafeModeReply =
  | { readonly ok: true; readonly text: string; readonly state: SafeModeState }
  | { readonly ok: false; readonly text: string };

export type SafeModeAction = "status" | "on" | "off" | "reset" | "allow" | "deny";

/** `/safemode ACTION [PROGRAM]`. Changes are written before the answer is given. */
export async function changeSafeMode(
  action: SafeModeAction,
  program: string,
  file: StateFile<SafeModeState>,
): Promise<SafeModeReply> {
  if (action === "allow" || action === "deny") {
    if (!/^[\w./+@:[-]+$/.test(program)) {
      return { ok: false, text: `"${program}" is not the name of a command: give the program alone, such as git.` };
    }
    return action === "allow" ? allow(program, file) : deny(program, file);
  }
  const state = action === "status" ? await file.load() : await file.update(SWITCHES[action]);
  return { ok: true, text: describeSafeMode(state), state };
}

/** `reset` restores the state of a new workspace: off, with the built-in list. */
const SWITCHES: Readonly<Record<"on" | "off" | "reset", (state: SafeModeState) => SafeModeState>> = {
  on: (state) => ({ ...state, on: true }),
  off: (state) => ({ ...state, on: false }),
  reset: () => SAFE_MODE_OFF,
};

async function allow(name: string, file: StateFile<SafeModeState>): Promise<SafeModeReply> {
  const state = await file.update(({ on, allowed }) => ({ on, allowed: [...new Set([...allowed, name])].sort() }));
  const warning = RUNS_ANYTHING.has(name) ? ` Note: ${name} runs other programs, and safe mode cannot see which.` : "";
  const idle = state.on ? "" : " Safe mode itself is off.";
  return { ok: true, text: `Safe mode allows ${name}.${warning}${idle}`, state };
}

async function deny(name: string, file: StateFile<SafeModeState>): Promise<SafeModeReply> {
  const before = await file.load();
  if (!before.allowed.includes(name)) {
    return { ok: true, text: `${name} was not on the list of safe mode.`, state: before };
  }
  const state = await file.update(({ on, allowed: now }) => ({ on, allowed: now.filter((each) => each !== name) }));
  return { ok: true, text: `Safe mode no longer allows ${name}.${state.on ? "" : " Safe mode itself is off."}`, state };
}

export function describeSafeMode({ on, allowed }: SafeModeState): string {
  const list = allowed.length === 0 ? "(none)" : allowed.join(" ");
  return on
    ? `Safe mode is on. In this workspace only these commands run, for you and for the model:\n${list}`
    : `Safe mode is off. With /safemode on, only these commands run in this workspace:\n${list}`;
}

/** `{ "on": true, "allowed": ["ls", …] }`. */
const SAFE_MODE_FORMAT: StateFormat<SafeModeState> = {
  initial: SAFE_MODE_OFF,
  decode(value) {
    const { on, allowed } = value as { on?: unknown; allowed?: unknown };
    if (typeof on !== "boolean") throw new Error('"on" is neither true nor false');
    if (!Array.isArray(allowed) || !allowed.every((name) => typeof name === "string")) {
      throw new Error('"allowed" is not a list of names');
    }
    return { on, allowed };
  },
  encode: (state) => state,
};

export function safeModeFile(path: string, options?: StateFileOptions): StateFile<SafeModeState> {
  return new StateFile(path, SAFE_MODE_FORMAT, options);
}
