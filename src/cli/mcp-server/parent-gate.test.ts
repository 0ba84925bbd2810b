import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { temporaryFolder } from "../../../test/support/program.js";
import { until } from "../../../test/support/waiting.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import { McpParents } from "../../security/trust/mcp-parents.js";
import { type ParentProgram, parentProgram } from "../../system/parent-process.js";
import { ParentGate } from "./parent-gate.js";

const PARENT: ParentProgram = { argv0: "outer", path: "/usr/bin/outer", sha256: "a".repeat(64) };
const OTHER_VERSION = { ...PARENT, sha256: "b".repeat(64) };

async function bed() {
  const home = await temporaryFolder();
  const parents = new McpParents({ config: join(home, "config"), state: join(home, "state") });
  const clock = new ManualClock();
  const messages: string[] = [];
  const gate = (parent: ParentProgram | undefined, ...answers: readonly (string | undefined)[]) => {
    const left = [...answers];
    return new ParentGate({
      ...{
        parents,
        parent: Promise.resolve(parent),
        clock,
        pid: 1,
        notify: (message: string) => messages.push(message),
      },
      ask: (_question, signal) => {
        if (left.length > 0) return Promise.resolve(left.shift());
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      },
    });
  };
  return { home, parents, clock, messages, gate };
}

/** Lets time pass until there is an answer. */
async function inTime<T>(clock: ManualClock, answer: Promise<T>): Promise<T> {
  let isThere = false;
  void answer.finally(() => {
    isThere = true;
  });
  while (!isThere) {
    clock.advance(500);
    await new Promise(setImmediate);
  }
  return answer;
}

describe("the program that starts the MCP server", () => {
  verifies(
    ["C8"],
    "may drive Oxbow after a yes on the terminal, which is remembered for this version of it",
    async () => {
      const { home, parents, clock, gate, messages } = await bed();
      expect(await gate(PARENT, "yes", "n").refusal("wait")).toBeUndefined();
      expect(messages).toHaveLength(1);
      const lock = join(home, "config", "mcp-parents.lock");
      expect((await stat(lock)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(await readFile(lock, "utf8")).parents).toEqual([
        expect.objectContaining({ ...PARENT, attach: "never" }),
      ]);
      const again = gate(PARENT);
      expect(await again.refusal("now")).toBeUndefined();
      expect(again.attach).toBe("never");
      expect(await gate(OTHER_VERSION).refusal("now")).toMatch(/has not allowed/);
      expect(await gate({ ...PARENT, argv0: "another" }).refusal("now")).toMatch(/has not allowed/);
      const script = { path: "/s.js", sha256: "c".repeat(64) };
      expect(await gate({ ...PARENT, script }).refusal("now")).toMatch(/has not allowed/);
      await parents.forget(PARENT);
      expect(await inTime(clock, gate(PARENT, "no").refusal("wait"))).toMatch(/oxbow mcp-server approve/);
    },
  );

  verifies(["C8"], "waits, and a yes in another terminal lets it go on", async () => {
    const { parents, clock, gate } = await bed();
    const waiting = gate(PARENT, undefined);
    const first = waiting.refusal("wait");
    await until(async () => (await parents.waiting()).length > 0);
    await parents.allow(PARENT, { attach: "always", allowed_at: "" });
    expect(await inTime(clock, first)).toBeUndefined();
    expect(await parents.waiting()).toEqual([]);
  });

  verifies(["C8"], "is refused if the system does not name it, or if others can write to the record", async () => {
    const { home, parents, gate } = await bed();
    expect(await gate(undefined, "yes").refusal("wait")).toMatch(/does not name/);
    await parents.allow(PARENT, { attach: "always", allowed_at: "" });
    await chmod(join(home, "config", "mcp-parents.lock"), 0o666);
    expect(await gate(PARENT).refusal("now")).toMatch(/has not allowed/);
  });

  verifies(["C8"], "is known by its name, its file and its script", async () => {
    const program = await parentProgram(process.pid);
    expect(program).toMatchObject({ path: process.execPath, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  verifies(
    ["C8"],
    "learns at once that a subscription is refused; its first call still waits for the answer",
    async () => {
      const { parents, clock, gate, messages } = await bed();
      const asking = gate(PARENT);
      expect(await asking.refusal("ask")).toMatch(/has not allowed/);
      await until(() => messages.length === 1);
      const called = asking.refusal("wait");
      await parents.allow(PARENT, { attach: "never", allowed_at: "" });
      expect(await inTime(clock, called)).toBeUndefined();
      expect(await asking.refusal("ask")).toBeUndefined();
      expect(messages).toHaveLength(1);
    },
  );
});
