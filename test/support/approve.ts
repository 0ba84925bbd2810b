/** Approves the content of a folder, as a user at a terminal would. */
import { join } from "node:path";
import { importsOf } from "../../src/runtime/content/instruction-imports.js";
import { ackCommand } from "../../src/security/trust/ack-command.js";
import { ApprovedLock } from "../../src/security/trust/approved-lock.js";

interface Approving {
  readonly home: string;
  readonly paths?: readonly string[];
  /** Files that the profile names as plugins. */
  readonly code?: readonly string[];
}

export async function approve(folder: string, { home, paths = [], code = [] }: Approving): Promise<void> {
  const config = join(home, "config");
  await ackCommand({
    folder,
    home: { config, code },
    lock: new ApprovedLock({ file: join(config, "approved.lock"), contents: join(home, "data", "approved") }),
    by: { identity: "human", name: "test" },
    now: () => new Date(),
    width: 100,
    color: false,
    paths,
    importsOf,
    conversation: { show: () => {}, ask: async () => "y" },
  });
}
