/** `oxbow doctor`: what works on this machine, and what to do about the rest. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import { DOCTOR } from "../../commands/catalogue/program.js";
import { asValue, COMMAND_EXIT, type CommandResult } from "../../commands/command.js";
import { parseFlags } from "../../commands/flags.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { type LoadedSettings, loadSettings } from "../../runtime/settings/settings.js";
import { findProgram } from "../../system/find-program.js";
import { findRipgrep } from "../../tools/search/find-ripgrep.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

type Verdict = "ok" | "note" | "problem";

interface Finding {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly text: string;
}

export const shell: ShellCommand = {
  name: "doctor",
  specs: [DOCTOR],
  about: "Checks what works on this machine, and says what to do about the rest.",
  more: "Exit code 1 if there is a problem.",
  open: async (_flags, variables) => ({ commands: [{ ...DOCTOR, run: () => examine(variables) }] }),
};

export const run = shellRunner(shell);

const MARKS: Readonly<Record<Verdict, string>> = { ok: "✓", note: "–", problem: "✗" };

async function examine(variables: Variables): Promise<CommandResult> {
  const findings = [
    programFinding(),
    ...(await settingsFindings(variables)),
    ...(await (await import("./network-finding.js")).networkFindings(variables)),
    ...(await modelFindings(variables)),
    ...(await keyFindings(variables)),
    ...programFindings(variables),
    await searchFinding(variables),
    workspaceFinding(),
    await sessionsFinding(variables),
    await sandboxFinding(variables),
  ];
  const isProblem = findings.some((finding) => finding.verdict === "problem");
  const value = asValue(findings);
  return { text: table(findings).trimEnd(), value, ...(isProblem && { exitCode: COMMAND_EXIT.failed }) };
}

function programFinding(): Finding {
  return {
    subject: "oxbow",
    verdict: "ok",
    text: `${VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`,
  };
}

async function settingsFindings(variables: Variables): Promise<Finding[]> {
  let loaded: LoadedSettings;
  try {
    loaded = await loadSettings(parseFlags([], [], "doctor"), variables);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [{ subject: "settings", verdict: "problem", text: error.message }];
  }
  const { roots, layers, profilePath, warnings } = loaded;
  const files = layers.map(({ path }) => path).join(", ") || `defaults (there is no ${profilePath})`;
  const findings: Finding[] = [{ subject: "settings", verdict: "ok", text: files }];
  for (const warning of warnings) findings.push({ subject: "settings", verdict: "note", text: warning });
  try {
    mkdirSync(roots.state, { recursive: true });
    accessSync(roots.state, constants.W_OK);
    findings.push({ subject: "log folder", verdict: "ok", text: `${roots.state}/log` });
  } catch {
    findings.push({
      subject: "log folder",
      verdict: "problem",
      text: `${roots.state} cannot be written: set OXBOW_HOME to a folder of yours`,
    });
  }
  return findings;
}

/** A provider that is not ready is a note, or a problem if the user has configured it. */
async function modelFindings(variables: Variables): Promise<Finding[]> {
  const settled = await loadSettings(parseFlags([], [], "doctor"), variables).catch(() => undefined);
  const registry = createModelRegistry({
    variables,
    ...(settled && {
      roots: settled.roots,
      tables: { value: settled.settings.providers.value, file: settled.profilePath },
    }),
  });
  const provider = settled?.settings.provider.value;
  const model = settled?.settings.model.value;
  const findings = (await registry.providers()).map((state): Finding => {
    const { name: subject, detail } = state;
    if (!state.ready) return { subject, verdict: state.configured ? "problem" : "note", text: detail };
    const count = `${state.models.length} model${state.models.length === 1 ? "" : "s"}`;
    return { subject, verdict: "ok", text: state.baseUrl === "" ? detail : `${count} at ${state.baseUrl}` };
  });
  const chosen = await registry.choose({ provider, model });
  const { failure } = chosen;
  const name = `${chosen.model.provider}:${chosen.model.model}`;
  const used: Finding = { subject: "would use", verdict: failure ? "problem" : "ok", text: failure?.message ?? name };
  return [...findings, used];
}

async function keyFindings(variables: Variables): Promise<readonly Finding[]> {
  return (await import("./auth/key-ways.js")).keyWays(variables);
}

function programFindings(variables: Variables): Finding[] {
  const wanted: readonly (readonly [string, string])[] = [
    ["bash", "shell commands use sh instead"],
    ["git", "git state cannot be shown"],
  ];
  return wanted.map(([name, without]): Finding => {
    const path = findProgram(name, variables.PATH ?? "");
    if (path !== undefined) return { subject: name, verdict: "ok", text: path };
    return { subject: name, verdict: "note", text: `not found on PATH: ${without}` };
  });
}

async function searchFinding(variables: Variables): Promise<Finding> {
  const path = await findRipgrep({ path: variables.PATH, avoid: [process.cwd()] });
  if (path !== undefined) return { subject: "ripgrep", verdict: "ok", text: path };
  return { subject: "ripgrep", verdict: "note", text: "not found: searches use the built-in search, which is slower" };
}

function workspaceFinding(): Finding {
  const folder = process.cwd();
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch {
    return { subject: "workspace", verdict: "problem", text: `${folder} cannot be read` };
  }
  try {
    accessSync(folder, constants.W_OK);
    return { subject: "workspace", verdict: "ok", text: folder };
  } catch {
    return { subject: "workspace", verdict: "note", text: `${folder} is read-only` };
  }
}

/** Opens the store: there is no other way to know that it works. */
async function sessionsFinding(variables: Variables): Promise<Finding> {
  const subject = "sessions";
  let told = "";
  try {
    const { settings, roots } = await loadSettings(parseFlags([], [], "doctor"), variables);
    const notify = (message: string) => {
      told = message;
    };
    const stores = new SessionStores({ settings, roots, variables, root: process.cwd(), notify, hint: () => {} });
    const choice = await stores.choice();
    const store = await stores.open();
    await stores.close();
    if (choice.kind === "none") return { subject, verdict: "note", text: "not stored ('none')" };
    if (store === undefined) return { subject, verdict: "note", text: told };
    const key = await stores.keyPlace();
    return { subject, verdict: "ok", text: `${choice.kind} in ${choice.folder}, key from ${key}` };
  } catch (error) {
    return { subject, verdict: "problem", text: error instanceof Error ? error.message : String(error) };
  }
}

/** Runs a command in it: there is no other way to know that it works. */
async function sandboxFinding(variables: Variables): Promise<Finding> {
  const [{ detectSandbox }, { describeSandbox }, { sandboxOverrides }] = await Promise.all([
    import("../../security/sandbox/detect.js"),
    import("../../security/sandbox/state.js"),
    import("../../runtime/parts/sandbox.js"),
  ]);
  try {
    const { settings, roots } = await loadSettings(parseFlags([], [], "doctor"), variables);
    const state = await detectSandbox({
      platform: process.platform,
      architecture: process.arch,
      path: variables.PATH,
      overrides: sandboxOverrides(settings),
      folder: join(roots.state, "sandbox"),
      workspace: process.cwd(),
    });
    return { subject: "sandbox", verdict: state.kind === "none" ? "note" : "ok", text: describeSandbox(state) };
  } catch (error) {
    return { subject: "sandbox", verdict: "problem", text: error instanceof Error ? error.message : String(error) };
  }
}

function table(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map((finding) => finding.subject.length));
  return findings.map(({ subject, verdict, text }) => `${MARKS[verdict]} ${subject.padEnd(width)}  ${text}\n`).join("");
}
