/** Covers machines where no view of the workspace works: commands write straight into it, and a person is asked once whether that is good enough. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { LateQuestion } from "../../src/engine/ports.js";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { verifies } from "../verifies.js";

let base: string;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/direct-"));
  for (const name of ["project", "home"]) mkdirSync(join(base, name));
});

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  rmSync(base, { recursive: true, force: true });
});

/** Its own folder lies in the workspace, so it can make no view. */
async function session(askPerson?: (question: LateQuestion) => Promise<boolean>) {
  const root = join(base, "project");
  const place = { root, home: join(base, "home"), ownFolder: join(root, "own") };
  const mode = await openAutoMode({ ...place, ...(askPerson && { askPerson }) });
  open.push(mode);
  return mode;
}

needs("sandbox").describe("commands that write straight into the workspace", () => {
  verifies(["P18", "P15"], "run without asking after one yes, which the person's settings keep", async () => {
    const asked: LateQuestion[] = [];
    const answer = (said: "yes" | "no" | "nothing") => async (question: LateQuestion) => {
      asked.push(question);
      if (said === "no") question.onNo?.();
      return said === "yes";
    };
    const first = await session();
    expect((await first.judge("touch a")).decision).toBe("ask");
    expect(first.told.join()).toContain("commands write straight into the folder: Oxbow's own folder lies in");
    await first.runWith("touch a", { ask: answer("nothing") });
    await first.runWith("touch b", { ask: answer("yes") });
    // Without an answer the question comes again in the next session.
    expect(asked.map(({ summary, isOffer }) => [summary, isOffer])).toEqual([
      ["Commands here write straight into the folder. Run contained ones without asking?", true],
    ]);
    expect((await first.judge("touch c")).decision).toBe("ask");

    const second = await session();
    expect((await second.judge("touch d")).decision).toBe("ask");
    await second.runWith("touch d", { ask: answer("yes") });
    expect((await second.judge("touch e")).decision).toBe("allow");
    expect(readFileSync(join(base, "project/own/config/config.toml"), "utf8")).toBe('containment = "direct"\n');

    const third = await session();
    const { verdict } = await third.run("touch f; ls -A ~");
    expect(verdict.decision).toBe("allow");
    expect(asked).toHaveLength(2);
    expect(readdirSync(join(base, "project"))).toEqual(["a", "b", "d", "f", "own"]);
  });

  verifies(["P18"], "are a question before the first command where a person is there", async () => {
    const asked: string[] = [];
    const first = await session(async ({ summary }) => {
      asked.push(summary);
      return true;
    });
    await first.prepare();
    expect((await first.judge("touch a")).decision).toBe("allow");
    await first.runWith("touch a", { ask: async ({ summary }) => asked.push(summary) < 0 });
    expect(asked).toEqual(["Commands here write straight into the folder. Run contained ones without asking?"]);
    expect(readFileSync(join(base, "project/own/config/config.toml"), "utf8")).toBe('containment = "direct"\n');
    expect(first.told.join()).not.toContain("asks before commands");
  });

  verifies(["P18"], "ask on after one no, which the person's settings keep", async () => {
    const first = await session();
    const asked: LateQuestion[] = [];
    const no = async (question: LateQuestion) => {
      asked.push(question);
      question.onNo?.();
      return false;
    };
    await first.runWith("touch a", { ask: no });
    expect(readFileSync(join(base, "project/own/config/config.toml"), "utf8")).toBe('containment = "ask"\n');
    const second = await session();
    await second.runWith("touch b", { ask: no });
    expect(asked).toHaveLength(1);
    expect((await second.judge("touch c")).decision).toBe("ask");
  });
});
