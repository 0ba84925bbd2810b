import { afterEach, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import { type MockModel, startMockModel } from "../../testkit/mock-model/server.js";
import { installedModels } from "./api.js";
import { type PullProgress, pullModel } from "./pull.js";

let mock: MockModel;
const http = createHttpClient();
afterEach(async () => {
  http.close();
  await mock.close();
});

const names = async () => {
  const installed = await installedModels(mock.url, { http });
  return installed.ok ? installed.models.map(({ name }) => name) : [];
};

it("[M5] pulls a model, stops when cancelled, and resumes from there", async () => {
  const clock = new ManualClock();
  mock = await startMockModel({ script: "model new:1b installed=no size=2000 pull=20s\nreply\n  text: ok", clock });
  expect(await names()).toEqual([]);
  const pull = async (until: number) => {
    const stop = new AbortController();
    const seen: PullProgress[] = [];
    let over = false;
    const ended = pullModel(mock.url, "new:1b", {
      http,
      signal: stop.signal,
      onProgress: (progress) => {
        seen.push(progress);
        if (progress.completed >= until) stop.abort();
      },
    }).finally(() => {
      over = true;
    });
    while (!over) {
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { failure: await ended, seen };
  };
  const first = await pull(800);
  expect(first.failure?.message).toBe("The download of new:1b stopped. Pull again to resume it.");
  expect(first.seen[0]).toEqual({ status: "pulling manifest", completed: 0, total: 0 });
  expect(first.seen).toContainEqual({ status: "downloading", completed: 800, total: 2000 });
  expect(await names()).toEqual([]);
  const second = await pull(Number.POSITIVE_INFINITY);
  expect(second.failure).toBeUndefined();
  expect(second.seen[1]?.completed).toBeGreaterThanOrEqual(800);
  expect(await names()).toEqual(["new:1b"]);
});

it("[M5] says what is wrong with a pull", async () => {
  mock = await startMockModel({ script: "reply\n  text: ok" });
  const options = { http, signal: new AbortController().signal, onProgress: () => {} };
  expect((await pullModel(mock.url, "nope", options))?.message).toContain("there is no model 'nope' to pull");
  expect((await pullModel("http://127.0.0.1:9", "nope", options))?.reason).toBe("NetworkFailed");
});
