/** A person signs in, follows a turn, answers, steers, and goes on after the engine was killed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import { skipWithout } from "../support/needs.js";
import { beginSession, say, useBrowser, webPlace } from "../support/web-page.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply times=any when "slowly"
  text every=20ms: one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  tool read {"path": "src/rates.ts"}
reply times=any when "Also this"
  text: I have read what you added.
reply times=any
  text:
    | a | b |
    |---|---|
    | 1 | **two** |

    <img src=x onerror="document.title='broken'">
`;

const WRITES = `
reply
  tool write {"path": "new.txt", "content": "written"}
reply
  text: I leave it.
reply
  tool write {"path": "new.txt", "content": "written"}
reply
  text: It is written.
`;

const ASKS = `
reply when "survey"
  tool ask {"questions": [{"question": "Which store?", "options": ["SQLite", "a file"]}, {"question": "Its name?"}]}
reply when "delegate"
  tool agent {"prompt": "LOOK around", "description": "look around"}
reply times=1 when "LOOK"
  text every=100ms: Several words of a subagent that takes its time to look around.
reply times=1 when "plan"
  text: 1. Read. 2. Write.
reply
  text: It goes on.
loop
`;

/** The most that the first page may load, compressed. */
const MOST_FIRST_BYTES = 150_000;

const context = useBrowser();

function needsBrowser(test: Pick<TestContext, "skip">): void {
  skipWithout(test, "chromium");
}

verifies(["U4"], "signs in once with the address, and keeps no code in it", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT);
  const first = await (await context()).newPage();
  const asked: string[] = [];
  first.on("request", (request) => void asked.push(request.url()));
  let bytes = 0;
  first.on("response", (response) => {
    bytes += Number(response.headers()["content-length"] ?? 0);
  });
  await first.goto(place.url());
  await first.getByRole("button", { name: "Begin" }).waitFor();
  expect(first.url()).not.toContain("req_");
  expect(await first.evaluate("JSON.stringify([...Object.keys(localStorage), document.cookie])")).toBe('[""]');
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(MOST_FIRST_BYTES);
  const { origin } = new URL(place.url());
  expect(asked.filter((url) => new URL(url).origin !== origin && !url.startsWith("ws:"))).toEqual([]);
  // The same address opens nothing in another browser, a reload keeps the first page signed in.
  const second = await (await context()).newPage();
  await second.goto(place.url());
  await second.getByRole("alert").waitFor();
  expect(await second.getByRole("alert").textContent()).toContain("was used before");
  await first.reload();
  await first.getByRole("button", { name: "Begin" }).waitFor();
});

verifies(["U4"], "draws an answer as it comes, and no text as markup", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT);
  const page = await (await context()).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await beginSession(page, place, "Show a table.");
  await page.locator(".turn-end").waitFor();
  expect(await page.locator(".prose td strong").textContent()).toBe("two");
  expect(await page.locator(".prose img").count()).toBe(0);
  expect(await page.locator(".prose").textContent()).toContain("onerror");
  expect(await page.title()).not.toBe("broken");
  expect(complaints).toEqual([]);
});

verifies(["U4"], "approves and denies with the keys of the terminal", async (test) => {
  needsBrowser(test);
  const place = await webPlace(WRITES, ["--permission-mode", "review"]);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Write it, please.");
  const question = page.locator(".dock .question");
  await question.waitFor();
  expect(await question.textContent()).toContain("Write new.txt?");
  expect(await question.locator(".diff").textContent()).toContain("written");
  await page.locator("body").press("n");
  await page.getByLabel("Why not").fill("not now");
  await page.keyboard.press("Enter");
  await page.locator(".mark.denied").waitFor();
  expect(existsSync(join(place.cwd, "new.txt"))).toBe(false);
  await page.locator(".turn-end").first().waitFor();
  await say(page, "Write it, now.");
  await question.waitFor();
  await question.getByRole("button", { name: "yes", exact: true }).click();
  await page.locator(".mark.ok").first().waitFor();
  expect(existsSync(join(place.cwd, "new.txt"))).toBe(true);
});

verifies(["U4"], "steers a turn, and interrupts it", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Count slowly.");
  await page.getByText("one two").waitFor();
  await say(page, "Also this.");
  await page.locator(".queue li").waitFor();
  await page.getByText("I have read what you added.").waitFor();
  expect(await page.locator(".turn").count()).toBe(1);
  expect(await page.locator(".turn .input").count()).toBe(2);
  await page.locator(".turn-end").waitFor();
  await say(page, "Count slowly again.");
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.locator(".turn-end .outcome").waitFor();
  expect(await page.locator(".turn-end .outcome").textContent()).toContain("Interrupted");
});

verifies(["U4"], "goes on at the same address when the engine was killed and started again", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Show a table.");
  await page.locator(".turn-end").waitFor();
  const before = page.url();
  await place.kill();
  await page.getByText("The engine does not answer.").waitFor();
  await place.start();
  await page.getByText("The engine does not answer.").waitFor({ state: "detached" });
  await say(page, "Show it again.");
  await expect.poll(() => page.locator(".turn-end").count()).toBe(2);
  expect(page.url()).toBe(before);
});

verifies(["U4"], "fills in a form, looks into a subagent and approves a plan", async (test) => {
  needsBrowser(test);
  const place = await webPlace(ASKS);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Take a survey.");
  await page.getByRole("radio", { name: "SQLite" }).check();
  await page.getByLabel("2. Its name?").fill("rates.db");
  await page.locator(".dock .question").getByRole("button", { name: "Send" }).click();
  await page.locator(".turn-end").waitFor();
  const [, request] = place.mock.requests;
  expect(JSON.stringify(request?.body)).toMatch(/SQLite.*rates\.db/s);
  await say(page, "Now delegate.");
  await page.getByRole("list", { name: "Subagents" }).getByRole("link").click();
  await page.getByText("Several words of a subagent").waitFor();
  expect(await page.getByRole("textbox", { name: "Message" }).count()).toBe(0);
  await page.locator(".dock").getByRole("link").click();
  await expect.poll(() => page.locator(".turn-end").count()).toBe(2);
  await page.getByRole("combobox", { name: "Mode" }).selectOption("plan");
  await say(page, "Please plan it.");
  await page.getByRole("heading", { name: "Carry out this plan?" }).waitFor();
  await page.getByRole("button", { name: "yes, carry it out" }).click();
  await expect.poll(() => page.locator(".turn-end").count()).toBe(4);
  await expect.poll(() => page.getByRole("combobox", { name: "Mode" }).inputValue()).not.toBe("plan");
});

verifies(["U4"], "answers a question from the list, without opening its session", async (test) => {
  needsBrowser(test);
  const place = await webPlace(WRITES, ["--permission-mode", "review"]);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Write it.");
  await page.locator(".dock .question").waitFor();
  await page.getByRole("button", { name: "New session" }).click();
  const row = page.locator(".session.waiting");
  await row.getByRole("button", { name: "yes", exact: true }).click();
  await expect.poll(() => existsSync(join(place.cwd, "new.txt"))).toBe(true);
  await row.waitFor({ state: "detached" });
  expect(page.url()).not.toContain("sess_");
});

verifies(["U4"], "stays quick with giant texts of a model and of a tool", async (test) => {
  needsBrowser(test);
  const line = "x".repeat(100_000);
  const place = await webPlace(
    `reply\n  text ${JSON.stringify(`begin ${line} end`)}\n  tool bash {"command": "head -c 3000000 /dev/zero | tr '\\\\0' y"}\nreply\n  text: It is over.\n`,
    ["--permission-mode", "allow"],
  );
  const page = await (await context()).newPage();
  await beginSession(page, place, "Say much");
  await page.getByText("It is over.").waitFor();
  await page.locator(".turn-end").first().waitFor();
  // The page still takes keys, and nothing is wider than it.
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
});
