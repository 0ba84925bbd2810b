/**
 * Tests of what a machine may lack. They are skipped there, and the run prints why and what installs it.
 *
 *     needs("tmux").it("draws the list", …)          one test
 *     needs("sandbox", "python3").describe("…", …)   a group
 *     skipWithout(context, "curl")                   inside a test, first
 *     unless(reason).describe("…", …)                any other condition
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "vitest";
import { detectSandbox } from "../../src/security/sandbox/detect.js";
import { findProgram } from "../../src/system/find-program.js";

declare module "vitest" {
  interface TaskMeta {
    /** Says why the test is skipped. */
    reason?: string;
  }
}

/** The Debian package of each program. */
const PACKAGES = {
  bash: "bash",
  bwrap: "bubblewrap",
  chromium: "chromium",
  curl: "curl",
  fish: "fish",
  gcc: "gcc",
  jq: "jq",
  make: "make",
  mkfifo: "coreutils",
  openssl: "openssl",
  perl: "perl",
  pgrep: "procps",
  ps: "procps",
  python3: "python3",
  rg: "ripgrep",
  script: "bsdutils",
  setsid: "util-linux",
  socat: "socat",
  strace: "strace",
  tmux: "tmux",
  unshare: "util-linux",
  zsh: "zsh",
} as const;

/** Returns the reason for each condition that is no program; undefined where it holds. */
const CONDITIONS = {
  linux: () => (process.platform === "linux" ? undefined : "needs Linux"),
  posix: () => (process.platform === "win32" ? "needs a system other than Windows" : undefined),
  root: () => (process.getuid?.() === 0 ? undefined : "needs root: run the tests with sudo"),
  sandbox: () => sandboxReason,
  /** The sandbox that is made without bubblewrap. */
  "util-linux": () => utilLinuxReason,
} as const;

export type Need = keyof typeof PACKAGES | keyof typeof CONDITIONS;

type Body = (context: TestContext) => Promise<void> | void;

const sandboxReason = await whyNoSandbox("bubblewrap");
const utilLinuxReason = await whyNoSandbox("unshare");

/** Returns the reason why tests with these needs cannot run here; undefined when they can. */
export function whyNot(...needed: readonly Need[]): string | undefined {
  return needed.map(whyWithout).find((reason) => reason !== undefined);
}

export function needs(...needed: readonly Need[]) {
  return unless(whyNot(...needed));
}

/** Returns `it` and `describe` that skip with this reason; undefined skips nothing. */
export function unless(reason: string | undefined) {
  const options = reason === undefined ? {} : { skip: true, meta: { reason } };
  return {
    it: (name: string, body: Body, timeout?: number) =>
      it(name, timeout === undefined ? options : { ...options, timeout }, body),
    describe: (name: string, body: () => void) => describe(name, options, body),
  };
}

export function skipWithout(context: Pick<TestContext, "skip">, ...needed: readonly Need[]): void {
  const reason = whyNot(...needed);
  context.skip(reason !== undefined, reason);
}

function whyWithout(need: Need): string | undefined {
  if (need in CONDITIONS) return CONDITIONS[need as keyof typeof CONDITIONS]();
  if (findProgram(need, process.env.PATH, { outside: process.cwd() }) !== undefined) return undefined;
  return `needs ${need}: apt-get install ${PACKAGES[need as keyof typeof PACKAGES]}`;
}

async function whyNoSandbox(kind: "bubblewrap" | "unshare"): Promise<string | undefined> {
  const missing = process.platform === "linux" ? whyWithout(kind === "bubblewrap" ? "bwrap" : "unshare") : undefined;
  if (missing !== undefined) return missing;
  const folder = mkdtempSync(join(tmpdir(), "needs-"));
  try {
    const { platform, arch: architecture, env } = process;
    const place = { platform, architecture, path: env.PATH, workspace: folder, folder };
    const state = await detectSandbox(kind === "unshare" ? { ...place, findBubblewrap: () => undefined } : place);
    return state.kind === kind ? undefined : `needs a sandbox that works: ${state.reason ?? state.kind}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
