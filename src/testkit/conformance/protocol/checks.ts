/** Describes what must hold for everything that a client got. Each check returns the first problem as a sentence. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { show } from "./match.js";
import type { CheckName } from "./scenario.js";

export interface Reader {
  readonly name: string;
  /** In the order of arrival, over all its connections. */
  readonly events: readonly JsonObject[];
  /** Of the handshake. */
  readonly eventKinds: readonly JsonValue[];
}

type Check = (readers: readonly Reader[], value: JsonValue | undefined) => string | undefined;

/** Events of one connection that are not in the log have the id of the event before. */
const UNSAVED: ReadonlySet<unknown> = new Set(["StreamGap", "TokenExpiring"]);

export const CHECKS: Readonly<Record<CheckName, Check>> = {
  "no event is missing": each(({ name, events }) => {
    const ids = sortedIds(events);
    const gap = ids.findIndex((id, index) => index > 0 && id > (ids[index - 1] ?? 0) + 1);
    return gap === -1 ? undefined : `${name} got event ${ids[gap]} after ${ids[gap - 1]}`;
  }),
  "no event comes twice": each(({ name, events }) => {
    const ids = sortedIds(events);
    const twice = ids.find((id, index) => index > 0 && id === ids[index - 1]);
    return twice === undefined ? undefined : `${name} got event ${twice} twice`;
  }),
  "events come in order": each(({ name, events }) => {
    const ids = idsOf(events);
    const wrong = ids.findIndex((id, index) => index > 0 && id < (ids[index - 1] ?? 0));
    return wrong === -1 ? undefined : `${name} got event ${ids[wrong]} after ${ids[wrong - 1]}`;
  }),
  "events have the envelope": each(({ name, events }) => {
    const problem = events.map(envelopeProblem).find((found) => found !== undefined);
    return problem && `${name}: ${problem}`;
  }),
  "all got the same": (readers) => {
    const each = readers.map(({ name, events }) => ({ name, byId: byId(events) }));
    // A late reader need not have the events before it came.
    const start = Math.max(...each.map((reader) => Math.min(...reader.byId.keys())));
    const ids = new Set(each.flatMap((reader) => [...reader.byId.keys()]).filter((id) => id >= start));
    for (const id of ids) {
      const texts = each.map((reader) => reader.byId.get(id));
      const without = texts.indexOf(undefined);
      if (without !== -1) return `${each[without]?.name} did not get event ${id}, which another client got`;
      const other = texts.find((text) => text !== texts[0]);
      if (other !== undefined) return `event ${id} differs: one client got ${texts[0]}, another got ${other}`;
    }
    return undefined;
  },
  "events have the originator": each(({ name, events }, value) => {
    const other = events.find(({ originator }) => originator !== value);
    return (
      other &&
      `${name}: event ${show(other.id)} (${show(other.kind)}) is of ${show(other.originator)}, expected ${show(value)}`
    );
  }),
  "events belong to the session": each(({ name, events }, value) => {
    const other = events.find(({ session }) => session !== value);
    return other && `${name} got an event of ${show(other.session)}, expected only ${show(value)}`;
  }),
  "event kinds are announced": each(({ name, events, eventKinds }) => {
    const other = events.find(({ kind }) => kind !== undefined && !eventKinds.includes(kind));
    return other && `${name} got a ${show(other.kind)}, which the handshake does not name`;
  }),
  "the answer is whole": each(({ name, events }, value) => {
    const texts = events.filter(({ kind }) => kind === "TextDelta").map(({ payload }) => field(payload, "text"));
    const ended = events.find(({ kind }) => kind === "TurnEnded");
    if (ended === undefined) return `${name} got no TurnEnded`;
    const reported = field(ended.payload, "text");
    const joined = texts.join("");
    if (joined !== reported) return `${name}: the deltas say ${show(joined)}, TurnEnded says ${show(reported)}`;
    return value === undefined || joined === value
      ? undefined
      : `${name}: the answer is ${show(joined)}, expected ${show(value)}`;
  }),
  "there is no event": (readers, value) => {
    for (const { name, events } of readers) {
      const found = events.find(({ kind }) => value === undefined || kind === value);
      if (found !== undefined) return `${name} got ${show(found)}`;
    }
    return undefined;
  },
  "the first event is": each(({ name, events }, value) => {
    const first = events[0]?.id;
    return first === value ? undefined : `${name} got event ${show(first)} first, expected ${show(value)}`;
  }),
  "one turn at a time": each(({ name, events }) => {
    let open: JsonValue | undefined;
    for (const { kind, payload } of events) {
      const turn = field(payload, "turn");
      if (kind === "TurnStarted" && open !== undefined) return `${name}: a turn began before ${show(open)} ended`;
      if (kind === "TurnEnded" && open !== turn) return `${name}: ${show(turn)} ended, but ${show(open)} was running`;
      if (kind === "TurnStarted") open = turn;
      if (kind === "TurnEnded") open = undefined;
    }
    return undefined;
  }),
};

function each(check: (reader: Reader, value: JsonValue | undefined) => string | undefined): Check {
  return (readers, value) => {
    for (const reader of readers) {
      if (reader.events.length === 0) return `${reader.name} got no events`;
      const problem = check(reader, value);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function idsOf(events: readonly JsonObject[]): readonly number[] {
  return events.filter(({ kind }) => !UNSAVED.has(kind)).map(({ id }) => Number(id));
}

function sortedIds(events: readonly JsonObject[]): readonly number[] {
  return [...idsOf(events)].sort((a, b) => a - b);
}

function byId(events: readonly JsonObject[]): ReadonlyMap<number, string> {
  return new Map(events.filter(({ kind }) => !UNSAVED.has(kind)).map((event) => [Number(event.id), canonical(event)]));
}

function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join(",")}}`;
}

function field(payload: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(payload) ? payload[name] : undefined;
}

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
const SHAPES: readonly (readonly [string, (value: JsonValue | undefined) => boolean])[] = [
  ["id", (value) => Number.isSafeInteger(value) && Number(value) >= 0],
  ["kind", (value) => typeof value === "string" && value !== ""],
  ["session", (value) => fits(value, `^sess_${ULID}$`)],
  ["originator", (value) => fits(value, `^cli_${ULID}$`)],
  ["ts", (value) => fits(value, "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$")],
  ["payload", (value) => isJsonObject(value)],
];

function envelopeProblem(event: JsonObject): string | undefined {
  const wrong = SHAPES.find(([name, isRight]) => !isRight(event[name]));
  return wrong && `event ${show(event.id)}: "${wrong[0]}" is ${show(event[wrong[0]])}`;
}

function fits(value: JsonValue | undefined, pattern: string): boolean {
  return typeof value === "string" && new RegExp(pattern).test(value);
}
