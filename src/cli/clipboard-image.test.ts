import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";
import { findProjectProgram } from "../system/find-program.js";
import { type ClipboardOptions, readClipboardImage } from "./clipboard-image.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A folder with programs that answer as those of a desktop do. */
async function programs(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return `${folder}:/usr/bin:/bin`;
}

/** With the programs of the sample folder, whatever this machine has. */
function read(options: ClipboardOptions) {
  return readClipboardImage({ ...options, find: (name) => findProjectProgram(name, options.variables.PATH) });
}

const image = { type: "image", media_type: "image/png", data: PNG };
const decoded = `printf '%s' '${PNG}' | base64 -d`;

verifies(["U2"], "an image of the clipboard is read by the program of the desktop", async () => {
  const wayland = await programs({
    "wl-paste": `[ "$1" = --list-types ] && { printf 'text/html\\nimage/png\\n'; exit; }\n${decoded}`,
  });
  const linux = { platform: "linux" } as const;
  expect(await read({ ...linux, variables: { PATH: wayland, WAYLAND_DISPLAY: "w" } })).toEqual(image);
  const x11 = await programs({ xclip: `[ "$4" = TARGETS ] && { printf 'TARGETS\\nimage/png\\n'; exit; }\n${decoded}` });
  expect(await read({ ...linux, variables: { PATH: x11, DISPLAY: ":0" } })).toEqual(image);
  const hex = Buffer.from(PNG, "base64").toString("hex").toUpperCase();
  const mac = await programs({ osascript: `printf '\u00abdata PNGf${hex}\u00bb\\n'` });
  expect(await read({ platform: "darwin", variables: { PATH: mac } })).toEqual(image);
  const windows = await programs({ "powershell.exe": `echo '${PNG}'` });
  expect(await read({ ...linux, variables: { PATH: windows, WSL_DISTRO_NAME: "d" } })).toEqual(image);
});

it("an image file that was copied in a file manager is read", async () => {
  const file = join(await temporaryFolder(), "a b.png");
  await writeFile(file, Buffer.from(PNG, "base64"));
  const list = `file:///nowhere.png\\r\\n${pathToFileURL(file).href.replace("%", "%%")}\\r\\n`;
  const x11 = await programs({
    xclip: `[ "$4" = TARGETS ] && { printf 'TARGETS\\ntext/uri-list\\ntext/plain\\n'; exit; }\nprintf '${list}'`,
  });
  const variables = { PATH: x11, DISPLAY: ":0" };
  expect(await read({ platform: "linux", variables })).toEqual(image);
  await writeFile(file, "text");
  expect(await read({ platform: "linux", variables })).toContain("holds no image");
});

it("says why there is none", async () => {
  const text = await programs({ "wl-paste": "echo text/plain", xclip: "exit 1" });
  const why = (variables: object) => read({ platform: "linux", variables: { PATH: text, ...variables } });
  expect(await why({ WAYLAND_DISPLAY: "w" })).toContain("holds no image");
  expect(await why({ DISPLAY: ":0" })).toContain("holds no image");
  expect(await why({ DISPLAY: ":0", PATH: "/nowhere" })).toContain("install xclip");
  expect(await why({ WAYLAND_DISPLAY: "w", PATH: "/nowhere" })).toContain("install wl-clipboard");
  expect(await why({ SSH_TTY: "/dev/pts/1" })).toContain("Over SSH");
  expect(await why({})).toContain("no desktop");
});
