/** `oxbow doctor`: what works on this machine, and what to do about the rest. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { asValue, COMMAND_EXIT, type CommandResult } from "../../feature/command.js";
import { parseFlags } from "../../feature/flags.js";
import { DOCTOR } from "../../runtime/commands/program.js";
import { type LoadedSettings, loadSettings } from "../../runtime/settings/settings.js";
import { inWords } from "../../system/errno-words.js";
import { homeProblem } from "../../system/home-folder.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { checked, type Finding, findingLines } from "./doctor/finding.js";

export const shell: ShellCommand = {
  name: "doctor",
  specs: [DOCTOR],
  about: "Checks what works on this machine, and says what to do about the rest.",
  more: "✓ works, – optional, or could work better, ✗ does not work. Exit code 1 if something does not work.",
  open: async (_flags, variables) => ({ commands: [{ ...DOCTOR, run: () => examine(variables) }] }),
};

export const run = shellRunner(shell);

/** The findings as text, for a conversation. */
export async function findingsText(variables: Variables): Promise<string> {
  return findingLines(await findingsOf(variables));
}

async function examine(variables: Variables): Promise<CommandResult> {
  const findings = await findingsOf(variables);
  const hasFailed = findings.some(({ verdict }) => verdict === "fail");
  const value = asValue(findings);
  return { text: findingLines(findings), value, ...(hasFailed && { exitCode: COMMAND_EXIT.failed }) };
}

async function findingsOf(variables: Variables): Promise<readonly Finding[]> {
  const [machine, parts, keys] = await Promise.all([
    import("./doctor/machine.js"),
    import("./doctor/checks.js"),
    import("./auth/key-ways.js"),
  ]);
  const { loaded, findings: settings } = await settingsFindings(variables);
  /** A check that needs the settings; without them it reports nothing. */
  const withSettings = (subject: string, check: (own: LoadedSettings) => Promise<readonly Finding[]> | Finding) =>
    loaded === undefined ? [] : checked(subject, async () => [await check(loaded)].flat());
  const problem = loaded && homeProblem([loaded.roots.data, loaded.roots.state, loaded.roots.cache]);
  /** A check that needs Oxbow's folders as well. */
  const withFolders: typeof withSettings = (...check) => (problem === undefined ? withSettings(...check) : []);
  const groups = [
    [machine.programFinding()],
    settings,
    problem === undefined ? [] : [{ subject: "folders", verdict: "fail" as const, text: problem }],
    withFolders("log folder", ({ roots }) => machine.stateFinding(roots)),
    withFolders("disk", ({ roots }) => machine.diskFinding(roots)),
    checked("network", () => parts.networkFindings(variables)),
    checked("models", () => parts.modelFindings(variables, loaded)),
    checked("keys", () => keys.keyWays(variables)),
    checked("secrets", () => parts.secretsFindings()),
    checked("programs", () => machine.programFindings(variables)),
    [machine.workspaceFinding()],
    withFolders("sessions", (own) => parts.sessionsFinding(own, variables)),
    withFolders("sandbox", (own) => parts.sandboxFinding(own, variables)),
    withSettings("extensions", (own) => parts.extensionFindings(own, variables)),
    withSettings("engine", ({ roots }) => parts.controlFindings(roots, variables)),
    withSettings("environment", ({ settings }) => machine.environmentFinding(variables, settings.environment.value)),
    [machine.terminalFinding(variables)],
  ];
  return (await Promise.all(groups)).flat();
}

async function settingsFindings(
  variables: Variables,
): Promise<{ readonly loaded?: LoadedSettings; readonly findings: readonly Finding[] }> {
  const subject = "settings";
  try {
    const loaded = await loadSettings(parseFlags([], [], "doctor"), variables);
    const { layers, profilePath, warnings } = loaded;
    const text = layers.map(({ path }) => path).join(", ") || `defaults (there is no ${profilePath})`;
    const problems = warnings.map((warning): Finding => ({ subject, verdict: "warn", text: warning }));
    return { loaded, findings: [{ subject, verdict: "ok", text }, ...problems] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { findings: [{ subject, verdict: "fail", text: inWords(error.message) }] };
  }
}
