/**
 * Describes how columns are read: through CAST, as an integer or as bytes that are decoded here (database.ts, 2), one row at a time or many
 * packed into one.
 */
import { StoreError } from "../../base/store-error.js";

interface Readable {
  integer: number;
  "integer?": number | undefined;
  text: string;
  "text?": string | undefined;
  bytes: Buffer;
  "bytes?": Buffer | undefined;
}
export type ColumnType = keyof Readable;
/** Column names and how to read them; with an expression if it is not a plain column. */
export type Columns = Readonly<Record<string, ColumnType | readonly [ColumnType, string]>>;
export type Row<C extends Columns> = {
  [K in keyof C]: C[K] extends ColumnType
    ? Readable[C[K]]
    : C[K] extends readonly [infer T extends ColumnType, string]
      ? Readable[T]
      : never;
};

export function castAll(columns: Columns, alias: (i: number) => string = () => ""): string {
  return Object.entries(columns)
    .map(([name, column], i) => {
      const [type, expression] = typeof column === "string" ? [column, name] : column;
      return `CAST(${expression} AS ${type.startsWith("integer") ? "INTEGER" : "BLOB"})${alias(i)}`;
    })
    .join(", ");
}

export function readRow<C extends Columns>(columns: C, row: readonly unknown[], noun: string): Row<C> {
  const entries = namesAndTypes(columns).map(([name, type], i) => [name, readValue(type, row[i], noun)]);
  return Object.fromEntries(entries) as Row<C>;
}

function namesAndTypes(columns: Columns): (readonly [string, ColumnType])[] {
  return Object.entries(columns).map(([name, column]) => [name, typeof column === "string" ? column : column[0]]);
}

/** A row of integers: the integer columns and the lengths of the byte columns (null if absent). Beside it, all the bytes. */
export function packed(columns: Columns, rest: string): string {
  const all = namesAndTypes(columns);
  const aliased = castAll(columns, (i) => ` AS c${i}`);
  const isBytes = ([, type]: readonly [string, ColumnType]) => !type.startsWith("integer");
  const integers = all.map((column, i) => `coalesce(${isBytes(column) ? `octet_length(c${i})` : `c${i}`}, 'null')`);
  const bytes = all.flatMap((column, i) => (isBytes(column) ? [`coalesce(c${i}, x'')`] : []));
  return `SELECT CAST(group_concat('[' || ${integers.join(" || ',' || ")} || ']') AS BLOB),
    CAST(group_concat(${bytes.join(" || ") || "''"}, '') AS BLOB) FROM (SELECT ${aliased} ${rest})`;
}

export function unpack<C extends Columns>(columns: C, [integers, bytes]: readonly unknown[], noun: string): Row<C>[] {
  if (!Buffer.isBuffer(integers) || !Buffer.isBuffer(bytes)) return [];
  const all = namesAndTypes(columns).map(([name, type]) => ({ name, type, isInteger: type.startsWith("integer") }));
  let end = 0;
  return (JSON.parse(`[${integers.toString("latin1")}]`) as (number | null)[][]).map((packedRow) => {
    const row: Record<string, unknown> = {};
    let i = 0;
    for (const { name, type, isInteger } of all) {
      const value = packedRow[i++];
      if (isInteger || typeof value !== "number") row[name] = readValue(type, value, noun);
      else {
        const start = end;
        end += value;
        row[name] = readValue(type, bytes.subarray(start, end), noun);
      }
    }
    return row as Row<C>;
  });
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readValue(type: ColumnType, value: unknown, noun: string): Readable[ColumnType] {
  if (value === null || value === undefined) {
    if (type.endsWith("?")) return undefined;
    throw damaged("a value is missing", noun);
  }
  if (type === "integer" || type === "integer?") {
    if (Number.isSafeInteger(value)) return value as number;
    throw damaged("a number is out of range", noun);
  }
  if (!Buffer.isBuffer(value)) throw damaged("a value is not bytes", noun);
  if (type === "bytes" || type === "bytes?") return value;
  try {
    return strictUtf8.decode(value);
  } catch {
    throw damaged("a text is not UTF-8", noun);
  }
}

function damaged(what: string, noun: string): StoreError {
  return new StoreError("damaged", `The ${noun} is damaged: ${what}.`);
}
