/**
 * Requests a tool call again if its arguments are not one JSON object, this time with a grammar: local servers can restrict the
 * output to what the tool's schema allows.
 *
 * 1. Once per call, and at most three times in a session without success, because some servers cannot do this.
 * 2. If the second attempt is no better, the first one stays, and the model gets an error for it.
 * 3. Only the call is replaced. The second answer is not shown, but its tokens count.
 */
import type { Model, ModelEvent, ModelRequest, ModelToolCall, RequestContext, ToolSpec } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { isJsonObject } from "../../protocol/json.js";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.js";
import { parseJson } from "../wire/fields.js";
import { toolCall } from "../wire/tool-arguments.js";

const FAILED_ATTEMPTS = 3;
/** Enough to see the intention; an endless repetition is not worth sending. */
const SHOWN_CHARS = 4000;

export function withConstrainedCalls(model: Model): Model {
  let failed = 0;
  return {
    ...model,
    async *stream(request, context) {
      let answered = "";
      let extra = NO_USAGE;
      for await (const batch of model.stream(request, context)) {
        const out: ModelEvent[] = [];
        for (const event of batch) {
          if (event.type === "text") answered += event.text;
          const broken = event.type === "block" ? brokenCall(event.block, request.tools) : undefined;
          if (broken === undefined || failed >= FAILED_ATTEMPTS || context.signal.aborted) {
            out.push(event.type === "usage" ? { ...event, usage: addUsage(event.usage, extra) } : event);
            continue;
          }
          const again = await askAgain(model, { ...broken, request, answered }, context);
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
  /** The model's text before the call. */
  readonly answered: string;
}

async function askAgain(
  model: Model,
  { tool, written, request, answered }: SecondTry,
  context: RequestContext,
): Promise<{ readonly call?: ModelToolCall; readonly usage: Usage }> {
  const attempt = `${answered}\nI call ${tool.name} with: ${written.slice(0, SHOWN_CHARS)}`.trim();
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
