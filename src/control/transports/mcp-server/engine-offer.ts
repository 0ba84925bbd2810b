/** Describes what an engine offers over MCP: tools that drive sessions, sessions as resources, skills as prompts. */
import type { JSONObject } from "@modelcontextprotocol/server";
import type { Clock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Handshake } from "../../../protocol/handshake.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { McpOffer } from "./offer.js";
import { getPrompt, listPrompts } from "./prompts.js";
import { FIXED, listResources, placeOf, readResource, sessionOfUri, TEMPLATES } from "./resources.js";
import { publishEvents, ResourceWatch, replayMissed } from "./subscriptions.js";
import { TOOLS } from "./tool-schemas.js";
import { callTool } from "./tools.js";

export interface EngineOfferOptions {
  readonly client: EngineClient;
  readonly clock: Clock;
  /** Holds what the engine says about itself; the server says it when it is initialized. */
  readonly handshake?: Handshake | undefined;
  /** The folder of new sessions that name none; default: that of the engine. */
  readonly cwd?: string | undefined;
  /** A session began for the outer agent, whose name it gave itself. */
  readonly onSession?: ((session: SessionId, agent: string) => void) | undefined;
  /** A call in such a session waits for a person. */
  readonly onQuestion?: ((session: SessionId, summary: string) => void) | undefined;
}

export const BANNER =
  "Oxbow runs an AI agent with a shell on this machine. You drive it as an agent: calls that need permission wait for a person, and you " +
  "cannot approve them. What it does costs money; every answer says how much.";

export function engineOffer({ client, clock, cwd, onSession, onQuestion, handshake }: EngineOfferOptions): McpOffer {
  const watch = new ResourceWatch(client, clock);
  return {
    instructions: BANNER,
    ...(handshake && { handshake: structuredClone(handshake) as object as JSONObject }),
    tools: TOOLS,
    templates: TEMPLATES,
    call: ({ name, args, signal, onProgress, agent }) => {
      const place = {
        ...{ client, clock, cwd, banner: BANNER },
        onSession: (session: SessionId) => onSession?.(session, agent),
        onQuestion: (session: SessionId, summary: string) => onQuestion?.(session, summary),
      };
      return callTool(place, { name, args, signal, onProgress });
    },
    resources: async (which) => (which === "all" ? listResources(client) : FIXED),
    read: (uri) => readResource(client, uri),
    prompts: () => listPrompts(client),
    prompt: (name, { input }) => getPrompt(client, name, input),
    complete: async ({ ref, argument }) => {
      if (ref.type !== "ref/resource") return [];
      return (await namesFor(client, ref.uri)).filter((name) => name.startsWith(argument.value));
    },
    follow: async (uri) => {
      if (placeOf(uri) === undefined) return false;
      const session = sessionOfUri(uri);
      if (session !== undefined) return (await client.send("AttachSession", {}, session)).ok;
      await watch.begin(uri);
      return true;
    },
    watch: (publish, wants) => {
      const stops = [publishEvents(client, publish), watch.add({ publish, wants })];
      return () => {
        for (const stop of stops) stop();
      };
    },
    replay: (uri, show) => replayMissed({ client, clock }, uri, show),
  };
}

async function namesFor(client: EngineClient, template: string): Promise<readonly string[]> {
  if (template.startsWith("oxbow://session/")) {
    const reply = await client.query("ListSessions", { limit: 500 });
    return reply.ok ? reply.answer.sessions.map(({ id }) => id) : [];
  }
  if (template.startsWith("oxbow://skill/")) return (await listPrompts(client)).map(({ name }) => name);
  if (template.startsWith("oxbow://profile/")) {
    const reply = await client.query("ListProfiles", {});
    return reply.ok ? reply.answer.profiles.map(({ name }) => name) : [];
  }
  const reply = await client.query("ListProviders", {});
  return reply.ok ? reply.answer.providers.map(({ name }) => name) : [];
}
