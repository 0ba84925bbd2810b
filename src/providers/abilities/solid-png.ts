/** Makes a small picture of one colour. */
import { crc32, deflateSync } from "node:zlib";

const SIDE = 64;

/** As base64. */
export function solidPng([red, green, blue]: readonly [number, number, number]): string {
  const row = Buffer.alloc(1 + SIDE * 3);
  for (let x = 0; x < SIDE; x++) row.set([red, green, blue], 1 + x * 3);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  // Eight bits a channel, three channels.
  header.set([8, 2, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]).toString("base64");
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
