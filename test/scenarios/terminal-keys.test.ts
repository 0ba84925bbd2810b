/** Every key that the help lists, pressed as a terminal sends it, and what it does. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { ownShell } from "../../src/cli/own-shell.js";
import { EngineCompletion } from "../../src/clients/sdk/completion/engine-completion.js";
import { keysAndWords } from "../../src/clients/tui/dialogs/help.js";
import { InputHistory } from "../../src/clients/tui/input/history.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { TuiClient } from "../support/tui-client.js";
import { verifies } from "../verifies.js";

const CTRL_C = "\x03";
const DRAFT = (text: string) => new RegExp(`^> ${text}$`, "m");
const EMPTY = /^> Ask for something/m;
const PATIENT = { timeout: 10_000, interval: 5 };

let mock: MockModel;
let hosted: HostedEngine;
let client: TuiClient;
beforeEach(async () => {
  const hold = reply().start().hang();
  mock = await startMockModel({
    script: script([
      reply().tool("todo", { todos: [{ text: "answer", status: "pending" }] }),
      reply().text("First answer."),
      ...[hold, hold, hold],
      reply().text("Last answer.").times(9),
    ]),
  });
  const base = await temporaryFolder();
  const folder = join(base, "place");
  await mkdir(folder);
  await writeFile(join(folder, "AGENTS.md"), "Use tabs.\n");
  hosted = await hostEngine(base, mock, {
    flags: ["--permission-mode", "ask"],
    content: { folder, asksLater: true },
  });
  await writeFile(join(hosted.root, "notes.txt"), "");
  client = await open();
});
afterEach(async () => {
  await hosted.engine.close();
  await mock.close();
});

async function open(): Promise<TuiClient> {
  const { engine, root } = hosted;
  const own = connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: true, name: "owner" });
  let session: SessionId | undefined;
  const completion = new EngineCompletion({ client: own, session: () => session as SessionId, clock: systemClock });
  const storage = { read: async () => "", append: async () => {}, replace: async () => {} };
  const history = new InputHistory({ storage, folder: root, clock: systemClock, redact: async (text) => text });
  const editText = async (text: string) => `${text} edited`;
  const images = { read: async () => "There is no image." };
  const opened = await TuiClient.over(own, {
    composer: { completion: completion.source, history, editText, images },
    shell: ownShell(process.env, { value: undefined, origin: "default" }),
  });
  session = opened.session;
  completion.start();
  await opened.until("waits for approval");
  return opened;
}

async function clear(): Promise<void> {
  client.type(CTRL_C);
  await client.until(EMPTY);
}

/** Ctrl-C would interrupt the turn. */
async function erase(): Promise<void> {
  client.type("\x15");
  await client.until(EMPTY);
}

/** Begins a turn that does not end by itself. */
async function begin(): Promise<void> {
  const { length } = mock.requests;
  client.type("hold", "\r");
  await client.until("esc interrupts");
  await expect.poll(() => mock.requests.length, PATIENT).toBeGreaterThan(length);
}

async function cancel(): Promise<void> {
  client.type("\x1b");
  // The model had not answered, so the prompt returns to the draft.
  await client.until(DRAFT("hold"));
  await clear();
}

/** Opens a view with the key, and closes it. */
const opens = (wanted: RegExp) => async (bytes: string) => {
  client.type(bytes);
  await client.until(wanted);
  client.type(CTRL_C);
  await expect.poll(() => client.screen(), PATIENT).not.toMatch(wanted);
};

const newline = async (bytes: string) => {
  client.type("one", bytes, "two");
  await client.until(/^> one\n {2}two$/m);
  await clear();
};

const queues = async (bytes: string) => {
  await begin();
  client.type("later", bytes);
  await client.until("↳ after this turn: later");
  client.type("\x1b[1;3A");
  await client.until(DRAFT("later"));
  await erase();
  await cancel();
};

const takesBack = async (bytes: string) => {
  client.type("back", "\t");
  await client.until("↳ after this turn: back");
  client.type(bytes);
  await client.until(DRAFT("back"));
  expect(await client.screen()).not.toContain("↳");
  await erase();
};

const image = async (bytes: string) => {
  client.type(bytes);
  await client.until("There is no image.");
};

/** The bytes of each key, and what shows that it works. In this order, because some need what others did. */
const PRESSES: Readonly<Record<string, readonly [string, (bytes: string) => Promise<void>]>> = {
  enter: [
    "\r",
    async (bytes) => {
      client.type("first prompt", bytes);
      await client.until("First answer.");
      await client.until("out · ");
    },
  ],
  "shift+enter": ["\x1b[13;2u", newline],
  "ctrl+j": ["\n", newline],
  "alt+enter": ["\x1b\r", queues],
  tab: ["\t", queues],
  "alt+up": [
    "\x1b[1;3A",
    async (bytes) => {
      await begin();
      await takesBack(bytes);
    },
  ],
  up: [
    "\x1b[A",
    async (bytes) => {
      await takesBack(bytes);
      await cancel();
      client.type(bytes);
      await client.until(DRAFT("back"));
      client.type(bytes);
      await client.until(DRAFT("hold"));
    },
  ],
  down: [
    "\x1b[B",
    async (bytes) => {
      client.type(bytes);
      await client.until(DRAFT("back"));
      await clear();
    },
  ],
  "ctrl+r": [
    "\x12",
    async (bytes) => {
      client.type(bytes, "first");
      await client.until(/first prompt/);
      client.type("\r");
      await client.until(DRAFT("first prompt"));
      await clear();
    },
  ],
  "ctrl+g": [
    "\x07",
    async (bytes) => {
      client.type("text", bytes);
      await client.until(DRAFT("text edited"));
      await clear();
    },
  ],
  "ctrl+v": ["\x16", image],
  "alt+v": ["\x1bv", image],
  "ctrl+o": ["\x0f", opens(/first prompt[\s\S]*First answer\.[\s\S]*q closes/)],
  "ctrl+t": ["\x14", opens(/first prompt[\s\S]*First answer\.[\s\S]*q closes/)],
  "alt+t": [
    "\x1bt",
    async (bytes) => {
      await client.until(/^Todos: 0 of 1 done · alt\+t hides them\n☐ answer$/m);
      client.type(bytes);
      await expect.poll(() => client.screen(), PATIENT).not.toMatch(/^Todos:/m);
      client.type(bytes);
      await client.until(/^Todos:/m);
    },
  ],
  "alt+p": ["\x1bp", opens(/^Model:/m)],
  f2: ["\x1bOQ", opens(/^Model:/m)],
  "alt+a": ["\x1ba", opens(/Content that is not approved[\s\S]*AGENTS\.md/)],
  "alt+s": ["\x1bs", opens(/esc closes/)],
  "?": ["?", opens(/Any key closes this\./)],
  f1: ["\x1bOP", opens(/Any key closes this\./)],
  "/": [
    "/",
    async (bytes) => {
      client.type(bytes, "cos");
      await client.until(/\/cost\b.+/);
      await clear();
    },
  ],
  "@": [
    "@",
    async (bytes) => {
      client.type(bytes, "note");
      await client.until("notes.txt");
      client.type("\t");
      await client.until(DRAFT("@notes\\.txt"));
      await clear();
    },
  ],
  "!": [
    "!",
    async (bytes) => {
      client.type(bytes, "echo mine", "\r");
      await client.until(/^! echo mine\nmine$/m);
      client.type(bytes, "echo begun; sleep 1000", "\r");
      await client.until(/^begun$/m);
      client.type("\x1b");
      await client.until("[cancelled after");
    },
  ],
  "ctrl+a e w u k y _": [
    "",
    async () => {
      client.type("one two", "\x01", "a", "\x05", "z");
      await client.until(DRAFT("aone twoz"));
      client.type("\x17");
      await client.until(DRAFT("aone"));
      client.type("\x15");
      await client.until(EMPTY);
      client.type("\x19", "b");
      await client.until(DRAFT("aone twozb"));
      client.type("\x01", "\x0b");
      await client.until(EMPTY);
      client.type("\x1f");
      await client.until(DRAFT("aone twozb"));
      await clear();
    },
  ],
  "shift+tab": [
    "\x1b[Z",
    async (bytes) => {
      for (const mode of ["auto", "review edits", "plan", "auto"]) {
        client.type(bytes);
        await client.until(new RegExp(`^${mode} · `, "m"));
      }
    },
  ],
  "ctrl+l": [
    "\x0c",
    async (bytes) => {
      client.type("kept");
      await client.until(DRAFT("kept"));
      await client.until("echo mine");
      client.type(bytes);
      await expect.poll(() => client.screen(), PATIENT).not.toContain("echo mine");
      expect(await client.screen()).toMatch(DRAFT("kept"));
      expect(await client.text()).toContain("echo mine");
      await clear();
    },
  ],
  esc: [
    "\x1b",
    async (bytes) => {
      client.type("text");
      await client.until(DRAFT("text"));
      client.type(bytes);
      await client.until("Press Esc again to clear the draft.");
      client.type(bytes);
      await client.until(EMPTY);
      client.type(bytes);
      await client.until("Press Esc again to go back to an earlier prompt.");
      client.type(bytes);
      await client.until(/Go back before:[\s\S]*first prompt/);
      client.type(CTRL_C);
      await client.until(EMPTY);
    },
  ],
  "ctrl+z": [
    "\x1a",
    async (bytes) => {
      const { stops } = client.process;
      client.type(bytes);
      await expect.poll(() => client.process.stops, PATIENT).toBe(stops + 1);
      await client.until(EMPTY);
    },
  ],
  "ctrl+d": [
    "\x04",
    async (bytes) => {
      client.type("x", bytes);
      await clear();
      client.type(bytes);
      await client.ended;
      client = await open();
      await client.until("alt+r resumes the last conversation here");
    },
  ],
  "alt+w": ["\x1bw", opens(/^Working:/m)],
  "ctrl+s": [
    "\x13",
    async (bytes) => {
      client.type("aside", bytes);
      await client.until("is put aside");
      client.type(bytes);
      await client.until(DRAFT("aside"));
      await clear();
    },
  ],
  "alt+r": [
    "\x1br",
    async (bytes) => {
      client.type(bytes);
      // The conversation that follows moves it off the screen.
      await expect.poll(() => client.text(), PATIENT).toContain("Resumed: first prompt");
      await expect.poll(() => client.text(), PATIENT).toContain("First answer.");
    },
  ],
  "ctrl+c": [
    CTRL_C,
    async (bytes) => {
      client.type("text", bytes);
      await client.until("Press Ctrl-C again within 2 s to leave.");
      await client.until(EMPTY);
      client.type(bytes, bytes);
      await client.ended;
    },
  ],
};

describe("the keys that the help lists", () => {
  verifies(["U2"], "all do what it says", async () => {
    // The help does not list the keys that open it.
    const listed = [...keysAndWords().flatMap(([keys]) => keys.split(", ")), "?", "f1"];
    expect(Object.keys(PRESSES).toSorted()).toEqual(listed.toSorted());
    for (const [name, [bytes, press]] of Object.entries(PRESSES)) {
      await press(bytes).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
    }
  });
});
