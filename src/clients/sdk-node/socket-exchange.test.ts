import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { socketExchange } from "./socket-exchange.js";

it("takes many requests at once with one signal, and prints no warning of Node", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  const waiting: (() => void)[] = [];
  const server = createServer((_, response) => {
    waiting.push(() => response.end("ok"));
    if (waiting.length === 12) for (const answer of waiting) answer();
  });
  const warnings: Error[] = [];
  const warn = (warning: Error) => void warnings.push(warning);
  process.on("warning", warn);
  onTestFinished(async () => {
    process.off("warning", warn);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });
  const socket = join(folder, "s");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const exchange = socketExchange(socket);
  const { signal } = new AbortController();
  const ask = async () => (await exchange({ method: "GET", path: "/", headers: {}, signal })).text();
  expect(new Set(await Promise.all(Array.from({ length: 12 }, ask)))).toEqual(new Set(["ok"]));
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
