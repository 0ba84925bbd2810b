/** The commands of a session as data, for clients that ask for them. */

import { usageOf } from "../../commands/usage.js";
import { type Argument, type CommandSpec, worksOn } from "../../feature/command.js";
import type { ArgumentInfo, CommandInfo } from "../../protocol/queries.js";
import { SESSION_SPECS } from "./catalogue.js";

const SLASH = { surface: "slash" } as const;

export function commandInfos(specs: readonly CommandSpec[] = SESSION_SPECS): CommandInfo[] {
  return specs
    .filter((spec) => worksOn(spec, SLASH))
    .map((spec) => ({
      name: spec.name,
      aliases: spec.aliases ?? [],
      usage: usageOf(spec, SLASH),
      summary: spec.summary,
      arguments: (spec.arguments ?? []).map(argumentInfo),
      for_people: !spec.users.includes("agents"),
      by_client: spec.places.includes("in a client"),
      during_turn: spec.places.includes("during a turn"),
    }));
}

function argumentInfo({ name, kind, optional, rest, complete }: Argument): ArgumentInfo {
  const source = typeof complete === "string" ? complete : kind === "path" ? "file" : undefined;
  return {
    name,
    ...(optional !== undefined && { optional: true as const }),
    ...(rest !== undefined && { rest: true as const }),
    ...(typeof complete === "object" && { choices: complete }),
    ...(source !== undefined && { source }),
  };
}
