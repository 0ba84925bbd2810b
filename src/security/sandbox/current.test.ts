import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { eventually } from "../../../test/support/waiting.js";
import { PATH, SandboxTestbed } from "./sandbox-testbed.js";

let bed: SandboxTestbed;
beforeEach(() => {
  bed = new SandboxTestbed();
});
afterEach(() => bed.close());

needs("sandbox").describe("[P8] a sandbox that was made ahead", () => {
  it("is current while nothing that it guards or hides has changed", async () => {
    mkdirSync(bed.path(".git/hooks"), { recursive: true });
    // Programs beside this one may listen on a new socket at the same time.
    await eventually(async () => {
      const made = await bed.wrap("true");
      bed.write(bed.path("new-file"), "x");
      const isCurrent = made.isCurrent();
      await made.ended();
      expect(isCurrent).toBe(true);
    });
  });

  it("is no longer current when a guarded folder was replaced by another of its name", async () => {
    mkdirSync(bed.path(".git/hooks"), { recursive: true });
    const made = await bed.wrap("true");
    rmSync(bed.path(".git"), { recursive: true });
    mkdirSync(bed.path(".git/hooks"), { recursive: true });
    expect(made.isCurrent()).toBe(false);
    await made.ended();
  });

  it("is no longer current when the placeholder of a missing folder was removed", async () => {
    const made = await bed.wrap("true");
    rmSync(bed.path(".git"), { recursive: true });
    expect(made.isCurrent()).toBe(false);
    await made.ended();
  });

  it("is no longer current when a program listens on a new socket", async () => {
    await eventually(async () => {
      const made = await bed.wrap("true");
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(bed.outside, "engine.sock"), resolve));
      const isCurrent = [made.isCurrent()];
      await new Promise((resolve) => server.close(resolve));
      isCurrent.push(made.isCurrent());
      await made.ended();
      expect(isCurrent).toEqual([false, true]);
    });
  });

  it("is no longer current when the user has removed something", async () => {
    await eventually(async () => {
      const hidden: string[] = [];
      const restrictions = () => ({ hidden, readOnlyWithin: [] });
      const sandbox = bed.sandbox({ sandbox: { restrictions } });
      const made = await sandbox.wrap({ program: "/bin/true", args: [], cwd: bed.workspace, env: {} });
      const isCurrent = [made.isCurrent()];
      hidden.push(bed.outside);
      isCurrent.push(made.isCurrent());
      await made.ended();
      expect(isCurrent).toEqual([true, false]);
    });
  });

  it("starts no git of the user's PATH", async () => {
    const calls = bed.write(join(bed.outside, "calls"), "");
    const git = bed.write(join(bed.outside, "bin", "git"), `#!/bin/sh\necho asked >> ${calls}\n`);
    chmodSync(git, 0o755);
    const sandbox = bed.sandbox({ sandbox: { path: `${dirname(git)}:${PATH}` } });
    sandbox.prepare();
    expect(readFileSync(calls, "utf8")).toBe("");
    const wrapped = await sandbox.wrap({ program: "/bin/sh", args: ["-c", ":"], cwd: bed.workspace, env: {} });
    await wrapped.ended();
    expect(readFileSync(calls, "utf8")).toBe("");
  });
});
