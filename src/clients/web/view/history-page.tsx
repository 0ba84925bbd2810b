/** The past of a session: where the time went, and the conversation as it was at any moment. */
import { memo } from "preact/compat";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import { isJsonObject } from "../../../protocol/json.js";
import { slashRequest } from "../../../protocol/slash-command.js";
import type { PageProps } from "../pages.js";
import { addressOf, go } from "../router.js";
import { marksOf, Past, type StepSize } from "../state/past.js";
import { type TurnBand, timelineOf } from "../state/timeline.js";
import { loadAll, pastTime, type SessionView, sessions, showToast, tellSession, viewOf } from "../store.js";
import { ChangesView } from "./changes.js";
import { IconButton } from "./controls.js";
import { inspect } from "./inspector.js";
import { useKeys } from "./keys.js";
import { RunAgain } from "./run-again.js";
import { Todos } from "./session-page.js";
import { TopBar } from "./shell.js";
import { costText } from "./text.js";
import { Lanes } from "./timeline.js";
import { TurnView } from "./turn.js";

export function Page({ rest }: PageProps) {
  const [id, event] = rest;
  if (id === undefined || !isId("sess", id)) return <p class="empty">There is no such session.</p>;
  return <HistoryPage key={id} session={id} event={event === undefined ? undefined : Number(event)} />;
}

const SPEEDS = [1, 4, 16] as const;
const STEPS: readonly StepSize[] = ["event", "call", "turn"];
/** Turns before the moment that are drawn. */
const SHOWN_TURNS = 20;

function HistoryPage({ session, event }: { readonly session: SessionId; readonly event: number | undefined }) {
  const view = viewOf(session);
  const events = useAllEvents(view);
  const title = safeLine(sessions.value?.find(({ id }) => id === session)?.title ?? "History");
  useEffect(() => {
    document.title = `History of ${title} · Oxbow`;
  }, [title]);
  if (events === undefined) {
    return (
      <>
        <TopBar title={title} />
        <p class="empty">Reading the log …</p>
      </>
    );
  }
  if (events.length === 0) {
    return (
      <>
        <TopBar title={title} />
        <p class="empty">
          Nothing has happened in this session. <a href={addressOf("s", session)}>Write its first prompt</a>
        </p>
      </>
    );
  }
  return <Travel view={view} title={title} events={events} event={event} />;
}

interface TravelProps {
  readonly view: SessionView;
  readonly title: string;
  readonly events: readonly Envelope[];
  readonly event: number | undefined;
}

function Travel({ view, title, events, event }: TravelProps) {
  const { session } = view;
  const past = useMemo(() => new Past(session, events), [session, events]);
  const timeline = useMemo(() => timelineOf(events), [events]);
  const marks = useMemo(() => marksOf(events), [events]);
  const [count, setCount] = useState(() => (event === undefined ? events.length : past.countAt(event)));
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(1);
  const [plays, setPlays] = useState(false);
  const [again, setAgain] = useState(false);
  const moveTo = (next: number) => {
    setCount(next);
    const id = events[next - 1]?.id;
    // The link is of this moment; going back leaves the page at once.
    history.replaceState(null, "", addressOf("history", session, ...(id === undefined ? [] : [String(id)])));
  };
  const latest = useRef(moveTo);
  latest.current = moveTo;
  const select = useCallback((id: number) => latest.current(past.countAt(id)), [past]);
  const step = (size: StepSize, direction: 1 | -1) => {
    setPlays(false);
    moveTo(past.step(count, size, direction));
  };
  const play = () => {
    if (!plays && count === events.length) moveTo(0);
    setPlays(!plays);
  };
  useEffect(() => {
    if (!plays) return;
    if (count === events.length) return setPlays(false);
    const timer = setTimeout(
      () => setCount(nextFrame(past, count, speed)),
      Math.max(16, past.waitAfter(count) / speed),
    );
    return () => clearTimeout(timer);
  }, [plays, count, speed, past, events.length]);
  useKeys({
    " ": play,
    ArrowLeft: () => step("event", -1),
    ArrowRight: () => step("event", 1),
    "shift-ArrowLeft": () => step("call", -1),
    "shift-ArrowRight": () => step("call", 1),
    "alt-ArrowLeft": () => step("turn", -1),
    "alt-ArrowRight": () => step("turn", 1),
    Home: () => moveTo(0),
    End: () => moveTo(events.length),
  });
  const conversation = past.after(count);
  const moment = events[Math.max(0, count - 1)] as Envelope;
  const isPast = count < events.length;
  useLayoutEffect(() => {
    pastTime.value = isPast ? Date.parse(moment.ts) : undefined;
  }, [moment, isPast]);
  useEffect(() => leavePast, []);
  const turns = conversation.turns.slice(-SHOWN_TURNS);
  const number = conversation.turns.length;
  const band = timeline.turns[number - 1];
  const { usd, known } = conversation.costs.session;
  const clock = new Date(moment.ts).toLocaleTimeString();
  return (
    <>
      <TopBar title={title}>
        {usd > 0 && <span class="fact">{costText(usd, known)}</span>}
        <a class="fact secondary" href={addressOf("compare", session)}>
          Compare
        </a>
        <a class="fact" href={addressOf("s", session)}>
          Conversation
        </a>
      </TopBar>
      <main class={`history ${isPast ? "in-past" : ""}`}>
        <p class="moment-line" role="status">
          {isPast
            ? `As of ${clock}, ${number === 0 ? "before the first turn" : `turn ${number}`}`
            : `The end, ${clock}`}
          {isPast && (
            <button type="button" class="link" onClick={() => moveTo(events.length)}>
              Back to the end
            </button>
          )}
        </p>
        <Moment turns={turns} hidden={number - turns.length} moment={moment.id} />
        <Todos todos={conversation.todos} />
        <Lanes timeline={timeline} at={Date.parse(moment.ts)} onSelect={select} />
        <Scrubber {...{ count, marks, all: events.length }} onMove={moveTo} kind={moment.kind} />
        <div class="player">
          <button type="button" class="small" aria-pressed={plays} onClick={play}>
            {plays ? "Pause" : "Play"}
          </button>
          <select
            class="small"
            aria-label="Speed"
            value={speed}
            onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value) as typeof speed)}
          >
            {SPEEDS.map((times) => (
              <option key={times} value={times}>
                {times}×
              </option>
            ))}
          </select>
          {STEPS.map((size) => (
            <span key={size} class="steps">
              <IconButton name="left" label={`Back one ${size}`} onClick={() => step(size, -1)} />
              <span>{size}</span>
              <IconButton name="right" label={`On one ${size}`} onClick={() => step(size, 1)} />
            </span>
          ))}
          <span class="grow" />
          <button type="button" class="small" disabled={band?.parts === undefined} onClick={() => showTiming(band)}>
            Timing
          </button>
          <button type="button" class="small" onClick={() => showChanges(session, moment.id, clock)}>
            Files up to here
          </button>
          <button type="button" class="small" disabled={number === 0} onClick={() => setAgain(true)}>
            Run again
          </button>
          <button type="button" class="small primary" onClick={() => void branch(view, past, count)}>
            Branch from here
          </button>
        </div>
        {again && (
          <RunAgain
            view={view}
            from={number}
            last={past.after(events.length).turns.length}
            onClose={() => setAgain(false)}
          />
        )}
      </main>
    </>
  );
}

function leavePast(): void {
  pastTime.value = undefined;
}

/** Plays what a frame has time for: a stream of small deltas would take too many. */
function nextFrame(past: Past, count: number, speed: number): number {
  let next = count + 1;
  let time = past.waitAfter(next) / speed;
  while (next < past.events.length && time < 16) {
    next++;
    time += past.waitAfter(next) / speed;
  }
  return Math.min(next, past.events.length);
}

function Moment(props: {
  readonly turns: readonly Parameters<typeof TurnView>[0]["turn"][];
  readonly hidden: number;
  readonly moment: number;
}) {
  const { turns, hidden, moment } = props;
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = scroll.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, [moment]);
  return (
    <div class="turns" ref={scroll} tabIndex={0} role="group" aria-label="Conversation at this moment">
      {hidden > 0 && <p class="dim">{hidden} earlier turns</p>}
      {turns.length === 0 && <p class="empty">Nothing was said yet.</p>}
      {turns.map((turn) => (
        <TurnView key={turn.id} turn={turn} />
      ))}
    </div>
  );
}

interface ScrubberProps {
  readonly count: number;
  readonly all: number;
  readonly kind: string;
  readonly marks: ReturnType<typeof marksOf>;
  readonly onMove: (count: number) => void;
}

const MOST_MARKS = 800;

function Scrubber({ count, all, kind, marks, onMove }: ScrubberProps) {
  return (
    <div class="scrubber">
      <Marks marks={marks} all={all} />
      <input
        type="range"
        min={0}
        max={all}
        value={count}
        aria-label="Moment"
        aria-valuetext={`event ${count} of ${all}: ${kind}`}
        onInput={({ currentTarget }) => onMove(Number(currentTarget.value))}
      />
    </div>
  );
}

/** They stay as they are while the moment moves. */
const Marks = memo(({ marks, all }: Pick<ScrubberProps, "marks" | "all">) => {
  // Calls give way first: a line of nothing but marks says nothing.
  const shown = marks.length > MOST_MARKS ? marks.filter((mark) => mark.kind !== "call").slice(0, MOST_MARKS) : marks;
  return (
    <svg viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
      {shown.map((mark) => (
        <rect key={mark.count} class={mark.kind} x={(mark.count / all) * 1000} width={2} y={0} height={8} />
      ))}
    </svg>
  );
});

function showChanges(session: SessionId, until: number, clock: string): void {
  inspect({ title: `Files up to ${clock}`, view: () => <ChangesView session={session} until={until} /> });
}

/** The parts of a turn as the engine measured them: hooks, links, the model, tools, the log. */
function showTiming(band: TurnBand | undefined): void {
  const parts = Object.entries(band?.parts ?? {}).toSorted(([, a], [, b]) => b - a);
  const most = parts[0]?.[1] ?? 1;
  inspect({
    title: `Time of turn ${band?.number}`,
    view: () => (
      <table class="figures timing">
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Milliseconds</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(([name, ms]) => (
            <tr key={name}>
              <th scope="row">
                {safeLine(name)}
                <meter min={0} max={most} value={ms} aria-label={name} />
              </th>
              <td>{ms < 10 ? ms.toFixed(1) : Math.round(ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    ),
  });
}

/** A branch ends with a turn: the one that is over, or the one before the turn that is shown. */
async function branch(view: SessionView, past: Past, count: number): Promise<void> {
  const { turns } = past.after(count);
  const finished = turns.filter(({ end }) => end !== undefined).length;
  if (finished === 0) return showToast("No turn has ended at this moment, so there is nothing to branch from.", true);
  const told = await tellSession(view, "CustomCommand", slashRequest("session", `branch --turn ${finished}`));
  const value = isJsonObject(told?.value) && isJsonObject(told.value.value) ? told.value.value : undefined;
  if (typeof value?.id === "string") go("s", value.id);
}

/** All events of the session, once they are here; later ones come with those that are live. */
function useAllEvents(view: SessionView): readonly Envelope[] | undefined {
  const [events, setEvents] = useState<readonly Envelope[]>();
  const isLoaded = view.isLoaded.value;
  useEffect(() => {
    if (!isLoaded) return;
    let isOver = false;
    void (async () => {
      await loadAll(view, () => isOver);
      if (!isOver) setEvents([...view.events]);
    })();
    return () => {
      isOver = true;
    };
  }, [isLoaded, view]);
  return events;
}
