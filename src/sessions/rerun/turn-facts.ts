/** Describes what each turn of a session did, for a comparison and for clients that show a session by turns. Holds one turn at a time. */
import { createHash } from "node:crypto";
import { shorten } from "../../base/cap-text.js";
import { safeLine } from "../../base/terminal-text.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { CallInfo, FileChange, TurnInfo } from "../../protocol/queries.js";
import { roundUsd } from "../../protocol/usage.js";
import { turnsOf } from "../branch.js";

/** A file with the lines that the results of a turn say about it. */
export type ChangedLines = Pick<FileChange, "path" | "change" | "added" | "removed">;

export interface TurnFacts {
  readonly info: TurnInfo;
  readonly calls: readonly CallInfo[];
  readonly files: readonly ChangedLines[];
  /** Equal for turns with the same input, calls, answer and outcome: ids, times and costs do not count. */
  readonly work: string;
}

const MOST_ARGUMENTS = 200;

export async function* turnFacts(events: AsyncIterable<Envelope>): AsyncGenerator<TurnFacts> {
  /** Of the open turn, and of the one before while it is handed out. */
  const gathered = new Map<number, Gathered>();
  let current: Gathered | undefined;
  async function* watched() {
    for await (const event of events) {
      if (event.kind === "TurnStarted") {
        current = new Gathered();
        gathered.set(event.id, current);
      }
      current?.take(event);
      yield event;
    }
  }
  for await (const turn of turnsOf(watched())) {
    const { startEvent, endEvent, startedAt, outcome, toolCalls, number, input, text, usage } = turn;
    const { calls, files, model, usd, endedAt, work } = gathered.get(startEvent) ?? new Gathered();
    gathered.delete(startEvent);
    const info: TurnInfo = {
      number,
      turn: turn.turn,
      start_event: startEvent,
      ...(endEvent !== undefined && { end_event: endEvent }),
      started_at: startedAt,
      ...(endedAt !== undefined && { elapsed_ms: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) }),
      ...(outcome !== undefined && { outcome }),
      ...(model !== undefined && { model }),
      ...{ input, text, calls: toolCalls, usage },
      ...(usd !== undefined && { usd }),
    };
    yield { info, calls: [...calls.values()], files: [...files.values()], work: work.digest("hex") };
  }
}

class Gathered {
  readonly calls = new Map<CallId, CallInfo>();
  readonly files = new Map<string, ChangedLines>();
  model: string | undefined;
  usd: number | undefined;
  endedAt: string | undefined;
  readonly work = createHash("sha256");

  take({ kind, ts, payload }: Envelope): void {
    if (kind === "TurnStarted") this.#note(payload.input);
    else if (kind === "ToolCallStarted") {
      const { call, tool, args } = payload;
      this.#note([tool, args]);
      this.calls.set(call, { call, tool, args: argumentLine(args) });
    } else if (kind === "ToolResult") {
      const known = this.calls.get(payload.call);
      if (known !== undefined) this.calls.set(payload.call, { ...known, status: payload.status });
      this.#note(payload.status);
      if (payload.status === "ok") this.#addFiles(payload.details);
    } else if (kind === "CostIncremented") {
      const { provider, model, cost, abandoned, purpose } = payload;
      if (abandoned !== true && purpose === undefined) this.model = `${provider}:${model}`;
      if (cost !== undefined) this.usd = roundUsd((this.usd ?? 0) + cost.usd);
    } else if (kind === "TurnEnded") {
      this.#note([payload.outcome, payload.text]);
      this.endedAt = ts;
    }
  }

  #note(value: unknown): void {
    this.work.update(`${JSON.stringify(value)}\n`);
  }

  #addFiles(details: EventPayloads["ToolResult"]["details"]): void {
    const list = Array.isArray(details?.files)
      ? details.files.filter(isJsonObject)
      : details === undefined
        ? []
        : [details];
    for (const file of list) {
      const { path, added, removed } = file;
      if (typeof path !== "string" || typeof added !== "number" || typeof removed !== "number") continue;
      const known = this.files.get(path);
      this.files.set(path, {
        path,
        change: known?.change ?? changeOf(file),
        added: (known?.added ?? 0) + added,
        removed: (known?.removed ?? 0) + removed,
      });
    }
  }
}

function changeOf({ created, kind }: JsonObject): FileChange["change"] {
  if (created === true || kind === "added") return "new";
  return kind === "deleted" ? "deleted" : "changed";
}

/** `make test`, or `path=a.txt content=…`. */
function argumentLine(args: JsonObject): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  const text = (value: JsonValue | undefined) => (typeof value === "string" ? value : JSON.stringify(value));
  const words = given.map(([name, value]) => (given.length === 1 ? text(value) : `${name}=${text(value)}`)).join(" ");
  return shorten(safeLine(words), MOST_ARGUMENTS);
}
