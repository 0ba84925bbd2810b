/** Who changed which memory, and when: one JSON line for each change, without the text. The oldest lines go when the file gets long. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { readRegularText } from "../../system/regular-file.js";

export interface AuditRecord {
  readonly at: string;
  readonly action: "save" | "update" | "forget";
  readonly name: string;
  readonly by: "user" | "model";
  readonly session?: string | undefined;
}

const FILE = ".audit.jsonl";
const MOST_BYTES = 256 * 1024;

/** The caller holds the lock of the folder. */
export async function appendAudit(folder: string, record: AuditRecord): Promise<void> {
  const path = join(folder, FILE);
  const text = await readRegularText(path).catch(() => "");
  if (text.length > MOST_BYTES) {
    const lines = text.split("\n");
    await writeFileAtomic(path, lines.slice(Math.floor(lines.length / 2)).join("\n"), { mode: 0o600 });
  }
  // A process that died may have left half a line.
  const start = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendFile(path, `${start}${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** The newest first. A damaged line is left out. */
export async function readAudit(folder: string): Promise<readonly AuditRecord[]> {
  const text = await readRegularText(join(folder, FILE)).catch(() => "");
  const records = text.split("\n").flatMap((line): AuditRecord[] => {
    try {
      return line === "" ? [] : [JSON.parse(line) as AuditRecord];
    } catch {
      return [];
    }
  });
  return records.reverse();
}
