/** The files in examples/profiles, as a user and a project would use them. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { ExtensionFile, ExtensionKind } from "../../base/extension-files.js";
import { CommandRegistry } from "../../commands/registry.js";
import { aliasCommands } from "../../extensions/aliases/commands.js";
import { parseFlags } from "../../feature/flags.js";
import { loadCommandReader } from "../../security/permissions/command-reader.js";
import { loadPermissions } from "../../security/permissions/load-permissions.js";
import { READER } from "../../security/permissions/test-support/sample-policy.js";
import { withProject } from "./project-profiles.js";
import { loadSettings } from "./settings.js";

const EXAMPLES = fileURLToPath(new URL("../../../examples/profiles", import.meta.url));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "oxbow-examples-"));
  const config = join(home, "config");
  mkdirSync(join(config, "profiles"), { recursive: true });
  for (const name of ["review.toml", "careful.toml"]) cpSync(join(EXAMPLES, name), join(config, "profiles", name));
  cpSync(join(EXAMPLES, "presets"), join(config, "presets"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

function load(profile: string) {
  const flags = parseFlags([{ name: "profile", value: "NAME", help: "" }], ["--profile", profile], "");
  return loadSettings(flags, { OXBOW_HOME: home });
}

function exampleFile(name: string, kind: ExtensionKind): ExtensionFile {
  const path = join(EXAMPLES, name);
  const facts = { kind, scope: "project", path, source: dirname(path), name, executable: false, sha256: "" } as const;
  return { ...facts, read: async () => readFileSync(path, "utf8"), program: async () => path };
}

describe("the examples of profiles", () => {
  verifies(["E5"], "load without a warning", async () => {
    const review = await load("review");
    expect(review.warnings).toEqual([]);
    expect(review.settings).toMatchObject({
      tool_sets: { value: { names: ["read", "command"] } },
      effort: { value: "high" },
    });
    const careful = await load("careful");
    expect(careful.warnings).toEqual([]);
    const commandReader = () => loadCommandReader(READER);
    const { rules, problems, edits } = await loadPermissions(careful.settings.permissions.value ?? [], {
      commandReader,
    });
    expect([rules.map(({ decision }) => decision), problems, edits]).toEqual([["deny", "allow"], [], "ask"]);
    const project = await withProject(careful, [exampleFile("project/config.toml", "profile")], {
      unapproved: "refuse",
    });
    expect(project.warnings).toEqual([]);
    expect(project.settings.max_iterations.value).toBe(60);
    expect(project.settings.permissions.value).toHaveLength(3);
  });

  verifies(["U6"], "give names to prompts and commands", async () => {
    const problems: string[] = [];
    const place = {
      known: new CommandRegistry(),
      report: (problem: string) => problems.push(problem),
      asPrompt: async () => ({ text: "", value: null }),
    };
    const commands = await aliasCommands([exampleFile("aliases.toml", "alias")], place);
    expect([commands.map(({ name }) => name), problems]).toEqual([["c", "explain", "fix"], []]);
  });
});
