/** `oxbow conformance` as a program: how it finds its token, and how it ends. */
import type { ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { BIN, oxbowProcess, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

describe("oxbow conformance", () => {
  verifies(["C9"], "finds the token of the engine of this home by itself, for its socket alone", async () => {
    const [home, cwd, other] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
    const env = { OXBOW_HOME: home };
    let child: ChildProcess | undefined;
    const address = await new Promise<string>((resolve, reject) => {
      const ended = oxbowProcess(["serve"], {
        ...{ env, cwd },
        onStart: (started) => {
          child = started;
        },
        onOutput: ({ stdout }) => {
          const found = /listening on (unix:\S+)/.exec(stdout)?.[1];
          if (found !== undefined) resolve(found);
        },
      });
      ended.then(({ stderr }) => reject(new Error(stderr)), reject);
    });
    onTestFinished(() => void child?.kill("SIGKILL"));
    const check = (settings: Readonly<Record<string, string>>) =>
      oxbowProcess(["conformance", "--against", address, "--only", "handshake"], { cwd, env: settings });
    const own = await check(env);
    expect([own.code, own.stderr]).toEqual([0, ""]);
    expect(own.stdout).toMatch(/0 failed/);
    const strange = await check({ OXBOW_HOME: other });
    expect(strange.code).toBe(1);
  });

  verifies(["C9"], "starts Oxbow itself as the server to check on standard input and output", async () => {
    const server = `${process.execPath} ${BIN} serve --stdio --provider offline`;
    const cwd = await temporaryFolder();
    const checked = await oxbowProcess(["conformance", "--against", `stdio:${server}`, "--only", "handshake"], {
      ...{ cwd, env: { OXBOW_HOME: await temporaryFolder() } },
    });
    expect(checked.stdout).toMatch(/ 0 failed/);
    expect(checked.stdout).toContain("stdio, protocol");
  });

  verifies(["C9"], "ends with the first signal, while a server does not answer", async () => {
    const cwd = await temporaryFolder();
    const path = join(cwd, "mute.sock");
    const connected = new Promise<void>((resolve) => {
      const mute = createServer(() => resolve());
      mute.listen(path);
      onTestFinished(() => void mute.close());
    });
    const end = await oxbowProcess(["conformance", "--against", `unix:${path}`], {
      ...{ cwd, env: { OXBOW_HOME: cwd } },
      onStart: (child) => void connected.then(() => child.kill("SIGTERM")),
    });
    expect([end.code, end.stderr]).toEqual([130, "oxbow: cancelled.\n"]);
  });
});
