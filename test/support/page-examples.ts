/** The examples of a page of documentation: its code blocks, and the commands in them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Block {
  /** `docs/costs.md:41` */
  readonly place: string;
  /** Empty when the page names none. */
  readonly language: string;
  readonly text: string;
}

export async function blocksOf(root: string, page: string): Promise<Block[]> {
  const text = await readFile(join(root, page), "utf8");
  return [...text.matchAll(/^```([\w-]*)[^\n]*\n(.*?)^```$/gms)].map(({ index, 1: language = "", 2: body = "" }) => ({
    place: `${page}:${text.slice(0, index).split("\n").length}`,
    language,
    text: body,
  }));
}

/** The lines to type. Undefined when the block only shows what is printed. */
export function commandsOf({ language, text }: Block): readonly string[] | undefined {
  const lines = text
    .replace(/ \\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "");
  if (language === "sh") return lines.map(withoutComment);
  if (language !== "" && language !== "console") return undefined;
  const typed = lines.flatMap((line) => (/^\$ |^oxbow /.test(line) ? [withoutComment(line.replace(/^\$ /, ""))] : []));
  return typed.length === 0 ? undefined : typed;
}

function withoutComment(line: string): string {
  return line.replace(/\s+#\s.*$/, "").trim();
}
