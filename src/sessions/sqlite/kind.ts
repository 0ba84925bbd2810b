import { join } from "node:path";
import type { StoreKind } from "../stores.js";

/** The default: one encrypted database of the user. */
export const sqlite: StoreKind = {
  inside: "",
  sign: "sessions.db",
  takesFolder: false,
  isOwn: true,
  where: (folder) => `in the database in ${folder}`,
  saved: (folder) => `sessions are saved, encrypted, in ${folder}.`,
  withoutKey: "Without this key your sessions cannot be read.",
  open: async ({ folder, key, clock, isForReading, onUpgrade }) => {
    const [{ openSqliteStore }, bytes] = await Promise.all([import("./sqlite-store.js"), key()]);
    return openSqliteStore({ path: join(folder, "sessions.db"), key: bytes, clock, isForReading, onUpgrade });
  },
};
