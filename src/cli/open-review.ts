/** Describes what `oxbow ack` and `oxbow verify-ack` look at: the content of a folder and the approvals. */
import { resolve } from "node:path";
import type { Variables } from "../base/variables.js";
import type { ParsedFlags } from "../feature/flags.js";
import { openApprovals } from "../runtime/content/approvals.js";
import { homeOf } from "../runtime/content/content-options.js";
import { hookSources } from "../runtime/content/find-extensions.js";
import { importsOf } from "../runtime/content/instruction-imports.js";
import { placeSettings } from "../runtime/content/place-settings.js";
import { realpathOrSelf } from "../system/real-path.js";

export async function openReview(flags: ParsedFlags, variables: Variables) {
  const loaded = await placeSettings(flags, variables, { unapproved: "ignore" });
  const { roots, settings } = loaded;
  const folder = resolve(flags.text("cwd") ?? process.cwd());
  return {
    folder,
    home: homeOf(loaded, variables),
    lock: openApprovals(folder, { roots, variables }),
    sources: settings.context_sources.value,
    extra: await hookSources({ loaded, variables, root: realpathOrSelf(folder) }),
    importsOf,
  };
}
