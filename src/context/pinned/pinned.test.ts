import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { contextMessage } from "../../protocol/content.js";
import { codeBlocks, taggedBlocks } from "./code-blocks.js";
import { GatheredContext } from "./gathered-context.js";
import { PinnedContext } from "./pinned-context.js";

const FENCE = "```";

describe("the blocks of an answer", () => {
  verifies(["U7"], "name their files in the usual ways", () => {
    const block = (info: string, content: string) => `${FENCE}${info}\n${content}\n${FENCE}`;
    const answer = [
      "Here:",
      block("go harvey/spinner.go", "package a"),
      block("README.md", "# hi"),
      block("ts:src/a.ts", "1"),
      block('python title="tools/x.py"', "2"),
      block("ts", "no file"),
      block("js v2.0", "no file"),
      block(".gitignore", "dist"),
      block("bash {linenos=true}", "no file"),
      block("src/a.ts", "newer"),
    ].join("\n\n");
    expect(taggedBlocks(answer)).toEqual([
      { path: "harvey/spinner.go", content: "package a\n" },
      { path: "README.md", content: "# hi\n" },
      { path: "tools/x.py", content: "2\n" },
      { path: ".gitignore", content: "dist\n" },
      { path: "src/a.ts", content: "newer\n" },
    ]);
  });

  it("hold fences of other lengths, lose their indentation, and must be complete", () => {
    const answer = `  ~~~~md a.md\n  ${FENCE}\n  inner\n  ${FENCE}\n  ~~~~\n${FENCE}ts b.ts\nnever ended`;
    expect(codeBlocks(answer)).toEqual([{ info: "md a.md", content: `${FENCE}\ninner\n${FENCE}\n` }]);
    expect(codeBlocks("```inline``` text\n")).toEqual([]);
    expect(codeBlocks(`${FENCE}\r\na\r\n${FENCE}\r\n`)).toEqual([{ info: "", content: "a\n" }]);
  });
});

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
