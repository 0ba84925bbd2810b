/** A conversation with a session of a running engine, until the person leaves or the engine has ended. */

import { safeLine } from "../../base/terminal-text.js";
import type { EngineClient } from "../../protocol/client.js";
import type { ImageBlock } from "../../protocol/content.js";
import type { SessionEndReason, SessionMode } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { exitCodeOfFailure } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { converse } from "../run/converse.js";
import type { TakenSession } from "./attach-flags.js";
import { type AttachPlace, openAttached, talkOf } from "./attached-talk.js";
import type { Loss } from "./loss.js";
import { type Choice, versionNote } from "./offer.js";
import { clientWords, othersOf } from "./others.js";

export type ConversationEnd = { readonly exit: number } | TakenSession;

export interface ConversationPlace extends AttachPlace {
  readonly pid: number | undefined;
  readonly lost: Loss;
}

export async function converseAttached(
  place: ConversationPlace,
  choice: Choice,
  { images }: { readonly images: readonly ImageBlock[] },
): Promise<ConversationEnd> {
  const { client, flags, variables, lost } = place;
  const chosen = choice.kind === "attach" ? choice.session : undefined;
  const opened = await openAttached(place, chosen);
  if ("failure" in opened) {
    printMessage(opened.failure.message);
    return { exit: exitCodeOfFailure(opened.failure) };
  }
  let { session } = opened;
  let say: (message: string) => void = () => {};
  let ended: SessionEndReason = "user";
  let mode = await modeOf(client, session);
  client.subscribe((event) => {
    if (event.session !== session) return;
    if (event.kind === "SessionEnded") ended = event.payload.reason;
    if (event.kind === "ModeChanged") mode = event.payload.mode;
  });
  client.onDetached((other, reason) => {
    if (other !== session) return;
    if (lost.signal.aborted) return;
    if (reason !== undefined) say(reason.message);
    else if (ended === "binary-shutdown" || ended === "error") lost.happens();
    else say("This session has ended. Your next prompt opens it again.");
  });
  const talk = await talkOf(place, { session, chosen, note: await attachedNote(place, session) });
  const exit = await converse(
    {
      ...talk,
      onMessages: (show) => {
        say = show;
      },
    },
    {
      ...{ session, images, flags, variables, choosesSession: choice.kind === "pick" },
      leave: lost.signal,
      keepsTurn: () => true,
      onSession: async (other) => {
        session = other;
        mode = undefined;
        mode = (await modeOf(client, other)) ?? mode;
      },
    },
  );
  return lost.signal.aborted ? { session, mode } : { exit };
}

async function modeOf(client: EngineClient, session: SessionId): Promise<SessionMode | undefined> {
  const status = await client.query("GetStatus", {}, session);
  return status.ok ? status.answer.place?.mode : undefined;
}

/** Which engine it is, and who else is in the session. */
async function attachedNote({ client, pid }: ConversationPlace, session: SessionId): Promise<string> {
  const [health, others] = await Promise.all([client.query("GetHealth", {}), othersOf(client, session)]);
  const names = others.map((other) => safeLine(clientWords(other))).join(", ");
  const version = health.ok ? versionNote(health.answer) : "";
  return `Attached to the engine of process ${pid ?? "?"}${names === "" ? "" : `, with ${names}`}.${version}`;
}
