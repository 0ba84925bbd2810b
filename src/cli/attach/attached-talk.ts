/** A session of a running engine, opened for a client of this process. */

import { resolve } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { WireClient } from "../../clients/sdk/wire-client.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { CommandReply } from "../../protocol/client.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import type { Failure } from "../../protocol/errors.js";
import type { SessionMode } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { SessionInfo } from "../../protocol/queries.js";
import { slashRequest } from "../../protocol/slash-command.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { noteWorkspace } from "../../system/project-folders.js";
import { type OpenedSession, openSession } from "../run/open-session.js";
import type { Conversation } from "../run/prepare.js";
import { wantedMode, wantedModel } from "./attach-flags.js";

export interface AttachPlace {
  readonly client: WireClient;
  /** Only a person may set it, also where none is there to answer questions. */
  readonly setMode: (mode: SessionMode, session: SessionId) => Promise<CommandReply>;
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly terminal: Terminal;
  /** The engine is reached by its address: it has other folders, and got nothing of this terminal. */
  readonly isElsewhere?: boolean;
}

/** The folder that this client was started in. */
export function folderOf(flags: ParsedFlags): string {
  return resolve(flags.text("cwd") ?? process.cwd());
}

/** Tells what the flags ask for: the last session of this folder, a named one, or a new one. */
export async function chooseByFlags({
  client,
  flags,
  isElsewhere = false,
}: Pick<AttachPlace, "client" | "flags" | "isElsewhere">): Promise<SessionInfo | undefined> {
  const named = flags.text("resume");
  if (named === undefined && !flags.has("continue")) return undefined;
  if (named !== undefined && flags.has("continue")) throw new UsageError("Use --continue or --resume, not both.");
  const here = isElsewhere ? {} : { cwd: folderOf(flags) };
  const sessions = await sessionsOf(client, named === undefined ? here : { subagents: true });
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
  client: WireClient,
  filter: { readonly cwd?: string; readonly subagents?: true } = {},
): Promise<readonly SessionInfo[]> {
  const reply = await client.query("ListSessions", { empty: true, ...filter });
  return reply.ok ? reply.answer.sessions : [];
}

/** Opens the chosen session, or a new one in the folder of this client. */
export async function openAttached(
  place: AttachPlace,
  chosen: (Pick<SessionInfo, "id"> & { readonly cwd?: string; readonly live?: boolean }) | undefined,
): Promise<OpenedSession | { readonly failure: Failure }> {
  const { client, flags, terminal, isElsewhere = false } = place;
  const request = chosen === undefined ? newSession(place) : resumed(chosen, flags);
  const opened = await openSession(client, request, { flags, terminal });
  if ("failure" in opened) return opened;
  // A session that is opened with the flags of this client follows them already.
  if (chosen?.live !== true && !isElsewhere) return opened;
  const problem = await applyFlags(place, opened.session);
  return problem === undefined ? opened : { failure: problem };
}

/** In the folder of this terminal; elsewhere in the one that is named, or that the engine was started in. */
function newSession({ flags, isElsewhere }: AttachPlace): CommandPayloads["CreateSession"] {
  if (!isElsewhere) return { cwd: folderOf(flags) };
  const cwd = flags.text("cwd");
  return cwd === undefined ? {} : { cwd };
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

/** Flags that are commands in an open session. */
async function applyFlags(
  { client, flags, setMode, isElsewhere }: AttachPlace,
  session: SessionId,
): Promise<Failure | undefined> {
  const model = wantedModel(flags);
  const mode = wantedMode(flags);
  const effort = flags.text("effort");
  const folders = flags.list("add-dir").map((each) => (isElsewhere ? each : resolve(folderOf(flags), each)));
  const replies = [
    () => model === undefined || client.send("SetModel", { model }, session),
    () => mode === undefined || setMode(mode, session),
    () => effort === undefined || client.send("CustomCommand", slashRequest("effort", effort), session),
    ...folders.map((each) => () => client.send("CustomCommand", slashRequest("add-dir", each), session)),
  ];
  for (const ask of replies) {
    const reply = await ask();
    if (reply !== true && !reply.ok) return reply.failure;
  }
  return undefined;
}

/** Tells what a conversation needs, from the engine and from the settings of this person. */
export async function talkOf(
  { client, flags, variables }: AttachPlace,
  {
    session,
    chosen,
    note,
  }: {
    readonly session: SessionId;
    readonly chosen: Pick<SessionInfo, "id" | "title"> | undefined;
    readonly note?: string | undefined;
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
