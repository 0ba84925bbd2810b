import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import { SecretFilter } from "./secret-filter.js";

const secret = ["sk", "abcabcabd", "0123"].join("-");
const stars = "*".repeat(secret.length);

function filterOf() {
  const clock = new ManualClock();
  const sent: string[] = [];
  const filter = new SecretFilter([secret], { clock, send: (piece) => sent.push(piece.toString()) });
  return { clock, sent, filter };
}

describe("a secret in what a provider sends", () => {
  verifies(["M12"], "is starred out, wherever the network cuts it", () => {
    const text = `{"error":"wrong key ${secret}, really ${secret}"}s`;
    for (let cut = 0; cut <= text.length; cut++) {
      for (const second of [cut + 1, cut + 5]) {
        const { filter, sent } = filterOf();
        for (const piece of [text.slice(0, cut), text.slice(cut, second), text.slice(second)]) {
          if (piece !== "") filter.push(Buffer.from(piece));
        }
        filter.flush();
        expect(sent.join("")).toBe(text.replaceAll(secret, stars));
      }
    }
  });

  it("leaves everything else as it is, at once", () => {
    const { filter, sent } = filterOf();
    filter.push(Buffer.from("data: one\n\n"));
    expect(sent).toEqual(["data: one\n\n"]);
  });

  it("does not hold back forever text that only begins like it", () => {
    const { filter, sent, clock } = filterOf();
    filter.push(Buffer.from("it ends with sk-abc"));
    expect(sent).toEqual(["it ends with "]);
    clock.advance(1000);
    expect(sent).toEqual(["it ends with ", "sk-abc"]);
    expect(clock.pending).toBe(0);
  });
});
