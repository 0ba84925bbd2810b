import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { SessionId } from "../../protocol/ids.js";
import { removeUndo, undoSessions } from "./remove.js";
import { ids, UndoPlace } from "./test-support/undo-place.js";

it("the space of a journal is freed, and the session can continue", async () => {
  const here = new UndoPlace();
  onTestFinished(() => here.discard());
  expect(await undoSessions(here.folder)).toEqual([]);
  here.turn();
  await here.bash("echo 1 > a");
  expect(await undoSessions(here.folder)).toEqual([here.session]);
  await here.journal.enter();
  await expect(removeUndo(here.folder, here.session)).rejects.toThrow("is running");
  here.journal.leave();
  await removeUndo(here.folder, here.session);
  expect(existsSync(join(here.folder, here.session))).toBe(false);
  await expect(here.plan()).rejects.toThrow("changed no files");
  await here.bash("echo 2 > a; echo 2 > b");
  await here.undo();
  expect(Object.keys(here.tree())).toEqual(["a"]);
  await removeUndo(here.folder, ids.next("sess"));
  await expect(removeUndo(here.folder, "../.." as SessionId)).rejects.toThrow("not the id of a session");
});
