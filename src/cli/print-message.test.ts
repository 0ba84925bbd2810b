import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { oxbow, temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";

const TITLE = "\u001b]0;title\u0007";
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

verifies(["P13"], "messages of the program quote files and arguments without control sequences", async () => {
  const home = await temporaryFolder();
  const cwd = await temporaryFolder();
  const put = async (path: string, text: string) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  await put(join(cwd, "bad.toml"), `"key${JSON.stringify(TITLE).slice(1, -1)}" = 1\n`);
  await put(join(cwd, "script.mock"), `${TITLE} statement\n`);
  const lines = [
    [`--no${TITLE}`],
    ["session", "show", `x${TITLE}`],
    ["run", "--model", `none${TITLE}:x`, "hi there"],
    ["run", "--profile", join(cwd, "bad.toml"), "hi there"],
    ["mock-model", "--script", join(cwd, "script.mock")],
  ];
  for (const args of lines) {
    const { stderr } = await oxbow(args, { cwd, env: { OXBOW_HOME: home } });
    expect([args, stderr]).toEqual([args, expect.stringContaining("title")]);
    expect(stderr).not.toMatch(CONTROL);
  }
});

verifies(["P13"], "no command writes text of others to standard error by itself", () => {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const own = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && file !== "print-message.ts" && file !== "output-guard.ts",
  );
  const found = own.filter((file) =>
    /stderr\.write\(`oxbow: [^`]*\$\{(?!safe)/.test(readFileSync(`${folder}${file}`, "utf8")),
  );
  expect(own.length).toBeGreaterThan(50);
  expect(found).toEqual([]);
});
