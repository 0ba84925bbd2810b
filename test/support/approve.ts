/** Approves the content of a folder, as a user at a terminal would. */
import { join } from "node:path";
import { importsOf } from "../../src/runtime/content/instruction-imports.js";
import { ackCommand } from "../../src/security/trust/ack-command.js";
import { ApprovedLock } from "../../src/security/trust/approved-lock.js";

export async function approve(
  folder: string,
  { home, paths = [] }: { readonly home: string; readonly paths?: readonly string[] },
): Promise<void> {
  const config = join(home, "config");
  await ackCommand({
    folder,
    home: { config },
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
