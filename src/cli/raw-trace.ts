/** `debug --raw`: the raw model traffic, in a file that only its owner can read. Keys never reach the trace. */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../protocol/json.js";
import type { Roots } from "../system/xdg-paths.js";

export interface RawTrace {
  readonly file: string;
  readonly write: (record: JsonObject) => void;
}

export function openRawTrace(roots: Roots): RawTrace {
  const folder = join(roots.state, "debug");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `raw-${new Date().toISOString().replaceAll(/[:.]/g, "-")}-${process.pid}.jsonl`);
  return {
    file,
    write: (record) =>
      appendFileSync(file, `${JSON.stringify({ ts: new Date().toISOString(), ...record })}\n`, { mode: 0o600 }),
  };
}
