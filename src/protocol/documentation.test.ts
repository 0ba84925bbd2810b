/** docs/protocol.md says what the code does. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { blocksOf } from "../../test/support/page-examples.js";
import { verifies } from "../../test/verifies.js";
import { COMMAND_SCHEMAS, refusalOf } from "../control/door.js";
import { COMMAND_KINDS } from "./commands.js";
import { EVENT_KINDS } from "./event-fields.js";
import { handshake, PROTOCOL_VERSION, versionProblem } from "./handshake.js";
import { QUERY_KINDS } from "./query-kinds.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = "docs/protocol.md";

async function examples(): Promise<readonly Record<string, unknown>[]> {
  const blocks = await blocksOf(ROOT, PAGE);
  return blocks.filter(({ language }) => language === "json").map(({ text }) => JSON.parse(text));
}

describe("the page about the protocol", () => {
  verifies(["C1", "C2"], "names every command, query and event", async () => {
    const page = await readFile(`${ROOT}/${PAGE}`, "utf8");
    const missing = [...COMMAND_KINDS, ...QUERY_KINDS, ...EVENT_KINDS].filter((kind) => !page.includes(kind));
    expect(missing).toEqual([]);
  });

  verifies(["C2"], "has a handshake as the engine sends it", async () => {
    const all = await examples();
    const hello = all.find((example) => "client" in example && !("command_kinds" in example));
    expect(versionProblem(hello?.protocol_version)).toBeUndefined();
    const answer = all.find((example) => "command_kinds" in example);
    const real = handshake([], { id: "cli_01ARZ3NDEKTSV4RRFFQ69G5FAV", identity: "human" });
    expect(Object.keys(answer ?? {}).sort()).toEqual(Object.keys(real).sort());
    expect(answer).toMatchObject({ protocol_version: PROTOCOL_VERSION, client: real.client });
  });

  verifies(["C1"], "has a command that the engine takes", async () => {
    const command = (await examples()).find((example) => "kind" in example && !("id" in example));
    expect(refusalOf(command as never, COMMAND_SCHEMAS)).toBeUndefined();
  });
});
