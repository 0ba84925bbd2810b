/** Every skill is a prompt: its text, ready for the conversation of the outer agent. */
import { type GetPromptResult, type Prompt, ProtocolError } from "@modelcontextprotocol/server";
import type { EngineClient } from "../../../protocol/client.js";

const INVALID_PARAMS = -32602;
const ARGUMENT = { name: "input", description: "what to do with the skill", required: false };

export async function listPrompts(client: EngineClient): Promise<Prompt[]> {
  const reply = await client.query("ListSkills", {});
  if (!reply.ok) return [];
  return reply.answer.skills.map(({ name, description }) => ({ name, description, arguments: [ARGUMENT] }));
}

export async function getPrompt(
  client: EngineClient,
  name: string,
  input: string | undefined,
): Promise<GetPromptResult> {
  // The URI of the skill names it too.
  const skill = name.replace(/^oxbow:\/\/skill\//, "");
  const reply = await client.query("GetSkill", { name: skill });
  if (!reply.ok) throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${name}.`);
  const { description, body } = reply.answer;
  const text = input === undefined || input === "" ? body : `${body}\n\n${input}`;
  return { description, messages: [{ role: "user", content: { type: "text", text } }] };
}
