/** Scripts in code: `script([reply().text("Let me look.").tool("read", { path: "a.txt" }), reply().text("Done.")])`. */
import type { JsonObject } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import {
  type Action,
  type Condition,
  type ErrorAction,
  misplaced,
  type Pace,
  type Reply,
  type Script,
  type Split,
  type StopReason,
  type Test,
} from "./script.js";

export type ScriptOptions = Omit<Script, "replies">;

export function script(replies: readonly (Reply | ReplyBuilder)[], options: ScriptOptions = {}): Script {
  return { ...options, replies: replies.map((one) => (one instanceof ReplyBuilder ? one.reply : one)) };
}

/** The answer to one model call; empty by default. */
export function reply(): ReplyBuilder {
  return new ReplyBuilder({ actions: [] });
}

export interface TextOptions extends Pace {
  readonly repeat?: number;
}

export interface ThinkingOptions extends TextOptions {
  readonly signature?: string;
}

export interface ToolOptions extends Pace {
  readonly id?: string;
}

/** Every method returns a new builder, so replies can share a beginning. */
export class ReplyBuilder {
  readonly reply: Reply;

  constructor(reply: Reply) {
    this.reply = reply;
  }

  text(text: string, options: TextOptions = {}): ReplyBuilder {
    return this.#then({ type: "text", text, ...options });
  }

  thinking(text: string, options: ThinkingOptions = {}): ReplyBuilder {
    return this.#then({ type: "thinking", text, ...options });
  }

  redactedThinking(data: string): ReplyBuilder {
    return this.#then({ type: "redacted-thinking", data });
  }

  /** `args` as a string is sent unchanged, so it may be broken JSON. */
  tool(name: string, args: JsonObject | string = {}, options: ToolOptions = {}): ReplyBuilder {
    return this.#then({ type: "tool", name, args: typeof args === "string" ? args : JSON.stringify(args), ...options });
  }

  delay(ms: number): ReplyBuilder {
    return this.#then({ type: "delay", ms });
  }

  /** Sends the headers and the opening of the stream now. */
  start(): ReplyBuilder {
    return this.#then({ type: "start" });
  }

  ping(): ReplyBuilder {
    return this.#then({ type: "ping" });
  }

  comment(text: string): ReplyBuilder {
    return this.#then({ type: "comment", text });
  }

  event(name: string, data: JsonObject | string): ReplyBuilder {
    return this.#then({ type: "event", name, data: typeof data === "string" ? data : JSON.stringify(data) });
  }

  garbage(text = "{not json"): ReplyBuilder {
    return this.#then({ type: "garbage", text });
  }

  raw(text: string): ReplyBuilder {
    return this.#then({ type: "raw", text });
  }

  html(text: string, status = 200): ReplyBuilder {
    return this.#then({ type: "html", status, text });
  }

  /** An HTTP error if it comes first, else an error in the stream. */
  error(error: Omit<ErrorAction, "type">): ReplyBuilder {
    return this.#then({ type: "error", ...error });
  }

  drop(how: "close" | "reset" = "close"): ReplyBuilder {
    return this.#then({ type: "drop", how });
  }

  cut(): ReplyBuilder {
    return this.#then({ type: "cut" });
  }

  hang(): ReplyBuilder {
    return this.#then({ type: "hang" });
  }

  /** Counts how many calls this reply answers; `Infinity` for all. */
  times(times: number): ReplyBuilder {
    return this.#set({ times });
  }

  /** `when("word")` looks for the word in the last user text. */
  when(subject: string, test?: Test): ReplyBuilder {
    const condition = test === undefined ? { subject: "last-user", test: { contains: subject } } : { subject, test };
    return this.#set({ when: [...(this.reply.when ?? []), condition] });
  }

  expect(subject: string, test: Test): ReplyBuilder {
    return this.#expect({ subject, test });
  }

  expectNot(subject: string, test: Test): ReplyBuilder {
    return this.#expect({ subject, test, not: true });
  }

  usage(usage: Partial<Usage> | "none"): ReplyBuilder {
    return this.#set({ usage });
  }

  /** A word of `STOP_REASONS`, or the wire's own. */
  stop(reason: StopReason | (string & {})): ReplyBuilder {
    return this.#set({ stop: reason });
  }

  header(name: string, value: string): ReplyBuilder {
    return this.#set({ headers: { ...this.reply.headers, [name.toLowerCase()]: value } });
  }

  split(split: Split): ReplyBuilder {
    return this.#set({ split });
  }

  flushEachDelta(): ReplyBuilder {
    return this.#set({ flush: "each-delta" });
  }

  #expect(condition: Condition): ReplyBuilder {
    return this.#set({ expect: [...(this.reply.expect ?? []), condition] });
  }

  #set(settings: Partial<Reply>): ReplyBuilder {
    return new ReplyBuilder({ ...this.reply, ...settings });
  }

  #then(action: Action): ReplyBuilder {
    const problem = misplaced(action, this.reply.actions);
    if (problem !== undefined) throw new Error(`Mock script: ${problem}.`);
    return this.#set({ actions: [...this.reply.actions, action] });
  }
}
