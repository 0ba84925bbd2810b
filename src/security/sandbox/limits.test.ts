import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { bubblewrapCommand } from "./bubblewrap.js";
import { countTasks, limitLines } from "./limits.js";
import { sandboxPolicy } from "./policy.js";
import { sandboxFiles } from "./sandbox-files.js";
import { PATH, SandboxTestbed } from "./sandbox-testbed.js";

let bed: SandboxTestbed;
beforeEach(() => {
  bed = new SandboxTestbed();
});
afterEach(() => bed.close());

const MIB = 1024 ** 2;

describe("[P8] limits as shell lines", () => {
  it("are in the shell's units, and only those that are set", () => {
    expect(limitLines({ fileSizeBytes: MIB, memoryBytes: MIB, cpuSeconds: 5 }, { tasks: 0 })).toEqual(
      ["ulimit -c 0", "ulimit -f 2048", "ulimit -d 1024", "ulimit -t 5"].map((line) => `${line} 2>/dev/null`),
    );
  });

  it("count the processes outside where the kernel does", () => {
    expect(limitLines({ processes: 10 }, { tasks: 7 })[1]).toContain("ulimit -u 17");
    expect(countTasks("6.1.0-13-amd64")).toBe(0);
    expect(countTasks("5.14.0")).toBe(0);
    expect(countTasks("5.10.0")).toBeGreaterThan(0);
  });
});

needs("sandbox").describe("[P8] limits in a sandbox", () => {
  const bomb =
    "perl -e 'for (1..150) { defined($child = fork) or last; $child or do { sleep 20; exit }; $n++ } print $n'";

  it("on processes", async () => {
    const inside = await bed.inside(bomb, { policy: { limits: { processes: 40 } } });
    expect(Number(inside.output)).toBeGreaterThan(20);
    expect(Number(inside.output)).toBeLessThan(40);
    expect((await bed.unprotected(bomb)).output).toBe("150");
  });

  needs("root").it("on processes of a user who is not root", () => {
    const id = 65_534;
    const workspace = bed.path("theirs");
    mkdirSync(workspace);
    chownSync(workspace, id, id);
    for (const folder of [bed.workspace, bed.outside, bed.state]) chmodSync(folder, 0o755);
    const { blank, filters } = sandboxFiles(bed.state, process.arch);
    const filter = filters?.off;
    const none = {
      guards: { pinned: [], readOnly: [], missing: [] },
      standIns: [],
      covering: [],
      hidden: [],
      visible: [],
      masked: [],
    };
    const parts = (processes: number) => ({
      ...{ blank, mask: blank, tasks: 0, isRoot: false, runFolders: [], layout: { ...none, writable: [workspace] } },
      bubblewrap: { program: "/usr/bin/bwrap", version: [0, 8] as const },
      filter,
      policy: sandboxPolicy({ writable: [workspace], limits: { processes } }),
    });
    const run = (processes: number) => {
      const command = { program: "/bin/bash", args: ["-c", bomb], cwd: workspace, env: { PATH } };
      const { program, args, env } = bubblewrapCommand(parts(processes), command);
      const as = ["--reuid", String(id), "--regid", String(id), "--clear-groups", program, ...args];
      return spawnSync("setpriv", as, { cwd: workspace, env: { ...env }, encoding: "utf8" }).stdout.trim();
    };
    expect(run(1000)).toBe("150");
    expect(Number(run(40))).toBeGreaterThan(20);
    expect(Number(run(40))).toBeLessThan(40);
  });

  it("on memory", async () => {
    const script = `perl -e '$x = "a" x ${300 * MIB}; print "taken"'`;
    const inside = await bed.inside(script, { policy: { limits: { memoryBytes: 100 * MIB } } });
    expect(inside.output).not.toContain("taken");
    expect(inside.hint).toContain("limits the memory");
    expect((await bed.unprotected(script)).output).toBe("taken");
  });

  it("on memory, without hindering what only reserves it", async () => {
    const ran = await bed.inside("node -p 'new WebAssembly.Memory({ initial: 1, maximum: 65536 }); 6 * 7'", {
      policy: { limits: { memoryBytes: 1024 * MIB } },
    });
    expect(ran.output).toBe("42");
  });

  it("on the size of a file", async () => {
    const script = "head -c 5M /dev/zero >big";
    const inside = await bed.inside(script, { policy: { limits: { fileSizeBytes: MIB } } });
    expect(inside.code).not.toBe(0);
    expect(statSync(bed.path("big")).size).toBe(MIB);
    await bed.unprotected(script);
    expect(statSync(bed.path("big")).size).toBe(5 * MIB);
  });

  it("on processor time", async () => {
    const inside = await bed.inside("while :; do :; done", { policy: { limits: { cpuSeconds: 1 } } });
    expect(inside.code).toBeGreaterThan(128);
  });

  it("on open files", async () => {
    const inside = await bed.inside("ulimit -Hn", { policy: { limits: { openFiles: 128 } } });
    expect(Number(inside.output)).toBe(128);
  });

  it("on the room in /tmp", async () => {
    const inside = await bed.inside("head -c 5M /dev/zero >/tmp/big", { policy: { temporaryBytes: MIB } });
    expect(inside.output).toContain("No space left on device");
  });

  it("leaves no group behind", async () => {
    const sandbox = bed.sandbox({ policy: { limits: { processes: 50 } } });
    const wrapped = await sandbox.wrap({ program: "/bin/true", args: [], cwd: bed.workspace, env: {} });
    const entry = wrapped.args.find((word) => word.startsWith("/sys/fs/cgroup/"));
    await bed.run(wrapped);
    await wrapped.ended();
    await sandbox.close();
    if (entry !== undefined) expect(() => statSync(join(entry, ".."))).toThrow(/ENO(ENT|TDIR)/);
  });
});
