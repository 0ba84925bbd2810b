import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import { Composer, type ImageAccess, type Submission } from "./composer.js";
import { imagePaths } from "./image-paths.js";
import { BYTES, key, keys, plainTheme } from "./keys.testkit.js";

const PNG = { type: "image", media_type: "image/png", data: "aGk=" } as const;

function open(images: ImageAccess, editText?: (text: string) => Promise<string>) {
  const sent: Submission[] = [];
  const notices: string[] = [];
  const times: string[] = [];
  const composer = new Composer({
    clock: new ManualClock(),
    images,
    ...(editText && { editText }),
    onChange() {},
    onNotice: (text) => notices.push(text),
    onSubmit: (submission, when) => {
      sent.push(submission);
      times.push(when);
    },
  });
  return { composer, sent, notices, times, line: () => composer.view(80, 5, plainTheme).lines.join("\n") };
}

const there: ImageAccess = {
  read: async (path) => (path.includes("missing") ? undefined : path.includes("huge") ? "huge.png is too large." : PNG),
};

const settle = () => new Promise(setImmediate);

describe("a dropped image", () => {
  verifies(["U2"], "becomes an image of the prompt", async () => {
    const { composer, sent, line } = open(there);
    for (const each of keys("see ")) composer.onKey(each);
    composer.onPaste("/tmp/a\\ shot.png ");
    composer.onPaste(" file:///tmp/b%20c.JPG");
    expect(line()).toBe("> see [image 1: a shot.png][image 2: b c.JPG]");
    composer.onKey(key(BYTES.enter));
    await settle();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.text).toBe("see [image 1: a shot.png][image 2: b c.JPG]");
    expect(sent[0]?.images).toEqual([PNG, PNG]);
  });

  verifies(["U2"], "is waited for by a prompt that is sent now or after the turn", async () => {
    for (const when of ["now", "later"] as const) {
      const { composer, sent, times } = open(there);
      composer.onPaste("/tmp/a.png");
      composer.submit(when);
      expect(sent).toEqual([]);
      await settle();
      expect(sent[0]?.images).toEqual([PNG]);
      expect(times).toEqual([when]);
    }
  });

  it("stays a path if there is no such file, or if it cannot be used", async () => {
    const { composer, notices, line } = open(there);
    composer.onPaste("/tmp/missing.png");
    for (const each of keys("!")) composer.onKey(each);
    await settle();
    expect(composer.text).toBe("/tmp/missing.png!");
    composer.onPaste("'/tmp/huge.png'");
    await settle();
    expect(line()).toBe("> /tmp/missing.png!'/tmp/huge.png'");
    expect(notices).toEqual(["huge.png is too large."]);
  });

  it("stays a path for a model that accepts no images, with a message", async () => {
    const { composer, notices } = open({ read: async () => "The model takes no images." });
    composer.onPaste("/tmp/a.png");
    await settle();
    expect(composer.text).toBe("/tmp/a.png");
    expect(notices).toEqual(["The model takes no images."]);
  });

  verifies(["U2"], "stays an image when the draft is edited in another program", async () => {
    const { composer, sent } = open(there, async (text) => `${text.replace("see", "look at")}\n`);
    for (const each of keys("see ")) composer.onKey(each);
    composer.onPaste("/tmp/a.png");
    for (const chord of [[BYTES.ctrlG], [BYTES.ctrlX, BYTES.ctrlE]]) {
      for (const each of chord) composer.onKey(key(each));
      await settle();
    }
    composer.onKey(key(BYTES.enter));
    expect(sent[0]).toMatchObject({ text: "look at [image 1: a.png]", images: [PNG] });
  });

  it("is not in the prompt after it was deleted", async () => {
    const { composer, sent } = open(there);
    composer.onPaste("/tmp/a.png");
    composer.onKey(key(BYTES.backspace));
    for (const each of keys("hi")) composer.onKey(each);
    composer.onKey(key(BYTES.enter));
    await settle();
    expect(sent[0]).toMatchObject({ text: "hi", images: [] });
  });
});

describe("an image of the clipboard", () => {
  verifies(["U2"], "is inserted by a key, and waited for", async () => {
    const { composer, sent, line } = open(there);
    for (const each of keys("see ")) composer.onKey(each);
    composer.onKey({ id: "ctrl+v", data: "\x16" });
    expect(line()).toBe("> see [image 1: clipboard]");
    expect(composer.draft.parts).toEqual(["see "]);
    composer.onKey(key(BYTES.enter));
    await settle();
    expect(sent[0]).toMatchObject({ text: "see [image 1: clipboard]", images: [PNG] });
  });

  it("goes again when there is none, with a reason", async () => {
    const { composer, notices, line } = open({ read: async () => "The clipboard holds no image." });
    for (const each of keys("see this")) composer.onKey(each);
    composer.onKey({ id: "alt+v", data: "\x1bv" });
    await settle();
    expect(line()).toBe("> see this");
    expect(notices).toEqual(["The clipboard holds no image."]);
  });
});

describe("paths of images", () => {
  it("are read as terminals write them", () => {
    expect(imagePaths("/x/y.png")).toEqual(["/x/y.png"]);
    expect(imagePaths("'/x/it is.png' \"/z/b.webp\"\n")).toEqual(["/x/it is.png", "/z/b.webp"]);
    expect(imagePaths("/x/a\\ b\\(1\\).jpeg /c.gif")).toEqual(["/x/a b(1).jpeg", "/c.gif"]);
    expect(imagePaths("/x/Screenshot at 10.00.png")).toEqual(["/x/Screenshot at 10.00.png"]);
    expect(imagePaths("file://localhost/x/%C3%A4.png")).toEqual(["/x/ä.png"]);
    expect(imagePaths("~/x.png")).toEqual(["~/x.png"]);
  });

  it("are nothing else", () => {
    for (const text of [
      "",
      "x.png",
      "see /x/y.png",
      "/x/y.txt",
      "file://host/x.png",
      "/x/y.png\nand words",
      "'/x.png",
    ]) {
      expect(imagePaths(text), text).toEqual([]);
    }
  });
});
