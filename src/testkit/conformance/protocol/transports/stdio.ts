/** Starts a server and talks to it on its standard input and output: one frame a line, one client a process. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { ConformanceConnection, ConformanceTransport } from "../transport.js";
import { FrameConnection } from "./frames.js";

export interface StdioOptions {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function stdioTransport(options: StdioOptions): ConformanceTransport {
  const open = new Set<ConformanceConnection>();
  return {
    name: "stdio",
    abilities: new Set(),
    connect: async () => {
      const connection = start(options);
      open.add(connection);
      return connection;
    },
    close: async () => {
      for (const connection of open) await connection.drop();
    },
  };
}

function start({ program, args, environment }: StdioOptions): ConformanceConnection {
  const child = spawn(program, args, { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const connection = new FrameConnection({
    send: (text) => void child.stdin.write(`${text}\n`),
    drop: async () => {
      child.stdin.end();
      await closed;
    },
  });
  child.once("error", (error) => connection.closed(`${program} did not start: ${error.message}`));
  child.once("close", () => connection.closed("the program has ended"));
  child.stdin.on("error", () => {});
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.trim() !== "") connection.take(line);
  });
  return connection;
}
