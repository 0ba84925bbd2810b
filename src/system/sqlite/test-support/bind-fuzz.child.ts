/** Passes arbitrary values to the wrapper; it may throw, but never end the process. Arguments: path, seed, number of runs. */
import { writeSync } from "node:fs";
import fc from "fast-check";
import type { Bindable } from "../bindable.js";
import { Database } from "../database.js";

const [path = "", seed = "1", runs = "100"] = process.argv.slice(2);
const database = await Database.open({ path, key: new Uint8Array(32).fill(1) });
database.script("CREATE TABLE t (a ANY, b ANY) STRICT");

const oddities = fc.constantFrom<unknown>(
  new Date(0),
  /x/,
  new Map(),
  Symbol("s"),
  () => 1,
  new Proxy(new Uint8Array(3), {}),
  new Uint8Array(new SharedArrayBuffer(4)),
  new DataView(new ArrayBuffer(4)),
  new Float64Array(3),
  new ArrayBuffer(3),
  Object.create(Uint8Array.prototype),
  new String("boxed"),
  { a: 1 },
  [],
  undefined,
  new Promise(() => {}),
  Object.create(null),
);
const text = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
const plain = fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.uint8Array({ maxLength: 64 }));
const anything = fc.oneof(plain, oddities, fc.double(), fc.bigInt(), fc.anything());
const wellFormed = (value: string) => Buffer.from(value).toString();

/** Tells what a stored value reads as, as text or as an integer. */
function expectedOf(value: unknown): string | number | undefined {
  if (value === null) return undefined;
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "number") return value === 0 ? 0 : value;
  return typeof value === "string" ? wellFormed(value) : Buffer.from(value as Uint8Array).toString("latin1");
}

function readBack(value: unknown): string | number | undefined {
  const type = typeof value === "string" ? "text?" : value instanceof Uint8Array ? "bytes?" : "integer?";
  const read = database.first({ b: type }, "FROM t")?.b;
  return Buffer.isBuffer(read) ? read.toString("latin1") : read;
}

fc.assert(
  fc.property(fc.array(anything, { maxLength: 4 }), (values) => {
    try {
      database.run("INSERT INTO t (a, b) VALUES (?, ?)", values as Bindable[]);
      database.select({ a: "bytes?", b: "integer?" }, "FROM t WHERE a = ? OR b = ?", values as Bindable[]);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    try {
      database.first({ b: "text?" }, "FROM t WHERE b = ?", values as Bindable[]);
    } catch (error) {
      // Bytes that are not text are refused as damaged.
      if (!(error instanceof Error)) throw error;
    }
  }),
  { seed: Number(seed), numRuns: Number(runs) },
);

fc.assert(
  fc.property(plain, (value) => {
    database.run("DELETE FROM t");
    database.run("INSERT INTO t (a, b) VALUES (?, ?)", [1, value]);
    const [read, expected] = [readBack(value), expectedOf(value)];
    if (read !== expected) throw new Error(`${String(expected)} came back as ${String(read)}`);
  }),
  { seed: Number(seed), numRuns: Number(runs) },
);
database.close();
writeSync(1, "done");
