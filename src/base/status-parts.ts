/** The parts of the line below the input, in their usual order. The mode is always first. */
export const STATUS_PARTS = [
  "model",
  "context",
  "cost",
  "background",
  "branch",
  "sandbox",
  "profile",
  "address",
  "session",
  "title",
] as const;

export type StatusPart = (typeof STATUS_PARTS)[number];
export type StatusParts = readonly StatusPart[];

/** Parts, or a command of the person whose first line stands for them. */
export type StatusLine = StatusParts | { readonly command: string };

/** Reads the parts that a person names, `!COMMAND`, or the first word that is neither. */
export function readStatusLine(text: string): StatusLine | { readonly unknown: string } {
  const [, command] = /^\s*!\s*(\S[\s\S]*)$/.exec(text) ?? [];
  if (command !== undefined) return { command: command.trim() };
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const unknown = words.find((word) => !(STATUS_PARTS as readonly string[]).includes(word));
  return unknown === undefined ? (words as StatusPart[]) : { unknown };
}
