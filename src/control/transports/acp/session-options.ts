/** Describes what the user can set for a session in the editor: the mode, the model and how much it thinks. */

import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { EngineClient } from "../../../protocol/client.js";
import type { SessionMode } from "../../../protocol/events.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { StatusInfo } from "../../../protocol/queries.js";
import { slashRequest } from "../../../protocol/slash-command.js";
import { invalid, requestError } from "./errors.js";

const MODES: readonly { readonly id: SessionMode; readonly name: string; readonly description: string }[] = [
  { id: "ask", name: "Ask", description: "Asks before commands and changes that the sandbox does not contain." },
  { id: "auto", name: "Auto", description: "Runs without a question what the sandbox contains." },
  { id: "review", name: "Review edits", description: "Like Auto, but asks before each edit of a file." },
  { id: "plan", name: "Plan", description: "Changes nothing. Choose another mode to approve the plan." },
];

/** Modes that only the command line or a profile starts with; they are listed while they are on. */
const OTHER_MODES: typeof MODES = [
  { id: "allow", name: "Allow", description: "Runs everything without a question, except what is denied." },
  { id: "deny", name: "Deny", description: "Runs nothing that would need a question." },
];

const EFFORTS = [
  { value: "auto", name: "The model decides" },
  { value: "low", name: "Low" },
  { value: "medium", name: "Medium" },
  { value: "high", name: "High" },
];

export function modesOf({ place }: StatusInfo): SessionModeState | undefined {
  return place && { currentModeId: place.mode, availableModes: [...offeredModes(place.mode)] };
}

function offeredModes(current: SessionMode): typeof MODES {
  return [...MODES, ...OTHER_MODES.filter(({ id }) => id === current)];
}

/** `models`: those that the providers named so far, as PROVIDER:NAME. */
export function configOptions(status: StatusInfo, models: readonly string[]): SessionConfigOption[] {
  const { place, provider, model } = status;
  const current = `${provider}:${model}`;
  const listed = [...new Set([current, ...models])].map((value) => ({ value, name: value }));
  const options: SessionConfigOption[] = [];
  if (place !== undefined) {
    options.push({
      id: "mode",
      name: "Mode",
      category: "mode",
      type: "select",
      currentValue: place.mode,
      options: offeredModes(place.mode).map(({ id, name, description }) => ({ value: id, name, description })),
    });
  }
  options.push({
    id: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: current,
    options: listed,
  });
  if (place !== undefined) {
    const currentValue = place.effort ?? "auto";
    const about = { id: "effort", name: "Thinking", category: "thought_level", type: "select" } as const;
    options.push({ ...about, currentValue, options: EFFORTS });
  }
  return options;
}

interface Target {
  readonly client: EngineClient;
  readonly session: SessionId;
}

export async function setMode({ client, session }: Target, mode: string): Promise<void> {
  const known = MODES.find(({ id }) => id === mode);
  if (known === undefined) throw invalid(`There is no mode ${mode}. Use ${MODES.map(({ id }) => id).join(", ")}.`);
  const reply = await client.send("SetMode", { mode: known.id }, session);
  if (!reply.ok) throw requestError(reply.failure);
}

export async function setOption(target: Target, id: string, value: unknown): Promise<void> {
  if (typeof value !== "string" || value === "") throw invalid(`The value of ${id} must be a text.`);
  if (id === "mode") return setMode(target, value);
  const { client, session } = target;
  if (id === "model") {
    const reply = await client.send("SetModel", { model: value }, session);
    if (!reply.ok) throw requestError(reply.failure);
    return;
  }
  if (id !== "effort") throw invalid(`There is no option ${id}.`);
  if (!EFFORTS.some((effort) => effort.value === value)) throw invalid(`There is no effort ${value}.`);
  const reply = await client.send("CustomCommand", slashRequest("effort", value), session);
  if (!reply.ok) throw requestError(reply.failure);
}

export async function statusOf({ client, session }: Target): Promise<StatusInfo> {
  const reply = await client.query("GetStatus", {}, session);
  if (!reply.ok) throw requestError(reply.failure);
  return reply.answer;
}
