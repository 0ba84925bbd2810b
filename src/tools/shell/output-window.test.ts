import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputWindow, WINDOW_BYTES } from "./output-window.js";

describe("OutputWindow", () => {
  it("gives a short output back as it is, whatever the pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 9000 }), { maxLength: 20 }), (pieces) => {
        const window = new OutputWindow();
        for (const piece of pieces) window.write(piece);
        expect(window.whole()?.equals(Buffer.concat(pieces))).toBe(true);
      }),
    );
  });

  it("keeps the first and the newest lines of a long one, whatever the pieces", () => {
    const all = Buffer.from(Array.from({ length: 200_000 }, (_, i) => `line ${i}\n`).join(""));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 700_000 }),
        fc.integer({ min: 100_000, max: all.length }),
        (size, length) => {
          const window = new OutputWindow();
          const output = all.subarray(0, length);
          for (let at = 0; at < length; at += size) window.write(output.subarray(at, at + size));
          expect(window.bytes).toBe(length);
          expect(window.whole() === undefined).toBe(length > WINDOW_BYTES);
          let next = 0;
          const { text, cut } = window.text((line) => {
            next = line;
            return "advice";
          });
          expect(cut).toBe(true);
          const [head = "", tail = ""] = text.split(/\n\[… [\d,]+ bytes left out here; advice …\]\n/);
          const whole = output.toString();
          expect(head.length).toBeGreaterThan(3400);
          expect(tail.length).toBeGreaterThan(5400);
          expect(
            whole
              .split("\n")
              .slice(0, next - 1)
              .join("\n"),
          ).toBe(head);
          expect(whole.startsWith(`${head}\n`)).toBe(true);
          expect(whole.endsWith(`\n${tail}`)).toBe(true);
        },
      ),
      { numRuns: 8 },
    );
  });

  it("counts what it leaves out", () => {
    const window = new OutputWindow();
    window.write(Buffer.from("x".repeat(100_000)));
    const { text } = window.text(() => "advice");
    const shown = text.replace(/\n\[…[^\]]*\]\n/, "").length;
    expect(text).toContain(`[… ${(100_000 - shown).toLocaleString("en-US")} bytes left out here; advice …]`);
  });

  it("never cuts a character in half", () => {
    const window = new OutputWindow();
    window.write(Buffer.from("👋".repeat(200_000)));
    expect(() => encodeURIComponent(window.text(() => "").text)).not.toThrow();
    expect(window.text(() => "").text).not.toContain("\ufffd");
  });

  it("counts lines from the beginning of the whole output, and a line that it cuts as missing", () => {
    const window = new OutputWindow();
    const lineAfter = (text: string) => {
      let next = 0;
      window.write(Buffer.from(text));
      window.text((line) => {
        next = line;
        return "";
      });
      window.clear();
      return next;
    };
    expect(lineAfter(`one\ntwo\n${"x".repeat(50_000)}\nend\n`)).toBe(3);
    expect(lineAfter(`five\n${"y".repeat(50_000)}`)).toBe(6);
  });

  it("starts again after clear", () => {
    const window = new OutputWindow();
    window.write(Buffer.alloc(WINDOW_BYTES * 2, "a"));
    window.clear();
    window.write(Buffer.from("b"));
    expect(window.text(() => "")).toMatchObject({ text: "b", cut: false });
  });
});
