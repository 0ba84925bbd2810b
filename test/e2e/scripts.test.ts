import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
let cwd: string;
let env: Record<string, string>;

beforeEach(async () => {
  mock = await startMockModel({ script: "reply\n  text: One.\nreply\n  text: Two.\n" });
  cwd = await temporaryFolder();
  env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: await temporaryFolder() };
});
afterEach(() => mock.close());

async function script(lines: readonly string[], ...flags: string[]) {
  await writeFile(join(cwd, "steps"), lines.join("\r\n"));
  return oxbow(["--run", "steps", ...flags], { cwd, env });
}

describe("oxbow --run SCRIPT", () => {
  verifies(["U1", "U6"], "runs commands and prompts in one session, past comments and blank lines", async () => {
    const { stdout, stderr, code } = await script([
      "\uFEFF# a comment",
      "first question",
      "",
      "  /effort high",
      "\\# second question",
      "/status",
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^One\.\nEffort: high, from the next turn on\.\nTwo\.\n.*messages +4\n/s);
    expect(JSON.stringify(mock.requests[1]?.body)).toMatch(/first question.*# second question/s);
    const sessions = await oxbow(["session", "list", "--json"], { cwd, env });
    expect(JSON.parse(sessions.stdout)).toHaveLength(1);
  });

  verifies(["U1", "U6"], "stops at the first failure with its exit code, or continues with --keep-going", async () => {
    const lines = ["!exit 3", "/hlep", "/effort low"];
    const stopped = await script(lines);
    expect([stopped.code, stopped.stdout]).toEqual([1, expect.not.stringContaining("effort")]);
    expect(stopped.stderr).toContain("line 1 of steps failed. The lines after it did not run.");
    const refused = await script(lines.slice(1));
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Did you mean /help")]);
    const all = await script(lines, "--keep-going");
    expect([all.code, all.stdout]).toEqual([1, expect.stringContaining("Effort: low")]);
    const test = await script(["/permissions test sudo reboot", "/effort low"], "--permission-mode", "deny");
    expect([test.code, test.stdout]).toEqual([1, expect.not.stringContaining("effort")]);
  });

  verifies(["U1"], "reads standard input as '-', ends at /exit, and refuses files that are not scripts", async () => {
    const piped = await oxbow(["--run", "-"], { cwd, env, input: "/effort high\n/exit\n/hlep\n" });
    expect([piped.code, piped.stdout]).toEqual([0, expect.stringContaining("Effort: high")]);
    const refusals: [readonly string[], RegExp][] = [
      [["--run", "missing"], /--run: .*does not exist.*missing/],
      [["--run", "."], /--run: .*is a folder/],
      [["--run", ""], /needs the name of a script/],
      [["--run", "steps", "and a prompt"], /not both/],
      [["--run", "steps", "--output-format", "json"], /--run prints text/],
      [["--keep-going", "a prompt"], /--keep-going needs --run/],
      [["--run", "empty"], /no command and no prompt/],
      [["--run", "binary"], /is binary/],
    ];
    await Promise.all([
      writeFile(join(cwd, "steps"), "/help\n"),
      writeFile(join(cwd, "empty"), "# nothing\n"),
      writeFile(join(cwd, "binary"), Buffer.from([0, 1, 2, 0, 255])),
    ]);
    for (const [args, message] of refusals) {
      const { code, stderr } = await oxbow(args, { cwd, env });
      expect([code, stderr], args.join(" ")).toEqual([2, expect.stringMatching(message)]);
    }
    expect(mock.requests).toEqual([]);
  });
});
