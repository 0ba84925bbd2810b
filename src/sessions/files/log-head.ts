/**
 * `events.head`: how long a session's log is at least.
 *
 * 1. The head names an event that is known to be on the disk. It may lag behind the log, after a crash and between two
 *    appends with `sync`; a log that is shorter than its head has been cut.
 * 2. It is overwritten in place, always with the same number of bytes: one small write that nothing waits for.
 */
import { open, readFile } from "node:fs/promises";
import type { Chain } from "./chain.js";
import { guarded, ifThere } from "./file-errors.js";

export interface Head {
  readonly event: number;
  readonly link: string;
  readonly seal: string;
}

export function renderHead(event: number, link: string, chain: Chain): string {
  return `${JSON.stringify({ event: String(event).padStart(16, "0"), link, seal: chain.seal(event, link) })}\n`;
}

export async function writeHead(
  path: string,
  { id, link }: { readonly id: number; readonly link: string },
  chain: Chain,
): Promise<void> {
  await guarded(path, async () => {
    const handle = await open(path, "r+");
    try {
      await handle.write(renderHead(id, link, chain), 0);
    } finally {
      await handle.close();
    }
  });
}

/** Undefined when it is not there or not a head. */
export async function readHead(path: string): Promise<Head | undefined> {
  const text = await guarded(path, () => ifThere(() => readFile(path, "utf8")));
  try {
    const { event, link, seal } = JSON.parse(text ?? "") as Record<string, unknown>;
    if (typeof event !== "string" || typeof link !== "string" || typeof seal !== "string") return undefined;
    return /^\d{16}$/.test(event) ? { event: Number(event), link, seal } : undefined;
  } catch {
    return undefined;
  }
}
