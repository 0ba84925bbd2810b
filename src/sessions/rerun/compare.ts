/**
 * Sessions side by side, aligned by the number of their turns.
 *
 * 1. Turns are the same when they did the same work (turn-facts.ts).
 * 2. The turns at the beginning that one has as a copy of the other are counted and left out: they cost nothing there.
 */
import { formatUsd } from "../../base/budget-text.js";
import { formatDuration } from "../../base/duration.js";
import { groupDigits } from "../../base/group-digits.js";
import { safeLine } from "../../base/terminal-text.js";
import { padText, truncateText } from "../../base/text-width.js";
import type { ComparedTotals, ComparedTurn, Comparison } from "../../protocol/queries.js";
import { addUsage, NO_USAGE, roundUsd, type Usage } from "../../protocol/usage.js";
import type { SessionRecord } from "../store.js";
import type { ChangedLines, TurnFacts } from "./turn-facts.js";

export interface ComparedSession {
  readonly record: SessionRecord;
  readonly turns: readonly TurnFacts[];
  /** The changed files of a turn by the undo records; undefined where they do not say. */
  filesOf(turn: TurnFacts): readonly ChangedLines[] | undefined;
}

export function compare(sessions: readonly ComparedSession[]): Comparison {
  const most = Math.max(...sessions.map(({ turns }) => turns.length));
  const rows = Array.from({ length: most }, (_, index) => sessions.map(({ turns }) => turns[index]));
  const isSame = rows.map((row) => row.every((turn) => turn !== undefined && turn.work === row[0]?.work));
  const shared = rows.findIndex(
    (row, index) => !isSame[index] || row.some((turn) => turn?.info.started_at !== row[0]?.info.started_at),
  );
  const same = shared === -1 ? most : shared;
  const shown = rows.slice(same).map((row, index) => ({
    number: same + index + 1,
    same: isSame[same + index] === true,
    sides: row.map((turn, side) => (turn === undefined ? null : comparedTurn(turn, sessions[side]))),
  }));
  return {
    sessions: sessions.map(({ record }, side) => ({
      id: record.id,
      ...(record.title !== undefined && { title: record.title }),
      model: modelOf(shown.map(({ sides }) => sides[side])) ?? `${record.provider}:${record.model}`,
      ...(record.branch_of !== undefined && { branch_of: record.branch_of }),
      totals: totalsOf(shown.flatMap(({ sides }) => sides[side] ?? [])),
    })),
    same_turns: same,
    turns: shown,
  };
}

function comparedTurn(turn: TurnFacts, session: ComparedSession | undefined): ComparedTurn {
  return { ...turn.info, made: turn.calls, files: session?.filesOf(turn) ?? turn.files };
}

function modelOf(turns: readonly (ComparedTurn | null | undefined)[]): string | undefined {
  return turns.findLast((turn) => turn?.model !== undefined)?.model;
}

function totalsOf(turns: readonly ComparedTurn[]): ComparedTotals {
  const files = turns.flatMap((turn) => turn.files);
  const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, each) => all + (each ?? 0), 0);
  const priced = turns.filter(({ usd }) => usd !== undefined);
  return {
    turns: turns.length,
    calls: sum(turns.map(({ calls }) => calls)),
    files: new Set(files.map(({ path }) => path)).size,
    added: sum(files.map(({ added }) => added)),
    removed: sum(files.map(({ removed }) => removed)),
    usage: turns.reduce<Usage>((all, { usage }) => addUsage(all, usage), NO_USAGE),
    elapsed_ms: sum(turns.map(({ elapsed_ms }) => elapsed_ms)),
    ...(priced.length > 0 && { usd: roundUsd(sum(priced.map(({ usd }) => usd))) }),
  };
}

const LABEL = 10;
const GAP = 2;
const NARROWEST = 24;
const WITHOUT_SCREEN = 120;

/** In columns, a session each. */
export function renderComparison({ sessions, same_turns: same, turns }: Comparison, width = WITHOUT_SCREEN): string {
  const column = Math.max(NARROWEST, Math.floor((width - LABEL) / sessions.length) - GAP);
  const row = (label: string, cells: readonly string[]) => {
    const shown = cells.map((cell) => padText(truncateText(safeLine(cell), column), column));
    return `${padText(label, LABEL)}${shown.join(" ".repeat(GAP))}`.trimEnd();
  };
  const lines = [
    row(
      "",
      sessions.map(({ id }) => id),
    ),
    row(
      "title",
      sessions.map(({ title = "" }) => title),
    ),
    row(
      "model",
      sessions.map(({ model }) => model),
    ),
    "",
    sameText(same, turns.length),
  ];
  for (const { number, same: isSame, sides } of turns) {
    lines.push("");
    const cells = (of: (turn: ComparedTurn) => string) => sides.map((side) => (side === null ? "–" : of(side)));
    const figures = [
      row(
        "tokens",
        cells(({ usage }) => tokensText(usage)),
      ),
      row(
        "time",
        cells(({ elapsed_ms: ms }) => (ms === undefined ? "?" : formatDuration(ms))),
      ),
      row(
        "cost",
        cells(({ usd }) => costText(usd)),
      ),
    ];
    if (isSame) {
      lines.push(`turn ${number}: the same input, calls and answer`, ...figures);
      continue;
    }
    lines.push(
      row(
        `turn ${number}`,
        cells(({ input }) => input),
      ),
      row(
        "outcome",
        cells(({ outcome = "no end" }) => outcome),
      ),
    );
    const most = Math.max(...sides.map((side) => side?.made.length ?? 0));
    for (let index = 0; index < most; index++) {
      const shown = (side: ComparedTurn | null) => {
        const call = side?.made[index];
        return call === undefined
          ? ""
          : `${call.tool} ${call.args}${call.status === "ok" ? "" : ` [${call.status ?? "no result"}]`}`;
      };
      const made = sides.map(shown);
      lines.push(
        row(
          index === 0 ? "calls" : "",
          made.map((text) => (isEvery(made) ? `= ${text}` : text)),
        ),
      );
    }
    const changed = sides.map((side) => (side?.files ?? []).map(fileText));
    for (let index = 0; index < Math.max(...changed.map(({ length }) => length)); index++)
      lines.push(
        row(
          index === 0 ? "files" : "",
          changed.map((files) => files[index] ?? ""),
        ),
      );
    lines.push(
      row(
        "answer",
        cells(({ text }) => text),
      ),
      ...figures,
    );
  }
  if (turns.length > 0) {
    const totals = (of: (totals: ComparedTotals) => string) => sessions.map(({ totals: sum }) => of(sum));
    lines.push(
      "",
      row(
        "total",
        totals(({ turns: count, calls }) => `${counted(count, "turn")}, ${counted(calls, "call")}`),
      ),
      row(
        "files",
        totals(({ files, added, removed }) => `${counted(files, "file")} (+${added} -${removed})`),
      ),
      row(
        "tokens",
        totals(({ usage }) => tokensText(usage)),
      ),
      row(
        "time",
        totals(({ elapsed_ms: ms }) => formatDuration(ms)),
      ),
      row(
        "cost",
        totals(({ usd }) => costText(usd)),
      ),
    );
  }
  return lines.join("\n");
}

function isEvery(made: readonly string[]): boolean {
  return made[0] !== "" && made.every((text) => text === made[0]);
}

function sameText(same: number, rest: number): string {
  if (same === 0) return "They have no turn in common.";
  const head = `The first ${same === 1 ? "turn is" : `${same} turns are`} the same.`;
  return rest === 0 ? `${head} There is nothing more.` : head;
}

function fileText({ path, change, added, removed }: ChangedLines): string {
  const lines = added === undefined || removed === undefined ? "" : ` (+${added} -${removed})`;
  return `${path}${lines}${change === "changed" ? "" : ` ${change}`}`;
}

function tokensText({ input, output, cache_read, cache_write }: Usage): string {
  return `${groupDigits(input + cache_read + cache_write)} in, ${groupDigits(output)} out`;
}

function costText(usd: number | undefined): string {
  return usd === undefined ? "unknown" : formatUsd(usd);
}

function counted(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
}
