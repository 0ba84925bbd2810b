/** The progress of long work as one line: a bar, bytes, speed and remaining time. */
import { formatBytes } from "./byte-size.js";
import type { Clock } from "./clock.js";
import { formatDuration } from "./duration.js";
import { groupDigits } from "./group-digits.js";

const WIDTH = 24;
/** The speed is measured over this time, so it follows a changing network without jumping. */
const WINDOW_MS = 5000;

/** Measures how fast a count grows. */
export class SpeedMeter {
  readonly #clock: Clock;
  readonly #samples: { readonly at: number; readonly value: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Per second, over the last seconds; undefined before the second value. */
  add(value: number): number | undefined {
    const at = this.#clock.now();
    this.#samples.push({ at, value });
    while ((this.#samples[1]?.at ?? at) < at - WINDOW_MS) this.#samples.shift();
    const [first] = this.#samples;
    if (first === undefined || at - first.at < 200 || value < first.value) return undefined;
    return ((value - first.value) * 1000) / (at - first.at);
  }
}

export interface Progress {
  readonly completed: number;
  readonly total: number;
  readonly bytesPerSecond: number | undefined;
}

export function progressLine({ completed, total, bytesPerSecond }: Progress): string {
  const parts = [bar(completed, total), `${formatBytes(completed)} of ${formatBytes(total)}`];
  if (bytesPerSecond !== undefined && bytesPerSecond > 0) {
    parts.push(`${formatBytes(bytesPerSecond)}/s`);
    if (completed < total) parts.push(`${formatDuration(((total - completed) / bytesPerSecond) * 1000)} left`);
  }
  return parts.join("  ");
}

/** For work that is counted in other things than bytes: `███░░░  50%  3 of 6 files`. */
export function countLine({ completed, total, unit }: { completed: number; total: number; unit: string }): string {
  return `${bar(completed, total)}  ${groupDigits(completed)} of ${groupDigits(total)} ${unit}`;
}

function bar(completed: number, total: number): string {
  const share = total > 0 ? Math.min(1, completed / total) : 0;
  const filled = Math.floor(share * WIDTH);
  return `${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${`${Math.floor(share * 100)}%`.padStart(4)}`;
}
