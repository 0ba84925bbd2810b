/**
 * Runs a hook that is not a program: a request, a question to a model, a tool of an MCP server. The runtime supplies the services.
 *
 * 1. It never rejects, and never waits longer than the deadline.
 * 2. A request contains only those variables that the hook lists.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { ConfiguredHook } from "./configuration.js";
import type { HttpHandler, McpHandler, ModelHandler } from "./hook-handler.js";
import type { HookEnd, HookPlace } from "./run-hook.js";
import { filledPrompt } from "./verdict.js";

export interface HookServices {
  /** Rejects if the address is refused or cannot be reached. Redirects are not followed. */
  post(request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly scope: ConfiguredHook["scope"];
    readonly signal: AbortSignal;
  }): Promise<{ readonly status: number; readonly text: string }>;
  /** The value of an environment variable for a header. */
  variable(name: string, scope: ConfiguredHook["scope"]): string | undefined;
  /** The model's last words. Rejects if it gives none. */
  ask(question: Pick<ModelHandler, "type" | "model" | "prompt"> & { readonly signal: AbortSignal }): Promise<string>;
  /** The text of the tool's result. Rejects if there is no such tool, or if it fails. */
  callTool(call: Omit<McpHandler, "type"> & { readonly signal: AbortSignal }): Promise<string>;
}

export interface ServiceStart {
  readonly hook: ConfiguredHook;
  /** The event as JSON. */
  readonly input: string;
  readonly signal?: AbortSignal;
}

export async function runService(
  { hook, input, signal }: ServiceStart,
  { clock, services }: Pick<HookPlace, "clock"> & { readonly services: HookServices },
): Promise<HookEnd> {
  const deadline = new AbortController();
  const stopTimer = clock.after(hook.timeoutMs, () => deadline.abort());
  const either = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
  const aborted = new Promise<"aborted">((resolve) => either.addEventListener("abort", () => resolve("aborted")));
  try {
    const end = await Promise.race([serve({ hook, input, signal: either }, services), aborted]);
    if (end !== "aborted") return end;
  } catch (error) {
    if (!either.aborted) return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  } finally {
    stopTimer();
  }
  return { kind: deadline.signal.aborted ? "timeout" : "cancelled" };
}

type Serving = Required<ServiceStart>;

async function serve(start: Serving, services: HookServices): Promise<HookEnd> {
  const { handler } = start.hook;
  switch (handler.type) {
    case "http":
      return post(handler, start, services);
    case "mcp_tool": {
      const { server, tool } = handler;
      const event = JSON.parse(start.input) as JsonObject;
      const input = filledInput(handler.input, event) as JsonObject;
      return ended(await services.callTool({ server, tool, input, signal: start.signal }));
    }
    case "prompt":
    case "agent": {
      const { type, model } = handler;
      const prompt = filledPrompt(handler.prompt, start.input);
      return {
        kind: "judged",
        text: await services.ask({ type, prompt, signal: start.signal, ...(model !== undefined && { model }) }),
      };
    }
    default:
      throw new Error("a command is a program");
  }
}

async function post(
  { url, headers, variables }: HttpHandler,
  start: Serving,
  services: HookServices,
): Promise<HookEnd> {
  const { hook, input, signal } = start;
  const value = (name: string) => (variables.includes(name) ? (services.variable(name, hook.scope) ?? "") : "");
  const filled = Object.entries(headers).map(([name, text]) => [
    name.toLowerCase(),
    text.replaceAll(/\$\{(\w+)\}|\$(\w+)/g, (_, braced?: string, bare = "") => value(braced ?? bare)),
  ]);
  const { status, text } = await services.post({
    ...{ url, body: input, scope: hook.scope, signal },
    headers: { "content-type": "application/json", ...(Object.fromEntries(filled) as Record<string, string>) },
  });
  if (status < 200 || status > 299) return { kind: "failed", message: `the server answered with status ${status}` };
  if (text.trim() !== "" && !isJson(text)) return { kind: "failed", message: "the server did not answer with JSON" };
  return ended(text);
}

function ended(stdout: string): HookEnd {
  return { kind: "ended", output: { exitCode: 0, stdout, stderr: "" } };
}

function isJson(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text) as JsonValue);
  } catch {
    return false;
  }
}

/** `${tool_input.file_path}` in a text stands for that field of the event. */
function filledInput(value: JsonValue, event: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((each) => filledInput(each, event));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filledInput(each ?? null, event)]));
  if (typeof value !== "string") return value;
  return value.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => fieldOf(event, path.split(".")));
}

function fieldOf(value: JsonValue | undefined, [name, ...rest]: readonly string[]): string {
  if (name === undefined) return typeof value === "string" ? value : JSON.stringify(value ?? "");
  return isJsonObject(value) && Object.hasOwn(value, name) ? fieldOf(value[name], rest) : "";
}
