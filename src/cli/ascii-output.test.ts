import { PassThrough } from "node:stream";
import { expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { writeAscii } from "./ascii-output.js";

verifies(["U2"], "what a program says is ASCII in a terminal of ASCII, and as it is in a pipe", () => {
  const outputs = [true, false].map((isTTY) => Object.assign(new PassThrough(), { isTTY }));
  writeAscii(outputs as unknown as NodeJS.WriteStream[]);
  for (const output of outputs) output.write("✓ café\n");
  expect(outputs.map((output) => String(output.read()))).toEqual(["+ cafe\n", "✓ café\n"]);
});
