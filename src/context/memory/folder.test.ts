import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildChildPrograms, type ChildPrograms } from "../../../test/support/child-programs.js";
import { isThorough } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { systemClock } from "../../base/clock.js";
import { redact } from "../../security/redact/redact.js";
import type { MemoryEntry } from "./entry.js";
import { MemoryFolder, readAudit } from "./folder.js";

let path: string;
let children: ChildPrograms;
beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "writer");
});
afterAll(() => children.discard());
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), "oxbow-memory-")), "user");
});
afterEach(() => rm(join(path, ".."), { recursive: true }));

const BY = { by: "user" } as const;
const folderAt = (wall = () => Date.parse("2026-03-01T10:00:00Z")) =>
  new MemoryFolder({ path, scope: "user", clock: { ...systemClock, wall }, redact });
const file = (name: string) => readFile(join(path, name), "utf8");

describe("a folder of memories", () => {
  verifies(["X4"], "keeps one Markdown file each, an index in step, and an audit without the text", async () => {
    const folder = folderAt();
    const saved = await folder.save({ body: "The user prefers tabs: always.", type: "feedback", tags: ["style"] }, BY);
    expect(saved).toMatchObject({ name: "the-user-prefers-tabs-always", type: "feedback", tags: ["style"] });
    expect(await file("the-user-prefers-tabs-always.md")).toBe(
      '---\nname: the-user-prefers-tabs-always\ndescription: "The user prefers tabs: always."\ntype: feedback\ntags: [style]\n' +
        "created: 2026-03-01T10:00:00.000Z\nupdated: 2026-03-01T10:00:00.000Z\nsource: the user\n---\n\nThe user prefers tabs: always.\n",
    );
    expect(await file("MEMORY.md")).toBe(
      "# Memory\n\n- [the-user-prefers-tabs-always](the-user-prefers-tabs-always.md) — The user prefers tabs: always.\n",
    );
    const later = folderAt(() => Date.parse("2026-04-01T10:00:00Z"));
    const model = { by: "model", session: "sess_1" } as const;
    await later.update(saved.name, { body: "The user prefers spaces." }, model);
    expect(await file("MEMORY.md")).toContain("— The user prefers spaces.\n");
    expect((await later.list()).entries).toMatchObject([
      { created: "2026-03-01T10:00:00.000Z", updated: "2026-04-01T10:00:00.000Z", body: "The user prefers spaces." },
    ]);
    await later.forget(saved.name, model);
    expect(await file("MEMORY.md")).toBe("# Memory\n");
    const audit = await readAudit(path);
    expect(audit.map(({ action, by, session }) => [action, by, session])).toEqual([
      ["forget", "model", "sess_1"],
      ["update", "model", "sess_1"],
      ["save", "user", undefined],
    ]);
    expect(JSON.stringify(audit)).not.toContain("spaces");
    await expect(later.forget("gone", BY)).rejects.toThrow("There is no memory 'gone'.");
    expect([(await stat(path)).mode & 0o777, (await stat(join(path, "MEMORY.md"))).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  it("changes only what is asked, and a description that was the first line follows the text", async () => {
    const folder = folderAt();
    const first = await folder.save({ body: "Use tabs.\n", tags: ["a"], name: "style" }, BY);
    expect(first).toMatchObject({ type: "user", source: "the user", description: "Use tabs." });
    await writeFile(join(path, "style.md"), (await file("style.md")).replace("tags:", "owner: me\ntags:"));
    expect(await folder.update("style", { tags: ["b", " "], type: "feedback" }, BY)).toMatchObject({
      ...{ description: "Use tabs.", tags: ["b"], type: "feedback", body: "Use tabs.", other: ["owner: me"] },
    });
    expect(await folder.update("style", { body: "Use spaces." }, BY)).toMatchObject({
      ...{ description: "Use spaces.", tags: ["b"], type: "feedback" },
    });
    expect(await folder.update("style", { description: "Indentation" }, BY)).toMatchObject({ body: "Use spaces." });
    expect(await folder.update("style", { body: "Use two." }, BY)).toMatchObject({ description: "Indentation" });
    expect(await folder.update("style", { description: " ", tags: [] }, BY)).toMatchObject({
      ...{ description: "Indentation", tags: [] },
    });
    expect(await file("style.md")).toContain("owner: me\n");
    await expect(folder.update("style", { type: "fact" as never }, BY)).rejects.toThrow("There is no type 'fact'.");
    const byModel = await folder.save({ body: "x", name: "m" }, { by: "model" });
    const inSession = await folder.save({ body: "x", name: "n" }, { by: "model", session: "sess_1" });
    expect([byModel.source, inSession.source]).toEqual(["the model", "sess_1"]);
    expect((await folder.save({ body: "x", name: "???", description: "!" }, BY)).name).toBe("note");
  });

  it("is replaced as a whole by what a person wrote, also by what cannot be read", async () => {
    const folder = folderAt();
    await folder.save({ body: "Old.", name: "a" }, BY);
    const text = "---\ntype: feedback\nowner: me\ncreated: 2026-01-01\n---\n\nNew.\n";
    expect(await folder.replace("a", text, BY)).toMatchObject({ type: "feedback", body: "New.", other: ["owner: me"] });
    expect(await file("a.md")).toContain("updated: 2026-03-01T10:00:00.000Z");
    expect(await file("a.md")).toContain("created: 2026-01-01T00:00:00.000Z");
    const broken = "---\ntype: nonsense\n---\n\nKept.\n";
    expect(await folder.replace("a", broken, BY)).toMatchObject({ message: expect.stringContaining("nonsense") });
    expect(await folder.textOf("a")).toBe(broken);
    expect((await readAudit(path)).map(({ action }) => action)).toEqual(["update", "update", "save"]);
    await expect(folder.update("a", { body: "x" }, BY)).rejects.toThrow("Correct the file first.");
    for (const name of ["../a", ".a", "a/b", "a\\b", "a\0"])
      await expect(folder.replace(name, "x", BY), name).rejects.toThrow("is not a valid name");
    await expect(folder.textOf("nothing")).rejects.toThrow("There is no memory 'nothing'.");
  });

  it("drops the older half of a long audit, and leaves out a damaged line", async () => {
    const folder = folderAt();
    await folder.save({ body: "x", name: "a" }, BY);
    const line = (at: number) => JSON.stringify({ at: String(at), action: "save", name: "x".repeat(200), by: "user" });
    const audit = join(path, ".audit.jsonl");
    const lines = Array.from({ length: 1_000 }, (_, at) => line(at));
    await writeFile(audit, `${lines.join("\n")}\n{"at": "half`);
    expect((await readAudit(path)).slice(0, 1)).toMatchObject([{ at: "999" }]);
    await folder.save({ body: "x", name: "b" }, BY);
    const [newest, ...kept] = await readAudit(path);
    expect(newest).toMatchObject({ name: "b" });
    expect([kept.length, kept[0]?.at, kept.at(-1)?.at]).toEqual([1_000, "999", "0"]);
    await writeFile(audit, `${[...lines, ...lines].join("\n")}\n`);
    await folder.forget("b", BY);
    const after = await readAudit(path);
    expect([after.length, after[0]?.action, after.at(-1)?.at]).toEqual([1_001, "forget", "0"]);
  });

  it("never replaces a memory by another of the same name, and hides secrets", async () => {
    const folder = folderAt();
    const key = `sk-ant-${"api03"}-${"Ab1".repeat(20)}`;
    const [one, two] = [
      await folder.save({ name: "Deploy key", body: `The key is ${key}.`, description: `key ${key}` }, BY),
      await folder.save({ name: "deploy-key", body: "Another." }, BY),
    ];
    expect([one.name, two.name]).toEqual(["deploy-key", "deploy-key-2"]);
    for (const name of await readdir(path)) {
      if (!name.startsWith(".lock")) expect(await file(name)).not.toContain(key);
    }
    await expect(folder.save({ body: " \n" }, BY)).rejects.toThrow("empty");
    await expect(folder.save({ body: "x".repeat(9_000) }, BY)).rejects.toThrow("Shorten it");
    await expect(folder.update("../../etc/passwd", { body: "x" }, BY)).rejects.toThrow("There is no memory");
  });

  verifies(
    ["X4"],
    "reports files that people broke, uses those that have a sensible reading, and loses none",
    async () => {
      const folder = folderAt();
      await folder.save({ name: "good", body: "Good." }, BY);
      const broken: Record<string, string> = {
        "unclosed.md": "---\nname: x\ntext\n",
        "type.md": "---\ntype: wish\n---\ntext\n",
        "date.md": "---\ncreated: yesterday\n---\ntext\n",
        "yaml.md": '---\nname: "x\n---\ntext\n',
        "empty.md": "",
      };
      for (const [name, text] of Object.entries(broken)) await writeFile(join(path, name), text);
      await writeFile(join(path, "plain.md"), "# Release day\n\nEvery Tuesday.\n");
      await writeFile(
        join(path, "claude.md"),
        "---\nname: Other\ndescription: d\nmetadata:\n  type: feedback\n  x: 1\n---\nBody.\n",
      );
      await writeFile(
        join(path, "MEMORY.md"),
        "My own words.\n\n- [gone](gone.md) — gone\n- [old](unclosed.md) — as it was\n\nThe end.\n",
      );
      await symlink("/etc/hostname", join(path, "link.md"));
      await folder.keepIndex();
      const { entries, problems } = await folder.list();
      expect(entries.map(({ name, type, description }) => [name, type, description])).toEqual([
        ["claude", "feedback", "d"],
        ["good", "user", "Good."],
        ["plain", "user", "Release day"],
      ]);
      expect(problems.map(({ path: at, message }) => `${at.split("/").at(-1)}: ${message}`)).toEqual([
        "date.md: created: expected a date such as 2026-01-31",
        "empty.md: The memory is empty",
        "link.md: It is a link or a special file, so it is not read",
        'type.md: type: expected user, feedback, project, reference, got "wish"',
        "unclosed.md: The front matter is not closed with ---",
        expect.stringMatching(/^yaml\.md: .+/),
      ]);
      const index = await file("MEMORY.md");
      for (const words of [
        "My own words.",
        "The end.",
        "- [old](unclosed.md) — as it was",
        "- [good](good.md) — Good.",
      ])
        expect(index).toContain(words);
      expect(index).not.toContain("gone.md");
      await folder.update("claude", { body: "New body." }, BY);
      expect(await file("claude.md")).toContain("metadata:\n  type: feedback\n  x: 1\n---\n\nNew body.\n");
      await expect(folder.update("type", { body: "x" }, BY)).rejects.toThrow("Correct the file first");
      for (const [name, text] of Object.entries(broken)) expect(await file(name)).toBe(text);
      const fixed = await folder.replace("type", "---\ntype: project\n---\ntext\n", BY);
      expect((fixed as MemoryEntry).type).toBe("project");
      expect(await folder.replace("type", "---\nnot closed\n", BY)).toMatchObject({ message: expect.any(String) });
      expect(await file("type.md")).toBe("---\nnot closed\n");
    },
  );

  verifies(["X4"], "two processes that write at the same time lose nothing", async () => {
    const [writers, times] = [3, 8];
    const ends = Array.from({ length: writers }, (_, at) => children.start("writer", path, `${at}`, `${times}`).end);
    for (const { err } of await Promise.all(ends)) expect(err).toBe("");
    const { entries, problems } = await folderAt().list();
    expect([entries.length, problems]).toEqual([writers * times, []]);
    const index = await file("MEMORY.md");
    for (const { name } of entries) expect(index).toContain(`](${name}.md)`);
    expect((await readAudit(path)).length).toBe(writers * times);
    expect((await readdir(path)).filter((name) => !/\.(?:md|jsonl)$/.test(name))).toEqual([]);
  });

  const indexed = async () =>
    [...(await file("MEMORY.md").catch(() => "")).matchAll(/\]\(([^)]+)\.md\)/g)].map(([, name]) => name).sort();

  verifies(["X4"], "agrees with its index again after a process died between the two", async () => {
    const folder = folderAt();
    for (const name of ["one", "two"]) await folder.save({ name, body: `Body of ${name}.` }, BY);
    const text = await file("one.md");
    // A new file and a deleted one without their lines, half a file, and half a line of the audit.
    await writeFile(join(path, "three.md"), text.replaceAll("one", "three"));
    await rm(join(path, "two.md"));
    await writeFile(join(path, ".two.md.0123456789ab.tmp"), text.slice(0, 40));
    await writeFile(join(path, ".audit.jsonl"), `${await file(".audit.jsonl")}{"at":"20`);
    const next = folderAt();
    expect((await next.list()).entries.map(({ name }) => name)).toEqual(["one", "three"]);
    await next.keepIndex();
    expect(await indexed()).toEqual(["one", "three"]);
    await next.save({ name: "four", body: "Body." }, BY);
    expect(await indexed()).toEqual(["four", "one", "three"]);
    expect(await readdir(path)).toEqual([".audit.jsonl", "MEMORY.md", "four.md", "one.md", "three.md"]);
    expect((await readAudit(path)).map(({ name }) => name)).toContain("four");
  });

  if (isThorough)
    verifies(
      ["X4"],
      "loses nothing that was saved to kill -9 at random times",
      async () => {
        for (let i = 0; i < 40; i++) {
          const child = children.start("writer", path, `${i}`, "1000");
          const timer = setTimeout(() => child.process.kill("SIGKILL"), 100 + Math.random() * 300);
          await child.end;
          clearTimeout(timer);
          const folder = folderAt();
          await folder.keepIndex();
          const { entries, problems } = await folder.list();
          expect(problems).toEqual([]);
          expect(await indexed()).toEqual(entries.map(({ name }) => name).sort());
          await folder.save({ name: `after ${i}`, body: "Body." }, BY);
          expect((await readdir(path)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
        }
      },
      120_000,
    );
});
