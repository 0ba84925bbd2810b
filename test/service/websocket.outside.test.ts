/**
 * The frames that the Autobahn suite describes and vectors of RFC 6455, sent to our server over a raw socket. An echo server answers a
 * message with itself; ours answers each message with one reply.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeFrame, RawWebSocket } from "../support/raw-web-socket.js";
import { type Served, serve } from "../support/served-engine.js";
import { SUITES } from "../support/suites.js";

interface Case {
  readonly case: string;
  readonly description: string;
  readonly send_frames: readonly string[];
}
interface Vector {
  readonly server_bytes_hex: string;
  readonly note: string;
  readonly expect: {
    readonly close?: number;
    readonly message?: string;
    readonly pong?: string;
    readonly binary_len?: number;
  };
}

const { cases, rfc6455_frames: vectors } = JSON.parse(readFileSync(join(SUITES, "websocket/cases.json"), "utf8")) as {
  readonly cases: readonly Case[];
  readonly rfc6455_frames: readonly Vector[];
};
const QUESTION = '{"frame":"query","id":1,"body":{"kind":"GetHealth","request":{}}}';
const [TEXT, BINARY, CLOSE, PING, PONG] = [1, 2, 8, 9, 10];

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

async function open(): Promise<RawWebSocket> {
  const socket = await RawWebSocket.open(Number(new URL(served.url).port), { "x-oxbow-token": served.token });
  socket.send(encodeFrame({ opcode: TEXT, payload: Buffer.from('{"frame":"handshake"}') }));
  await socket.until(({ payload }) => payload.includes('"frame":"handshake"'));
  return socket;
}

const isReply = ({ payload }: { readonly payload: Buffer }) => payload.includes('"frame":"reply"');

function closeFrame(code = 1000, reason: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return encodeFrame({ opcode: CLOSE, payload: Buffer.concat([head, reason]) });
}

/** A question of exactly this length, or any text if that is too short. */
function message(length: number): Buffer {
  return Buffer.from(length < QUESTION.length ? "*".repeat(length) : QUESTION.padEnd(length));
}

function sizeOf(text: string): number {
  const [, amount = "0", factor, unit] = /^(\d+)(?: \* 2\*\*(\d+))?([kM])?/.exec(text.trim()) ?? [];
  return Number(amount) * 2 ** Number(factor ?? 0) * (unit === "k" ? 1024 : unit === "M" ? 1024 * 1024 : 1);
}

function fragmented(payload: Buffer, { opcode, size }: { readonly opcode: number; readonly size: number }): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < payload.length; at += size) {
    const piece = payload.subarray(at, at + size);
    frames.push(encodeFrame({ opcode: at === 0 ? opcode : 0, fin: at + size >= payload.length, payload: piece }));
  }
  return Buffer.concat(frames);
}

/** Sends frames and returns whether a reply came and how the connection ended, after a normal close of ours. */
async function exchange(
  bytes: Buffer,
  { chop, close = true }: { readonly chop?: number; readonly close?: boolean } = {},
) {
  const socket = await open();
  socket.send(bytes, chop === undefined ? {} : { chop });
  const isAnswered =
    close && (await socket.until((frame) => isReply(frame) || frame.opcode === CLOSE))?.opcode === TEXT;
  if (isAnswered) socket.send(closeFrame());
  const code = await socket.closeCode();
  return { code, replies: socket.frames.filter(isReply).length, frames: socket.frames };
}

function lengths({ description, case: name }: Case) {
  const [, length = "0"] = /payload of length ([\d *]+(?:2\*\*\d+)?)/.exec(description) ?? [];
  const [, fragment] = /(?:fragments of |autoFragmentSize = )(\d+[kM]?)/.exec(description) ?? [];
  const [, chop] = /chops of (\d+)/.exec(description) ?? [];
  const opcode = /binary/.test(description) && !/^9\.3/.test(name) ? BINARY : TEXT;
  return { payload: message(sizeOf(length)), opcode, fragment, chop };
}

const sized = cases.filter(({ case: name }) => /^(1\.|10\.|9\.[1-6])/.test(name));

describe("messages of all sizes", () => {
  it.each(sized.map((one) => [one.case, one] as const))("%s", async (_name, one) => {
    const { payload, opcode, fragment, chop } = lengths(one);
    const size = fragment === undefined ? Math.max(payload.length, 1) : sizeOf(fragment);
    const bytes = fragmented(payload, { opcode: opcode ?? 1, size });
    const { code, replies, frames } = await exchange(bytes, chop === undefined ? {} : { chop: Number(chop) });
    expect([code, replies]).toEqual([1000, 1]);
    const isQuestion = opcode === TEXT && payload.length > QUESTION.length;
    expect(frames.find(isReply)?.payload.includes('"ok":true')).toBe(isQuestion);
  });

  it("9.9.1: a message without an end is cut off at the limit", async () => {
    const socket = await open();
    const piece = Buffer.alloc(1024 * 1024, 0x20);
    socket.send(encodeFrame({ opcode: TEXT ?? 1, fin: false, payload: piece }));
    for (let times = 0; times < 17; times++) socket.send(encodeFrame({ opcode: 0, fin: false, payload: piece }));
    expect(await socket.closeCode()).toBe(1009);
  });
});

describe("reserved opcodes", () => {
  const reserved = cases.filter(({ case: name }) => name.startsWith("4."));
  it.each(reserved.map((one) => [one.case, one] as const))("%s", async (_name, { send_frames: frames }) => {
    const chop = frames[0]?.includes("chopsize") ? { chop: 1 } : {};
    const socket = await open();
    for (const text of frames) {
      const opcode = Number(/opcode = (\d+)/.exec(text)?.[1]);
      const payload = text.includes("payload") ? message(opcode === TEXT ? 80 : 20) : Buffer.alloc(0);
      socket.send(encodeFrame({ opcode, payload }), chop);
      if (opcode === TEXT) expect(await socket.until(isReply)).toBeDefined();
    }
    expect(await socket.closeCode()).toBe(1002);
    expect(socket.frames.some(({ opcode }) => opcode === PONG)).toBe(false);
  });
});

describe("text", () => {
  const valid = Buffer.from("Hello-µ@ßöäüàá-UTF-8!! κόσμε");
  const invalid = Buffer.concat([valid, Buffer.from([0xed, 0xa0, 0x80]), Buffer.from("edited")]);
  it("6.1: of empty fragments is a message", async () => {
    for (const parts of [[""], ["", "", ""], ["", QUESTION, ""]]) {
      const frames = parts.map((part, index) =>
        encodeFrame({ opcode: index === 0 ? 1 : 0, fin: index === parts.length - 1, payload: Buffer.from(part) }),
      );
      expect(await exchange(Buffer.concat(frames))).toMatchObject({ code: 1000, replies: 1 });
    }
  });

  it("6.2: that is valid UTF-8 is a message, however it is cut", async () => {
    for (const size of [valid.length, 10, 1]) {
      expect(await exchange(fragmented(valid, { opcode: 1, size }))).toMatchObject({ code: 1000, replies: 1 });
    }
  });

  it("6.3, 6.4: that is not valid UTF-8 ends the connection", async () => {
    for (const size of [invalid.length, 12, 1]) {
      expect(await exchange(fragmented(invalid, { opcode: 1, size }))).toMatchObject({ code: 1007, replies: 0 });
      expect(await exchange(encodeFrame({ opcode: 1, payload: invalid }), { chop: size })).toMatchObject({
        code: 1007,
      });
    }
  });
});

describe("the end of a connection", () => {
  const text = encodeFrame({ opcode: 1, payload: Buffer.from(QUESTION) });
  it("7.1: answers a close once, and nothing after it", async () => {
    const big = encodeFrame({ opcode: 1, payload: message(256 * 1024) });
    const ping = encodeFrame({ opcode: PING ?? 9 });
    const opening = encodeFrame({ opcode: 1, fin: false, payload: Buffer.from("frag") });
    const rest = encodeFrame({ opcode: 0, payload: Buffer.from("ment") });
    for (const after of [[], [closeFrame()], [ping], [text], [rest]]) {
      const before = after[0] === rest ? opening : Buffer.alloc(0);
      const { code, frames } = await exchange(Buffer.concat([before, closeFrame(), ...after]), { close: false });
      expect([code, frames.some(({ opcode }) => opcode === PONG)]).toEqual([1000, false]);
    }
    expect((await exchange(Buffer.concat([text, closeFrame()]), { close: false })).code).toBe(1000);
    expect((await exchange(Buffer.concat([big, closeFrame(), ping]), { close: false })).code).toBe(1000);
  });

  it("7.3 to 7.13: takes valid codes and reasons, and refuses the others", async () => {
    const ended = async (bytes: Buffer) => (await exchange(bytes, { close: false })).code;
    const raw = (payload: Buffer) => encodeFrame({ opcode: 8, payload });
    expect([1000, 1005]).toContain(await ended(raw(Buffer.alloc(0))));
    expect(await ended(raw(Buffer.from([3])))).toBe(1002);
    expect(await ended(closeFrame(1000, Buffer.from("Hello World!")))).toBe(1000);
    expect(await ended(closeFrame(1000, Buffer.alloc(123, 0x2a)))).toBe(1000);
    expect(await ended(closeFrame(1000, Buffer.alloc(124, 0x2a)))).toBe(1002);
    expect([1002, 1007]).toContain(await ended(closeFrame(1000, Buffer.from([0xce, 0xba, 0xed, 0xa0, 0x80]))));
    for (const code of [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]) {
      expect(await ended(closeFrame(code))).toBe(code);
    }
    for (const code of [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535]) {
      expect(await ended(closeFrame(code))).toBe(1002);
    }
  });
});

describe("vectors of RFC 6455", () => {
  it.each(vectors.map((vector) => [vector.note, vector] as const))("%s", async (_note, vector) => {
    const frames = framesOf(Buffer.from(vector.server_bytes_hex, "hex"));
    const isAboutMasks = vector.note.startsWith("masked frame");
    const bytes = frames.map((frame) => encodeFrame({ ...frame, masked: !isAboutMasks }));
    const wanted = vector.expect;
    const socket = await open();
    socket.send(Buffer.concat(bytes));
    if (wanted.close !== undefined) expect(await socket.closeCode()).toBe(wanted.close);
    else if (wanted.pong !== undefined) {
      expect(String((await socket.until(({ opcode }) => opcode === PONG))?.payload)).toBe(wanted.pong);
    } else expect(await socket.until(isReply)).toBeDefined();
    socket.destroy();
  });
});

/** Frames of a server, with the payload that their length announces. */
function framesOf(bytes: Buffer) {
  const frames: { opcode: number; fin: boolean; rsv: number; payload: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
    const isMasked = second >= 0x80;
    const short = second & 0x7f;
    const head = at + (short < 126 ? 2 : short === 126 ? 4 : 10) + (isMasked ? 4 : 0);
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const payload = Buffer.alloc(length);
    bytes.copy(payload, 0, head, Math.min(bytes.length, head + length));
    frames.push({ opcode: first & 0x0f, fin: first >= 0x80, rsv: (first >> 4) & 7, payload });
    at = head + length;
  }
  return frames;
}
