/**
 * A tool call whose arguments are not one JSON object is asked for again, this time with a grammar: local servers can let the
 * model write nothing but what the tool's schema allows.
 *
 * 1. Once for a call, and at most three times in a session without success: a server that cannot do it is not asked again and again.
 * 2. The first attempt counts if the second is no better; the model then reads what was wrong.
 * 3. Only the call is replaced. Nothing of the second answer is shown, but its tokens count.
 */
import type { Model, ModelEvent, ModelRequest, ModelToolCall, RequestContext, ToolSpec } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { isJsonObject } from "../../protocol/json.js";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.js";
import { parseJson } from "../wire/fields.js";
import { toolCall } from "../wire/tool-arguments.js";

const FAILED_ATTEMPTS = 3;
/** Enough to see what was meant; a runaway repetition is not worth reading again. */
const SHOWN_CHARS = 4000;

export function withConstrainedCalls(model: Model): Model {
  let failed = 0;
  return {
    ...model,
    async *stream(request, context) {
      let said = "";
      let extra = NO_USAGE;
      for await (const batch of model.stream(request, context)) {
        const out: ModelEvent[] = [];
        for (const event of batch) {
          if (event.type === "text") said += event.text;
          const broken = event.type === "block" ? brokenCall(event.block, request.tools) : undefined;
          if (broken === undefined || failed >= FAILED_ATTEMPTS || context.signal.aborted) {
            out.push(event.type === "usage" ? { ...event, usage: addUsage(event.usage, extra) } : event);
            continue;
          }
          const again = await askAgain(model, { ...broken, request, said }, context);
          extra = addUsage(extra, again.usage);
          failed = again.call === undefined ? failed + 1 : 0;
          out.push(again.call === undefined ? event : { type: "block", block: again.call });
        }
        if (out.length > 0) yield out;
      }
    },
  };
}

interface BrokenCall {
  readonly call: ModelToolCall;
  readonly written: string;
  readonly tool: ToolSpec;
}

function brokenCall(block: { readonly type: string }, tools: readonly ToolSpec[]): BrokenCall | undefined {
  if (block.type !== "tool_call") return undefined;
  const call = block as ModelToolCall;
  const tool = tools.find((offered) => offered.name === call.tool);
  return call.malformed === undefined || tool === undefined ? undefined : { call, written: call.malformed, tool };
}

interface SecondTry extends BrokenCall {
  readonly request: ModelRequest;
  /** What the model had said before the call. */
  readonly said: string;
}

async function askAgain(
  model: Model,
  { tool, written, request, said }: SecondTry,
  context: RequestContext,
): Promise<{ readonly call?: ModelToolCall; readonly usage: Usage }> {
  const attempt = `${said}\nI call ${tool.name} with: ${written.slice(0, SHOWN_CHARS)}`.trim();
  const prompt = `The arguments of ${tool.name} were not valid JSON. Write them again: one JSON object of this schema and nothing else.\n${JSON.stringify(tool.inputSchema)}`;
  const second: ModelRequest = {
    ...request,
    tools: [],
    messages: [
      ...request.messages,
      { role: "assistant", content: [text(attempt)] },
      { role: "user", content: [text(prompt)] },
    ],
    answerSchema: tool.inputSchema,
  };
  let answer = "";
  let usage = NO_USAGE;
  for await (const batch of model.stream(second, context)) {
    for (const event of batch) {
      if (event.type === "text") answer += event.text;
      else if (event.type === "usage") usage = event.usage;
      else if (event.type === "failure") return { usage };
    }
  }
  return isJsonObject(parseJson(answer)) ? { call: toolCall(tool.name, answer), usage } : { usage };
}
