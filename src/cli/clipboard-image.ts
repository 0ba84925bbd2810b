/**
 * The image in the clipboard of the person's desktop, read by the program that the desktop has for it. A text says why there is none,
 * and what to do instead.
 */
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Variables } from "../base/variables.js";
import type { ImageBlock } from "../protocol/content.js";
import { currentFolder, findOwnProgram } from "../system/find-program.js";
import { ownVariables } from "../system/trusted-path.js";
import { imageType } from "../tools/files/image-type.js";

const MAX_BYTES = 75 * 1024 * 1024;
const MOST_MS = 5000;
const INSTEAD = "Drop the file on the terminal, or paste its path.";
const NO_IMAGE = `The clipboard holds no image. ${INSTEAD}`;
/** As models take them, the best first. */
const TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** Files that the person copied in a file manager. */
const FILE_LIST = "text/uri-list";

export interface ClipboardOptions {
  readonly variables: Variables;
  readonly platform: NodeJS.Platform;
  /** The path of a program; default: one of the system, or one on PATH. */
  readonly find?: (name: string) => string | undefined;
}

export async function readClipboardImage(options: ClipboardOptions): Promise<ImageBlock | string> {
  const { variables, platform, find = (name) => findOwnProgram(name, variables.PATH) } = options;
  const run = async (name: string, args: readonly string[]) => {
    const program = find(name);
    return program === undefined ? undefined : output(program, args, variables);
  };
  const has = (name: string) => find(name) !== undefined;
  const bytes = await read();
  if (typeof bytes === "string") return bytes;
  const type = bytes === undefined ? undefined : imageType(bytes);
  if (bytes === undefined || type === undefined) return NO_IMAGE;
  return { type: "image", media_type: type, data: bytes.toString("base64") };

  async function read(): Promise<Buffer | string | undefined> {
    if (platform === "darwin") {
      return has("pngpaste") ? run("pngpaste", ["-"]) : fromHex(await run("osascript", ["-e", PNG_SCRIPT]));
    }
    if (platform === "win32" || variables.WSL_DISTRO_NAME) {
      return fromBase64(await run("powershell.exe", ["-NoProfile", "-STA", "-Command", WINDOWS_SCRIPT]));
    }
    if (variables.WAYLAND_DISPLAY && has("wl-paste")) {
      const type = typeIn(await run("wl-paste", ["--list-types"]));
      return type && content(type, await run("wl-paste", ["--no-newline", "--type", type]));
    }
    if (variables.DISPLAY && has("xclip")) {
      const type = typeIn(await run("xclip", ["-selection", "clipboard", "-t", "TARGETS", "-o"]));
      return type && content(type, await run("xclip", ["-selection", "clipboard", "-t", type, "-o"]));
    }
    return whyNot(variables);
  }
}

function whyNot({ WAYLAND_DISPLAY, DISPLAY, SSH_CONNECTION, SSH_TTY }: Variables): string {
  if (WAYLAND_DISPLAY) return `To paste images, install wl-clipboard (wl-paste). ${INSTEAD}`;
  if (DISPLAY) return `To paste images, install xclip. ${INSTEAD}`;
  if (SSH_CONNECTION || SSH_TTY) {
    return "Over SSH, Oxbow cannot read the clipboard of your machine. Copy the file here and paste its path.";
  }
  return `Oxbow found no desktop, so it cannot read a clipboard. ${INSTEAD}`;
}

const PNG_SCRIPT = "get the clipboard as «class PNGf»";
const WINDOWS_SCRIPT =
  "Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }";

function typeIn(listed: Buffer | undefined): string | undefined {
  const there = new Set(listed?.toString("utf8").split(/\s+/));
  return [...TYPES, FILE_LIST].find((type) => there.has(type));
}

/** An image, or the first one of the copied files. */
async function content(type: string, bytes: Buffer | undefined): Promise<Buffer | undefined> {
  if (type !== FILE_LIST) return bytes;
  const links = bytes?.toString("utf8").match(/^file:\/\/\S+/gm) ?? [];
  for (const link of links) {
    const found = await readImage(link).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readImage(link: string): Promise<Buffer | undefined> {
  const path = fileURLToPath(link);
  if ((await stat(path)).size > MAX_BYTES) return undefined;
  const bytes = await readFile(path);
  return imageType(bytes) === undefined ? undefined : bytes;
}

/** `«data PNGf89504E…»` */
function fromHex(answer: Buffer | undefined): Buffer | undefined {
  const [, hex] = /PNGf([0-9A-F]+)/i.exec(answer?.toString("latin1") ?? "") ?? [];
  return hex === undefined ? undefined : Buffer.from(hex, "hex");
}

function fromBase64(answer: Buffer | undefined): Buffer | undefined {
  return answer && Buffer.from(answer.toString("latin1").trim(), "base64");
}

/** Undefined when the program fails, takes too long or writes too much. */
function output(program: string, args: readonly string[], variables: Variables): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "ignore"],
      env: ownVariables(variables, currentFolder()),
      timeout: MOST_MS,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BYTES) child.kill();
      else chunks.push(chunk);
    });
    child.on("error", () => resolve(undefined));
    child.on("close", (code) => resolve(code === 0 && length > 0 ? Buffer.concat(chunks) : undefined));
  });
}
