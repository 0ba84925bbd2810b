/** What the flags of `oxbow token` ask for. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { parseDuration } from "../../base/duration.js";
import { UsageError } from "../../base/usage-error.js";
import type { WantedClaims } from "../../control/auth/claims.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { COMMAND_KINDS } from "../../protocol/commands.js";
import { isId, type SessionId } from "../../protocol/ids.js";
import { realpathOrSelf } from "../../system/real-path.js";

export function wantedToken(flags: ParsedFlags): WantedClaims {
  const sessions = flags.list("session");
  const wrong = sessions.find((id) => !isId("sess", id));
  if (wrong !== undefined) throw new UsageError(`--session takes the whole id of a session (sess_…), not "${wrong}".`);
  const folders = flags.list("folder").map((path) => realFolder(path));
  const identity = flags.text("identity") ?? "agent";
  if (identity !== "human" && identity !== "agent")
    throw new UsageError(`--identity takes human or agent, not "${identity}".`);
  const name = flags.text("name");
  return {
    identity_class: identity,
    can_mint: flags.has("can-mint"),
    ...(sessions.length > 0 && { sessions: sessions as readonly SessionId[] }),
    ...(folders.length > 0 && { folders }),
    ...commandsOf(flags.text("commands")),
    ...lifetimeOf(flags.text("expires")),
    ...(name !== undefined && { display_name: name.slice(0, 100) }),
  };
}

/** A link could lead elsewhere later, so the token holds the real path. */
function realFolder(path: string): string {
  const real = realpathOrSelf(resolve(path));
  if (statSync(real, { throwIfNoEntry: false })?.isDirectory()) return real;
  throw new UsageError(`--folder: there is no folder ${path}.`);
}

function commandsOf(text: string | undefined): Pick<WantedClaims, "commands"> {
  if (text === undefined) return {};
  const commands = text.split(",").map((name) => name.trim());
  const unknown = commands.find((name) => !COMMAND_KINDS.some((kind) => kind === name));
  if (unknown !== undefined)
    throw new UsageError(`--commands: there is no command "${unknown}". There are ${COMMAND_KINDS.join(", ")}.`);
  return { commands };
}

function lifetimeOf(text: string | undefined): Pick<WantedClaims, "lifetimeSeconds"> {
  if (text === undefined) return {};
  const seconds = Math.floor((parseDuration(text) ?? 0) / 1000);
  if (seconds < 1) throw new UsageError(`--expires takes a time such as 30m, 24h or 7d, not "${text}".`);
  return { lifetimeSeconds: seconds };
}
