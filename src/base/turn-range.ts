export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/** `3`, `3-5`, `3-`, `-5`; undefined for any other text. */
export function parseTurnRange(text: string): TurnRange | undefined {
  const [, from = "", dash = "", to = ""] = /^\s*(\d*)\s*(-?)\s*(\d*)\s*$/.exec(text) ?? [];
  if (from === "" && to === "") return undefined;
  const first = from === "" ? 1 : Number(from);
  const last = dash === "" ? first : to === "" ? Number.POSITIVE_INFINITY : Number(to);
  return first >= 1 && last >= first ? { from: first, to: last } : undefined;
}
