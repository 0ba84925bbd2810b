import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageError } from "../base/usage-error.js";
import { readImages } from "./input-images.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("[M1] --image", () => {
  it.each([
    ["\x89PNG\r\n\x1a\n…", "image/png"],
    ["\xff\xd8\xff\xe0…", "image/jpeg"],
    ["GIF89a…", "image/gif"],
    ["RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
  ])("knows %j by its bytes", async (bytes, type) => {
    const file = join(folder, "picture.txt");
    await writeFile(file, bytes, "latin1");
    const data = Buffer.from(bytes, "latin1").toString("base64");
    expect(await readImages([file])).toEqual([{ type: "image", media_type: type, data }]);
  });

  it.each([
    ["text.png", "is not a PNG, JPEG, GIF or WebP image"],
    ["none.png", "cannot read"],
    [".", "is not a file"],
  ])("says what is wrong with %s", async (name, message) => {
    await writeFile(join(folder, "text.png"), "no picture");
    const error = await readImages([join(folder, name)]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(message);
  });
});
