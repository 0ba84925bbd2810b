/** The parts of the line below the input, in their usual order. The mode is always first. */
export const STATUS_PARTS = [
  "model",
  "context",
  "cost",
  "branch",
  "sandbox",
  "profile",
  "address",
  "session",
  "title",
] as const;

export type StatusPart = (typeof STATUS_PARTS)[number];
export type StatusParts = readonly StatusPart[];

/** The parts that a person names, or the first word that is none. */
export function readStatusParts(text: string): StatusParts | { readonly unknown: string } {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const unknown = words.find((word) => !(STATUS_PARTS as readonly string[]).includes(word));
  return unknown === undefined ? (words as StatusPart[]) : { unknown };
}
