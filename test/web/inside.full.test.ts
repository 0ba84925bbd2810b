/** A person looks at what a session works with: MCP servers, extensions, what waits for approval, rules and settings. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, type TestContext } from "vitest";
import { skipWithout } from "../support/needs.js";
import { oxbow } from "../support/program.js";
import { beginSession, useBrowser, type WebPlace, webPlace } from "../support/web-page.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply
  text: Hello.
reply
  tool bash {"command": "echo one > made.txt"}
reply times=any
  text: I saw what it said.
`;
const SERVER = fileURLToPath(new URL("../support/mcp-server.mjs", import.meta.url));

const context = useBrowser();

function needsBrowser(test: Pick<TestContext, "skip">): void {
  skipWithout(test, "chromium");
}

async function opened(place: WebPlace): Promise<Page> {
  const page = await (await context()).newPage();
  await beginSession(page, place, "Hello");
  await page.locator(".turn-end").first().waitFor();
  return page;
}

async function tab(page: Page, name: string): Promise<void> {
  if (!page.url().includes("/inside/")) {
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("link", { name: "Tools and safety" }).click();
  }
  await page.getByRole("navigation", { name: "What to look at" }).getByRole("link", { name }).click();
}

verifies(
  ["U4", "E6"],
  "shows an MCP server with its tools, resources and traffic, and calls a tool by hand",
  async (test) => {
    needsBrowser(test);
    const place = await webPlace(SCRIPT, ["--permission-mode", "allow"]);
    const plan = join(place.cwd, "plan.json");
    const schema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
    const say = { description: "Says a word.", schema };
    await writeFile(plan, JSON.stringify({ tools: { say }, resources: { "note://one": "a note" } }));
    const env = { OXBOW_HOME: place.home };
    const added = await oxbow(["mcp", "add", "fixture", process.execPath, SERVER, plan], { cwd: place.cwd, env });
    expect(added.code, added.stderr).toBe(0);
    const page = await opened(place);
    await tab(page, "MCP servers");
    await page.getByRole("heading", { name: "fixture" }).waitFor();
    await page.getByRole("button", { name: "Ask the server" }).click();
    await page.getByText("note://one").first().waitFor();
    await page.getByText("tools/list").first().waitFor();
    await page.getByText("mcp__fixture__say").first().click();
    const field = page.getByLabel("Call it with");
    expect(JSON.parse(await field.inputValue())).toEqual({ word: "" });
    await field.fill('{\n  "word": "oxen"\n}');
    await page.getByRole("button", { name: "Call mcp__fixture__say" }).click();
    await page.getByText("I saw what it said.").waitFor();
    await page.getByText("mcp__fixture__say").first().waitFor();
    await tab(page, "MCP servers");
    await page.getByText("tools/call").first().waitFor();
  },
);

verifies(["U4", "P11"], "shows a file that waits before it can be approved", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT);
  await writeFile(join(place.cwd, "AGENTS.md"), "Always answer in rhymes. <script>alert(1)</script>\n");
  const page = await opened(place);
  await tab(page, "Waiting for approval");
  const item = page.getByRole("article").filter({ hasText: "AGENTS.md" });
  await item.waitFor();
  expect(await item.textContent()).toContain("Always answer in rhymes. <script>alert(1)</script>");
  await item.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Nothing of this folder waits").waitFor();
});

verifies(["U4", "P4"], "lists the rules of the session, and revokes one", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT, ["--permission-mode", "ask"]);
  const page = await opened(place);
  await page.getByRole("textbox", { name: "Message" }).fill("Make it");
  await page.keyboard.press("Enter");
  await page
    .getByRole("button", { name: /not again this session/ })
    .first()
    .click();
  await page.getByText("I saw what it said.").waitFor();
  await tab(page, "Rules");
  const rule = page.getByRole("listitem").filter({ has: page.getByRole("button", { name: /^Revoke/ }) });
  await rule.first().waitFor();
  await rule.first().getByRole("button").click();
  await page.getByText('None. "Yes, and not again this session" adds one.').waitFor();
  await tab(page, "Audit");
  await page.getByRole("group", { name: "Audit" }).getByText("bash").waitFor();
});

verifies(["U4"], "finds a setting, changes it in the person's file and takes it back", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT);
  await mkdir(join(place.home, "config"), { recursive: true });
  const page = await opened(place);
  await tab(page, "Settings");
  await page.getByLabel("Find a setting").fill("kb_offer");
  const row = page.getByRole("listitem").filter({ hasText: "kb_offer" });
  await row.getByRole("combobox").selectOption("false");
  await row.getByText("from").waitFor();
  const file = join(place.home, "config", "config.toml");
  expect(await readFile(file, "utf8")).toContain("kb_offer = false");
  await row.getByRole("button", { name: /Default/ }).click();
  await row.getByText("default", { exact: true }).waitFor();
  expect(await readFile(file, "utf8")).not.toContain("kb_offer");
});
