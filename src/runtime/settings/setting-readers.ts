/** Parsers for the text of settings; each throws a UsageError that says what was expected. */
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { parseBudget } from "../../base/budget-text.js";
import { parseDuration } from "../../base/duration.js";
import { readStatusParts, STATUS_PARTS, type StatusParts } from "../../base/status-parts.js";
import { UsageError } from "../../base/usage-error.js";
import type { BudgetLimit } from "../../costs/budget.js";
import type { Effort } from "../../engine/ports.js";
import { duration, names, type Setting } from "../../feature/setting.js";
import { CREDENTIAL_KEYS, type CredentialKeyChoice } from "../../security/credentials/places.js";
import { isPermissionMode, PERMISSION_MODES, type PermissionMode } from "../../security/permissions/modes.js";
import { type LogLevels, parseLogLevels } from "../../system/log.js";
import type { EnvironmentPolicy } from "../../tools/child-environment.js";
import { SANDBOX_MODES, type SandboxMode } from "../parts/sandbox.js";
import { KEY_SOURCES, type KeySource } from "../sessions/session-stores.js";

export { duration, limit, names, onOrOff, wholeNumber, wholeNumberOrZero } from "../../feature/setting.js";

export const EFFORTS: readonly Effort[] = ["low", "medium", "high"];

export function budget(text: string): BudgetLimit {
  const limit = parseBudget(text);
  if (limit === undefined) {
    throw new UsageError(
      `expected an amount such as 0.50 (US dollars), "200k tokens" or "$2, 1M tokens", got "${text}".`,
    );
  }
  return limit;
}

export function providerName(text: string): string {
  if (text.trim() === "") throw new UsageError("expected the name of a provider, got nothing.");
  return text;
}

export function modelName(text: string): string {
  if (/^\s*(:|$)/.test(text)) throw new UsageError(`expected NAME or PROVIDER:NAME, got "${text}".`);
  return text;
}

/** A part of a window: `0.8`, `80%`, or `off`. */
export function windowShare(text: string): number | undefined {
  if (text === "off") return undefined;
  const share = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
  if (share >= 0.1 && share <= 0.95) return share;
  throw new UsageError(`expected a part of the window from 0.1 to 0.95 such as 0.8, or off, got "${text}".`);
}

export function effort(text: string): Effort {
  const known = EFFORTS.find((level) => level === text);
  if (known === undefined) throw new UsageError(`expected ${EFFORTS.join(", ")}, got "${text}".`);
  return known;
}

export function untrustedResults(text: string): "wrap" | "plain" {
  if (text === "wrap" || text === "plain") return text;
  throw new UsageError(`expected wrap or plain, got "${text}".`);
}

export function copilotFallback(text: string): "openrouter" | "off" {
  if (text === "openrouter" || text === "off") return text;
  throw new UsageError(`expected openrouter or off, got "${text}".`);
}

export function webNames(text: string): "check" | "proxy" {
  if (text === "check" || text === "proxy") return text;
  throw new UsageError(`expected check or proxy, got "${text}".`);
}

export function certificateFile(text: string): string {
  const path = text.replace(/^~(?=\/)/, homedir());
  if (isAbsolute(path)) return path;
  throw new UsageError(`expected the absolute path of a file, got "${text}".`);
}

export function keySource(text: string): KeySource {
  const known = KEY_SOURCES.find((source) => source === text);
  if (known === undefined) throw new UsageError(`expected auto, file or keychain, got "${text}".`);
  return known;
}

export function credentialKey(text: string): CredentialKeyChoice {
  const known = CREDENTIAL_KEYS.find((choice) => choice === text);
  if (known === undefined) throw new UsageError(`expected ${CREDENTIAL_KEYS.join(", ")}, got "${text}".`);
  return known;
}

export function sandboxMode(text: string): SandboxMode {
  const known = SANDBOX_MODES.find((mode) => mode === text);
  if (known === undefined) throw new UsageError(`expected ${SANDBOX_MODES.join(", ")}, got "${text}".`);
  return known;
}

export const CONTAINMENTS = ["direct", "ask"] as const;
export type Containment = (typeof CONTAINMENTS)[number];

export function containment(text: string): Containment {
  const known = CONTAINMENTS.find((each) => each === text);
  if (known === undefined) throw new UsageError(`expected ${CONTAINMENTS.join(" or ")}, got "${text}".`);
  return known;
}

/** No blanks, and never an option of the container program. */
export function image(text: string): string {
  if (!/^[a-z0-9][\w./:@-]*$/i.test(text)) throw new UsageError(`expected the name of an image, got "${text}".`);
  return text;
}

export function words(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

export function writableFolders(text: string): readonly string[] {
  const folders = names(text);
  const wrong = folders.find((folder) => folder !== "git" && !isAbsoluteFolder(folder));
  if (wrong !== undefined) throw new UsageError(`expected absolute paths of folders, or git, got "${wrong}".`);
  return folders;
}

export function absoluteFolders(text: string): readonly string[] {
  const folders = names(text);
  const wrong = folders.find((folder) => !isAbsoluteFolder(folder));
  if (wrong !== undefined) throw new UsageError(`expected absolute paths of folders, got "${wrong}".`);
  return folders;
}

/** Never the root of the file system. */
function isAbsoluteFolder(path: string): boolean {
  return /^(?:~?\/|[A-Za-z]:)./.test(path);
}

/** A duration, or `off`. */
export function durationOrOff(text: string): number | undefined {
  return text === "off" ? undefined : duration(text);
}

/** In Ollama's syntax, which has "forever" (any negative value) and "not at all". */
export function keepAlive(text: string): string {
  if (/^-?\d+$|^-?(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return text;
  throw new UsageError(`expected a duration such as 10m, 0 (unload at once) or -1 (keep), got "${text}".`);
}

export function wait(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new UsageError(`expected a duration such as 30s or 5m, or 0, got "${text}".`);
  return value;
}

export function permissionMode(text: string): PermissionMode {
  if (isPermissionMode(text)) return text;
  throw new UsageError(`expected ${PERMISSION_MODES.join(", ")}, got "${text}".`);
}

export function logLevels(text: string): LogLevels {
  const levels = parseLogLevels(text);
  if ("problem" in levels) throw new UsageError(levels.problem);
  return levels;
}

export const SPINNERS = ["verses", "plain"] as const;
export type SpinnerKind = (typeof SPINNERS)[number];

export function spinner(text: string): SpinnerKind {
  return oneOf(SPINNERS, text);
}

const THEMES = ["dark", "light", "high-contrast", "plain"] as const;

export function theme(text: string): string {
  return oneOf(THEMES, text);
}

export function statusLine(text: string): StatusParts {
  const parts = readStatusParts(text);
  if (!("unknown" in parts)) return parts;
  throw new UsageError(`expected ${STATUS_PARTS.join(", ")}, got "${parts.unknown}".`);
}

export function yesOrNo(text: string): boolean {
  return oneOf(["true", "false"] as const, text) === "true";
}

function oneOf<T extends string>(known: readonly T[], text: string): T {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new UsageError(`expected ${known.join(", ")}, got "${text}".`);
  return found;
}

const INHERIT: readonly EnvironmentPolicy["inherit"][] = ["filtered", "core", "none", "all"];

/** `[environment]`: `inherit`, `include`, `exclude`, and `set` with values. */
export function environmentPolicy(
  written: Setting<Readonly<Record<string, unknown>> | undefined>,
): Setting<EnvironmentPolicy> {
  const { inherit = "filtered", include = [], exclude = [], set = {}, ...others } = written.value ?? {};
  const wrong = (what: string) => new UsageError(`${written.origin}: ${what}`);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(`expected inherit, include, exclude or set, got "${unknown}".`);
  const chosen = INHERIT.find((each) => each === inherit);
  if (chosen === undefined) throw wrong(`inherit: expected ${INHERIT.join(", ")}, got "${String(inherit)}".`);
  if (!isTexts(include) || !isTexts(exclude)) throw wrong('include and exclude are lists of names, such as ["AWS_*"].');
  if (typeof set !== "object" || set === null || !isTexts(Object.values(set))) {
    throw wrong('set is a table of texts, such as { NODE_ENV = "test" }.');
  }
  const value = { inherit: chosen, include, exclude, set: set as Readonly<Record<string, string>> };
  return { value, origin: written.origin };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
