/** The commands of docs/service.md do what the page says. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { reply, script } from "../../src/testkit/index.js";
import { skipWithout } from "../support/needs.js";
import { blocksOf } from "../support/page-examples.js";
import { type Served, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

let served: Served;
beforeAll(async () => {
  served = await serve({ script: script([reply().text("None.").times(Infinity)]) });
});
afterAll(() => served.close());

describe("docs/service.md", () => {
  verifies(["C5"], "drives a session with curl", async (context) => {
    skipWithout(context, "curl");
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const block = (await blocksOf(root, "docs/service.md")).find(({ text }) => text.includes("wait=turn"));
    const env = { PATH: process.env.PATH ?? "", HOME: served.home, OXBOW_HOME: served.home };
    const output = await new Promise<string>((resolve, reject) => {
      execFile("sh", ["-e", "-c", block?.text ?? "exit 1"], { env }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
    });
    expect(output).toContain('"client":"cli_');
    expect(output).toContain('"outcome":"answered","text":"None."');
    expect(output).toContain('"kind":"TurnEnded"');
    expect(output).not.toContain('"error"');
  });
});
