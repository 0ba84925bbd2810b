import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { describeStore } from "../../testkit/conformance/store.js";
import { openFilesStore } from "./files-store.js";

for (const [name, key] of [
  ["files", new Uint8Array(32).fill(7)],
  ["files without a key", undefined],
] as const) {
  describeStore(
    name,
    async () => {
      const place = await mkdtemp(join(tmpdir(), "oxbow-files-"));
      return {
        open: () => openFilesStore({ folder: join(place, "sessions"), ...(key && { key }) }),
        discard: () => rm(place, { recursive: true }),
      };
    },
    { describe, it },
  );
}
