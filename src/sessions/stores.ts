/**
 * The kinds of session stores. A new one is its folder, with a class that extends `LogStore` (log-store.ts) and a `kind.ts`, and a
 * name here.
 */
import type { Clock } from "../base/clock.js";
import { files } from "./files/kind.js";
import { sqlite } from "./sqlite/kind.js";
import type { SessionStore } from "./store.js";

export interface StoreRequest {
  readonly folder: string;
  readonly key: () => Promise<Uint8Array>;
  readonly clock: Clock;
  /** Sessions stay readable on a full or read-only disk. */
  readonly isForReading: boolean;
  /** Called before an earlier version is changed, which holds the process up. */
  readonly onUpgrade: () => Promise<void>;
}

export interface StoreKind {
  /** The place where it lies in the folder of Oxbow's data. */
  readonly inside: string;
  /** Holds what is there as soon as the store exists, in its folder. */
  readonly sign: string;
  /** `NAME:DIR` names another folder. */
  readonly takesFolder: boolean;
  /** It has the user's sessions of all folders, and only Oxbow writes to it. */
  readonly isOwn: boolean;
  /** "Sessions of … belong …" */
  readonly where: (folder: string) => string;
  readonly saved: (folder: string) => string;
  /** Holds what is lost with the key. */
  readonly withoutKey: string;
  open(request: StoreRequest): Promise<SessionStore>;
}

export const STORES = { sqlite, files } satisfies Readonly<Record<string, StoreKind>>;

export type StoreName = keyof typeof STORES;

const NAMES = Object.keys(STORES) as readonly StoreName[];

/** Lists what people may choose, and other words. */
export function storeWords(...others: readonly string[]): string {
  const kinds = NAMES.flatMap((name) => (STORES[name].takesFolder ? [name, `${name}:DIR`] : [name]));
  return [...kinds, ...others].join(", ").replace(/, ([^,]*)$/, " or $1");
}

/** `files` or `files:DIR`; undefined for what is none of the kinds. */
export function parseStore(text: string): { readonly name: StoreName; readonly folder?: string } | undefined {
  const [given = "", ...rest] = text.split(":");
  const name = NAMES.find((each) => each === given);
  if (name === undefined) return undefined;
  if (rest.length === 0) return { name };
  const folder = rest.join(":");
  return STORES[name].takesFolder && folder !== "" ? { name, folder } : undefined;
}
