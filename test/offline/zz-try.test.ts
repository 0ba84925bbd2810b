import { readFileSync } from "node:fs";
import { it } from "vitest";
import { openSceneIn } from "./scene.js";

it("tries", async () => {
  for (const line of readFileSync("/tmp/phrases.txt", "utf8").split("\n").filter(Boolean)) {
    const scene = await openSceneIn("/work/main");
    const from = performance.now();
    const answer = await scene.ask(line);
    console.log(
      `>>> ${line}   [${scene.calls().join(" ")}] ${scene.last?.outcome} ${Math.round(performance.now() - from)}ms\n${answer}\n`,
    );
  }
}, 120000);
