/**
 * Describes what the scenarios of the official conformance suite call by name, behind Oxbow's own MCP server: the scenarios then prove the parts of the
 * protocol that Oxbow's tools do not use. Only tests use it.
 */
import {
  type CallToolResult,
  type ContentBlock,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ResourceNotFoundError,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { McpOffer, OfferedCall } from "../../src/control/transports/mcp-server/offer.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND = Buffer.from("RIFF\u0024\u0000\u0000\u0000WAVEfmt ").toString("base64");
const INVALID_PARAMS = -32602;

type Result = CallToolResult | InputRequiredResult;
type Handler = (call: OfferedCall) => Promise<Result> | Result;

const words = (text: string): ContentBlock => ({ type: "text", text });
const done = (...content: readonly ContentBlock[]): CallToolResult => ({ content: [...content] });
const embedded = (uri: string, mimeType: string, text: string): ContentBlock => ({
  type: "resource",
  resource: { uri, mimeType, text },
});
const codec = createRequestStateCodec<{ step: number }>({ key: crypto.getRandomValues(new Uint8Array(32)) });
const field = (name: string, type = "string") =>
  ({ type: "object", properties: { [name]: { type } }, required: [name] }) as never;
const askFor = (name: string, message: string, type?: string) =>
  inputRequired.elicit({ message, requestedSchema: field(name, type) });
const ask = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 50 });

/** The answer to a question, if it is one. */
function answered({ context }: OfferedCall, key: string): Readonly<Record<string, unknown>> | undefined {
  const given = context.mcpReq.inputResponses?.[key];
  return typeof given === "object" && given !== null ? (given as Record<string, unknown>) : undefined;
}

function capabilitiesOf({ mcpReq }: ServerContext): Readonly<Record<string, unknown>> {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return (envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {}) as Record<string, unknown>;
}

/** One question, then the end. */
function oneQuestion(key: string, question: ReturnType<typeof ask>): Handler {
  return (call) =>
    answered(call, key) ? done(words(`got ${key}`)) : inputRequired({ inputRequests: { [key]: question } });
}

async function elicit(call: OfferedCall, message: string, properties: object): Promise<Result> {
  const requestedSchema = { type: "object", properties } as never;
  const { action, content } = await call.context.mcpReq.elicitInput({ mode: "form", message, requestedSchema });
  return done(words(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`));
}

const options = (...values: readonly string[]) => values.map((value) => ({ const: value, title: `The ${value}` }));

const HANDLERS: Readonly<Record<string, Handler>> = {
  test_simple_text: () => done(words("This is a simple text response for testing.")),
  test_image_content: () => done({ type: "image", data: PIXEL, mimeType: "image/png" }),
  test_audio_content: () => done({ type: "audio", data: SOUND, mimeType: "audio/wav" }),
  test_embedded_resource: () => done(embedded("test://embedded-resource", "text/plain", "This is embedded.")),
  test_multiple_content_types: () =>
    done(
      words("Several kinds:"),
      { type: "image", data: PIXEL, mimeType: "image/png" },
      embedded("test://mixed-content-resource", "application/json", '{"test":"data"}'),
    ),
  test_tool_with_logging: async ({ context }) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"])
      await context.mcpReq.log("info", line);
    return done(words("logged"));
  },
  test_error_handling: () => ({
    isError: true,
    ...done(words("This tool intentionally returns an error for testing")),
  }),
  test_tool_with_progress: async ({ context: { mcpReq } }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    return done(words("done"));
  },
  test_sampling: async ({ context, args }) => {
    const prompt = { role: "user" as const, content: { type: "text" as const, text: String(args.prompt) } };
    const { content } = await context.mcpReq.requestSampling({ messages: [prompt], maxTokens: 100 });
    return done(words(`LLM response: ${JSON.stringify(content)}`));
  },
  test_elicitation: (call) =>
    elicit(call, String(call.args.message), { username: { type: "string" }, email: { type: "string" } }),
  test_elicitation_sep1034_defaults: (call) =>
    elicit(call, "Please review", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  test_elicitation_sep1330_enums: (call) =>
    elicit(call, "Please choose", {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: options("value1", "value2", "value3") },
      legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: { type: "array", items: { anyOf: options("value1", "value2", "value3") } },
    }),
  test_reconnection: async ({ context }) => {
    context.http?.closeSSE?.();
    // The client comes back meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return done(words("reconnected"));
  },
  json_schema_2020_12_tool: () => done(words("ok")),
  test_missing_capability: ({ context }) => {
    if (capabilitiesOf(context).sampling === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return done(words("ok"));
  },
  test_streaming_elicitation: oneQuestion("user_name", askFor("name", "What is your name?")),
  test_logging_tool: async ({ context }) => {
    await context.mcpReq.log("info", "a line for those who want it");
    return done(words("ok"));
  },
  test_input_required_result_elicitation: (call) => {
    const name = answered(call, "user_name");
    if (name !== undefined) return done(words(`Hello, ${JSON.stringify(name.content)}!`));
    return inputRequired({ inputRequests: { user_name: askFor("name", "What is your name?") } });
  },
  test_input_required_result_sampling: oneQuestion("capital_question", ask("What is the capital of France?")),
  test_input_required_result_list_roots: oneQuestion("client_roots", inputRequired.listRoots()),
  test_input_required_result_request_state: stated("confirm", "state-ok"),
  test_input_required_result_tampered_state: stated("confirm", "accepted"),
  test_input_required_result_multiple_inputs: async (call) => {
    const keys = ["user_name", "greeting", "client_roots"];
    if (keys.every((key) => answered(call, key) !== undefined)) return done(words("all there"));
    const [first = "", second = "", third = ""] = keys;
    const inputRequests = {
      [first]: askFor("name", "What is your name?"),
      [second]: ask("Generate a greeting"),
      [third]: inputRequired.listRoots(),
    };
    return inputRequired({ inputRequests, requestState: await codec.mint({ step: 1 }, call.context) });
  },
  test_input_required_result_multi_round: async (call) => {
    const { step = 0 } = call.context.mcpReq.requestState<{ step: number }>() ?? {};
    if (step === 2 && answered(call, "step2")) return done(words("three rounds"));
    const next = step === 1 && answered(call, "step1") ? 2 : 1;
    const inputRequests = { [`step${next}`]: askFor(next === 1 ? "name" : "color", `Step ${next}`) };
    return inputRequired({ inputRequests, requestState: await codec.mint({ step: next }, call.context) });
  },
  test_input_required_result_capabilities: ({ context }) => {
    const has = capabilitiesOf(context);
    const inputRequests = {
      ...(has.elicitation !== undefined && { name: askFor("name", "What is your name?") }),
      ...(has.sampling !== undefined && { greeting: ask("Generate a greeting") }),
      ...(has.roots !== undefined && { roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0 ? done(words("nothing to ask")) : inputRequired({ inputRequests });
  },
};

/** One question with a state that must come back unchanged. */
function stated(key: string, end: string): Handler {
  return async (call) => {
    const state = call.context.mcpReq.requestState<{ step: number }>();
    if (state?.step === 1 && answered(call, key)) return done(words(end));
    const inputRequests = { [key]: askFor("ok", "Please confirm", "boolean") };
    return inputRequired({ inputRequests, requestState: await codec.mint({ step: 1 }, call.context) });
  };
}

const SCHEMAS: Readonly<Record<string, object>> = {
  test_sampling: field("prompt"),
  test_elicitation: field("message"),
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address: { $anchor: "address", type: "object", properties: { city: { type: "string" } } } },
    properties: { name: { type: "string" }, home: { $ref: "#/$defs/address" }, mail: { type: "string" } },
    allOf: [{ anyOf: [{ required: ["name"] }, { required: ["mail"] }] }],
    if: { required: ["name"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schemas
    then: { required: ["home"] },
    else: { required: ["mail"] },
    additionalProperties: false,
  },
};

const TOOLS = Object.keys(HANDLERS).map((name): Tool => {
  const inputSchema = SCHEMAS[name] ?? { type: "object", properties: {} };
  return {
    name,
    description: `Answers the scenarios that call ${name}.`,
    inputSchema: inputSchema as Tool["inputSchema"],
  };
});

const PROMPTS: Readonly<Record<string, (args: Readonly<Record<string, string>>) => readonly ContentBlock[]>> = {
  test_simple_prompt: () => [words("This is a simple prompt for testing.")],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  test_prompt_with_embedded_resource: ({ resourceUri = "" }) => [
    embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
    words("Please process the embedded resource above."),
  ],
  test_prompt_with_image: () => [{ type: "image", data: PIXEL, mimeType: "image/png" }, words("What is this?")],
};
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};
const ASKING_PROMPT = "test_input_required_result_prompt";

function prompt(name: string, args: Readonly<Record<string, string>>, { mcpReq }: ServerContext) {
  if (name === ASKING_PROMPT && mcpReq.inputResponses?.user_context === undefined)
    return inputRequired({ inputRequests: { user_context: askFor("context", "What context?") } });
  const content = name === ASKING_PROMPT ? [words("with context")] : PROMPTS[name]?.(args);
  if (content === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${name}.`);
  const messages = content.map((block) => ({ role: "user" as const, content: block }));
  return { messages } satisfies GetPromptResult;
}

const RESOURCES: Readonly<Record<string, { readonly text: string } | { readonly blob: string }>> = {
  "test://static-text": { text: "This is the content of the static text resource." },
  "test://static-binary": { blob: PIXEL },
  "test://watched-resource": { text: "watched" },
};

function read(uri: string) {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined)
    return [{ uri, mimeType: "application/json", text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }];
  const found = RESOURCES[uri];
  if (found === undefined) throw new ResourceNotFoundError(uri);
  return [{ uri, mimeType: "blob" in found ? "image/png" : "text/plain", ...found }];
}

export const CONFORMANCE_OFFER: McpOffer = {
  instructions: "",
  tools: TOOLS,
  templates: [{ name: "data", uriTemplate: "test://template/{id}/data", mimeType: "application/json" }],
  call: async (call) => HANDLERS[call.name]?.(call),
  resources: async () => Object.keys(RESOURCES).map((uri) => ({ uri, name: uri })),
  read: async (uri) => ({ contents: read(uri) }),
  prompts: async () =>
    [...Object.keys(PROMPTS), ASKING_PROMPT].map((name) => ({
      name,
      description: `Answers ${name}.`,
      arguments: (ARGUMENTS[name] ?? []).map((argument) => ({ name: argument, required: true })),
    })),
  prompt: async (name, args, context) => prompt(name, args, context),
  complete: async ({ argument }) => ["paris", "park"].filter((value) => value.startsWith(argument.value)),
  follow: async (uri) => RESOURCES[uri] !== undefined,
  watch: () => () => {},
  replay: async () => {},
  verifyState: codec.verify,
};
