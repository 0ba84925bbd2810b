/** Jupyter notebooks as text: cells and their output, without the JSON around them. */
import type { ImageBlock } from "../../protocol/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

const MAX_OUTPUT_CHARACTERS = 4000;
const MAX_IMAGES = 4;
const MAX_IMAGE_CHARACTERS = 5_000_000;

export interface RenderedNotebook {
  readonly text: string;
  readonly images: readonly ImageBlock[];
}

/** Undefined when the text is not a notebook. */
export function renderNotebook(source: string): RenderedNotebook | undefined {
  const notebook = parse(source);
  if (!isJsonObject(notebook) || !Array.isArray(notebook.cells)) return undefined;
  const images: ImageBlock[] = [];
  const parts = notebook.cells.filter(isJsonObject).map((cell, index) => renderCell(cell, index + 1, images));
  return { text: parts.join("\n"), images };
}

function renderCell(cell: JsonObject, number: number, images: ImageBlock[]): string {
  const kind = typeof cell.cell_type === "string" ? cell.cell_type : "unknown";
  const lines = [`[cell ${number}: ${kind}]`, joined(cell.source)];
  const outputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isJsonObject) : [];
  const rendered = outputs.map((output) => renderOutput(output, images)).filter((text) => text !== "");
  if (rendered.length > 0) lines.push("[output]", clip(rendered.join("\n")));
  return `${lines.join("\n")}\n`;
}

function renderOutput(output: JsonObject, images: ImageBlock[]): string {
  if (output.output_type === "stream") return joined(output.text).trimEnd();
  if (output.output_type === "error") {
    const trace = Array.isArray(output.traceback) ? output.traceback.join("\n") : "";
    return trace === "" ? `${output.ename}: ${output.evalue}` : withoutColours(trace);
  }
  const data = isJsonObject(output.data) ? output.data : {};
  const image = ["image/png", "image/jpeg", "image/gif", "image/webp"].find((type) => data[type] !== undefined);
  if (image === undefined) return joined(data["text/plain"]).trimEnd();
  const bytes = joined(data[image]).replaceAll(/\s/g, "");
  if (images.length >= MAX_IMAGES || bytes.length > MAX_IMAGE_CHARACTERS) return `[${image}, not shown]`;
  images.push({ type: "image", media_type: image, data: bytes });
  return `[${image}: picture ${images.length} below]`;
}

/** Notebooks keep text as a string or as a list of lines. */
function joined(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return value.join("");
  return typeof value === "string" ? value : "";
}

function clip(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARACTERS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARACTERS)}\n[output cut: ${text.length - MAX_OUTPUT_CHARACTERS} more characters]`;
}

function withoutColours(text: string): string {
  return text.replaceAll(/\x1b\[[0-9;]*m/g, "");
}

function parse(source: string): JsonValue | undefined {
  try {
    return JSON.parse(source) as JsonValue;
  } catch {
    return undefined;
  }
}
