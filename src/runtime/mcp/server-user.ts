/**
 * What a server asks of the user or the model of a session, during a call.
 *
 * 1. Without a person to ask, a form is declined and a request for the model refused, unless a rule allows it.
 * 2. An answer of the model is paid from the session's budgets and shown in its log, like every other call of the model.
 */
import type { Tool } from "../../engine/ports.js";
import { callBeside } from "../../engine/side-call.js";
import type { Turn } from "../../engine/turn.js";
import type { SampleParams, ServerUser } from "../../extensions/mcp/server-requests.js";
import { toolName } from "../../extensions/mcp/tool-names.js";
import { imageContent } from "../../extensions/mcp/tool-result.js";
import { type InputContent, type Message, text } from "../../protocol/content.js";
import type { Opening } from "../opening.js";
import { elicit, shown } from "./elicit.js";

export interface UserPlace {
  readonly opening: Opening;
  /** The turn that is under way. */
  readonly turn: () => Turn | undefined;
}

const MOST_SAMPLES = 10;
const MOST_TOKENS = 4096;

interface About {
  readonly server: string;
  readonly signal: AbortSignal;
}

export function serverUser(place: UserPlace): ServerUser {
  const samples = new WeakMap<Turn, number>();
  return {
    elicit: (params, about) => elicit(params, about, place.opening),
    sample: async (params, about) => {
      const turn = place.turn();
      if (turn === undefined) throw new Error("No turn is running.");
      const count = (samples.get(turn) ?? 0) + 1;
      samples.set(turn, count);
      if (count > MOST_SAMPLES) throw new Error(`A turn has at most ${MOST_SAMPLES} such requests.`);
      return sample(params, about, { ...place, now: turn });
    },
  };
}

type SampleAnswer = Awaited<ReturnType<ServerUser["sample"]>>;

async function sample(
  params: SampleParams,
  { server, signal }: About,
  place: UserPlace & { readonly now: Turn },
): Promise<SampleAnswer> {
  const { now: turn, opening } = place;
  await permit(params, { server, signal }, opening);
  const { model } = turn;
  const answer = await callBeside(
    {
      model,
      purpose: "sampling",
      request: {
        model: model.model,
        system:
          `You answer a request of the MCP server '${server}', which the user allowed. ${shown(params.systemPrompt ?? "")}`.trim(),
        messages: params.messages.map(messageOf),
        tools: [],
        maxOutputTokens: Math.max(1, Math.min(params.maxTokens, MOST_TOKENS)),
      },
    },
    { bus: turn.bus, ports: turn.ports, signal: AbortSignal.any([signal, turn.signal]), turn },
  );
  if ("cancelled" in answer) throw new Error("Cancelled.");
  if ("failure" in answer) throw new Error(answer.failure.message);
  return { role: "assistant", model: model.model, stopReason: "endTurn", content: { type: "text", text: answer.text } };
}

/** By the rules of the session; otherwise a person decides. */
async function permit(
  params: SampleParams,
  { server, signal }: About,
  { built, engine, person }: Opening,
): Promise<void> {
  const name = toolName(server, "sampling");
  const call = engine.ids.next("call");
  const tool: Tool = {
    name,
    description: "",
    inputSchema: { type: "object" },
    set: "command",
    concurrencySafe: false,
    mutating: false,
    extension: { path: server, needs: [] },
    run: async () => ({ status: "ok", content: [] }),
  };
  const verdict = await built.get("permissions").judge({ call, tool: name, args: {} }, tool);
  if (verdict.decision === "allow") return;
  if (verdict.decision === "deny" || !person.present())
    throw new Error("The user does not allow requests to the model.");
  const words = params.messages.map((message) => JSON.stringify(message.content)).join("\n");
  const answer = await person.ask(
    {
      call,
      tool: name,
      args: {},
      summary: `let the MCP server '${server}' ask the model`,
      reason: "The server wants an answer of the model. It is paid from the budget of this session.",
      preview: shown(words),
      once_only: true,
    },
    signal,
  );
  if (answer.decision === "deny") throw new Error("The user does not allow this request to the model.");
}

function messageOf({ role, content }: SampleParams["messages"][number]): Message {
  const blocks = (Array.isArray(content) ? content : [content]).map((block): InputContent => {
    if (block.type === "text") return text(block.text);
    const image = block.type === "image" ? imageContent(block.data, block.mimeType) : undefined;
    return image?.type === "image" ? image : text(`(${block.type} is left out)`);
  });
  if (role === "assistant") return { role, content: blocks.flatMap((block) => (block.type === "text" ? [block] : [])) };
  return { role: "user", content: blocks };
}
