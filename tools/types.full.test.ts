import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CODE = `import { Harness } from "oxbow";
import type { Register } from "oxbow/plugin";
import type { Envelope } from "oxbow/protocol";
import { connect as connectByUrl } from "oxbow/sdk";
import { connect, ownEngine } from "oxbow/sdk/node";
import { startMockModel } from "oxbow/testkit";
export const all = [Harness, connectByUrl, connect, ownEngine, startMockModel] as const;
export type Types = [Register, Envelope];
// @ts-expect-error: a name is a text.
void connect({ ...ownEngine({}), name: 1 });
`;

it("a project that installs a clone by its path has the types of every entry point", { timeout: 60_000 }, () => {
  rmSync(join(ROOT, "dist", "types"), { recursive: true, force: true });
  // npm runs this in the clone, and makes the link.
  execFileSync("npm", ["run", "--silent", "prepare"], { cwd: ROOT, stdio: "pipe" });
  const project = mkdtempSync(join(tmpdir(), "oxbow-types-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  mkdirSync(join(project, "node_modules", "@types"), { recursive: true });
  symlinkSync(ROOT, join(project, "node_modules", "oxbow"));
  symlinkSync(join(ROOT, "node_modules", "@types", "node"), join(project, "node_modules", "@types", "node"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "main.ts"), CODE);
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "node", "main.ts"];
  let complaints = "";
  try {
    execFileSync(process.execPath, [compiler, ...flags], { cwd: project, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    complaints = (error as { stdout: string }).stdout;
  }
  expect(complaints).toBe("");
});
