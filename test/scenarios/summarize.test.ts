/** `/summarize` in a session of the real engine, with the mock model behind it. */
import { afterEach, describe, expect } from "vitest";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { slash } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

const SCRIPT = `reply times=any when system contains "You write the summary"
  text: The user counts herons.
reply times=any
  text: I saw the kingfisher.
`;

const open: { mock: MockModel; hosted: HostedEngine }[] = [];
const closeAll = async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
};
afterEach(closeAll);

async function start(home: string, resume?: SessionId) {
  const mock = await startMockModel({ script: SCRIPT });
  const hosted = await hostEngine(home, mock, { home });
  open.push({ mock, hosted });
  const client = hosted.connectPerson();
  const created = await client.send("CreateSession", resume === undefined ? {} : { resume });
  const session = (created as { session: SessionId }).session;
  const sent = () => JSON.stringify((mock.requests.at(-1)?.body as { messages?: unknown } | undefined)?.messages);
  return { client, session, sent };
}

describe("/summarize", () => {
  verifies(["X7"], "replaces a conversation of any length and keeps the pinned text, also after a resume", async () => {
    const home = await temporaryFolder();
    const { client, session, sent } = await start(home);
    expect(await slash(client, session, "/summarize")).toMatchObject({
      ok: true,
      value: { value: { replaced: false } },
    });
    await slash(client, session, "/context add PIN: always count twice");
    await turnOf(client, session, "how many herons?");
    await turnOf(client, session, "and kingfishers?");
    const shown = await slash(client, session, "/summarize --show the birds");
    expect(shown).toMatchObject({ value: { text: "The user counts herons." } });
    await turnOf(client, session, "once more");
    expect(sent()).toContain("I saw the kingfisher.");

    const replaced = await slash(client, session, '/summarize keep "--all" -of it');
    expect(sent()).toContain('keep \\"--all\\" -of it');
    expect(replaced).toMatchObject({
      ok: true,
      value: { value: { replaced: true, summary: "The user counts herons." } },
    });
    await turnOf(client, session, "go on");
    for (const words of [
      "The user counts herons.",
      "PIN: always count twice",
      "how many herons?",
      "once more",
      "go on",
    ])
      expect(sent()).toContain(words);
    for (const words of ["I saw the kingfisher.", "and kingfishers?"]) expect(sent()).not.toContain(words);
    // Directly after a summary there is only the answer since.
    expect(await slash(client, session, "/summarize")).toMatchObject({ value: { value: { replaced: true } } });
    expect(await slash(client, session, "/summarize")).toMatchObject({ value: { value: { replaced: false } } });

    await closeAll();
    const later = await start(home, session);
    await turnOf(later.client, session, "after the resume");
    expect(later.sent()).toContain("PIN: always count twice");
    expect(later.sent()).not.toContain("and kingfishers?");
  });
});
