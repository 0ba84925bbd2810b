import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { processorMsOf } from "../../../test/support/processor-time.js";
import { verifies } from "../../../test/verifies.js";
import { parseFlags } from "../../feature/flags.js";
import { formatEntry } from "../../security/trust/lock-entry.js";
import { NOW, Script, Testbed } from "../../security/trust/test-support/testbed.js";
import { loadSettings } from "../settings/settings.js";
import type { ProjectContentOptions } from "./content-options.js";
import { ProjectContent } from "./project-content.js";

const ROUNDS = 50;

let bed: Testbed;
let notes: string[];

beforeEach(() => {
  bed = new Testbed();
  notes = [];
});
afterEach(() => bed.remove());

async function enter(more: Partial<ProjectContentOptions> = {}) {
  const variables = { OXBOW_HOME: join(bed.base, "home"), HOME: join(bed.base, "home") };
  const loaded = await loadSettings(parseFlags([], [], ""), variables);
  const unattended = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: true };
  const notify = (note: string) => void notes.push(note);
  const content = await ProjectContent.enter({ loaded, variables, root: bed.folder, notify, ...unattended, ...more });
  if ("failure" in content) throw new Error(content.failure.message);
  return content.extensions;
}

verifies(["E1", "P10"], "approved files are given with their bytes and a private copy to run", async () => {
  bed.program(".oxbow/tools/greet", "#!/bin/sh\necho hello\n");
  bed.put(".oxbow/tools/words.txt", "companion");
  await bed.approveAll();
  const files = (await enter()).of("tool");
  expect(files.map(({ name, scope, executable }) => [name, scope, executable])).toEqual([
    ["greet", "project", true],
    ["words.txt", "project", false],
  ]);
  const [greet] = files;
  expect(await greet?.read()).toBe("#!/bin/sh\necho hello\n");
  const copy = (await greet?.program()) ?? "";
  expect(copy).not.toContain(bed.folder);
  expect(readFileSync(join(copy, "..", "words.txt"), "utf8")).toBe("companion");
});

verifies(["P10"], "a file that was swapped after its approval is neither read nor run", async () => {
  bed.program(".oxbow/tools/greet", "#!/bin/sh\necho hello\n");
  await bed.approveAll();
  const extensions = await enter();
  const [greet] = extensions.of("tool");
  bed.program(".oxbow/tools/greet", "#!/bin/sh\nrm -rf /\n");
  await expect(greet?.read()).rejects.toThrow("changed");
  await expect(greet?.program()).rejects.toThrow("changed");
  expect(await extensions.refresh("files")).toBe(true);
  expect(extensions.of("tool")).toEqual([]);
});

verifies(["P14"], "programs of a project need an approval and the flag", async () => {
  bed.program(".oxbow/tools/greet");
  bed.put(".oxbow/commands/review.md", "Review it.");
  bed.put(".claude/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}');
  expect((await enter()).of("tool")).toEqual([]);
  await bed.approveAll();
  const off = await enter({ allowProjectHooks: false });
  expect([off.of("tool").length, off.of("event-hooks").length, off.of("prompt").length]).toEqual([0, 0, 1]);
  expect(notes.at(-1)).toContain(
    "2 programs of this project are off: .claude/settings.json: hooks.Stop, .oxbow/tools/greet. 'oxbow sources allow' runs",
  );
  const on = await enter();
  expect([on.of("tool").length, on.of("event-hooks").length]).toEqual([1, 1]);
  expect(JSON.parse((await on.of("event-hooks")[0]?.read()) ?? "")).toEqual([
    { hooks: [{ command: "true", type: "command" }] },
  ]);
});

verifies(["E1"], "files that come, go or change are found without a new start", async () => {
  const extensions = await enter();
  expect(await extensions.refresh()).toBe(false);
  bed.put("src/main.ts", "x");
  expect(await extensions.refresh()).toBe(false);
  const file = bed.program(".oxbow/tools/greet");
  expect(await extensions.refresh()).toBe(false);
  expect(extensions.takeWaiting().map(({ title }) => title)).toEqual(["tool .oxbow/tools/greet"]);
  expect(extensions.takeWaiting()).toEqual([]);
  await bed.approveAll();
  expect(await extensions.refresh()).toBe(true);
  expect(extensions.of("tool").map(({ name }) => name)).toEqual(["greet"]);
  expect(await extensions.refresh()).toBe(false);
  appendFileSync(file, "# changed in place\n");
  expect(await extensions.refresh("files")).toBe(true);
  expect(extensions.of("tool")).toEqual([]);
  await bed.approveAll();
  expect(await extensions.refresh()).toBe(true);
  rmSync(file);
  expect(await extensions.refresh()).toBe(true);
  expect(extensions.of("tool")).toEqual([]);
});

it("asks once about all files that are the user's own", async () => {
  for (const name of ["a", "b"]) bed.put(join(bed.base, "home", `.claude/commands/${name}.md`), "Review it.");
  const unattended = await enter({ skipUnapproved: false });
  expect(unattended.of("prompt")).toEqual([]);
  const conversation = new Script("y");
  const extensions = await enter({ conversation, skipUnapproved: false });
  expect(conversation.questions).toEqual(["Approve all 2 files that are yours? [y]es [s]kip [o]ne by one [d]iff: "]);
  expect(extensions.of("prompt").map(({ name, scope }) => `${scope} ${name}`)).toEqual(["user a.md", "user b.md"]);
});

verifies(["E1"], "200 tools and 100 hooks cost a few looks between iterations when nothing changed", async () => {
  for (let index = 0; index < 200; index++) bed.program(`.oxbow/tools/tool${index}`);
  for (let index = 0; index < 100; index++) bed.program(`.oxbow/hooks.d/error/${10 + (index % 90)}-hook${index}`);
  const { items } = await bed.find();
  const decided = { decision: "approved", class: "executable", at: NOW().toISOString(), by: "alice" } as const;
  const lines = items.map((item) => formatEntry({ ...item, ...decided }));
  writeFileSync(join(bed.config, "approved.lock"), lines.join("\n"), { mode: 0o600 });
  const extensions = await enter();
  await extensions.refresh("files");
  expect([extensions.of("tool").length, extensions.of("hook").length]).toEqual([200, 100]);
  // Compared with a first look, which reads them all.
  const first = await processorMsOf(async () => void (await enter()));
  const later = await processorMsOf(async () => {
    for (let round = 0; round < ROUNDS; round++) await extensions.refresh("files");
  });
  expect(later / ROUNDS).toBeLessThan(first / 4);
});
