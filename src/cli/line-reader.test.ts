import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.js";
import { LineReader } from "./line-reader.js";

const isTerminal = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
afterEach(() => {
  if (isTerminal === undefined) Reflect.deleteProperty(process.stderr, "isTTY");
  else Object.defineProperty(process.stderr, "isTTY", isTerminal);
});

/** Counts how many listeners the process, its terminal and its input have, for every event. */
function listeners(): readonly string[] {
  return [process, process.stdin, process.stdout, process.stderr].flatMap((emitter, index) =>
    emitter.eventNames().map((event) => `${index} ${String(event)} ${emitter.listenerCount(event)}`),
  );
}

describe("a reader of lines", () => {
  it.each(["signal", "here"] as const)("leaves no listener behind (%s)", (interrupt) => {
    Object.defineProperty(process.stderr, "isTTY", { value: true, configurable: true });
    // The first one makes the input report keys, for good.
    new LineReader(systemClock, { interrupt }).close();
    const before = listeners();
    for (let count = 0; count < 20; count++) new LineReader(systemClock, { interrupt }).close();
    expect(listeners()).toEqual(before);
  });
});
