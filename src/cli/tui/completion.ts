/** What the client completes with what the engine knows. */
import { commandCompletion, type Value } from "../../clients/tui/input/command-completion.js";
import { type CompletionSource, firstOf } from "../../clients/tui/input/completion.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import type { CommandInfo } from "../../protocol/queries.js";

export function sessionCompletion(client: EngineClient, session: SessionId): CompletionSource {
  let commands: readonly CommandInfo[] = [];
  const load = async () => {
    const reply = await client.query("ListCommands", {}, session);
    if (reply.ok) commands = reply.answer.commands;
  };
  void load();
  client.subscribe(({ kind }) => {
    if (kind === "SkillRegistryChanged") void load();
  });
  return firstOf(commandCompletion({ commands: () => commands, values: (source) => valuesOf(client, source) }));
}

async function valuesOf(client: EngineClient, source: string): Promise<readonly Value[]> {
  if (source === "model") {
    const reply = await client.query("ListModels", {});
    return reply.ok ? reply.answer.models.map(({ provider, model }) => ({ value: `${provider}:${model}` })) : [];
  }
  if (source === "session") {
    const reply = await client.query("ListSessions", {});
    return reply.ok ? reply.answer.sessions.map(({ id, title = "" }) => ({ value: id, about: title })) : [];
  }
  return [];
}
