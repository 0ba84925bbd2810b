import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { variantFor } from "../../src/context/instructions/prompt-variants.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
let home: string;
let cwd: string;
beforeEach(async () => {
  mock = await startMockModel({ script: "reply times=any\n  usage input=100 output=10\n  text: done\n" });
  [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(home, "config"));
});
afterEach(() => mock.close());

const profile = (text: string) => writeFile(join(home, "config", "config.toml"), text);
const run = (...args: readonly string[]) =>
  oxbow(args, { cwd, env: { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home } });
const system = (at = -1) => JSON.stringify((mock.requests.at(at)?.body as { system?: unknown } | undefined)?.system);

const TWO = '[prompt_variants.short]\ntext = "Answer in one word."\n[prompt_variants.plain]\ntext = ""\n';

describe("variants of the prompt", () => {
  verifies(["X1", "L11", "M14"], "go to a part of the sessions, stay with each, and can be compared", async () => {
    await profile(TWO);
    const got: Record<string, number> = { short: 0, plain: 0 };
    let last = "";
    for (let i = 0; i < 8 || got.short === 0 || got.plain === 0; i++) {
      const { stdout } = await run("run", `question ${i}`, "--stream-events");
      const [begun] = envelopes(stdout);
      last = begun?.kind === "TurnStarted" ? (begun.payload.variant ?? "") : "";
      got[last] = (got[last] ?? 0) + 1;
      expect(system().includes("Answer in one word.")).toBe(last === "short");
    }
    const before = system();
    const again = envelopes((await run("run", "more", "--continue", "--stream-events")).stdout)[0];
    expect(again?.payload).toMatchObject({ variant: last });
    expect(system()).toBe(before);
    const { session } = again as { session: string };
    expect((await run("session", "show", session)).stdout).toMatch(new RegExp(`── Turn 1 · prompt variant ${last} · `));
    const shown = JSON.parse((await run("session", "show", session, "--json")).stdout) as { turns: unknown[] };
    expect(shown.turns).toMatchObject([{ variant: last }, { variant: last }]);
    const report = JSON.parse((await run("cost", "--by", "variant", "--json")).stdout);
    expect(report.lines).toMatchObject([
      { variant: "plain", sessions: got.plain },
      { variant: "short", sessions: got.short },
    ]);
    expect((await run("cost", "--by", "variant")).stdout).toMatch(/plain \(\d+ sessions?/);
  });

  verifies(["X1"], "can be chosen for a run or switched off; a summary and a subagent go without", async () => {
    await profile(TWO);
    await run("run", "hi", "--prompt-variant", "short");
    expect(system()).toContain("Answer in one word.");
    await run("run", "hi", "--prompt-variant", "off");
    expect(system()).not.toContain("Answer in one word.");
    const wrong = await run("run", "hi", "--prompt-variant", "long");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("there are short, plain, off")]);
  });

  it.each([
    ['[prompt_variants.off]\ntext = "x"\n', "cannot have this name"],
    ["[prompt_variants.a]\n", "needs text"],
    ['[prompt_variants.a]\ntext = "x"\nweight = 0\n', "weight: expected a number above 0"],
    ['[prompt_variants.a]\ntext = "x"\nshare = 1\n', 'has no "share"'],
  ])("%j is refused with a reason", async (text, words) => {
    await profile(text);
    expect(await run("run", "hi")).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });

  it("share the sessions by their weights, and a new one moves few", () => {
    const variant = (name: string, weight: number) => ({ name, text: name, weight });
    const two = [variant("a", 1), variant("b", 3)];
    const ids = Array.from({ length: 4000 }, (_, i) => `sess_${i}`);
    const names = (all: typeof two) => ids.map((id) => variantFor(id, { all })?.name);
    const [before, after] = [names(two), names([...two, variant("c", 1)])];
    const share = before.filter((name) => name === "b").length / ids.length;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.8);
    expect(before.every((name, i) => after[i] === name || after[i] === "c")).toBe(true);
  });
});
