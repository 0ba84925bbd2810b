/** The commands of a session as data, for clients that ask for them. */
import { SESSION_SPECS } from "../../commands/catalogue/index.js";
import { usageOf } from "../../commands/usage.js";
import type { CommandInfo } from "../../protocol/queries.js";

export function commandInfos(): CommandInfo[] {
  return SESSION_SPECS.map((spec) => ({
    name: spec.name,
    usage: usageOf(spec, { surface: "slash" }),
    summary: spec.summary,
    for_people: !spec.users.includes("agents"),
  }));
}
