/**
 * What a client may do, if not everything: the sessions and the commands of its token.
 *
 * 1. Following a session and asking about it needs only the session: `commands` limits what changes something.
 * 2. A session that is out of scope and one that does not exist are refused alike, so nothing about other sessions leaks.
 * 3. A client that is limited to sessions cannot open new ones.
 */
import type { CommandKind } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import { isJsonObject } from "../protocol/json.js";

export interface ClientScope {
  /** Absent: all. */
  readonly sessions?: readonly SessionId[];
  /** Absent: all. */
  readonly commands?: readonly CommandKind[];
}

const READING: ReadonlySet<CommandKind> = new Set(["AttachSession", "DetachSession"]);

/** Why the scope does not include the command; undefined if it does. The command has passed the door. */
export function outOfScope(
  scope: ClientScope | undefined,
  command: { readonly kind: CommandKind; readonly payload: unknown; readonly session?: SessionId | undefined },
): Failure | undefined {
  if (scope === undefined) return undefined;
  const { kind, payload, session } = command;
  if (scope.commands !== undefined && !READING.has(kind) && !scope.commands.includes(kind)) {
    return failure("Forbidden", { detail: `${kind} is not among its commands.` });
  }
  if (scope.sessions === undefined) return undefined;
  if (kind !== "CreateSession") return outOfSessions(scope, session);
  const { resume, after } = isJsonObject(payload) ? payload : {};
  if (resume === undefined || after !== undefined) {
    return failure("Forbidden", { detail: "it is for certain sessions and cannot open another one." });
  }
  return outOfSessions(scope, resume as SessionId);
}

/** A session that is not named is checked later. */
export function outOfSessions(scope: ClientScope | undefined, session: SessionId | undefined): Failure | undefined {
  if (scope?.sessions === undefined || session === undefined || scope.sessions.includes(session)) return undefined;
  return failure("Forbidden", { detail: `the session ${session} is not among its sessions.` });
}

export function inScope(scope: ClientScope | undefined, session: SessionId): boolean {
  return scope?.sessions === undefined || scope.sessions.includes(session);
}
