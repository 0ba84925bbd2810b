/** A session of a running engine, opened for a client of this process. */

import { resolve } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { HttpClient } from "../../clients/sdk/http-client.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { CommandReply } from "../../protocol/client.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { SessionMode } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { SessionInfo } from "../../protocol/queries.js";
import { slashRequest } from "../../protocol/slash-command.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { noteWorkspace } from "../../system/project-folders.js";
import type { Conversation } from "../run/prepare.js";
import { wantedEffort, wantedMode, wantedModel, wantedSession } from "./attach-flags.js";

export interface AttachPlace {
  readonly client: HttpClient;
  /** Only a person may set it, also where none is there to answer questions. */
  readonly setMode: (mode: SessionMode, session: SessionId) => Promise<CommandReply>;
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  /** Where a person answers questions about the session, if one can. */
  readonly terminal?: Terminal;
}

/** The folder that this client was started in. */
export function folderOf(flags: ParsedFlags): string {
  return resolve(flags.text("cwd") ?? process.cwd());
}

/** What the flags ask for: the last session of this folder, a named one, or a new one. */
export async function chooseByFlags({
  client,
  flags,
}: Pick<AttachPlace, "client" | "flags">): Promise<SessionInfo | undefined> {
  const named = flags.text("resume");
  if (named === undefined && !flags.has("continue")) return undefined;
  if (named !== undefined && flags.has("continue")) throw new UsageError("Use --continue or --resume, not both.");
  const sessions = await sessionsOf(client, named === undefined ? { cwd: folderOf(flags) } : { subagents: true });
  const found = named === undefined ? sessions.slice(0, 1) : sessions.filter(({ id }) => id.includes(named));
  const [first, ...others] = found;
  if (first === undefined)
    throw new UsageError(named === undefined ? "This folder has no sessions." : `There is no session ${named}.`);
  if (others.length > 0)
    throw new UsageError(`Several sessions have ${named} in their id: ${found.map(({ id }) => id).join(", ")}.`);
  return first;
}

/** The last used first. */
export async function sessionsOf(
  client: HttpClient,
  filter: { readonly cwd?: string; readonly subagents?: true } = {},
): Promise<readonly SessionInfo[]> {
  const reply = await client.query("ListSessions", { empty: true, ...filter });
  return reply.ok ? reply.answer.sessions : [];
}

/** Opens the chosen session, or a new one in the folder of this client. */
export async function openAttached(
  place: AttachPlace,
  chosen: (Pick<SessionInfo, "id"> & { readonly cwd?: string }) | undefined,
): Promise<{ readonly session: SessionId } | { readonly failure: Failure }> {
  const { client, flags, variables, terminal } = place;
  const verdict = flags.text("orphan") as
    | NonNullable<CommandPayloads["CreateSession"]["orphans"]>["verdict"]
    | undefined;
  const note = flags.text("orphan-note");
  let request: CommandPayloads["CreateSession"] = {
    ...(chosen === undefined ? wantedSession(flags, { root: folderOf(flags), variables }) : resumed(chosen, flags)),
    ...(verdict !== undefined && { orphans: { verdict, ...(note !== undefined && { note }) } }),
  };
  let reply = await client.send("CreateSession", request);
  while (!reply.ok && reply.failure.reason === "OrphanedCalls" && terminal?.askLine !== undefined) {
    const { askAboutOrphans } = await import("../../clients/headless/orphan-prompt.js");
    request = { ...request, orphans: await askAboutOrphans(terminal, reply.failure) };
    reply = await client.send("CreateSession", request);
  }
  if (!reply.ok) return { failure: reply.failure };
  const { session } = reply;
  if (session === undefined) return { failure: failure("Internal", { detail: "the engine did not name a session" }) };
  const problem = await applyFlags(place, { session, isNew: chosen === undefined });
  return problem === undefined ? { session } : { failure: problem };
}

/** A session keeps its folder. */
function resumed(
  { id, cwd }: Pick<SessionInfo, "id"> & { readonly cwd?: string },
  flags: ParsedFlags,
): CommandPayloads["CreateSession"] {
  if (cwd !== undefined) noteWorkspace(cwd);
  if (flags.has("cwd") && cwd !== undefined && cwd !== folderOf(flags))
    process.stderr.write(`oxbow: the session works in ${safeLine(cwd)}; --cwd does not change that.\n`);
  const profile = flags.text("profile");
  return { resume: id, ...(profile !== undefined && { profile }) };
}

/** Flags that are commands in a running session. */
async function applyFlags(
  { client, flags, variables, setMode }: AttachPlace,
  { session, isNew }: { readonly session: SessionId; readonly isNew: boolean },
): Promise<Failure | undefined> {
  const model = isNew ? undefined : wantedModel(flags);
  if (model !== undefined) {
    const reply = await client.send("SetModel", { model }, session);
    if (!reply.ok) return reply.failure;
  }
  const mode = wantedMode(flags);
  if (mode !== undefined) {
    const reply = await setMode(mode, session);
    if (!reply.ok) return reply.failure;
  }
  const effort = isNew ? wantedEffort(flags, variables) : flags.text("effort");
  if (effort === undefined) return undefined;
  const reply = await client.send("CustomCommand", slashRequest("effort", effort), session);
  return reply.ok ? undefined : reply.failure;
}

/** What a conversation needs, from the engine and from the settings of this person. */
export async function talkOf(
  { client, flags, variables }: AttachPlace,
  {
    session,
    chosen,
    note,
  }: {
    readonly session: SessionId;
    readonly chosen: Pick<SessionInfo, "id" | "title"> | undefined;
    readonly note?: string;
  },
): Promise<Conversation> {
  const [loaded, status] = await Promise.all([loadSettings(flags, variables), client.query("GetStatus", {}, session)]);
  const { provider, model } = status.ok ? status.answer : { provider: "unknown", model: "unknown" };
  return {
    client,
    clock: nodeClock,
    chosen: { model: { provider, model }, note },
    loaded,
    resume: chosen && { id: chosen.id, ...(chosen.title !== undefined && { title: chosen.title }) },
    onMessages: () => {},
    recentTurns: async () => [],
  };
}
