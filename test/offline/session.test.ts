import { afterEach, describe, expect, it } from "vitest";
import { verifies } from "../verifies.js";
import { openScene, type Scene } from "./scene.js";

const scenes: Scene[] = [];

async function scene(files: Readonly<Record<string, string>>): Promise<Scene> {
  const opened = await openScene(files);
  scenes.push(opened);
  return opened;
}

afterEach(async () => {
  for (const opened of scenes.splice(0)) await opened.close();
});

describe("a conversation", () => {
  it("takes each request by itself and names itself once", async () => {
    const project = await scene({ "a.txt": "one\n", "b.txt": "two\n" });
    expect(await project.ask("show a.txt")).toContain("offline model");
    const second = await project.ask("show b.txt");
    expect(second).toContain("two");
    expect(second).not.toContain("offline model");
    expect(await project.ask("show a.txt")).toContain("one");
    expect(project.calls()).toEqual(["read"]);
  });

  it("sees what changed between two equal requests", async () => {
    const project = await scene({ "a.txt": "one\n" });
    await project.ask("show a.txt");
    await project.ask("replace one by two in a.txt");
    expect(await project.ask("show a.txt")).toContain("two");
  });

  verifies(
    ["M6"],
    "it never pretends: what needs understanding is answered with what it is and how to connect a model",
    async () => {
      const project = await scene({ "a.txt": "one\n" });
      for (const request of ["write a quicksort", "fix the bug in a.txt", "hello", "what can you do?", "asdf"]) {
        const answer = await project.ask(request);
        expect(answer).toContain("It is not a language model");
        expect(answer).toContain("find every TODO and tell me which file has most");
        for (const way of [
          "oxbow auth set anthropic",
          "ANTHROPIC_API_KEY",
          "OPENAI_API_KEY",
          "OPENAI_BASE_URL",
          "ollama serve",
          "OLLAMA_HOST",
          "oxbow models",
          "oxbow doctor",
        ]) {
          expect(answer).toContain(way);
        }
        expect(project.calls()).toEqual([]);
      }
    },
  );

  it("understands the requests that it offers as examples", async () => {
    const project = await scene({
      "README.md": "# A\n",
      "src/index.ts": "export function main() {\n}\n",
      "notes.txt": "foo\n",
      "package.json": '{ "name": "x", "scripts": { "test": "true" } }',
    });
    const offered = [...(await project.ask("help")).matchAll(/^- .*?: (".*")$/gm)].flatMap((row) =>
      [...(row[1] ?? "").matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? ""),
    );
    expect(offered.length).toBeGreaterThan(12);
    // The tool of memory is no part of these scenes.
    for (const example of offered.filter((each) => !each.includes("remember"))) {
      const answer = await project.ask(example);
      expect(project.calls(), example).not.toEqual([]);
      expect(answer, example).not.toContain("No rule matches");
    }
  });

  it("gives the same answer to the same request", async () => {
    const files = { "a.txt": "TODO\n", "b.txt": "TODO TODO\n", "package.json": "{}" };
    for (const request of ["find every TODO and tell me which file has most", "what is this project", "help"]) {
      const first = await (await scene(files)).ask(request);
      expect(await (await scene(files)).ask(request)).toBe(first);
    }
  });
});
