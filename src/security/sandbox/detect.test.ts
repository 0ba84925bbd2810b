import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { type DetectOptions, detectSandbox } from "./detect.js";
import { PATH, SandboxTestbed } from "./sandbox-testbed.js";
import { describeSandbox, sandboxNotice } from "./state.js";

let bed: SandboxTestbed;
let options: DetectOptions;
beforeEach(() => {
  bed = new SandboxTestbed();
  options = {
    ...{ platform: "linux", architecture: process.arch, path: PATH },
    ...{ folder: join(bed.state, "sandbox"), workspace: bed.workspace },
  };
});
afterEach(() => bed.close());

/** A program of that name on a path of its own. */
function program(name: string, script: string): string {
  const folder = join(bed.outside, "bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

/** Says its version, notes that it was run, and runs what comes after `--`. */
const WORKING = (version = "0.8.0") =>
  `case $1 in --version) echo bubblewrap ${version};; *) echo run >>"$0.runs"; exit 0;; esac`;

describe("[P8] finding the sandbox on Linux", () => {
  needs("sandbox").it("finds the real one by using it", async () => {
    const state = await detectSandbox(options);
    expect(state).toMatchObject({
      kind: "bubblewrap",
      abilities: { filesystem: true, network: "allowlist", pids: true },
    });
    expect(describeSandbox(state)).toMatch(
      /^bubblewrap \d+\.\d+.*: writes only in the workspace; network off or allowlist only/,
    );
    expect(sandboxNotice(state, "auto")).toBeUndefined();
  });

  it("remembers what worked until the program changes", async () => {
    const path = program("bwrap", WORKING());
    const runs = () => readFileSync(join(path, "bwrap.runs"), "utf8").split("\n").length - 1;
    await detectSandbox({ ...options, path });
    await detectSandbox({ ...options, path });
    expect(runs()).toBe(1);
    utimesSync(join(path, "bwrap"), 1, 1);
    expect(await detectSandbox({ ...options, path })).toMatchObject({ kind: "bubblewrap", version: "0.8.0" });
    expect(runs()).toBe(2);
  });

  it.each([
    ["bwrap: setting up uid map: Permission denied", /AppArmor profile/],
    [
      "bwrap: No permissions to create new namespace, likely because the kernel does not allow it",
      /forbids user namespaces/,
    ],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /forbids user namespaces/],
    ["bwrap: something new", /does not work on this machine/],
  ])("says what to do about: %s", async (message, advice) => {
    const path = program(
      "bwrap",
      `case $1 in --version) echo bubblewrap 0.8.0;; *) echo "${message}" >&2; exit 1;; esac`,
    );
    const state = await detectSandbox({ ...options, path });
    expect(state).toMatchObject({ kind: "none", reason: expect.stringMatching(advice) });
    expect(state.reason).toContain(message);
    expect(sandboxNotice(state, "auto")).toContain("needs your permission");
    expect(sandboxNotice(state, "required")).toMatch(/^Commands do not run: /);
    expect(describeSandbox(state)).toMatch(/^none: /);
    // It may have been mended meanwhile.
    program("bwrap", WORKING());
    expect((await detectSandbox({ ...options, path })).kind).toBe("bubblewrap");
  });

  needs("util-linux").it("uses util-linux where bubblewrap is missing, and says what that lacks", async () => {
    const state = await detectSandbox({ ...options, findBubblewrap: () => undefined });
    expect(state).toMatchObject({ kind: "unshare", abilities: { filesystem: true, pids: true, network: "allowlist" } });
    expect(describeSandbox(state)).toContain("no system-call filter: install bubblewrap for it");
  });

  it("wants a version that has the options", async () => {
    const state = await detectSandbox({ ...options, path: program("bwrap", WORKING("0.4.1")) });
    expect(state).toMatchObject({ kind: "none", reason: expect.stringContaining("too old") });
  });

  it("does not run a program from the workspace", async () => {
    bed.write(bed.path("bin/bwrap"), `#!/bin/sh\ntouch ${bed.outside}/ran\n`);
    chmodSync(bed.path("bin/bwrap"), 0o755);
    await detectSandbox({ ...options, path: bed.path("bin") });
    expect(() => statSync(join(bed.outside, "ran"))).toThrow();
  });

  it("keeps its files to itself and mends them", async () => {
    const path = program("bwrap", WORKING());
    await detectSandbox({ ...options, path });
    expect(statSync(options.folder).mode & 0o777).toBe(0o700);
    const blank = join(options.folder, "blank");
    rmSync(blank);
    writeFileSync(blank, "not blank");
    await detectSandbox({ ...options, path });
    expect(readFileSync(blank, "utf8")).toBe("");
  });
});

describe("[P8] finding the sandbox elsewhere", () => {
  it("says that there is none", async () => {
    const state = await detectSandbox({ ...options, platform: "win32" });
    expect(state).toMatchObject({
      kind: "none",
      reason: expect.stringContaining("win32"),
      abilities: { filesystem: false },
    });
  });

  it("respects a person who switched it off", async () => {
    const state = await detectSandbox({ ...options, overrides: { kind: "off" } });
    expect(state).toMatchObject({ kind: "none", reason: expect.stringContaining("configuration") });
  });

  it("takes a configured container", async () => {
    const path = program(
      "podman",
      `[ "$1 $2" = "image inspect" ] && [ "$6" = work:1 ] && echo sha || { echo no such image; exit 1; }`,
    );
    const overrides = { kind: "container", container: { image: "work:1" } } as const;
    expect(await detectSandbox({ ...options, path, overrides })).toMatchObject({
      kind: "container",
      program: join(path, "podman"),
    });
    const other = { kind: "container", container: { image: "other" } } as const;
    expect(await detectSandbox({ ...options, path, overrides: other })).toMatchObject({
      kind: "none",
      reason: expect.stringContaining("Pull it first"),
    });
    expect(await detectSandbox({ ...options, path: "/nowhere", overrides })).toMatchObject({
      kind: "none",
      reason: expect.stringContaining("podman and docker"),
    });
    expect(await detectSandbox({ ...options, overrides: { kind: "container" } })).toMatchObject({
      kind: "none",
      reason: expect.stringContaining("Set the image"),
    });
  });
});

describe("[P8] without a sandbox", () => {
  it("hands the command on as it is, and says so", async () => {
    const sandbox = bed.sandbox({ sandbox: { overrides: { kind: "off" } } });
    const command = { program: "/bin/true", args: ["x"], cwd: bed.workspace, env: { A: "1" } };
    const wrapped = await sandbox.wrap(command);
    expect(wrapped).toMatchObject({ ...command, sandboxed: false });
    expect(wrapped.explain("Read-only file system")).toBeUndefined();
    await wrapped.ended();
  });
});
