/** Another device of the local network: TLS, what it sees, what it may answer, and how it is sent away. Pages of others learn nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, type TestContext } from "vitest";
import { skipWithout } from "../support/needs.js";
import { oxbowProcess } from "../support/program-process.js";
import { beginSession, say, useBrowser, type WebPlace, webPlace } from "../support/web-page.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply times=any when "Fetch"
  tool bash {"command": "curl -s https://example.org"}
reply times=any
  text: Said here.
`;

const context = useBrowser();

function needsNetwork(test: Pick<TestContext, "skip">): void {
  skipWithout(test, "chromium");
  const all = Object.values(networkInterfaces()).flatMap((each = []) => each);
  test.skip(
    !all.some(({ internal, family }) => !internal && family === "IPv4"),
    "needs an IPv4 address of a network: connect this machine to one",
  );
}

/** Runs `oxbow web --lan` beside the engine and returns the address that it prints. */
async function lanAddress({ home, cwd }: WebPlace): Promise<string> {
  return new Promise((resolve, reject) => {
    const run = oxbowProcess(["web", "--lan", "--folder", cwd], {
      env: { OXBOW_HOME: home },
      onStart: (child) => onTestFinished(() => void child.kill("SIGTERM")),
      onOutput: ({ stdout, stderr }) => {
        const url = /^https:\S+$/m.exec(stdout)?.[0];
        if (url !== undefined && /[0-9A-F:]{95}/.test(stderr)) resolve(url);
      },
    });
    run.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
}

verifies(["U4"], "sees the sessions of its folder over TLS, and nothing else", async (test) => {
  needsNetwork(test);
  const place = await webPlace(SCRIPT);
  const other = await mkdtemp(join(tmpdir(), "elsewhere-"));
  onTestFinished(() => rm(other, { recursive: true }));
  const desk = await (await context()).newPage();
  await beginSession(desk, { url: place.url, cwd: other }, "Said elsewhere.");
  await desk.locator(".turn-end").waitFor();
  const phone = await (await context({ ignoreHTTPSErrors: true, viewport: { width: 360, height: 740 } })).newPage();
  const url = await lanAddress(place);
  await beginSession(phone, { url: () => url, cwd: place.cwd }, "Said on the phone.");
  await phone.locator(".turn-end").waitFor();
  await phone.getByRole("button", { name: "Sessions" }).click();
  await phone.locator(".session", { hasText: "Said on the phone." }).waitFor();
  expect(await phone.locator(".session").count()).toBe(1);
  await desk.locator(".session", { hasText: "Said on the phone." }).waitFor();
  // A folder that is not its own is refused.
  await phone.goto(`${new URL(url).origin}/#/`);
  await phone.getByLabel("Folder").fill(other);
  await phone.getByRole("button", { name: "Begin" }).click();
  await phone.getByRole("alert").waitFor();
});

verifies(["U4"], "denies what would leave the sandbox, and cannot allow it", async (test) => {
  needsNetwork(test);
  const place = await webPlace(SCRIPT);
  const phone = await (await context({ ignoreHTTPSErrors: true })).newPage();
  const url = await lanAddress(place);
  await beginSession(phone, { url: () => url, cwd: place.cwd }, "Fetch it.");
  await phone.locator(".dock .question").waitFor();
  await phone.locator(".dock .choice.k-y").click();
  await phone.getByRole("alert").waitFor();
  expect(await phone.getByRole("alert").textContent()).toContain("would leave the sandbox");
});

verifies(["U4"], "follows a session over plain requests where no WebSocket opens", async (test) => {
  needsNetwork(test);
  const place = await webPlace(SCRIPT);
  const browser = await context();
  await browser.addInitScript("globalThis.WebSocket = class { constructor() { throw new Error('blocked'); } };");
  const page = await browser.newPage();
  await beginSession(page, place, "Say it.");
  await page.locator(".turn-end").waitFor();
  await say(page, "Say it again.");
  await expect.poll(() => page.locator(".turn-end").count()).toBe(2);
});

verifies(["U4"], "is sent away when its token is revoked", async (test) => {
  needsNetwork(test);
  const place = await webPlace(SCRIPT);
  const phone = await (await context({ ignoreHTTPSErrors: true })).newPage();
  const url = await lanAddress(place);
  await phone.goto(url);
  await phone.getByRole("button", { name: "Begin" }).waitFor();
  const env = { OXBOW_HOME: place.home };
  const { stdout } = await oxbowProcess(["token", "list", "--json"], { env });
  const jti = /"(tok_\w+)"[^}]*another device/s.exec(stdout)?.[1] ?? "";
  expect((await oxbowProcess(["token", "revoke", jti], { env })).code).toBe(0);
  await phone.getByRole("alert").waitFor();
  expect(await phone.getByRole("alert").textContent()).toContain("has ended");
});

verifies(["U4"], "tells a page of another port nothing, and stands in no frame of it", async (test) => {
  skipWithout(test, "chromium");
  const place = await webPlace(SCRIPT);
  const { origin } = new URL(place.url());
  const html = `<title>foreign</title><iframe id="frame" src="${origin}/"></iframe>`;
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const page = await (await context()).newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const code = new URL(place.url()).hash.slice(1).split(".");
  const body = JSON.stringify({ request: code[0], code: code[1] });
  const tried = await attempts(page, { origin, body });
  expect(tried).toEqual([
    "fetch failed",
    "fetch failed",
    "fetch failed",
    "script failed",
    "style failed",
    "socket failed",
  ]);
  const frame = page.frames().find((each) => each !== page.mainFrame());
  expect(await frame?.locator("#app").count()).toBe(0);
  // The code is still good for the person.
  await page.goto(place.url());
  await page.getByRole("button", { name: "Begin" }).waitFor();
});

/** Tries what a page can from its own origin. */
function attempts(page: Page, { origin, body }: { readonly origin: string; readonly body: string }): Promise<unknown> {
  return page.evaluate(`(async () => {
    const origin = ${JSON.stringify(origin)}, body = ${JSON.stringify(body)};
    const asks = [
      [origin + "/"],
      [origin + "/v1/auth/token", { method: "POST", body, headers: { "content-type": "text/plain" } }],
      [origin + "/v1/health", { headers: { "x-oxbow-token": "x" } }],
    ].map(([url, how]) => fetch(url, how).then(() => "fetch worked", () => "fetch failed"));
    const element = (name, fields) => new Promise((resolve) => {
      const made = Object.assign(document.createElement(name), fields);
      made.onload = () => resolve("worked");
      made.onerror = () => resolve("failed");
      document.head.append(made);
    });
    const socket = new Promise((resolve) => {
      const made = new WebSocket(origin.replace("http", "ws") + "/v1/ws", ["oxbow.v1"]);
      made.onopen = () => resolve("socket worked");
      made.onerror = () => resolve("socket failed");
    });
    return [
      ...(await Promise.all(asks)),
      "script " + (await element("script", { src: origin + "/enter.js" })),
      "style " + (await element("link", { rel: "stylesheet", href: origin + "/style.css" })),
      await socket,
    ];
  })()`);
}
