/** The results of a bench as a table for people, the fastest first. */
import { groupDigits } from "../../base/group-digits.js";
import { padText } from "../../base/text-width.js";
import { type Measurement, tokensPerSecond } from "./measure.js";

export interface BenchRow {
  /** `PROVIDER:NAME` */
  readonly model: string;
  readonly runs: readonly Measurement[];
  /** The median of the runs; undefined if none succeeded. */
  readonly middle: Measurement | undefined;
  /** The reason why a run failed. */
  readonly problem?: string;
}

const HEADINGS = ["model", "first token", "total", "prompt", "answer", "tokens/s"];

export function benchTable(rows: readonly BenchRow[]): string {
  const measured = rows
    .filter(({ middle }) => middle !== undefined)
    .sort((one, other) => speedOf(other) - speedOf(one));
  const cells = [HEADINGS, ...measured.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => padText(cell, widths[column] ?? 0, column === 0 ? "left" : "right"))
      .join("  ")
      .trimEnd(),
  );
  const problems = rows.flatMap(({ model, problem }) => (problem === undefined ? [] : [`${model}: ${problem}`]));
  return [...(measured.length > 0 ? lines : []), ...problems].join("\n");
}

function speedOf({ middle }: BenchRow): number {
  return (middle && tokensPerSecond(middle)) ?? 0;
}

function cellsOf({ model, middle }: BenchRow): readonly string[] {
  if (middle === undefined) return [model];
  const speed = tokensPerSecond(middle);
  return [
    model,
    seconds(middle.firstTokenMs),
    seconds(middle.totalMs),
    count(middle.promptTokens),
    count(middle.answerTokens),
    speed === undefined ? "?" : speed.toFixed(1),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function count(tokens: number): string {
  return tokens === 0 ? "?" : groupDigits(Math.round(tokens));
}
