/** `oxbow doctor` on the machine: programs, folders, disk space and the terminal. */
import { accessSync, constants, mkdirSync, statfsSync } from "node:fs";
import { basename } from "node:path";
import { formatBytes } from "../../../base/byte-size.js";
import type { Variables } from "../../../base/variables.js";
import { VERSION } from "../../../base/version.js";
import { terminalAbilities, terminalFits } from "../../../clients/tui/terminal/abilities.js";
import { findProgram, findShell } from "../../../system/find-program.js";
import type { Roots } from "../../../system/xdg-paths.js";
import { type EnvironmentPolicy, environmentReport, withheldLines } from "../../../tools/child-environment.js";
import { findRipgrep } from "../../../tools/search/find-ripgrep.js";
import type { Finding } from "./finding.js";

/** A session of a working day is a few megabytes; git objects and outputs add to that. */
const LITTLE_SPACE = 1_000_000_000;
const NO_SPACE = 50_000_000;

export function programFinding(): Finding {
  const text = `${VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  return { subject: "oxbow", verdict: "ok", text };
}

export async function programFindings({ PATH = "" }: Variables): Promise<readonly Finding[]> {
  const outside = process.cwd();
  const shell = findShell(PATH, { outside });
  const programs = [
    found("bash", basename(shell) === "bash" ? shell : undefined, `shell commands use ${shell} instead`),
    found("git", findProgram("git", PATH, { outside }), "Oxbow cannot show the state of git"),
  ];
  const ripgrep = await findRipgrep({ path: PATH, avoid: [process.cwd()] });
  const search: Finding =
    ripgrep === undefined
      ? {
          subject: "ripgrep",
          verdict: "warn",
          text: "not found, so searches use the slower built-in search",
          fix: "install ripgrep",
        }
      : { subject: "ripgrep", verdict: "ok", text: ripgrep };
  return [...programs, search];
}

function found(name: string, path: string | undefined, without: string): Finding {
  if (path !== undefined) return { subject: name, verdict: "ok", text: path };
  return { subject: name, verdict: "warn", text: `not found on PATH, so ${without}`, fix: `install ${name}` };
}

export function workspaceFinding(): Finding {
  const folder = process.cwd();
  const subject = "workspace";
  if (!allows(folder, constants.R_OK | constants.X_OK)) {
    return { subject, verdict: "fail", text: `${folder} cannot be read`, fix: "start Oxbow in another folder" };
  }
  if (allows(folder, constants.W_OK)) return { subject, verdict: "ok", text: folder };
  return { subject, verdict: "warn", text: `${folder} is read-only, so the model cannot change files here` };
}

export function stateFinding({ state }: Roots): Finding {
  mkdirSync(state, { recursive: true });
  return { subject: "log folder", verdict: "ok", text: `${state}/log` };
}

export function diskFinding({ state }: Roots): Finding {
  const subject = "disk";
  const { bavail, bsize } = statfsSync(state);
  const free = bavail * bsize;
  const text = `${formatBytes(free)} free for ${state}`;
  if (free >= LITTLE_SPACE) return { subject, verdict: "ok", text };
  const fix = "delete what you no longer need; 'oxbow session gc' removes what has expired";
  return { subject, verdict: free < NO_SPACE ? "fail" : "warn", text, fix };
}

/** Names, never values. */
export function environmentFinding(variables: Variables, policy: EnvironmentPolicy): Finding {
  const report = environmentReport(variables, policy);
  const left = withheldLines(report).join("; ") || "nothing";
  const text = `commands of the model get ${report.passed.length} variables; withheld: ${left}`;
  return { subject: "environment", verdict: "ok", text };
}

export function terminalFinding(variables: Variables): Finding {
  const subject = "terminal";
  if (process.stdout.isTTY !== true) return { subject, verdict: "ok", text: "none: standard output is not a terminal" };
  const { columns, rows } = process.stdout;
  const size = `${variables.TERM ?? "TERM is not set"}, ${columns} × ${rows}`;
  if (!terminalFits(variables, { input: process.stdin, output: process.stdout })) {
    const fix = "use a terminal with at least 20 columns and a TERM other than dumb";
    return {
      subject,
      verdict: "warn",
      text: `${size}: too little for the terminal client, so Oxbow talks line by line`,
      fix,
    };
  }
  const { links, progress, notification, isTmux, isRemote } = terminalAbilities(variables);
  const abilities = [
    process.stdout.getColorDepth() >= 24 ? "true colour" : `${2 ** process.stdout.getColorDepth()} colours`,
    ...(links ? ["links"] : []),
    ...(progress ? ["progress"] : []),
    ...(notification === "none" ? [] : ["notifications"]),
    ...(isTmux ? ["in tmux"] : []),
    ...(isRemote ? ["over a network"] : []),
  ];
  return { subject, verdict: "ok", text: `${size}: ${abilities.join(", ")}` };
}

function allows(folder: string, mode: number): boolean {
  try {
    accessSync(folder, mode);
    return true;
  } catch {
    return false;
  }
}
