/** Slash commands and turns of a hosted engine, one after the other. */
import { expect } from "vitest";
import type { CommandReply, EngineClient } from "../../src/protocol/client.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { turnOf } from "./hosted-engine.js";

const SETTLE_MS = 20_000;

export function slash(client: EngineClient, session: SessionId, line: string): Promise<CommandReply> {
  const [, verb = "", args = ""] = /^\/?(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
  return client.send("CustomCommand", { namespace: "slash", verb, payload: { args } }, session);
}

/** A slash command that begins a turn, to the end of that turn. */
export async function slashTurn(
  client: EngineClient,
  session: SessionId,
  line: string,
): Promise<{ readonly reply: CommandReply; readonly events: readonly Envelope[] }> {
  const events: Envelope[] = [];
  const ended = new Promise<void>((resolve) => {
    client.subscribe((event) => {
      events.push(event);
      if (event.kind === "TurnEnded") resolve();
    });
  });
  const reply = await slash(client, session, line);
  if (!reply.ok) return { reply, events };
  await ended;
  await settled(client, session);
  return { reply, events };
}

/** The engine takes the next input a moment after the end of a turn. */
export async function settledTurn(
  client: EngineClient,
  session: SessionId,
  input: string,
): Promise<readonly Envelope[]> {
  const events = await turnOf(client, session, input);
  await settled(client, session);
  return events;
}

async function settled(client: EngineClient, session: SessionId): Promise<void> {
  await expect
    .poll(async () => (await client.query("GetStatus", {}, session)) as unknown, {
      interval: 1,
      // The default of a second is too short for a busy machine: a turn with subagents closes their sessions, too.
      timeout: SETTLE_MS,
    })
    .toMatchObject({ answer: { busy: false } });
}
