/** The transport that an address names. */
import { UsageError } from "../../../../base/usage-error.js";
import type { ConformanceTransport } from "../transport.js";
import { httpTransport } from "./http.js";
import { stdioTransport } from "./stdio.js";
import type { WireOptions } from "./wire-options.js";

export interface OpenOptions extends WireOptions {
  readonly ca?: string | undefined;
  /** For `stdio:`: the environment of the program. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const FORMS = "http://HOST:PORT, https://…, ws://…, wss://…, unix:PATH or stdio:PROGRAM [ARGUMENT …]";

export async function openTransport(against: string, options: OpenOptions): Promise<ConformanceTransport> {
  const [, scheme = "", rest = ""] = /^([a-z]+):(.*)$/s.exec(against) ?? [];
  const { ca } = options;
  switch (scheme) {
    case "http":
    case "https": {
      const { hostname, port } = parsed(against);
      const secure = scheme === "https";
      const number = port === "" ? (secure ? 443 : 80) : Number(port);
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      return httpTransport({ host, port: number, secure, ...(ca !== undefined && { ca }) }, options);
    }
    case "ws":
    case "wss":
      return (await import("./web-socket.js")).webSocketTransport(parsed(against).href, options);
    case "unix":
      return httpTransport({ socketPath: unixPath(against) ?? rest }, options);
    case "stdio": {
      const [program = "", ...args] = rest
        .replace(/^\/\/(?=\/)/, "")
        .split(" ")
        .filter((word) => word !== "");
      if (program === "") throw new UsageError("--against stdio: needs a program.");
      return stdioTransport({ program, args, environment: options.environment });
    }
    default:
      throw new UsageError(`--against must be ${FORMS}.`);
  }
}

/** The path of `unix:PATH` or `unix:///PATH`. */
export function unixPath(against: string): string | undefined {
  return /^unix:(?:\/\/(?=\/))?(.*)$/s.exec(against)?.[1];
}

function parsed(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new UsageError(`--against must be ${FORMS}.`);
  }
}
