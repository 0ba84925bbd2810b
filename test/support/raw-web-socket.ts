/** A WebSocket client that sends any bytes: frames that are wrong, cut into pieces, or not masked. */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export interface RawFrame {
  readonly opcode: number;
  readonly payload?: Buffer;
  readonly fin?: boolean;
  /** The three reserved bits, as a number. */
  readonly rsv?: number;
  readonly masked?: boolean;
}

export function encodeFrame({
  opcode,
  payload = Buffer.alloc(0),
  fin = true,
  rsv = 0,
  masked = true,
}: RawFrame): Buffer {
  const { length } = payload;
  const first = Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode]);
  const bit = masked ? 0x80 : 0;
  const size = length < 126 ? Buffer.from([bit | length]) : length < 65_536 ? Buffer.alloc(3) : Buffer.alloc(9);
  if (size.length === 3) size.writeUInt8(bit | 126) && size.writeUInt16BE(length, 1);
  if (size.length === 9) size.writeUInt8(bit | 127) && size.writeBigUInt64BE(BigInt(length), 1);
  if (!masked) return Buffer.concat([first, size, payload]);
  const mask = randomBytes(4);
  const body = Buffer.from(payload);
  for (let at = 0; at < body.length; at++) body[at] = (body[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return Buffer.concat([first, size, mask, body]);
}

export interface ReceivedFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export class RawWebSocket {
  readonly frames: ReceivedFrame[] = [];
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #look: (() => void)[] = [];

  private constructor(socket: Socket, rest: Buffer) {
    this.#socket = socket;
    this.ended = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("close", () => this.#tell());
    this.#take(rest);
  }

  static open(port: number, headers: Readonly<Record<string, string>>): Promise<RawWebSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const lines = {
        host: `127.0.0.1:${port}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        ...headers,
      };
      const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET /v1/ws HTTP/1.1\r\n${head.join("")}\r\n`);
      let answer = Buffer.alloc(0);
      const onData = (bytes: Buffer) => {
        answer = Buffer.concat([answer, bytes]);
        const end = answer.indexOf("\r\n\r\n");
        if (end === -1) return;
        socket.off("data", onData);
        if (answer.subarray(0, 12).toString() !== "HTTP/1.1 101")
          return reject(new Error(answer.toString("utf8", 0, end)));
        resolve(new RawWebSocket(socket, answer.subarray(end + 4)));
      };
      socket.on("data", onData);
      socket.on("error", reject);
    });
  }

  send(bytes: Buffer, { chop = bytes.length }: { readonly chop?: number } = {}): void {
    for (let at = 0; at < bytes.length; at += chop) this.#socket.write(bytes.subarray(at, at + chop));
  }

  /** Waits for a frame that fits; undefined when the connection ends before. */
  async until(fits: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame | undefined> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found !== undefined || this.#socket.destroyed) return found;
      await new Promise<void>((resolve) => this.#look.push(resolve));
    }
  }

  /** The code of the close frame; 1006 if the connection ended without one. */
  async closeCode(): Promise<number> {
    const close = await this.until(({ opcode }) => opcode === 8);
    this.#socket.destroy();
    if (close === undefined) return 1006;
    return close.payload.length < 2 ? 1005 : close.payload.readUInt16BE(0);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const frame = decode(this.#rest);
      if (frame === undefined) break;
      this.frames.push(frame);
      this.#rest = this.#rest.subarray(frame.size);
    }
    this.#tell();
  }

  #tell(): void {
    for (const look of this.#look.splice(0)) look();
  }
}

/** A frame of a server: not masked, not in fragments. */
function decode(bytes: Buffer): (ReceivedFrame & { readonly size: number }) | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < head + length) return undefined;
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: bytes.subarray(head, head + length), size: head + length };
}
