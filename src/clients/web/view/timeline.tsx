/** The lanes of a session: turns as bands, time to the right. The wheel zooms, a drag moves, a click selects. */
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Axis, axisOf, LANES, type Span, type Timeline, type TurnBand } from "../state/timeline.js";
import { costText, timeText } from "./text.js";

export interface LanesProps {
  readonly timeline: Timeline;
  /** The time of the moment that is shown. */
  readonly at: number;
  readonly onSelect: (event: number) => void;
}

const ROW = 14;
const BAND = 20;
const COSTS = 28;
/** Spans nearer than this are drawn as one. */
const LEAST_PX = 1;
const MOST_ZOOM = 20_000;

interface Window {
  readonly from: number;
  readonly length: number;
}

export function Lanes({ timeline, at, onSelect }: LanesProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const axis = useMemo(() => axisOf(timeline), [timeline]);
  const [chosen, choose] = useState<Window>();
  const shown = clamp(chosen ?? { from: 0, length: axis.length }, axis.length);
  const x = (time: number) => ((axis.at(time) - shown.from) / shown.length) * width;
  const rows = useMemo(() => rowsOf(timeline), [timeline]);
  const height = BAND + rows.height + COSTS;
  const zoom = (factor: number, middle = shown.from + shown.length / 2) => {
    const length = shown.length * factor;
    const share = (middle - shown.from) / shown.length;
    choose(clamp({ from: middle - share * length, length }, axis.length));
  };
  const move = (share: number) => choose(clamp({ ...shown, from: shown.from + share * shown.length }, axis.length));
  useWheel(frame, (event, px) => {
    if (event.ctrlKey || Math.abs(event.deltaY) > Math.abs(event.deltaX)) {
      zoom(Math.exp(event.deltaY / 300), shown.from + (px / Math.max(1, width)) * shown.length);
    } else move(event.deltaX / Math.max(1, width));
  });
  const drag = useRef<{ readonly x: number; readonly from: number } | undefined>(undefined);
  const onKeyDown = (event: KeyboardEvent) => {
    const act = {
      "+": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => choose(undefined),
      "<": () => move(-0.25),
      ">": () => move(0.25),
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <div class="lanes">
      <div class="lane-names" aria-hidden="true">
        <span class="band-name">turns</span>
        {rows.lanes.map(({ lane, top, height: high }) => (
          <span key={lane} style={{ top: BAND + top, height: high }}>
            {NAMES[lane]}
          </span>
        ))}
        <span style={{ top: BAND + rows.height, height: COSTS }}>cost</span>
      </div>
      <div
        class="lane-frame"
        ref={frame}
        role="group"
        aria-label="Timeline. Plus and minus zoom, 0 shows all."
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, from: shown.from };
        }}
        onPointerMove={(event) => {
          if (drag.current === undefined || event.buttons === 0) return;
          const by = ((drag.current.x - event.clientX) / Math.max(1, width)) * shown.length;
          if (by !== 0) choose(clamp({ ...shown, from: drag.current.from + by }, axis.length));
        }}
        onPointerUp={() => {
          drag.current = undefined;
        }}
      >
        <svg width={width} height={height} aria-hidden="true">
          <Drawing {...{ timeline, axis, rows, width, height, onSelect }} from={shown.from} length={shown.length} />
          <line class="moment" x1={x(at)} x2={x(at)} y1={0} y2={height} />
        </svg>
      </div>
    </div>
  );
}

interface DrawingProps {
  readonly timeline: Timeline;
  readonly axis: Axis;
  readonly rows: ReturnType<typeof rowsOf>;
  readonly from: number;
  readonly length: number;
  readonly width: number;
  readonly height: number;
  readonly onSelect: (event: number) => void;
}

/** All but the moment: it stays as it is while that moves. */
const Drawing = memo(({ timeline, axis, rows, from: start, length, width, height, onSelect }: DrawingProps) => {
  const x = (time: number) => ((axis.at(time) - start) / length) * width;
  const visible = timeline.turns.filter(({ from, to }) => x(to) >= 0 && x(from) <= width);
  const most = timeline.turns.reduce((sum, { usd }) => Math.max(sum, usd), 0);
  return (
    <>
      {visible.map((turn) => (
        <Band key={turn.event} turn={turn} from={x(turn.from)} to={x(turn.to)} height={height} onSelect={onSelect} />
      ))}
      {spansWithin(timeline.spans, x, width).map(({ span, from, to }) => (
        <SpanView key={`${span.lane} ${span.event}`} {...{ span, from, to, onSelect }} y={BAND + rows.top(span)} />
      ))}
      {most > 0 &&
        visible.map(({ event, usd, from, to }) => {
          const high = (usd / most) * (COSTS - 8);
          const wide = Math.max(2, x(to) - x(from));
          return (
            <rect key={event} class="cost-bar" x={x(from)} width={wide} y={height - 4 - high} height={high}>
              <title>{costText(usd)}</title>
            </rect>
          );
        })}
    </>
  );
});

interface BandProps {
  readonly turn: TurnBand;
  readonly from: number;
  readonly to: number;
  readonly height: number;
  readonly onSelect: (event: number) => void;
}

function Band({ turn, from, to, height, onSelect }: BandProps) {
  const width = Math.max(1, to - from);
  const { number, title, usd } = turn;
  const facts = [timeText(turn.to - turn.from), costText(usd)].filter((text) => text !== "").join(", ");
  return (
    <g class={`band ${turn.outcome ?? "open"}`} onClick={() => onSelect(turn.event)}>
      <rect x={from} width={width} y={0} height={height} />
      {width > 24 && (
        <text x={Math.max(from, 0) + 4} y={14}>
          {number}
          {width > 120 && ` ${title.slice(0, Math.floor((width - 40) / 7))}`}
        </text>
      )}
      <title>{`turn ${number}: ${title}${facts === "" ? "" : ` (${facts})`}`}</title>
    </g>
  );
}

const NAMES: Readonly<Record<Span["lane"], string>> = {
  "waiting for the model": "model",
  answer: "answer",
  tools: "tools",
  "waiting for you": "you",
  subagents: "subagents",
};

const TONES: Readonly<Record<Span["lane"], string>> = {
  "waiting for the model": "waits",
  answer: "answers",
  tools: "tools",
  "waiting for you": "asks",
  subagents: "agents",
};

interface SpanProps {
  readonly span: Span;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly onSelect: (event: number) => void;
}

function SpanView({ span, from, to, y, onSelect }: SpanProps) {
  const { lane, label, usage, usd, failed } = span;
  const width = Math.max(LEAST_PX, to - from);
  const tokens = usage && `${usage.input + usage.cache_read + usage.cache_write} in, ${usage.output} out`;
  const facts = [timeText(span.to - span.from), tokens, usd === undefined ? "" : costText(usd)].filter(Boolean);
  const said = `${label === "" ? lane : label}${failed ? ", failed" : ""}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
  return (
    <g
      class={`span ${TONES[lane]} ${failed ? "failed" : ""}`}
      onClick={(event) => {
        event.stopPropagation();
        onSelect(span.end ?? span.event);
      }}
    >
      <rect x={from} width={width} y={y + 2} height={ROW - 4} rx={Math.min(2, width / 2)} />
      {width > 48 && label !== "" && (
        <text x={Math.max(from, 0) + 4} y={y + ROW - 4}>
          {label.slice(0, Math.floor((width - 8) / 6.5))}
        </text>
      )}
      <title>{said}</title>
    </g>
  );
}

/** The spans that the window shows. Those that would cover the same pixel of their row are left out. */
function spansWithin(spans: readonly Span[], x: (time: number) => number, width: number) {
  const ends = new Map<string, number>();
  return spans.flatMap((span) => {
    const [from, to] = [x(span.from), x(span.to)];
    if (to < 0 || from > width) return [];
    const row = `${span.lane} ${span.row}`;
    if (to - (ends.get(row) ?? Number.NEGATIVE_INFINITY) < LEAST_PX) return [];
    ends.set(row, Math.max(to, from + LEAST_PX));
    return [{ span, from: Math.max(from, -2), to: Math.min(to, width + 2) }];
  });
}

const MOST_ROWS = 4;

/** The lanes that hold something, each with its rows. */
function rowsOf({ spans }: Timeline) {
  let top = 0;
  const lanes = LANES.flatMap((lane) => {
    const own = spans.filter((span) => span.lane === lane);
    if (own.length === 0) return [];
    const height = ROW * Math.min(MOST_ROWS, 1 + Math.max(...own.map(({ row }) => row)));
    const row = { lane, top, height };
    top += height + 4;
    return [row];
  });
  const tops = new Map(lanes.map((row) => [row.lane, row.top]));
  const topOf = ({ lane, row }: Span) => (tops.get(lane) ?? 0) + (row % MOST_ROWS) * ROW;
  return { lanes, height: top, top: topOf };
}

function clamp({ from, length }: Window, all: number): Window {
  const long = Math.min(all, Math.max(all / MOST_ZOOM, length));
  return { from: Math.min(Math.max(0, from), all - long), length: long };
}

function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** A listener that may keep the page from scrolling, which those of JSX may not. */
function useWheel(
  frame: { readonly current: HTMLElement | null },
  take: (event: WheelEvent, px: number) => void,
): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      latest.current(event, event.clientX - element.getBoundingClientRect().left);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
}
