import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { MOST_VALUES } from "../control/transports/http/read-body.js";
import { checked } from "./protocol-streams.js";

const MOST = 1_000_000;
const PIECE = 64 * 1024;

/** As a pipe brings them, with what the program got, what it refused, and how often others had their turn. */
async function piped(text: string) {
  const bytes = Buffer.from(text);
  const arriving = async function* () {
    for (let from = 0; from < bytes.length; from += PIECE) yield bytes.subarray(from, from + PIECE);
  };
  const refused: string[] = [];
  const got: string[] = [];
  let turns = 0;
  let isOver = false;
  const other = () => {
    turns++;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  const refuse = (message: string) => refused.push(message);
  for await (const line of checked(arriving(), { mostMessageBytes: MOST, refuse })) got.push(String(line));
  isOver = true;
  return { got, refused, turns };
}

describe("the messages of a piped protocol", () => {
  it("arrive whole, each as one piece, without blank lines", async () => {
    const long = `{"text":"${"word ".repeat(100_000)}"}`;
    const { got, refused } = await piped(`{"a":1}\n\n\r\n${long}\n{"b":2}`);
    expect(got).toEqual(['{"a":1}\n', `${long}\n`, '{"b":2}\n']);
    expect(refused).toEqual([]);
  });

  verifies(["C5", "C7"], "are refused before a library reads what would take it long", async () => {
    for (const [text, reason] of [
      [`[${"{},".repeat(MOST_VALUES)}{}]`, "values"],
      ["[".repeat(MOST - 1), "levels"],
      [`{"a":${"[".repeat(200)}${"]".repeat(200)}}`, "levels"],
      [`{"a":"${"x".repeat(3 * MOST)}"}`, "bytes"],
      ["x".repeat(3 * MOST), "bytes"],
    ] as const) {
      const { got, refused } = await piped(`{"before":1}\n${text}\n{"after":1}\n`);
      expect(got, text.slice(0, 30)).toEqual(['{"before":1}\n', '{"after":1}\n']);
      expect(refused, text.slice(0, 30)).toEqual([expect.stringContaining(reason)]);
    }
  });

  verifies(["C7"], "give others their turn, however many come at once", async () => {
    for (const [unit, count] of [
      ["\n", 1_000_000],
      ['{"a":1}\n', 50_000],
    ] as const) {
      const { turns } = await piped(unit.repeat(count));
      expect(turns, JSON.stringify(unit)).toBeGreaterThanOrEqual(count / 200);
    }
  });
});
