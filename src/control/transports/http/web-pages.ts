/**
 * The files of the web client, for a listener that shows it.
 *
 * 1. They need no token: they are the same for everyone. What a page shows comes over the protocol, which needs one.
 * 2. A page loads nothing from another host, runs no script and applies no style that is not a file of this folder, and stands in no
 *    frame. Pages of other origins cannot load the files.
 * 3. Only the files that the folder has at the first request are served: no path of a request reaches the disk.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

interface WebFile {
  readonly type: string;
  readonly body: Buffer;
  readonly packed: Buffer;
  readonly mark: string;
}

export class WebPages {
  readonly #folder: string;
  #files: ReadonlyMap<string, WebFile> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** False if it is no request for a file of the web client. */
  answer({ method, url = "", headers }: IncomingMessage, response: ServerResponse): boolean {
    if (method !== "GET" && method !== "HEAD") return false;
    const [path = ""] = url.split("?");
    this.#files ??= readFiles(this.#folder);
    const file = this.#files.get(path === "/" ? "/index.html" : path);
    if (file === undefined) return false;
    const isPacked = /\bgzip\b/.test(headers["accept-encoding"] ?? "");
    const isKnown = headers["if-none-match"] === file.mark;
    const body = isPacked ? file.packed : file.body;
    response.writeHead(isKnown ? 304 : 200, {
      "content-type": file.type,
      // The mark of the content is asked for each time: a new build is seen at once.
      "cache-control": "no-cache",
      etag: file.mark,
      vary: "accept-encoding",
      ...(isPacked && !isKnown && { "content-encoding": "gzip" }),
      ...(!isKnown && { "content-length": body.length }),
      ...protection(headers.host ?? ""),
    });
    response.end(isKnown || method === "HEAD" ? undefined : body);
    return true;
  }
}

/** `host` has passed the check of the address. */
function protection(host: string): Readonly<Record<string, string>> {
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    // Not every browser takes 'self' for a WebSocket.
    `connect-src 'self' ws://${host} wss://${host}`,
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    // Text can become no script and no markup, whatever the code of the page does.
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ];
  return {
    "content-security-policy": rules.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}

function readFiles(folder: string): ReadonlyMap<string, WebFile> {
  const files = new Map<string, WebFile>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[name.split(".").at(-1) ?? ""];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, name));
    const mark = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
    files.set(`/${name}`, { type, body, packed: gzipSync(body), mark });
  }
  return files;
}
