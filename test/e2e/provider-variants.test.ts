import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect } from "vitest";
import { oxbow, sampleKey, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let home: string;
beforeEach(async () => {
  home = await temporaryFolder();
  await mkdir(join(home, "config", "providers"), { recursive: true });
});

const put = (name: string, text: string) =>
  writeFile(join(home, "config", "providers", name), text, { mode: name.endsWith(".conf") ? 0o644 : 0o755 });

const PROGRAM = `#!/bin/sh
case "$1" in
  --describe) echo "the program itself" ;;
  --defaults) echo "model=own-model" ;;
  --env) echo "ACME_REGION where it runs" ;;
  --ready) exit 0 ;;
  *) model=$(grep -o '"model":"[^"]*"' | head -1 | cut -d'"' -f4)
     echo "name=$OXBOW_PROVIDER_NAME url=$OXBOW_PROVIDER_URL key=$([ "$OXBOW_PROVIDER_KEY" = "$EXPECTED" ] && echo yes || echo no) model=$model" ;;
esac
`;

describe("a .conf file with a program as its protocol", () => {
  verifies(["M4", "E2"], "runs that program with its own address, key and model", async () => {
    const key = sampleKey();
    await put("acme", PROGRAM.replace("$EXPECTED", "$ACME_REGION"));
    await put(
      "acme-eu.conf",
      "protocol=acme\ndescription=Acme in Europe\nurl=https://eu.acme.test/v1\nauth_env=ACME_EU_KEY\nmodel=large\n",
    );
    const env = { OXBOW_HOME: home, ACME_EU_KEY: key, ACME_REGION: key };
    const eu = await oxbow(["run", "hi", "--provider", "acme-eu"], { env });
    expect(eu.stdout).toBe("name=acme-eu url=https://eu.acme.test/v1 key=yes model=large\n");
    const own = await oxbow(["run", "hi", "--model", "acme-eu:other"], { env });
    expect(own.stdout).toContain("model=other");
    const plain = await oxbow(["run", "hi", "--provider", "acme"], { env: { ...env, ACME_REGION: "x" } });
    expect(plain.stdout).toBe("name= url= key=no model=own-model\n");
    const listed = await oxbow(["models", "acme-eu"], { env });
    expect(listed.stdout).toContain("Acme in Europe");
    expect(listed.stdout).toContain("large");
    const help = await oxbow(["help"], { env });
    expect(help.stdout).toMatch(/acme-eu +Acme in Europe \(ACME_EU_KEY, ACME_REGION\)/);
  });

  verifies(["M4"], "says what is wrong with it, with the programs that it could name", async () => {
    await put("acme", PROGRAM);
    await put("typo.conf", "protocol=acne\n");
    await put("headed.conf", "protocol=acme\nheader.x-team=blue\n");
    const env = { OXBOW_HOME: home };
    const typo = await oxbow(["run", "hi", "--provider", "typo"], { env });
    expect([typo.code, typo.stderr]).toEqual([
      2,
      expect.stringMatching(/typo\.conf:1: .*or the program acme, got "acne"/),
    ]);
    const headed = await oxbow(["run", "hi", "--provider", "headed"], { env });
    expect(headed.stderr).toContain("a program makes its own requests, so it takes no headers");
  });
});
