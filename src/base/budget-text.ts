/** Amounts as people write and read them: `0.50`, `$2`, `200k tokens`, `$2, 1M tokens`. */
import { groupDigits } from "./group-digits.js";

/** US dollars and tokens; an absent amount means no limit. */
interface Limit {
  readonly usd?: number;
  readonly tokens?: number;
}

/** undefined for any other text. A bare number is US dollars. */
export function parseBudget(text: string): Limit | undefined {
  const limit: { usd?: number; tokens?: number } = {};
  for (const part of text.split(",")) {
    const found = /^\s*(\$?)\s*(\d+(?:\.\d+)?|\.\d+)\s*([km]?)\s*(usd|tokens?)?\s*$/i.exec(part);
    if (found === null) return undefined;
    const [, sign = "", digits = "", scale = "", word = ""] = found;
    const value = Number(digits) * { "": 1, k: 1e3, m: 1e6 }[scale.toLowerCase() as "" | "k" | "m"];
    const unit = /^token/i.test(word) ? "tokens" : "usd";
    if (value <= 0 || limit[unit] !== undefined || (unit === "tokens" && sign !== "")) return undefined;
    // A bare `200k` probably means tokens, not dollars, so it is refused.
    if (scale !== "" && unit === "usd") return undefined;
    limit[unit] = value;
  }
  return limit;
}

export function formatBudget({ usd, tokens }: Limit): string {
  const parts = [
    ...(usd === undefined ? [] : [formatUsd(usd)]),
    ...(tokens === undefined ? [] : [formatTokens(tokens)]),
  ];
  return parts.length === 0 ? "none" : parts.join(", ");
}

/** `$12.40`, `$0.0312`; never `$0.00` for a small amount. */
export function formatUsd(usd: number): string {
  if (usd === 0) return "$0.00";
  if (usd < 0.000_05) return "<$0.0001";
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** `182k`, `1.2M`, `950`: rounded like an estimate. */
export function roundTokens(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  const [value, unit] = tokens < 999_500 ? [tokens / 1e3, "k"] : [tokens / 1e6, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

export function formatTokens(tokens: number): string {
  return `${groupDigits(Math.round(tokens))} tokens`;
}
