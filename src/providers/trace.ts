/**
 * Raw requests and answers for `debug --raw`.
 *
 * 1. The trace never contains the key: neither from the headers, nor from a server that repeats it, in one chunk or across two.
 */

import { Utf8Stream } from "../base/utf8-stream.js";
import type { HttpResponse } from "../system/http-client.js";
import type { HttpError } from "../system/http-error.js";

export type TraceRecord =
  | {
      readonly type: "request";
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly type: "response"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "body"; readonly text: string }
  | { readonly type: "error"; readonly kind: string; readonly message: string }
  | { readonly type: "end" };

export type Trace = (record: TraceRecord) => void;

export interface Tracer {
  request(request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }): void;
  response(response: HttpResponse): void;
  bytes(bytes: Uint8Array): void;
  text(text: string): void;
  failed(error: HttpError): void;
  end(): void;
}

const HIDDEN = "[hidden]";
const SECRET_HEADERS = /^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie)$/i;
const SILENT: Tracer = { request() {}, response() {}, bytes() {}, text() {}, failed() {}, end() {} };

export function createTracer(trace: Trace | undefined, key: string): Tracer {
  if (trace === undefined) return SILENT;
  const utf8 = new Utf8Stream();
  let held = "";
  const hide = (text: string) => (key === "" ? text : text.replaceAll(key, HIDDEN));
  const headers = (given: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, SECRET_HEADERS.test(name) ? HIDDEN : hide(value)]),
    );
  const show = (text: string) => {
    if (text !== "") trace({ type: "body", text });
  };
  const add = (text: string) => {
    held = hide(held + text);
    // The end of the text may be the beginning of the key.
    const safe = Math.max(0, held.length - Math.max(0, key.length - 1));
    show(held.slice(0, safe));
    held = held.slice(safe);
  };
  return {
    request: (request) =>
      trace({
        ...request,
        type: "request",
        url: hide(request.url),
        headers: headers(request.headers),
        body: hide(request.body),
      }),
    response: (response) => trace({ type: "response", status: response.status, headers: headers(response.headers) }),
    bytes: (bytes) => add(utf8.push(bytes)),
    text: add,
    failed: (error) => trace({ type: "error", kind: error.kind, message: hide(error.message) }),
    end: () => {
      show(hide(held + utf8.end()));
      held = "";
      trace({ type: "end" });
    },
  };
}
