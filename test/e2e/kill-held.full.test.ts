/**
 * The program is killed at random moments while commands run and their changes are applied. Each command changes several files, so a part of
 * its changes is seen. Every other kill comes while a plan is carried out. No question comes: the next start knows what was applied. OXBOW_KILLS
 * chooses how many kills.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const KILLS = Number(process.env.OXBOW_KILLS ?? 40);
const FILES = 30;
const COMMANDS_PER_TURN = 6;
const LONGEST_MS = 900;

const commandOf = (n: number) =>
  `echo mark-${n}. >> marks; mkdir -p new/${n}; for i in {1..${FILES}}; do echo ${n} > many/$i; echo ${n} > new/${n}/$i; done; rm -rf new/$((${n} - 3))`;

let mock: MockModel;
beforeAll(async () => {
  const replies = Array.from({ length: 20_000 }, (_, n) =>
    n % (COMMANDS_PER_TURN + 1) === COMMANDS_PER_TURN
      ? reply().text(`That was round ${n}.`)
      : reply()
          .text(`Step ${n}. `)
          .tool("bash", { command: commandOf(n) }),
  );
  mock = await startMockModel({ script: script(replies) });
});
afterAll(() => mock.close());

needs("sandbox").describe("a program that is killed while changes are held back", () => {
  verifies(
    ["S14", "P18"],
    `${KILLS} times applies each command's changes wholly or not at all, once, and asks nothing`,
    async () => {
      const [home, folder] = [await temporaryFolder(), await temporaryFolder()];
      mkdirSync(join(folder, "many"));
      let session: string | undefined;
      let kills = 0;
      const views = join(home, "state/sandbox/views");
      const hasPlan = () => readdirSync(views).some((view) => existsSync(join(views, view, "apply.json")));
      const run = async (when?: number | "a plan is there") => {
        let timer: NodeJS.Timeout | undefined;
        const resume = session === undefined ? [] : ["--resume", session];
        const ended = await oxbow(["run", "--permission-mode", "allow", "--stream-events", ...resume, "go on"], {
          cwd: folder,
          env: { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) },
          onOutput: ({ stdout }, child) => {
            if (when === undefined || !stdout.includes('"ToolCallStarted"')) return;
            timer ??=
              typeof when === "number"
                ? setTimeout(() => child.kill("SIGKILL"), when)
                : setInterval(() => hasPlan() && child.kill("SIGKILL"), 1);
          },
        });
        clearTimeout(timer);
        expect(`${ended.stdout}${ended.stderr}`).not.toMatch(/OrphanedCalls|--orphan|cannot complete/);
        if (ended.signal === "SIGKILL") kills++;
        else expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)]);
        session ??= envelopes(ended.stdout.slice(0, ended.stdout.lastIndexOf("\n") + 1))[0]?.session;
      };
      await run();
      while (kills < KILLS) await run(kills % 2 === 0 ? Math.random() * LONGEST_MS : "a plan is there");
      await run();
      const marks = readFileSync(join(folder, "marks"), "utf8").trim().split("\n");
      expect(new Set(marks).size).toBe(marks.length);
      const last = /\d+/.exec(marks.at(-1) ?? "")?.[0];
      const contents = (path: string) =>
        readdirSync(join(folder, path)).map((name) => readFileSync(join(folder, path, name), "utf8").trim());
      expect(new Set(contents("many"))).toEqual(new Set([last]));
      for (const each of readdirSync(join(folder, "new")))
        expect(contents(`new/${each}`)).toEqual(Array(FILES).fill(each));
      expect(readdirSync(folder).toSorted()).toEqual(["many", "marks", "new"]);
      const exported = await oxbow(["session", "export", session ?? "", "--format", "jsonl"], {
        env: { OXBOW_HOME: home },
      });
      const log = envelopes(exported.stdout);
      const commands = new Map(
        log.flatMap((event) =>
          event.kind === "ToolCallStarted" ? [[event.payload.call, String(event.payload.args.command)] as const] : [],
        ),
      );
      const ends = { applied: 0, not: 0, ended: 0 };
      for (const event of log) {
        if (event.kind !== "ToolResult") continue;
        const text = JSON.stringify(event.payload.content);
        const isThere = marks.includes(/mark-\d+\./.exec(commands.get(event.payload.call) ?? "")?.[0] ?? "");
        const end = text.includes("were applied") ? "applied" : /not applied|Not run/.test(text) ? "not" : "ended";
        ends[end]++;
        expect([text, isThere]).toEqual([text, end !== "not"]);
      }
      console.log(`${kills} kills: ${JSON.stringify(ends)}`);
      // Else the kills came when nothing was at stake.
      expect(ends.not).toBeGreaterThan(KILLS / 8);
      expect(ends.applied).toBeGreaterThan(KILLS / 8);
    },
    120_000 + KILLS * 8000,
  );
});
