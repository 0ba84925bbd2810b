/** `oxbow run --attach PROMPT`: one prompt through a running engine. Output and exit codes are those of a run without it. */

import type { OutputFormat } from "../../clients/headless/one-shot.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import { nodeClock } from "../../system/node-clock.js";
import { FailedRun } from "../failed-run.js";
import { oneShot } from "../run/one-shot.js";
import { type AttachPlace, chooseByFlags, openAttached } from "./attached-talk.js";

export async function oneShotAttached(
  place: AttachPlace,
  work: {
    readonly prompt: string;
    readonly media: readonly MediaBlock[];
    readonly format: OutputFormat;
    readonly terminal: Terminal;
  },
): Promise<number> {
  const { client, flags } = place;
  const chosen = await chooseByFlags(place);
  const opened = await openAttached(place, chosen);
  if ("failure" in opened) throw new FailedRun(opened.failure);
  const { session } = opened;
  const talk = {
    client,
    clock: nodeClock,
    chosen: { model: { provider: "", model: "" } },
    resume: undefined,
    onMessages: () => {},
    recentTurns: async () => [],
  };
  try {
    return await oneShot(talk, { session, flags, ...work });
  } finally {
    // Others may work in a session that was there before.
    if (chosen === undefined) await endSession(place, session);
  }
}

/** The last event is part of the output. What the engine does after it needs no wait. */
async function endSession({ client }: AttachPlace, session: SessionId): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    client.subscribe((event) => {
      if (event.kind === "SessionEnded" && event.session === session) resolve();
    });
    client.onDetached(() => resolve());
  });
  const refused = client.send("EndSession", {}, session).then((reply) => (reply.ok ? ended : undefined));
  await Promise.race([ended, refused]);
}
