/**
 * The TCP ports that listen in the network of a session, and the ones that a person opened: 127.0.0.1 of this machine leads to them.
 *
 * 1. Only a number is opened, only one that listens there now, and only on the loopback address of this machine.
 * 2. Each connection is one program that joins the network and connects to the port. Nothing listens in the network itself, so no
 *    command gets a way out of it.
 * 3. What was opened ends with the session.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { findProgram } from "../../system/find-program.js";

export interface ListeningPort {
  readonly port: number;
  /** The address where a program in the network reaches it. */
  readonly host: string;
}

export interface OpenPort {
  readonly port: number;
  /** The port of this machine: the same, or another one where that is taken. */
  readonly at: number;
}

interface NetworkHolder {
  readonly pid: number;
  readonly nsenter: string;
}

export interface SessionPortsOptions {
  /** The process that holds the network; undefined if no command has used it. */
  holder(): Promise<NetworkHolder | undefined>;
  /** The folders where programs are searched. */
  readonly path: string | undefined;
  readonly workspace: string;
}

export class PortError extends Error {
  override readonly name = "PortError";
}

const MOST_CONNECTIONS = 64;

interface Forward extends OpenPort {
  readonly server: Server;
  readonly connections: Set<Socket>;
}

export class SessionPorts {
  readonly #options: SessionPortsOptions;
  readonly #forwards = new Map<number, Forward>();
  #isClosed = false;

  constructor(options: SessionPortsOptions) {
    this.#options = options;
  }

  /** By their numbers. */
  async listening(): Promise<readonly ListeningPort[]> {
    const holder = await this.#options.holder();
    return holder === undefined ? [] : listeningPorts(holder.pid);
  }

  opened(): readonly OpenPort[] {
    return [...this.#forwards.values()].map(({ port, at }) => ({ port, at }));
  }

  /** Throws a PortError. */
  async open(port: number): Promise<OpenPort> {
    const known = this.#forwards.get(port);
    if (known !== undefined) return { port, at: known.at };
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new PortError("A port is a number from 1 to 65535.");
    const found = await this.listening();
    if (!found.some((each) => each.port === port)) {
      const ports = found.map((each) => each.port).join(", ") || "none";
      throw new PortError(`Nothing listens on port ${port} in this session. Listening: ${ports}.`);
    }
    const connections = new Set<Socket>();
    const server = createServer((socket) => void this.#connect(socket, port, connections));
    server.maxConnections = MOST_CONNECTIONS;
    server.unref();
    const at = (await listen(server, port)) ?? (await listen(server, 0));
    if (at === undefined) throw new PortError("This machine has no free port on 127.0.0.1.");
    this.#forwards.set(port, { port, at, server, connections });
    if (this.#isClosed) this.close(port);
    return { port, at };
  }

  /** False if it was not open. */
  close(port: number): boolean {
    const forward = this.#forwards.get(port);
    if (forward === undefined) return false;
    this.#forwards.delete(port);
    forward.server.close();
    for (const socket of forward.connections) socket.destroy();
    return true;
  }

  closeAll(): void {
    this.#isClosed = true;
    for (const port of [...this.#forwards.keys()]) this.close(port);
  }

  async #connect(socket: Socket, port: number, connections: Set<Socket>): Promise<void> {
    connections.add(socket);
    let child: ChildProcess | undefined;
    const end = () => {
      connections.delete(socket);
      socket.destroy();
      child?.kill("SIGKILL");
    };
    socket.once("close", end);
    socket.on("error", end);
    const holder = await this.#options.holder();
    const place = (await this.listening()).find((each) => each.port === port);
    if (holder === undefined || place === undefined || socket.destroyed) return end();
    const [program = "", ...args] = this.#connector(holder, place);
    child = spawn(program, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
    child.once("error", end);
    child.stdin?.on("error", end);
    child.stdout?.on("error", end);
    if (child.stdin !== null) socket.pipe(child.stdin);
    child.stdout?.pipe(socket);
  }

  #connector({ pid, nsenter }: NetworkHolder, { host, port }: ListeningPort): readonly string[] {
    const enter = [nsenter, "--preserve-credentials", "-t", String(pid), "-U", "-n", "--"];
    const { path, workspace } = this.#options;
    const socat = findProgram("socat", path, { outside: workspace });
    if (socat !== undefined) {
      const target = host.includes(":") ? `TCP6:[${host}]:${port}` : `TCP4:${host}:${port}`;
      return [...enter, socat, "-", target];
    }
    return [...enter, process.execPath, "-e", CONNECT, host, String(port)];
  }
}

const CONNECT =
  'const s = require("node:net").connect(Number(process.argv[2]), process.argv[1]); s.on("error", () => process.exit(1)); process.stdin.pipe(s).pipe(process.stdout);';

/** Undefined if the port is taken, or needs rights that this user lacks. */
function listen(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const failed = () => resolve(undefined);
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", failed);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : undefined);
    });
  });
}

const LISTENS = "0A";

async function listeningPorts(pid: number): Promise<readonly ListeningPort[]> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8").catch(() => "")),
  );
  const found = new Map<number, ListeningPort>();
  for (const line of tables.join("\n").split("\n")) {
    const [, address = "", , state] = line.trim().split(/\s+/);
    const [hex = "", number = ""] = address.split(":");
    const port = Number.parseInt(number, 16);
    const host = state === LISTENS ? hostOf(hex) : undefined;
    if (host !== undefined && !found.has(port)) found.set(port, { port, host });
  }
  return [...found.values()].sort((one, other) => one.port - other.port);
}

/** Four bytes of an address are in the order of the processor; undefined for one that is not of this network. */
function hostOf(hex: string): string | undefined {
  if (/^0{32}$/.test(hex) || /^0{24}(01000000|00000001)$/.test(hex)) return "::1";
  const mapped = /^0{16}(?:FFFF0000|0000FFFF)([0-9A-F]{8})$/.exec(hex)?.[1] ?? hex;
  if (mapped === "00000000") return "127.0.0.1";
  if (mapped === "7F000001" || mapped === "0100007F") return "127.0.0.1";
  const bytes = /^([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})7F$/.exec(mapped)?.slice(1).reverse();
  return bytes && `127.${bytes.map((byte) => Number.parseInt(byte, 16)).join(".")}`;
}
