import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { parseFlags } from "../../feature/flags.js";
import { ackCommand } from "../../security/trust/ack-command.js";
import { loadSettings } from "../settings/settings.js";
import { openApprovals } from "./approvals.js";
import { homeOf } from "./content-options.js";
import { enterPlace } from "./enter-place.js";
import { importsOf } from "./instruction-imports.js";
import { placeSettings } from "./place-settings.js";

const FLAGS = [
  { name: "cwd", value: "DIR", help: "" },
  { name: "profile", value: "NAME", help: "" },
];
const FILES = {
  "AGENTS.md": "Answer in rhymes.\n",
  "CLAUDE.md": "Be brief.\n",
  ".oxbow/config.toml": 'context_sources = ["AGENTS.md", "CLAUDE.md"]\nsandbox = "off"\n',
  ".oxbow/profiles/ci.toml": "max_iterations = 9\n",
  ".oxbow/aliases.toml": '[aliases]\nhi = "Say hello"\n',
  ".oxbow/skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSay hi.\n",
  ".oxbow/hooks.d/start/50-x": "#!/bin/sh\ncat\n",
};

const ANN = {
  by: { name: "ann", identity: "human" },
  now: () => new Date(0),
  conversation: { show: () => {}, ask: async () => "y" },
  color: false,
  width: 80,
} as const;

let base: string;
let project: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-place-")));
  project = join(base, "project");
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text, { mode: name.includes("hooks.d") ? 0o755 : 0o644 });
  }
  mkdirSync(join(project, ".git"));
});
afterEach(() => rmSync(base, { recursive: true }));

async function enter(root: string, variables: Readonly<Record<string, string>>) {
  const notes: string[] = [];
  const loaded = await loadSettings(parseFlags(FLAGS, ["--cwd", root, "--profile", "ci"], ""), variables);
  const look = { color: false, width: 80, skipUnapproved: false, allowProjectHooks: true };
  const entered = await enterPlace({ root, loaded, variables, ...look, notify: (note) => notes.push(note) });
  return { entered, notes };
}

/** Does what `oxbow ack --emit-lockfile` does, with a person who says yes. */
async function approveAll(variables: Readonly<Record<string, string>>, emitTo: string): Promise<string> {
  const { roots, settings } = await placeSettings(parseFlags(FLAGS, ["--cwd", project], ""), variables, {
    unapproved: "ignore",
  });
  const { text } = await ackCommand({
    folder: project,
    home: { config: roots.config, user: base },
    lock: openApprovals(project, { roots, variables }),
    sources: settings.context_sources.value,
    importsOf,
    ...ANN,
    emitTo,
  });
  return text;
}

describe("a project with content of all kinds", () => {
  verifies(["P10", "P11", "E5"], "works from a fresh clone with the lock file that one line wrote", async () => {
    const here = { OXBOW_HOME: join(base, "home"), HOME: base };
    const lock = join(project, "approved.lock");
    await approveAll(here, lock);
    // The profile that is approved now lists one file more.
    expect(await approveAll(here, lock)).toContain("Approved: CLAUDE.md");
    const clone = join(base, "clone");
    cpSync(project, clone, { recursive: true });
    const other = { OXBOW_HOME: join(base, "other"), HOME: base };
    const { entered: refused } = await enter(clone, other);
    if (!("failure" in refused)) throw new Error("nothing was approved here");
    expect(refused.failure.message).toContain("oxbow ack --emit-lockfile approved.lock");
    expect(refused.failure.message).toContain("OXBOW_APPROVED_LOCK=approved.lock");
    const ci = { ...other, OXBOW_APPROVED_LOCK: join(clone, "approved.lock") };
    const { entered, notes } = await enter(clone, ci);
    if ("failure" in entered) throw new Error(entered.failure.message);
    const { loaded, content } = entered;
    expect(loaded.settings.max_iterations).toEqual({
      value: 9,
      origin: `${join(clone, ".oxbow", "profiles", "ci.toml")} (max_iterations)`,
    });
    expect(loaded.settings.sandbox.value).toBe("auto");
    expect(notes).toEqual([expect.stringContaining('"sandbox" is ignored: a project may only make it stricter')]);
    expect(content.instructions).toContain("Answer in rhymes.");
    expect(content.instructions).toContain("Be brief.");
    for (const kind of ["alias", "skill", "hook", "profile"] as const) {
      expect(content.extensions.of(kind).length, kind).toBeGreaterThan(0);
    }
    writeFileSync(join(clone, ".oxbow/profiles/ci.toml"), "max_iterations = 10\n");
    expect((await enter(clone, ci)).entered).toMatchObject({ failure: { reason: "NonInteractiveAckRefused" } });
  });
});

describe("skill packs", () => {
  verifies(["E5"], "are folders of skills that a profile of the user names", async () => {
    const home = join(base, "home");
    const variables = { OXBOW_HOME: home, HOME: base };
    const root = join(base, "empty");
    mkdirSync(join(root, ".git"), { recursive: true });
    for (const [folder, name] of [
      [join(home, "config", "skill-packs", "web"), "css"],
      [join(base, "shared"), "sql"],
    ] as const) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "SKILL.md"), `---\nname: ${name}\ndescription: About ${name}.\n---\nUse it.\n`);
    }
    mkdirSync(join(home, "config", "profiles"), { recursive: true });
    const packs = `["builtin", "web", "${join(base, "shared")}"]`;
    writeFileSync(join(home, "config", "profiles", "ci.toml"), `skill_packs = ${packs}\n`);
    const { entered: refused } = await enter(root, variables);
    expect(refused).toMatchObject({ failure: { message: expect.stringContaining("css/SKILL.md, sql/SKILL.md") } });
    const lock = join(base, "packs.lock");
    const flags = ["--cwd", root, "--profile", "ci"];
    const loaded = await loadSettings(parseFlags(FLAGS, flags, ""), variables);
    const { roots } = loaded;
    await ackCommand({
      folder: root,
      home: homeOf(loaded, variables),
      lock: openApprovals(root, { roots, variables }),
      importsOf,
      ...ANN,
      emitTo: lock,
    });
    const { entered } = await enter(root, variables);
    if ("failure" in entered) throw new Error(entered.failure.message);
    const skills = entered.content.extensions.of("skill");
    expect(skills.map(({ name, scope }) => [name, scope])).toEqual([
      ["css/SKILL.md", "user"],
      ["sql/SKILL.md", "user"],
    ]);
    writeFileSync(join(home, "config", "profiles", "ci.toml"), 'skill_packs = ["none-such"]\n');
    const { warnings } = await loadSettings(parseFlags(FLAGS, flags, ""), variables);
    expect(warnings).toEqual([expect.stringContaining("there is no skill pack in")]);
    writeFileSync(join(home, "config", "profiles", "ci.toml"), 'skill_packs = ["../x"]\n');
    await expect(loadSettings(parseFlags(FLAGS, flags, ""), variables)).rejects.toThrow("names of skill packs");
  });
});
