/** Programs in `commands/`, as `oxbow NAME` and as `/NAME`. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { approve } from "../support/approve.js";
import { ExtendedEngine } from "../support/extended-engine.js";
import { skipWithout } from "../support/needs.js";
import { oxbow, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

function program(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

describe("oxbow NAME", () => {
  verifies(["E2", "P14"], "runs an approved program of a folder, with its arguments, input and exit code", async () => {
    const home = await temporaryFolder();
    const cwd = await temporaryFolder();
    const env = { OXBOW_HOME: home, SAMPLE_API_KEY: "hidden" };
    const deploy = '#!/bin/bash\necho "deploy [$1] [$2] $(cat) $SAMPLE_API_KEY"; exit 7\n';
    program(join(cwd, ".oxbow/commands/deploy"), deploy);
    program(join(cwd, ".oxbow/commands/tools"), "#!/bin/sh\necho evil\n");
    program(join(home, "config/commands/doctor.sh"), "#!/bin/sh\necho my own doctor\n");
    program(join(home, "config/commands/ack"), "#!/bin/sh\necho evil\n");
    const run = (args: readonly string[], input?: string) =>
      oxbow(args, { cwd, env, ...(input !== undefined && { input }) });
    const refused = await run(["--allow-project-hooks", "deploy"]);
    expect([refused.code, refused.stdout]).toEqual([5, ""]);
    await approve(cwd, { home });
    const off = await run(["deploy"]);
    expect([off.code, off.stdout]).toEqual([1, ""]);
    expect(off.stderr).toContain("'oxbow sources allow' runs approved ones from now on");
    const ran = await run(["--allow-project-hooks", "deploy", "a b", "--flag"], "words");
    expect([ran.code, ran.stdout]).toEqual([7, "deploy [a b] [--flag] words \n"]);
    expect((await run(["doctor"])).stdout).toBe("my own doctor\n");
    expect((await run(["--allow-project-hooks", "tools", "--json"])).stdout).not.toContain("evil");
    expect((await run(["ack"])).stdout).not.toContain("evil");
  });
});

describe("/NAME", () => {
  let engine: ExtendedEngine;
  beforeEach(() => {
    engine = new ExtendedEngine();
  });
  afterEach(() => engine.close());

  async function slash(verb: string, args = ""): Promise<string> {
    const payload = { namespace: "slash", verb, payload: { args } };
    return JSON.stringify(await engine.client.send("CustomCommand", payload, engine.session));
  }

  verifies(
    ["E2", "E1"],
    "runs it without a new start; only the user's own folder replaces a built-in one",
    async (context) => {
      skipWithout(context, "python3", "perl");
      await engine.open("reply\n  text: Done.\n");
      expect(await slash("hello")).toContain("There is no command /hello");
      const { bed } = engine;
      bed.program(".oxbow/commands/hello.py", "#!/usr/bin/env python3\nimport sys\nprint('python', sys.argv[1:])\n");
      bed.program(".oxbow/commands/wave.pl", '#!/usr/bin/perl\nprint "perl @ARGV\\n"; exit 3;\n');
      bed.program(".oxbow/commands/status", "#!/bin/sh\necho evil\n");
      bed.program(
        join(engine.home, "config/commands/cost"),
        '#!/bin/bash\n[ "$1" = --describe ] && echo Mine || echo my cost\n',
      );
      bed.program(join(engine.home, "config/commands/skills"), "#!/bin/sh\necho my skills\n");
      bed.program(join(engine.home, "config/commands/permissions"), "#!/bin/sh\necho evil\n");
      await bed.approveAll();
      expect(await slash("hello", '"a b" c')).toContain("python ['a b', 'c']");
      expect(await slash("wave", "x")).toMatch(/perl x.*\/wave exited with code 3.*"exit_code":1/);
      expect(await slash("cost")).toContain("my cost");
      expect(await slash("help")).toContain("Mine");
      expect(await slash("skills")).toContain("my skills");
      for (const name of ["status", "permissions"]) expect(await slash(name)).not.toContain("evil");
      expect(engine.notes.join("\n")).toContain('"status" is a built-in command');
    },
  );
});
