/** The commands of a session as data, for clients that ask for them. */
import { SESSION_SPECS } from "../../commands/catalogue/index.js";
import type { Argument } from "../../commands/command.js";
import { usageOf } from "../../commands/usage.js";
import type { ArgumentInfo, CommandInfo } from "../../protocol/queries.js";

export function commandInfos(): CommandInfo[] {
  return SESSION_SPECS.map((spec) => ({
    name: spec.name,
    ...(spec.aliases && { aliases: spec.aliases }),
    ...(spec.arguments && { arguments: spec.arguments.map(argumentInfo) }),
    usage: usageOf(spec, { surface: "slash" }),
    summary: spec.summary,
    for_people: !spec.users.includes("agents"),
  }));
}

function argumentInfo({ name, kind, optional, rest, complete }: Argument): ArgumentInfo {
  const source = typeof complete === "string" ? complete : kind === "path" ? "file" : undefined;
  return {
    name,
    ...(optional && { optional }),
    ...(rest === "list" && { rest: true as const }),
    ...(source !== undefined && { complete: source }),
    ...(typeof complete === "object" && { choices: complete }),
  };
}
