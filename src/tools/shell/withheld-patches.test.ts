import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { withoutSecrets } from "./withheld-patches.js";

const patch = (path: string, line: string, head = `diff --git a/${path} b/${path}`) =>
  `${head}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+${line}`;

describe("the output of git", () => {
  verifies(["P9"], "has no patches of files that hold secrets", () => {
    const log = [
      "commit abcdef1234",
      "    message",
      "",
      patch(".env", "SECRET"),
      patch("src/a.ts", "kept"),
      "commit 1234567",
      "",
    ];
    const shown = withoutSecrets(log.join("\n"));
    expect(shown).not.toContain("SECRET");
    expect(shown).toContain("+kept");
    expect(shown).toContain("[the changes of .env are left out: environment files hold secrets]");
    const variants = [
      patch("conf/.env.local", "SECRET"),
      patch("x", "SECRET", "diff --git a/x b/.env"),
      patch("x", "SECRET", "diff --git .env .env"),
      patch("x", "SECRET", 'diff --git "a/\\303\\244/.env" "b/\\303\\244/.env"'),
      patch("x", "SECRET", "diff --cc certs/server.pem"),
      patch("x", "SECRET", "| * diff --git a/.env b/.env"),
      patch("x", "SECRET", "diff --git a/my dir/.env b/my dir/.env"),
      patch("x", "SECRET\ncommit", "diff --git i/.env w/.env"),
    ];
    for (const text of variants)
      expect([text, withoutSecrets(text)]).toEqual([text, expect.not.stringContaining("SECRET")]);
  });

  it("stays as it is without them", () => {
    const text = `${patch("src/a.ts", "x")}\n${patch(".env.example", "y")}\n 2 files changed`;
    expect(withoutSecrets(text)).toBe(text);
  });
});
