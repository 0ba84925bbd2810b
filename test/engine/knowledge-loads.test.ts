/** Shows what memory, knowledge base, retrieval and recall cost a session that does not use them: nothing, in code and in bytes of a request. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { verifies } from "../verifies.js";

interface TestWorker {
  readonly evaluatedModules: {
    readonly idToModuleMap: ReadonlyMap<string, { readonly evaluated?: boolean }>;
  };
}

/** The modules of these features that ran in this process so far. Names and texts of tools, and the look at the input, are for every session. */
function loaded(): readonly string[] {
  const { evaluatedModules } = (globalThis as unknown as { readonly __vitest_worker__: TestWorker }).__vitest_worker__;
  const ran = [...evaluatedModules.idToModuleMap].filter(([, { evaluated }]) => evaluated).map(([id]) => id);
  const features =
    /\/src\/(?:context\/(?:memory|knowledge-base|retrieval)|base\/words|sessions\/(?:recall|passages)|providers\/embeddings|runtime\/(?:retrieval|knowledge-base|parts\/live-))/;
  const light = /definition\.ts$|\/(?:part|settings)\.ts$|\.md$|has-knowledge\.ts$|asks-to-remember\.ts$|recall\.ts$/;
  return ran.filter((id) => features.test(id) && !light.test(id)).map((id) => id.replace(/^.*\/src\//, ""));
}

describe("memory, knowledge base, retrieval and recall", () => {
  verifies(
    ["X4", "X5", "X6", "X7"],
    "load nothing and add nothing to a request until they are used, and then only what was chosen",
    async () => {
      // Earlier tests of this process have loaded modules.
      vi.resetModules();
      const { reply, script, startMockModel } = await import("../../src/testkit/index.js");
      const { hostEngine } = await import("../support/hosted-engine.js");
      const { temporaryFolder } = await import("../support/program.js");
      const { settledTurn, slash } = await import("../support/slash-turn.js");
      expect(loaded()).toEqual([]);
      const mock = await startMockModel({ script: script(Array.from({ length: 8 }, () => reply().text("Yes."))) });
      const base = await temporaryFolder();
      const hosted = await hostEngine(base, mock, { home: await mkdtemp(join(base, "home-")) });
      const client = hosted.connectPerson();
      const open = async () => {
        const created = await client.send("CreateSession", {});
        if (!created.ok || created.session === undefined) throw new Error("no session");
        return created.session;
      };
      const sizes = () => mock.requests.map(({ body }) => JSON.stringify(body).length);
      await settledTurn(client, await open(), "Where is the heron?");
      await settledTurn(client, await open(), "Where is the heron?");
      // After an answer, a person may get an offer.
      expect(loaded()).toEqual(["context/memory/lasting-statement.ts"]);
      const [first = 0, second = 0] = sizes();
      expect(Math.abs(second - first)).toBeLessThan(5);

      // A store that is not on, and one whose passages do not fit, change no request but by the tool.
      await writeFile(
        join(hosted.root, "birds.md"),
        `# Heron\n\nThe heron stands in the reeds. ${"It waits. ".repeat(20)}`,
      );
      const session = await open();
      for (const line of ["/rag new birds", "/rag ingest birds.md"])
        expect((await slash(client, session, line)).ok).toBe(true);
      expect(loaded()).toContain("context/retrieval/ingest.ts");
      expect(loaded().filter((id) => /providers\/embeddings|sessions\//.test(id))).toEqual([]);
      await settledTurn(client, session, "Where is the heron?");
      expect(Math.abs((sizes().at(-1) ?? 0) - first)).toBeLessThan(5);
      await slash(client, session, "/rag on");
      await settledTurn(client, await open(), "What is the capital of France?");
      const withTool = sizes().at(-1) ?? 0;
      expect(withTool - first).toBeLessThan(700);
      await settledTurn(client, await open(), "Where is the heron?");
      const withPassage = JSON.stringify(mock.requests.at(-1)?.body);
      expect(withPassage).toContain("stands in the reeds");
      expect(withPassage.length - withTool).toBeLessThan(900);
      await hosted.engine.close();
      await mock.close();
    },
  );
});
