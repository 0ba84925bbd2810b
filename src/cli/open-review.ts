/** What `oxbow ack` and `oxbow verify-ack` look at: the content of a folder and the approvals. */
import { resolve } from "node:path";
import type { Variables } from "../base/variables.js";
import type { ParsedFlags } from "../commands/flags.js";
import { openApprovals } from "../runtime/content/approvals.js";
import { homeOf } from "../runtime/content/content-options.js";
import { importsOf } from "../runtime/content/instruction-imports.js";
import { placeSettings } from "../runtime/content/place-settings.js";

export async function openReview(flags: ParsedFlags, variables: Variables) {
  const { roots, settings } = await placeSettings(flags, variables, { unapproved: "ignore" });
  const folder = resolve(flags.text("cwd") ?? process.cwd());
  return {
    folder,
    home: homeOf({ roots, settings }, variables),
    lock: openApprovals(folder, { roots, variables }),
    sources: settings.context_sources.value,
    importsOf,
  };
}
