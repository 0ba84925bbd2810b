/**
 * Describes what a client may do, if not everything: the sessions, folders and commands of its token.
 *
 * 1. A token that is limited in any way acts for its holder, not for the user who runs the engine: it reaches its sessions, with what their
 *    rules and sandbox allow. `COMMAND_REACH` and `QUERY_REACH` say it for every command and query, `reaches` for every slash command.
 * 2. Following a session and asking about it needs only the session: `commands` limits what changes something.
 * 3. A session that is out of scope and one that does not exist are refused alike, so nothing about other sessions leaks.
 * 4. A client that is limited to sessions cannot open new ones.
 */
import type { CommandKind } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../protocol/json.js";
import type { QueryKind } from "../protocol/queries.js";
import { realpathOrSelf } from "../system/real-path.js";
import { isWithin } from "../system/within.js";

export interface ClientScope {
  /** Absent: all. */
  readonly sessions?: readonly SessionId[];
  /** The folders whose sessions it reaches, with those below them; `default`: the folder that the engine was started in. Absent: all. */
  readonly folders?: readonly string[] | "default";
  /** Absent: all. */
  readonly commands?: readonly CommandKind[];
}

/** Tells whether the client may do less than the user who runs the engine. */
export function isLimited(scope: ClientScope | undefined): boolean {
  return scope?.sessions !== undefined || scope?.folders !== undefined || scope?.commands !== undefined;
}

/**
 * `session`: it reaches its session, with the rights of that session. `payload`: what it says decides; `beyondPayload`, the host or the
 * slash command checks it. `user`: it acts with the rights of the user, so a limited client may not send it.
 */
export type CommandReach = "session" | "payload" | "user";

export const COMMAND_REACH: Readonly<Record<CommandKind, CommandReach>> = {
  SendInput: "session",
  TakeBackInput: "session",
  CancelTurn: "session",
  // The host compares the answer with the question: `contained`.
  AnswerPermission: "payload",
  CreateSession: "payload",
  AttachSession: "session",
  DetachSession: "session",
  EndSession: "session",
  SetModel: "session",
  SetMode: "payload",
  EnterPlanMode: "session",
  ExitPlanMode: "payload",
  // It decides for all sessions of the folder, and hooks run with the rights of the user.
  ApproveContent: "user",
  // Each slash command has its own `reaches`.
  CustomCommand: "payload",
};

/**
 * `session`: it needs one. `filtered`: the answer shows only what is in scope. `place`: with a session it is about the place of that
 * session, otherwise about the folder of the engine, which a limited client may not look into.
 */
export type QueryReach = "session" | "filtered" | "place";

export const QUERY_REACH: Readonly<Record<QueryKind, QueryReach>> = {
  ListSessions: "filtered",
  ListClients: "filtered",
  GetHealth: "filtered",
  ListCommands: "filtered",
  ListModels: "place",
  ListProfiles: "place",
  ListProviders: "place",
  ListSkills: "place",
  GetSkill: "place",
  ListSettings: "filtered",
  ListMcpServers: "filtered",
  ListTools: "filtered",
  GetPermissions: "session",
  ListQuestions: "session",
  GetStatus: "session",
  FindFiles: "session",
  ListEvents: "session",
  ListTurns: "session",
  GetChanges: "session",
  CompareSessions: "session",
  GetCosts: "filtered",
  ListMcpTraffic: "session",
  ListExtensions: "session",
  ListWaitingContent: "session",
};

const READING: ReadonlySet<CommandKind> = new Set(["AttachSession", "DetachSession"]);

/** Lists what a limited client may say about a session that it opens. The rest chooses other permissions, or programs that run. */
const OPENING_FIELDS: ReadonlySet<string> = new Set(["resume", "model", "orphans", "cwd", "after", "carry"]);

/** Tells whether the scope includes sending commands of this kind. */
export function maySend(scope: ClientScope | undefined, kind: CommandKind): boolean {
  return scope?.commands === undefined || READING.has(kind) || scope.commands.includes(kind);
}

/** Tells why the scope does not include the command; undefined if it does. The command has passed the door. */
export function outOfScope(
  scope: ClientScope | undefined,
  command: { readonly kind: CommandKind; readonly payload: unknown; readonly session?: SessionId | undefined },
): Failure | undefined {
  if (scope === undefined || !isLimited(scope)) return undefined;
  const { kind, payload, session } = command;
  if (!maySend(scope, kind)) return forbidden(`${kind} is not among its commands.`);
  const reach = COMMAND_REACH[kind];
  if (reach === "user") return forbidden(`${kind} needs a token without limits.`);
  const beyond = reach === "payload" ? beyondPayload(scope, kind, isJsonObject(payload) ? payload : {}) : undefined;
  if (beyond !== undefined) return forbidden(beyond);
  const opened = isJsonObject(payload) ? (payload.resume as SessionId | undefined) : undefined;
  return outOfSessions(scope, kind === "CreateSession" ? opened : session);
}

function beyondPayload(scope: ClientScope, kind: CommandKind, payload: JsonObject): string | undefined {
  if (payload.mode === "allow") return "the mode allow needs a token without limits.";
  if (kind !== "CreateSession") return undefined;
  const field = Object.keys(payload).find((name) => payload[name] !== undefined && !OPENING_FIELDS.has(name));
  if (field !== undefined) return `"${field.slice(0, 60)}" needs a token without limits.`;
  if (scope.sessions === undefined) return undefined;
  const { resume, after, cwd, carry } = payload;
  if (resume === undefined || after !== undefined || cwd !== undefined || carry !== undefined) {
    return "it is for certain sessions and cannot open another one.";
  }
  return undefined;
}

/** A session that is not named is checked later. */
export function outOfSessions(scope: ClientScope | undefined, session: SessionId | undefined): Failure | undefined {
  if (scope?.sessions === undefined || session === undefined || scope.sessions.includes(session)) return undefined;
  return notAmong(session);
}

export interface SessionPlace {
  readonly session: SessionId;
  /** Its folder, without symbolic links; undefined if it is unknown. */
  readonly cwd: string | undefined;
  /** The folder that the engine was started in. */
  readonly engineFolder: string | undefined;
}

/** Tells whether the scope includes a session that works in this folder. */
export function covers(scope: ClientScope | undefined, { session, cwd, engineFolder }: SessionPlace): boolean {
  if (scope?.sessions !== undefined && !scope.sessions.includes(session)) return false;
  return scope?.folders === undefined || (cwd !== undefined && inFolders(scope.folders, cwd, engineFolder));
}

/** Tells whether a folder is one of these, or below one. */
export function inFolders(
  folders: NonNullable<ClientScope["folders"]>,
  folder: string,
  engineFolder: string | undefined,
): boolean {
  const allowed = folders === "default" ? [engineFolder] : folders.map(realpathOrSelf);
  return allowed.some((each) => each !== undefined && isWithin(folder, each));
}

export function notAmong(session: SessionId): Failure {
  return forbidden(`the session ${session} is not among its sessions.`);
}

function forbidden(detail: string): Failure {
  return failure("Forbidden", { detail });
}
