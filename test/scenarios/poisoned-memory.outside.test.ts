/** Attack samples as memories: as text, description, name, tag and whole file. They reach the model only inside a block that they cannot close. */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { hostEngine, turnOf } from "../support/hosted-engine.js";
import { unless } from "../support/needs.js";
import { temporaryFolder } from "../support/program.js";
import { slash } from "../support/slash-turn.js";
import { suiteCases } from "../support/suites.js";
import { verifies } from "../verifies.js";

const CASES = suiteCases("injection/prompt.json");

interface Body {
  readonly system: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly text?: string }[] }[];
}

function bodyOf({ requests }: MockModel): Body {
  const [newest] = requests.slice(-1);
  if (newest === undefined) throw new Error("no request");
  return newest.body as unknown as Body;
}

unless(CASES.length === 0 ? "needs the suites: set OXBOW_SUITES" : undefined).describe("poisoned memories", () => {
  verifies(
    ["X4", "P12"],
    "never become instructions",
    async () => {
      const home = await temporaryFolder();
      const folder = join(home, "data", "memory", "user");
      await mkdir(folder, { recursive: true });
      const config = join(home, "config");
      await mkdir(config, { recursive: true });
      await writeFile(join(config, "config.toml"), "memory_tokens = 10000000\n");
      const replies = [...CASES, {}].map(() => reply().text("ok"));
      const mock = await startMockModel({ script: script(replies) });
      const hosted = await hostEngine(home, mock, { home });
      try {
        const client = hosted.connectPerson();
        const clean = await client.send("CreateSession", {});
        if (!clean.ok || clean.session === undefined) throw new Error("no session");
        await turnOf(client, clean.session, "hello");
        const system = JSON.stringify(bodyOf(mock).system);
        for (const { id, text: sample } of CASES) {
          const words = String(sample);
          const line = JSON.stringify(words.replace(/\s+/g, " "));
          await writeFile(
            join(folder, "a.md"),
            `---\nname: ${line}\ndescription: ${line}\ntags: [${line}]\ntype: user\n---\n${words}\n`,
          );
          await writeFile(join(folder, "b.md"), words);
          const created = await client.send("CreateSession", {});
          if (!created.ok || created.session === undefined) throw new Error("no session");
          await turnOf(client, created.session, "hello");
          await slash(client, created.session, "/memory list");
          const { messages, ...rest } = bodyOf(mock);
          expect(JSON.stringify(rest.system), id).toBe(system);
          const [, notice = ""] = (messages.at(-1)?.content ?? []).map((block) => block.text ?? "");
          const mark = /<untrusted-([a-z]{16}) kind="memory"/.exec(notice)?.[1] ?? "none";
          // Everything but the blocks is ours, and no block holds another tag.
          const block = new RegExp(
            `<untrusted-${mark} kind="memory" source="[^"]*">\n([\\s\\S]*?)\n</untrusted-${mark}>`,
            "g",
          );
          expect([...notice.matchAll(block)].length, id).toBeGreaterThan(0);
          expect(
            notice
              .replace(block, "")
              .replace(/<system-note>[^<]*<\/system-note>/g, "")
              .trim(),
            id,
          ).toBe("");
          for (const [, inside = ""] of notice.matchAll(block)) expect(inside, id).not.toMatch(/<\s*\/?\s*untrusted/i);
        }
      } finally {
        await hosted.engine.close();
        await mock.close();
      }
    },
    180_000,
  );
});
