import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { typeSecret } from "./secret-prompt.js";

describe("the question for a secret", () => {
  verifies(["M15"], "is cancelled by Esc, Ctrl-C and an empty Ctrl-D, and by no arrow key or paste", () => {
    for (const key of ["\x1b", "\x03"]) expect(typeSecret("half", key)).toBeUndefined();
    expect(typeSecret("", "\x04")).toBeUndefined();
    expect(typeSecret("half", "\x04")).toBe("half\x04");
    expect(typeSecret("half", "\x1b[D")).toBe("half");
    expect(typeSecret("", "\x1b[200~one\x1b[201~")).toBe("one");
    expect(typeSecret("ab", "\x7fc\x15d\r")).toBe("d\n");
  });
});
