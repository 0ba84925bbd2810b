/** The nearest `.oxbow/sessions/` upward: a project that keeps its sessions beside its files (feature S7). */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

export async function findProjectSessions(folder: string): Promise<string | undefined> {
  const place = join(folder, ".oxbow", "sessions");
  const isThere = await stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isThere) return place;
  const parent = dirname(folder);
  return parent === folder ? undefined : findProjectSessions(parent);
}
