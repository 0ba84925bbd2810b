/** Calls that run as a task (2025-11-25): the server answers with a task, which is asked about until it has ended. */
import type { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../protocol/json.js";

interface TaskCall {
  readonly name: string;
  readonly args: JsonObject;
}

interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly pollInterval?: number;
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
const POLL_MS = 1000;
const LEAST_POLL_MS = 100;
const MOST_POLL_MS = 10_000;

type Schema = Extract<Parameters<Client["request"]>[1], { readonly "~standard": unknown }>;
/** Takes any object: what is used of it is checked where it is used. */
const ANY = {
  "~standard": { version: 1, vendor: "oxbow", validate: (value: unknown) => ({ value }) },
} as Schema;

export async function callAsTask(
  client: Client,
  { name, args }: TaskCall,
  options: RequestOptions & { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<CallToolResult> {
  const { timeoutMs, onprogress: _, ...plain } = options;
  const ask = (method: string, params: Record<string, unknown>) => client.request({ method, params }, ANY, plain);
  const created = (await client.request(
    { method: "tools/call", params: { name, arguments: args, task: { ttl: timeoutMs } } },
    ANY,
    plain,
  )) as Record<string, unknown>;
  let task = taskOf(created.task);
  if (task === undefined) return created as unknown as CallToolResult;
  const until = Date.now() + timeoutMs;
  const { taskId } = task;
  try {
    while (!ENDED.has(task.status) && task.status !== "input_required") {
      if (Date.now() > until) throw new Error("The task did not end in time.");
      await pause(Math.min(MOST_POLL_MS, Math.max(LEAST_POLL_MS, task.pollInterval ?? POLL_MS)), options.signal);
      task = taskOf(await ask("tasks/get", { taskId })) ?? task;
    }
  } catch (error) {
    void ask("tasks/cancel", { taskId }).catch(() => {});
    throw error;
  }
  if (task.status === "cancelled") throw new Error(`The server cancelled the task. ${task.statusMessage ?? ""}`.trim());
  return (await ask("tasks/result", { taskId })) as CallToolResult;
}

function taskOf(value: unknown): Task | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { taskId, status } = value as Partial<Task>;
  return typeof taskId === "string" && typeof status === "string" ? (value as Task) : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new Error("cancelled"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
