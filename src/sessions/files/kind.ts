import type { StoreKind } from "../stores.js";

/** A folder of Markdown for each session. */
export const files: StoreKind = {
  inside: "sessions",
  sign: "",
  takesFolder: true,
  isOwn: false,
  where: (folder) => `as files in ${folder}`,
  saved: (folder) => `sessions are saved in ${folder} as files that are not encrypted. The copies for /undo are.`,
  withoutKey: "Without this key /undo of earlier sessions does not work.",
  open: async ({ folder, key, clock }) => {
    const [{ openFilesStore }, bytes] = await Promise.all([import("./files-store.js"), key()]);
    return openFilesStore({ folder, key: bytes, clock });
  },
};
