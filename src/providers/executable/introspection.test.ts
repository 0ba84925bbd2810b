import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdTimers } from "../../../test/support/held-timers.js";
import { until } from "../../../test/support/waiting.js";
import { environmentOf, inspectExecutable, parseDefaults, parseVariables } from "./introspection.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inspect-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const PATH = process.env.PATH ?? "";
const example = (name: string) => fileURLToPath(new URL(`../../../examples/providers/${name}`, import.meta.url));

describe("[M2] what an executable provider says about itself", () => {
  it("is a description, whether it is ready, its defaults and its variables", async () => {
    expect(await inspectExecutable(example("parrot.mjs"), { cwd: folder, env: { PATH } })).toEqual({
      path: example("parrot.mjs"),
      description: "Parrot: repeats what you say, for trying out executable providers",
      ready: true,
      defaults: { model: "grey", maxContextTokens: 8000, idleMs: 60_000, streaming: "auto" },
      output: "model=grey\ncontext_tokens=8000\ntimeout=1m\n",
      variables: [{ name: "PARROT_VOICE", description: "what it says before it repeats you (default: Squawk!)" }],
    });
  });

  it("names the protocol as a .conf file does, too", () => {
    expect(parseDefaults("protocol=openai").protocol).toBe("openai-chat");
    expect(parseDefaults("protocol=openai-responses").protocol).toBe("openai-responses");
  });

  it("is why it is not ready", async () => {
    expect(await inspectExecutable(example("claude-curl"), { cwd: folder, env: { PATH } })).toMatchObject({
      description: "Claude, through curl",
      ready: false,
      reason: "set ANTHROPIC_API_KEY",
      defaults: { protocol: "anthropic", family: "anthropic", model: "claude-sonnet-4-5" },
    });
  });

  it("is nothing when it knows no flags, hangs or is not there", async () => {
    const path = join(folder, "stubborn");
    const script = 'touch "asked$1"; [ "$1" = --describe ] && exec sleep 600\necho "usage: stubborn" >&2; exit 2\n';
    await writeFile(path, `#!/bin/sh\n${script}`);
    await chmod(path, 0o755);
    const { clock, pending, fire } = holdTimers(60_000);
    const options = { cwd: folder, env: { PATH }, timeoutMs: 60_000, clock };
    const silent = { description: "", ready: false, defaults: { streaming: "auto" }, output: "", variables: [] };
    const inspected = inspectExecutable(path, options);
    const asked = ["--describe", "--ready", "--defaults"].map((flag) => join(folder, `asked${flag}`));
    // The other two have answered.
    await until(() => asked.every((file) => existsSync(file)) && pending() === 1);
    fire();
    expect(await inspected).toEqual({ path, reason: "usage: stubborn", ...silent });
    const missing = await inspectExecutable(join(folder, "missing"), options);
    expect(missing).toMatchObject(silent);
    expect(missing.reason).toContain("was not found");
  });
});

describe("parseDefaults", () => {
  it("reads the keys it knows and leaves out nonsense", () => {
    const text =
      "# my provider\n model = a b \nSTREAM=never\nmax_tokens=many\ncontext_tokens=4096\ntimeout=1m30s\nfamily=\nnoise";
    expect(parseDefaults(text)).toEqual({
      model: "a b",
      streaming: "never",
      maxContextTokens: 4096,
      idleMs: 90_000,
    });
  });

  it("lets no control sequence through", () => {
    expect(parseDefaults("model=\u001b[31mred").model).not.toContain("\u001b");
  });
});

describe("parseVariables", () => {
  it("reads a name and the rest of the line", () => {
    expect(parseVariables("A_KEY the key\n  B: another\nC=third\nD\n\n9 no name\n")).toEqual([
      { name: "A_KEY", description: "the key" },
      { name: "B", description: "another" },
      { name: "C", description: "third" },
      { name: "D", description: "" },
    ]);
  });
});

describe("environmentOf", () => {
  it("contains the default variables and those that the program names, and no others", () => {
    const variables = { PATH: "/bin", HOME: "/home/me", A_KEY: "a", OTHER_KEY: "o", B_KEY: undefined };
    const asked = ["A_KEY", "B_KEY"].map((name) => ({ name, description: "" }));
    expect(environmentOf(variables, asked)).toEqual({ PATH: "/bin", HOME: "/home/me", A_KEY: "a" });
  });
});
