import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { Outbox, TOO_SLOW, WRITE_FAILED } from "./outbox.js";

describe("an outbox", () => {
  verifies(["C3"], "gives everything in order to a connection that is full now and then", () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        (full, drains) => {
          const written: string[] = [];
          let calls = 0;
          const write = (text: string) => {
            written.push(text);
            return full[calls++] !== true;
          };
          const outbox = new Outbox({ limitBytes: 10_000, write, cut: () => expect.unreachable() });
          for (let i = 0; i < 60; i++) {
            outbox.send(`${i}`);
            if (drains[i]) outbox.drained();
          }
          for (let i = 0; i < 60 && outbox.waitingBytes > 0; i++) outbox.drained();
          expect(written).toEqual(Array.from({ length: 60 }, (_, i) => `${i}`));
        },
      ),
    );
  });

  verifies(["C3"], "cuts a reader that stops, once, and holds no more than the limit", () => {
    const cuts: string[] = [];
    const outbox = new Outbox({ limitBytes: 10, write: () => false, cut: (reason) => cuts.push(reason) });
    outbox.send("taken");
    outbox.send("ééé");
    expect(outbox.waitingBytes).toBe(6);
    for (let i = 0; i < 9; i++) outbox.send("xxxxx");
    outbox.drained();
    expect(cuts).toEqual([TOO_SLOW]);
    expect(outbox).toMatchObject({ waitingBytes: 0, closed: true });
  });

  it("never throws", () => {
    const cuts: string[] = [];
    const fail = () => {
      throw new Error("gone");
    };
    const outbox = new Outbox({
      limitBytes: 10,
      write: fail,
      cut: (reason) => {
        cuts.push(reason);
        fail();
      },
    });
    outbox.send("a");
    outbox.send("b");
    expect(cuts).toEqual([WRITE_FAILED]);
  });
});
