import { chmodSync, existsSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";
import { editInEditor } from "./external-editor.js";
import { draftFile, historyFile } from "./input-files.js";
import { readDroppedImage } from "./input-images.js";

const mode = (path: string) => statSync(path).mode & 0o777;

verifies(["U2"], "history and drafts are for the person alone", async () => {
  const state = await temporaryFolder();
  const history = historyFile(state);
  expect(await history.read()).toBe("");
  await history.append("one\n");
  const path = join(state, "input", "history.jsonl");
  chmodSync(path, 0o644);
  await history.append("two\n");
  expect(await history.read()).toBe("one\ntwo\n");
  expect(mode(path)).toBe(0o600);
  await history.replace("two\n");
  expect(mode(path)).toBe(0o600);
  const draft = draftFile({ state, workspace: "/w" });
  await draft.write("text");
  const folder = join(state, "input", "drafts");
  expect(readdirSync(folder).map((name) => mode(join(folder, name)))).toEqual([0o600]);
  expect(mode(folder)).toBe(0o700);
});

it("gives the draft of an ended client to the next client of the folder, once", async () => {
  const state = await temporaryFolder();
  const running = new Set([1]);
  const client = (pid: number, workspace = "/w") => {
    return draftFile({ state, workspace, process: { pid, startTime: 5 }, isAlive: (each) => running.has(each.pid) });
  };
  await client(1).write("mine");
  expect(await client(2).take()).toBeUndefined();
  running.clear();
  expect(await client(2, "/elsewhere").take()).toBeUndefined();
  running.add(2);
  expect(await client(2).take()).toBe("mine");
  expect(await client(3).take()).toBeUndefined();
  await client(2).remove();
  running.clear();
  expect(await client(3).take()).toBeUndefined();
});

it("forgets drafts after a month", async () => {
  const state = await temporaryFolder();
  const gone = draftFile({ state, workspace: "/w", process: { pid: 1, startTime: 1 }, isAlive: () => false });
  await gone.write("old");
  const folder = join(state, "input", "drafts");
  const old = new Date(Date.now() - 40 * 24 * 3_600_000);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), old, old);
  await draftFile({ state, workspace: "/other", isAlive: () => false }).take();
  expect(readdirSync(folder)).toEqual([]);
});

verifies(["U2"], "the user's editor gets the text in a private file, which is deleted afterwards", async () => {
  const folder = await temporaryFolder();
  const lent: string[] = [];
  const lend = async <T>(action: () => Promise<T>) => {
    lent.push("away");
    const result = await action();
    lent.push("back");
    return result;
  };
  const script = join(folder, "my editor");
  writeFileSync(script, '#!/bin/sh\nstat -c %a "$2" > "$1"\nprintf " and $2 more" >> "$2"\n', { mode: 0o755 });
  const note = join(folder, "mode");
  const variables = { PATH: process.env.PATH, EDITOR: "false", VISUAL: `'${script}' ${note}` };
  const edited = await editInEditor("text", { variables, lend });
  expect(edited).toMatch(/^text and .*prompt\.md more$/);
  expect(statSync(note).size).toBe(4);
  expect(lent).toEqual(["away", "back"]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("oxbow-prompt-"))).toEqual([]);
  const failing = { variables: { ...variables, VISUAL: "" }, lend };
  expect(await editInEditor("text", failing)).toBeUndefined();
  const missing = { ...failing, variables: { ...variables, VISUAL: "no-such-editor-here" } };
  await expect(editInEditor("text", missing)).rejects.toThrow("was not found");
  await expect(editInEditor("text", { ...failing, variables: { PATH: folder } })).rejects.toThrow("Set EDITOR");
});

it("reads a dropped image, and nothing that is none", async () => {
  const folder = await temporaryFolder();
  const png = join(folder, "a b.png");
  writeFileSync(png, Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
  expect(await readDroppedImage(png)).toMatchObject({ type: "image", media_type: "image/png" });
  const words = join(folder, "words.png");
  writeFileSync(words, "hello");
  expect(await readDroppedImage(words)).toContain("is not a PNG");
  expect(await readDroppedImage(join(folder, "none.png"))).toBeUndefined();
  expect(await readDroppedImage(folder)).toBeUndefined();
  expect(existsSync(png)).toBe(true);
});
