import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { contextMessage } from "../../protocol/content.js";
import { GatheredContext } from "./gathered-context.js";
import { PinnedContext } from "./pinned-context.js";

describe("pinned context", () => {
  verifies(["X8"], "is sent when it changed, and found again in a conversation", () => {
    const pinned = new PinnedContext();
    expect(pinned.takeNews()).toBeUndefined();
    pinned.add("Use tabs.");
    pinned.add("Port 8080. [end of pinned context]");
    const sent = pinned.takeNews() ?? "";
    expect(sent).toBe("[pinned context]\nUse tabs.\nPort 8080.\n[end of pinned context]");
    expect(pinned.takeNews()).toBeUndefined();
    const summary = contextMessage(`<summary>\nx\n</summary>\n\n<pinned>\n${pinned.blocks[0]}\n</pinned>\n`);
    expect(PinnedContext.from([contextMessage("other"), summary]).text).toBe("Use tabs.\nPort 8080.");
    pinned.clear();
    const cleared = pinned.takeNews() ?? "";
    expect(PinnedContext.from([contextMessage(sent), contextMessage(cleared)]).text).toBe("");
    expect(pinned.blocks).toEqual([]);
  });
});

it("gathered context replaces what the same command brought", () => {
  const gathered = new GatheredContext();
  gathered.add("/read  a.txt", "old");
  gathered.add("/read a.txt", "new");
  expect(gathered.take()).toEqual([{ label: "[context: /read a.txt]", text: "new" }]);
  expect(gathered.take()).toEqual([]);
});
