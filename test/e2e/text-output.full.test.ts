import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { BIN } from "../support/program-process.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function model(script: string): Promise<Record<string, string>> {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  return providerEnvironment("anthropic", mock.url);
}

const TWO_CALLS = `
reply
  text: First I look.
  tool ls {}
reply
  text: Then I look again.
  tool ls {}
reply
  text: Nothing is here.
`;

describe("text output to a pipe", () => {
  verifies(["U1"], "is the final answer alone; what the model says beside its calls is on stderr", async () => {
    const env = await model(TWO_CALLS);
    const { stdout, stderr } = await oxbow(["look around"], { env });
    expect(stdout).toBe("Nothing is here.\n");
    expect(stderr).toBe("First I look.\nThen I look again.\n");
  });

  verifies(["U1"], "comes as it arrives with --stream or OXBOW_STREAM=1", async () => {
    const env = await model(TWO_CALLS);
    const { stdout } = await oxbow(["run", "--stream", "look around"], { env });
    expect(stdout).toBe("First I look.\nThen I look again.\nNothing is here.\n");
    const mock = await startMockModel({ script: script([reply().text("One.").hang()]) });
    mocks.push(mock);
    const home = await temporaryFolder();
    const variables = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home, OXBOW_STREAM: "1" };
    const child = spawn(process.execPath, [BIN, "run", "go"], {
      cwd: home,
      env: { PATH: process.env.PATH, ...variables },
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      let seen = "";
      for await (const piece of child.stdout) {
        seen += String(piece);
        if (seen.includes("One.")) break;
      }
      expect(seen).toBe("One.");
      expect(child.exitCode, "the turn still runs").toBe(null);
    } finally {
      child.kill("SIGKILL");
    }
  });

  verifies(["U1"], "contains nothing of a turn that ends at a limit within its calls", async () => {
    const env = await model("reply times=any\n  text: On it.\n  tool ls {}\n");
    const { code, stdout, stderr } = await oxbow(["look around", "--max-iterations", "2"], { env });
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("On it.");
  });

  verifies(["U1"], "-v shows calls, results, thinking and counts without a terminal", async () => {
    const script = "reply\n  thinking: Hm, where?\n  tool ls {}\nreply\n  text: Here.\n  usage input=7 output=3\n";
    const shown = [/Hm, where\?/, /^ls/m, /✓ ls: /m, /notes\.txt/, /\d+ in · \d+ out/];
    for (const flags of [[], ["--output-format", "json"]]) {
      const env = await model(script);
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, "notes.txt"), "");
      const { stdout, stderr } = await oxbow(["look around", "-v", ...flags], { env, cwd });
      for (const expected of shown) expect(stderr, flags.join(" ")).toMatch(expected);
      expect(flags.length === 0 ? stdout : JSON.parse(stdout).text.concat("\n")).toBe("Here.\n");
    }
  });

  verifies(["U1", "M9"], "retries are reported in text and beside JSON", async () => {
    for (const flags of [[], ["--output-format", "json"]]) {
      const env = await model('reply\n  error 429 rate-limit "slow" retry-after=50ms\nreply\n  text: Here.\n');
      const { code, stderr } = await oxbow(["look around", ...flags], { env });
      expect(stderr, flags.join(" ")).toMatch(/^oxbow: Provider anthropic rate-limited the request\. Retrying/);
      expect(code).toBe(0);
    }
  });

  verifies(["U1", "M8"], "a failover is reported, with both models", async () => {
    const env = await model(
      'reply times=any when model is "main"\n  error overloaded\nreply when model is "spare"\n  text: Here.\n',
    );
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    await writeFile(
      join(home, "config", "config.toml"),
      '[routes.both]\nchain = ["anthropic:main", "anthropic:spare"]\n',
    );
    const { stdout, stderr } = await oxbow(["look around", "--model", "@both", "--retry-wait", "0"], {
      env: { ...env, OXBOW_HOME: home },
    });
    expect(stdout).toBe("Here.\n");
    expect(stderr).toMatch(/^oxbow: anthropic:main → anthropic:spare: /m);
  });
});

describe("a command that fails", () => {
  const failing = (command: string) => `reply\n  tool bash ${JSON.stringify({ command })}\nreply\n  text: It failed.\n`;

  verifies(["U1", "T6"], "is shown with its exit code and its last lines", async () => {
    const command =
      "echo the beginning; for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo the reason >&2; exit 7";
    const env = { ...(await model(failing(command))), OXBOW_STREAM: "1" };
    const { stderr } = await oxbow(["go on", "--permission-mode", "allow", "--sandbox", "off"], { env });
    expect(stderr).toContain("✗ bash: exit code 7\n");
    expect(stderr).toMatch(/… 3 lines before\n +line 3\n[\s\S]*line 9\n +the reason\n/);
    expect(stderr).not.toContain("error: the beginning");
  });

  verifies(["T6"], "whatever it prints at the end of a watched run is in its progress", async () => {
    const folder = await temporaryFolder();
    const command = "echo one; until [ -e go ]; do sleep 0.02; done; echo the very end; exit 1";
    const env = await model(failing(command));
    const { stdout } = await oxbow(["go on", "--permission-mode", "allow", "--sandbox", "off", "--stream-events"], {
      env,
      cwd: folder,
      onOutput: ({ stdout }) => {
        if (stdout.includes("ToolCallProgress")) void writeFile(join(folder, "go"), "");
      },
    });
    const shown = envelopes(stdout).flatMap((event) => (event.kind === "ToolCallProgress" ? [event.payload.text] : []));
    expect(shown.join("")).toBe("one\nthe very end\n");
  });
});
