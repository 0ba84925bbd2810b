import { expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import { Composer } from "./composer.js";
import { DraftKeeper, type DraftStorage } from "./draft-keeper.js";
import { BYTES, key, keys, plainTheme } from "./keys.testkit.js";

class MemoryStorage implements DraftStorage {
  text: string | undefined;
  writes = 0;
  async take(): Promise<string | undefined> {
    return this.text;
  }
  async write(text: string): Promise<void> {
    this.writes++;
    this.text = text;
  }
  async remove(): Promise<void> {
    this.text = undefined;
  }
}

function open(storage: DraftStorage) {
  const clock = new ManualClock();
  const redact = async (text: string) => text.replaceAll("hush", "***");
  const drafts = new DraftKeeper({ storage, clock, redact });
  const composer = new Composer({ clock, drafts, onChange() {}, onSubmit() {} });
  const settle = async () => {
    clock.advance(1000);
    await drafts.flush(() => composer.draft);
  };
  return { clock, drafts, composer, settle };
}

verifies(["U2"], "a draft survives a crash with its pastes, and is deleted when it was sent", async () => {
  const storage = new MemoryStorage();
  const first = open(storage);
  for (const each of keys("half a thought ")) first.composer.onKey(each);
  first.composer.onPaste("line\n".repeat(20));
  expect(storage.text).toBeUndefined();
  await first.settle();
  expect(storage.writes).toBe(1);
  const second = open(storage);
  const draft = await second.drafts.load();
  expect(draft).toBeDefined();
  if (draft !== undefined) second.composer.restore(draft);
  expect(second.composer.view(60, 5, plainTheme).lines).toEqual(["> half a thought [pasted 20 lines]"]);
  second.composer.onKey(key(BYTES.enter));
  await second.settle();
  expect(storage.text).toBeUndefined();
});

it("stores no secret, and takes nothing but a draft", async () => {
  const storage = new MemoryStorage();
  const { composer, drafts, settle } = open(storage);
  composer.setText("the word is hush");
  await settle();
  expect(storage.text).toBe('{"parts":["the word is ***"]}');
  for (const text of ["", "[]", "{}", '{"parts":[]}', '{"parts":[5]}', '{"parts":[{"image":3}]}', "{"]) {
    storage.text = text;
    expect(await drafts.load(), text).toBeUndefined();
  }
});
