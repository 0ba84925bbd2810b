/** What was spent: by day, model, provider, project or session, as bars and as a table. */
import { useEffect, useState } from "preact/hooks";
import { groupDigits } from "../../../base/group-digits.js";
import { safeLine } from "../../../base/terminal-text.js";
import { isId } from "../../../protocol/ids.js";
import { COST_WAYS, type CostLine, type Queries } from "../../../protocol/queries.js";
import type { Usage } from "../../../protocol/usage.js";
import type { PageProps } from "../pages.js";
import { addressOf, go } from "../router.js";
import { ask, sessions } from "../store.js";
import { saveFile } from "./share.js";
import { TopBar } from "./shell.js";
import { costText, timeText } from "./text.js";

type Way = (typeof COST_WAYS)[number];

const PERIODS = [
  { name: "7", words: "7 days", days: 7 },
  { name: "30", words: "30 days", days: 30 },
  { name: "all", words: "All time", days: undefined },
] as const;

const DAY_MS = 86_400_000;

export function Page({ rest }: PageProps) {
  const by: Way = COST_WAYS.find((way) => way === rest[0]) ?? "day";
  const period = PERIODS.find(({ name }) => name === rest[1]) ?? PERIODS[1];
  const [answer, setAnswer] = useState<Queries["GetCosts"]["answer"]>();
  useEffect(() => {
    document.title = "Costs · Oxbow";
    const { days } = period;
    const since = days === undefined ? {} : { since: new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10) };
    void ask("GetCosts", { by, ...since }).then((found) => found !== undefined && setAnswer(found));
  }, [by, period]);
  const lines = by === "day" ? (answer?.lines ?? []).toSorted((a, b) => (a.name < b.name ? 1 : -1)) : answer?.lines;
  return (
    <>
      <TopBar title="Costs" />
      <main class="costs">
        <div class="filters">
          <Choice
            label="By"
            items={COST_WAYS.map((way) => ({ name: way, words: way }))}
            chosen={by}
            onChoose={(way) => go("costs", way, period.name)}
          />
          <Choice label="Time" items={PERIODS} chosen={period.name} onChoose={(name) => go("costs", by, name)} />
        </div>
        {answer === undefined && <p class="empty">Asking the engine …</p>}
        {answer !== undefined && answer.total.calls === 0 && (
          <p class="empty">No model was asked in this time. Costs appear here with the first answer.</p>
        )}
        {answer !== undefined && answer.total.calls > 0 && (
          <>
            <Total line={answer.total} />
            {by === "day" && <Chart lines={lines ?? []} days={period.days} />}
            <Table by={by} lines={lines ?? []} total={answer.total} />
            <p>
              <button type="button" class="small" onClick={() => saveCsv(by, lines ?? [])}>
                Save as CSV
              </button>
            </p>
          </>
        )}
      </main>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly items: readonly { readonly name: string; readonly words: string }[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
}

function Choice({ label, items, chosen, onChoose }: ChoiceProps) {
  return (
    <fieldset class="choice-row">
      <legend class="hidden">{label}</legend>
      {items.map(({ name, words }) => (
        <button key={name} type="button" class="small" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {words}
        </button>
      ))}
    </fieldset>
  );
}

function sentOf({ input, cache_read: read, cache_write: written }: Usage): number {
  return input + read + written;
}

/** The share of what was sent that the provider had kept; empty if nothing was sent. */
function cacheText(usage: Usage): string {
  const sent = sentOf(usage);
  return sent === 0 ? "" : `${Math.round((usage.cache_read / sent) * 100)} %`;
}

function usdText({ usd, unpriced }: CostLine): string {
  if (usd === null) return "no price";
  return costText(usd, unpriced === 0) || "$0";
}

function Total({ line }: { readonly line: CostLine }) {
  const facts = [
    ["Spent", usdText(line)],
    ["Calls", groupDigits(line.calls)],
    ["Tokens sent", groupDigits(sentOf(line.usage))],
    ["From the cache", cacheText(line.usage)],
    ["Tokens received", groupDigits(line.usage.output)],
  ];
  return (
    <dl class="totals">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const CHART_HEIGHT = 120;
const MOST_DAYS = 90;

/** Bars of the days, the newest on the right; days without a call have none. */
function Chart({
  lines,
  days: wanted = 1,
}: {
  readonly lines: readonly CostLine[];
  readonly days: number | undefined;
}) {
  const days = daysOf(lines, wanted);
  const hasPrice = lines.some(({ usd }) => (usd ?? 0) > 0);
  const heightOf = (line: CostLine | undefined) =>
    line === undefined ? 0 : hasPrice ? (line.usd ?? 0) : sentOf(line.usage) + line.usage.output;
  const most = Math.max(...days.map(({ line }) => heightOf(line)), Number.MIN_VALUE);
  const wide = 1000 / days.length;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 1000 ${CHART_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, line }, index) => {
          const high = (heightOf(line) / most) * (CHART_HEIGHT - 4);
          return (
            <rect
              key={day}
              x={index * wide + wide * 0.1}
              width={Math.min(wide * 0.8, 48)}
              y={CHART_HEIGHT - high}
              height={high}
            >
              <title>{line === undefined ? day : `${day}: ${usdText(line)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{days[0]?.day}</span>
        <span>{hasPrice ? "US dollars a day" : "tokens a day"}</span>
        <span>{days.at(-1)?.day}</span>
      </figcaption>
    </figure>
  );
}

function daysOf(
  lines: readonly CostLine[],
  least: number,
): readonly { readonly day: string; readonly line: CostLine | undefined }[] {
  const byDay = new Map(lines.map((line) => [line.name, line]));
  const names = [...byDay.keys()].sort();
  const last = Date.parse(names.at(-1) ?? "");
  const begin = Math.min(Date.parse(names[0] ?? ""), last - (least - 1) * DAY_MS);
  const first = Math.max(begin, last - (MOST_DAYS - 1) * DAY_MS);
  if (Number.isNaN(first) || Number.isNaN(last)) return [];
  const count = Math.round((last - first) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    return { day, line: byDay.get(day) };
  });
}

const HEADS: Readonly<Record<Way, string>> = {
  day: "Day",
  model: "Model",
  provider: "Provider",
  project: "Project",
  session: "Session",
};

interface TableProps {
  readonly by: Way;
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

function Table({ by, lines, total }: TableProps) {
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Costs">
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">{HEADS[by]}</th>
            {["Spent", "Calls", "Sent", "Cached", "Received", "Time"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.name}>
              <th scope="row">{nameOf(by, line)}</th>
              <Figures line={line} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <Figures line={total} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function nameOf(by: Way, { name }: CostLine) {
  if (by !== "session" || !isId("sess", name)) return safeLine(name);
  const title = sessions.value?.find(({ id }) => id === name)?.title;
  return <a href={addressOf("s", name)}>{safeLine(title ?? name)}</a>;
}

function Figures({ line }: { readonly line: CostLine }) {
  return (
    <>
      <td>{usdText(line)}</td>
      <td>{groupDigits(line.calls)}</td>
      <td>{groupDigits(sentOf(line.usage))}</td>
      <td>{cacheText(line.usage)}</td>
      <td>{groupDigits(line.usage.output)}</td>
      <td>{timeText(line.elapsed_ms)}</td>
    </>
  );
}

const COLUMNS = ["name", "usd", "calls", "input", "cache_read", "cache_write", "output", "elapsed_ms", "unpriced"];

function saveCsv(by: Way, lines: readonly CostLine[]): void {
  const rows = lines.map(({ name, usd, calls, usage, elapsed_ms: ms, unpriced }) => {
    const { input, cache_read: read, cache_write: written, output } = usage;
    return [quoted(name), usd ?? "", calls, input, read, written, output, ms, unpriced].join(",");
  });
  saveFile(`oxbow-costs-by-${by}.csv`, `${[COLUMNS.join(","), ...rows].join("\n")}\n`, "text/csv");
}

/** A cell that a spreadsheet takes for a formula begins with an apostrophe. */
function quoted(cell: string): string {
  const plain = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return `"${plain.replaceAll('"', '""')}"`;
}
