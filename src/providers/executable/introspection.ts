/**
 * Describes what an executable provider reports about itself: `--describe`, `--ready`, `--defaults`, `--env`. No answer makes Oxbow run
 * anything else.
 *
 * 1. These calls never throw and never hang: an answer that does not come in time counts as missing.
 */
import type { Clock } from "../../base/clock.js";
import { parseDuration } from "../../base/duration.js";
import { safeLine } from "../../base/terminal-text.js";
import { runProcess } from "../../system/process-group.js";
import { SpawnError } from "../../system/process-launch.js";
import { type ContainedProvider, type ProviderCommand, processOf } from "./containment.js";

export interface ExecutableProvider {
  readonly path: string;
  /** One line for people; empty if the program gives none. */
  readonly description: string;
  readonly ready: boolean;
  /** The reason why not, in the program's words. */
  readonly reason?: string;
  readonly defaults: ExecutableDefaults;
  /** The same as the program wrote it. */
  readonly output: string;
  readonly variables: readonly ProviderVariable[];
}

export interface ExecutableDefaults {
  readonly model?: string;
  /** The wire it speaks instead of Oxbow's own protocol: `anthropic`, `openai-chat`, … */
  readonly protocol?: string;
  readonly streaming: "auto" | "never";
  readonly maxOutputTokens?: number;
  readonly maxContextTokens?: number;
  /** The family whose thinking it understands; default: its own name. */
  readonly family?: string;
  readonly idleMs?: number;
  /** The hosts that it calls; only the sandbox of a project's provider needs them. */
  readonly hosts?: readonly string[];
}

export interface ProviderVariable {
  readonly name: string;
  readonly description: string;
}

export interface InspectOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The environment for its other flags, once it has named its variables; default: `env`. */
  readonly envOf?: (asked: readonly ProviderVariable[]) => Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The limit for each call. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /** Puts a sandbox around each call. */
  readonly contain?: (command: ProviderCommand) => Promise<ContainedProvider>;
}

const TIMEOUT_MS = 5000;
const ANSWER_BYTES = 64 * 1024;

export async function inspectExecutable(path: string, options: InspectOptions): Promise<ExecutableProvider> {
  const named = await ask(path, "--env", options);
  const variables = parseVariables(named?.code === 0 ? named.output : "");
  const env = options.envOf?.(variables) ?? options.env;
  const [described, ready, defaults] = await Promise.all(
    ["--describe", "--ready", "--defaults"].map((flag) => ask(path, flag, { ...options, env })),
  );
  const isReady = ready?.code === 0;
  const output = defaults?.code === 0 ? defaults.output : "";
  const reason = isReady ? "" : firstLine(ready?.errors || ready?.output || "");
  return {
    path,
    description: described?.code === 0 ? firstLine(described.output) : "",
    ready: isReady,
    ...(reason !== "" && { reason }),
    defaults: parseDefaults(output),
    output,
    variables,
  };
}

/** The part of an environment that a provider may see: the usual variables, and those it names. */
export function environmentOf(
  variables: Readonly<Record<string, string | undefined>>,
  asked: readonly ProviderVariable[],
): Readonly<Record<string, string>> {
  const names = [...USUAL_VARIABLES, ...asked.map(({ name }) => name)];
  const kept = names.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]] as const]));
  return Object.fromEntries(kept);
}

const USUAL_VARIABLES = [
  "PATH",
  "HOME",
  "USER",
  "LANG",
  "LC_ALL",
  "TMPDIR",
  "TZ",
  "SSL_CERT_FILE",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/* ---- answers ---- */

/** `key=value` lines; `#` begins a comment. */
export function parseDefaults(text: string): ExecutableDefaults {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, key, value] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/i.exec(line) ?? [];
    if (key !== undefined && value) values.set(key.toLowerCase(), safeLine(value));
  }
  const idleMs = parseDuration(values.get("timeout") ?? "");
  return {
    streaming: values.get("stream") === "never" ? "never" : "auto",
    ...given("model", values.get("model")),
    // A .conf file calls it openai.
    ...given("protocol", values.get("protocol")?.replace(/^openai$/, "openai-chat")),
    ...given("family", values.get("family")),
    ...given("maxOutputTokens", tokens(values.get("max_tokens"))),
    ...given("maxContextTokens", tokens(values.get("context_tokens"))),
    ...given("idleMs", idleMs),
    ...given("hosts", values.get("hosts")?.split(/[\s,]+/)),
  };
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [K in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in Name]: Value });
}

function tokens(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}

/** `NAME description` lines; a colon or an equals sign may separate them. */
export function parseVariables(text: string): readonly ProviderVariable[] {
  return text.split("\n").flatMap((line) => {
    const [, name, description = ""] = /^\s*([A-Za-z_]\w*)(?:\s*[:=]\s*|\s+|$)(.*?)\s*$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, description: safeLine(description) }];
  });
}

function firstLine(text: string): string {
  return safeLine(text.trim().split("\n", 1)[0] ?? "").slice(0, 200);
}

/* ---- asking ---- */

interface Answer {
  readonly code: number | undefined;
  readonly output: string;
  readonly errors: string;
}

/** Undefined if the program could not run. */
async function ask(path: string, flag: string, options: InspectOptions): Promise<Answer | undefined> {
  const { cwd, env, signal, timeoutMs = TIMEOUT_MS, clock, contain } = options;
  let output = "";
  let errors = "";
  let command: ContainedProvider | undefined;
  const add = (text: string, bytes: Buffer) => (text + bytes.toString("utf8")).slice(0, ANSWER_BYTES);
  try {
    const plain = { argv: [path, flag], cwd, env };
    command = (await contain?.(plain)) ?? plain;
    const end = await runProcess(
      {
        ...processOf(command),
        timeoutMs,
        leavesNothing: true,
        onOutput: (bytes) => {
          output = add(output, bytes);
        },
        onErrorOutput: (bytes) => {
          errors = add(errors, bytes);
        },
        ...(signal !== undefined && { signal }),
        ...(clock !== undefined && { clock }),
      },
      command.launch,
    );
    if (end.reason === "timeout") return { code: undefined, output: "", errors: `it did not answer ${flag} in time` };
    return { code: end.exitCode, output, errors };
  } catch (error) {
    if (!(error instanceof SpawnError) && contain === undefined) throw error;
    return { code: undefined, output: "", errors: (error as Error).message };
  } finally {
    await command?.ended?.();
  }
}
