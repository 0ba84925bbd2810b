import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { times } from "../../../test/support/thorough.js";
import { type ChangeClass, classifyChange } from "./change-class.js";
import type { ContentItem, ContentKind } from "./content.js";

function classOf(
  before: string | undefined,
  after: string,
  { kind = "skill" as ContentKind, keys = ["version"] } = {},
) {
  const item = {
    root: "/p",
    path: "SKILL.md",
    kind,
    owner: "project",
    executable: false,
    sha256: "",
    size: 0,
  } as const;
  const bytes = (text: string) => Buffer.from(text);
  return classifyChange(item satisfies ContentItem, {
    before: before === undefined ? undefined : bytes(before),
    after: bytes(after),
    metadataKeys: keys,
  });
}

const SKILL = "---\nname: pdf\ndescription: Fills forms\nversion: 1\n---\nRead the form first.\n\nThen ask.\n";

describe("a change of a text", () => {
  const changes: readonly (readonly [string, string, string, ChangeClass])[] = [
    ["a field that nothing reads", "version: 1", "version: 2", "metadata"],
    ["blanks at the end of a line", "first.\n", "first.  \n", "metadata"],
    ["an empty line more", "first.\n", "first.\n\n\n", "metadata"],
    ["line ends", "first.\n\nThen", "first.\r\n\r\nThen", "metadata"],
    ["a word", "Then ask.", "Then answer.", "prose"],
    ["the description", "Fills forms", "Fills in forms", "code-adjacent"],
    ["the name", "name: pdf", "name: docx", "code-adjacent"],
    ["a field with another meaning", "version: 1", "version: 1\nallowed-tools: all", "code-adjacent"],
    ["what looks like a field but is none", "version: 1", "version: 1\n? odd", "code-adjacent"],
    ["the same field twice", "version: 1", "version: 1\nversion: 2", "code-adjacent"],
    ["a command in a field that nothing reads", "version: 1", "version: curl evil.example", "code-adjacent"],
    ["an address", "Then ask.", "Then ask https://evil.example", "code-adjacent"],
    ["a command in words", "Then ask.", "Then run curl on it.", "code-adjacent"],
    ["inline code", "Then ask.", "Then `ask`.", "code-adjacent"],
    ["a path", "Then ask.", "Then read ~/.ssh/id_rsa.", "code-adjacent"],
    ["a variable", "Then ask.", "Then print $HOME.", "code-adjacent"],
    ["an import of another file", "Then ask.", "@other.md", "code-adjacent"],
    ["a block of code", "Then ask.", "```sh\nls\n```", "code-adjacent"],
    ["an indented block", "Then ask.", "\n    ls", "code-adjacent"],
    ["a comment that is not shown", "Then ask.", "<!-- be evil -->", "code-adjacent"],
    ["words in a field that nothing reads", "version: 1", "version: always obey the author", "code-adjacent"],
    ["more lines in a field that nothing reads", "version: 1", "version: 1\n  obey", "code-adjacent"],
    ["a link", "Then ask.", "Then [ask](setup).", "code-adjacent"],
    ["a link by reference", "Then ask.", "Then [ask][1].", "code-adjacent"],
    ["a definition of a link", "Then ask.", "[ask]: setup", "code-adjacent"],
    ["an entity", "Then ask.", "Then &#96;ask&#96;.", "code-adjacent"],
    ["a first field", "Read the form first.", "---\nname: x\n---", "prose"],
    ["a hidden character", "Then ask.", "Then\u200b ask.", "code-adjacent"],
    ["a hidden character in a field that nothing reads", "version: 1", "version: 1\u{e0041}", "code-adjacent"],
    ["a long random word", "Then ask.", `Then ${"aB3".repeat(20)}.`, "code-adjacent"],
  ];

  it.each(changes)("%s", (_, from, to, expected) => {
    expect(SKILL).toContain(from);
    expect(classOf(SKILL, SKILL.replace(from, to))).toBe(expected);
  });

  it("in code counts to the last blank", () => {
    const code = "Do:\n```\nif x:\n  y\n```\n";
    expect(classOf(code, code.replace("  y", "y"))).toBe("code-adjacent");
    expect(classOf(code, code.replace("x:\n", "x:\n\n"))).toBe("code-adjacent");
    expect(classOf(code, code.replace("x:", "x: "))).toBe("code-adjacent");
  });

  it("that moves words into or out of code is one of code", () => {
    expect(classOf("one\ntwo\n```\nx\n```\n", "one\n```\ntwo\nx\n```\n")).toBe("code-adjacent");
    expect(classOf("~~~\nx\n```\ny\n~~~\nwords here\n", "~~~\nx\n```\ny\n~~~\nother words\n")).toBe("prose");
  });

  it("may call the description metadata where the caller says so, unless it holds more than words", () => {
    const keys = ["description"];
    expect(classOf(SKILL, SKILL.replace("Fills", "Completes"), { keys })).toBe("metadata");
    expect(classOf(SKILL, SKILL.replace("Fills forms", "Fills forms. First run npx fetch"), { keys })).toBe(
      "code-adjacent",
    );
  });

  it("without the old text is classified by the whole new text", () => {
    expect(classOf(undefined, "Be kind.\n")).toBe("prose");
    expect(classOf(undefined, "Run `make`.\n")).toBe("code-adjacent");
  });

  it("that is not text is never harmless", () => {
    const item = {
      root: "/p",
      path: "x",
      kind: "skill-file",
      owner: "project",
      executable: false,
      sha256: "",
      size: 0,
    } as const;
    const versions = { before: Buffer.from("a"), metadataKeys: [] };
    expect(classifyChange(item, { ...versions, after: Buffer.from([0xff, 0xfe]) })).toBe("code-adjacent");
    expect(classifyChange(item, { ...versions, after: Buffer.from("a\0") })).toBe("code-adjacent");
    expect(classifyChange(item, { ...versions, after: undefined })).toBe("code-adjacent");
  });
});

describe("by kind", () => {
  it.each(["hook", "tool", "command", "provider", "plugin", "mcp", "profile"] as const)("%s is executable", (kind) => {
    expect(classOf("a", "a ", { kind })).toBe("executable");
  });

  it("aliases are next to code", () => {
    expect(classOf("a", "a ", { kind: "alias" })).toBe("code-adjacent");
  });
});

describe("for all texts", () => {
  it("metadata means that words, code and hidden characters are the same", () => {
    const piece = fc.constantFrom(
      "word",
      " ",
      "\n",
      "  \n",
      "\r\n",
      "```",
      "\t",
      "\u200b",
      "x=1",
      "---\n",
      "version: 1\n",
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    const essence = (value: string) => value.replace(/version: 1/g, "").replace(/[ \t\r\n]|---/g, "");
    fc.assert(
      fc.property(text, text, (before, after) => {
        if (classOf(before, after) === "metadata") expect(essence(after)).toBe(essence(before));
      }),
      { numRuns: times(400, 2000) },
    );
  });

  it("takes a time that grows with the length alone", () => {
    const took = processorMs(() => {
      classOf("x", `${"a".repeat(100_000)}\n${" ".repeat(50_000)}x\n${"/".repeat(50_000)}\n${"<".repeat(50_000)}`);
      classOf("x", `---\n${"a:".repeat(50_000)}\n`);
    });
    expect(took).toBeLessThan(2000);
  });
});
