import type { FileHandle } from "node:fs/promises";
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { ownText } from "../protocol/content.js";
import { CATALOG } from "./catalog.js";
import { type Arguments, counted, done, failed, fileTool, formatCount, formatSize, noted } from "./file-tool.js";
import { imageType } from "./files/image-type.js";
import { LineWindow, MAX_LINE_CHARACTERS } from "./files/line-window.js";
import { renderNotebook } from "./files/notebook.js";
import { printable } from "./files/printable.js";
import { isUtf16, looksBinary } from "./files/text-file.js";
import type { FileStat, Workspace } from "./workspace.js";

const MAX_LINES = 2000;
/** The providers' limit for one image, minus the third that base64 adds. */
const MAX_IMAGE_BYTES = 3_750_000;
/** Files up to this size are read whole, for their encoding, their number of lines and a later comparison. */
const WHOLE_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
const SNIFF_BYTES = 8192;

export function createReadTool(workspace: Workspace): Tool {
  return fileTool(CATALOG.read, (args, { signal, granted }) =>
    workspace.allowing(granted).withFile(args.text("path"), async (handle, file) => {
      const head = Buffer.alloc(Math.min(SNIFF_BYTES, file.size));
      await handle.read(head, 0, head.length, 0);
      const media = imageType(head);
      if (media !== undefined) return readImage(handle, file, media);
      if (looksBinary(head)) return failed(binary(file));
      if (file.size > WHOLE_BYTES && !isUtf16(head))
        return readLarge(workspace, { handle, file, window: windowFrom(args), signal });
      return readWhole(workspace, file, windowFrom(args));
    }),
  );
}

function windowFrom(args: Arguments): LineWindow {
  return new LineWindow({
    offset: args.integer("offset", { least: 1, most: Number.MAX_SAFE_INTEGER, otherwise: 1 }),
    limit: args.integer("limit", { least: 1, most: MAX_LINES, otherwise: MAX_LINES }),
  });
}

async function readWhole(workspace: Workspace, file: FileStat, window: LineWindow): Promise<ToolOutcome> {
  const read = await workspace.readText(file.path.absolute);
  const notebook = file.path.absolute.endsWith(".ipynb") ? renderNotebook(read.text) : undefined;
  window.addText(notebook?.text ?? read.text);
  const outcome = show(file, window, { totalLines: window.linesSeen });
  if (notebook === undefined || outcome.status !== "ok") return outcome;
  return { ...outcome, content: [...outcome.content, ...notebook.images] };
}

interface LargeFile {
  readonly handle: FileHandle;
  readonly file: FileStat;
  readonly window: LineWindow;
  readonly signal: AbortSignal;
}

/** Reads in pieces, only as far as needed: the number of lines of such a file stays unknown. */
async function readLarge(workspace: Workspace, { handle, file, window, signal }: LargeFile): Promise<ToolOutcome> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let position = 0;
  while (!window.isFull) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    window.addBytes(buffer.subarray(0, bytesRead));
  }
  if (!window.isFull) window.end();
  await workspace.rememberSeen(file.path, handle);
  return show(file, window, window.isFull ? {} : { totalLines: window.linesSeen });
}

function show(file: FileStat, window: LineWindow, { totalLines }: { totalLines?: number }): ToolOutcome {
  const shown = printable(file.path.display);
  const { first, lines } = window;
  const details = {
    path: file.path.display,
    size: file.size,
    first_line: first,
    lines: lines.length,
    ...(totalLines === undefined ? {} : { total_lines: totalLines }),
  };
  if (lines.length === 0) {
    if (first === 1) return noted(`${shown} is empty.`, details);
    return failed(
      `${shown} has only ${counted(totalLines ?? 0, "line")}; offset ${formatCount(first)} is past its end.`,
    );
  }
  const numbered = lines.map((line, index) => `${first + index}\t${line}`);
  return done(numbered.join("\n"), details, notes(file, window, totalLines));
}

function notes(file: FileStat, window: LineWindow, totalLines: number | undefined): readonly string[] {
  const out: string[] = [];
  if (window.cutLines > 0) {
    const what = counted(window.cutLines, "line");
    out.push(`[${what} cut at ${MAX_LINE_CHARACTERS} characters. Use grep, or cut -c in a shell, to see further.]`);
  }
  const last = window.first + window.lines.length - 1;
  if (totalLines !== undefined && last >= totalLines) return out;
  const whole = totalLines === undefined ? `a file of ${formatSize(file.size)}` : formatCount(totalLines);
  out.push(`[Lines ${window.first}-${last} of ${whole}. Continue with offset ${last + 1}.]`);
  return out;
}

async function readImage(handle: FileHandle, file: FileStat, media: string): Promise<ToolOutcome> {
  const shown = printable(file.path.display);
  if (file.size > MAX_IMAGE_BYTES) {
    return failed(
      `${shown} is an image of ${formatSize(file.size)}; at most ${formatSize(MAX_IMAGE_BYTES)} can be shown. Make a smaller copy first.`,
    );
  }
  const bytes = Buffer.alloc(file.size);
  const { bytesRead } = await handle.read(bytes, 0, file.size, 0);
  const data = bytes.toString("base64", 0, bytesRead);
  return done([ownText(`${shown} (${media}, ${formatSize(file.size)})`), { type: "image", media_type: media, data }], {
    path: file.path.display,
    size: file.size,
    media_type: media,
  });
}

function binary(file: FileStat): string {
  return `${printable(file.path.display)} is a binary file of ${formatSize(file.size)}, not text. Use a shell command such as file, strings or xxd to look into it.`;
}
