/** A person looks at the past of a session: where its time went, how it stood, what it changed and cost, and how it differs from a branch. */
import { execFileSync } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, type TestContext } from "vitest";
import { skipWithout } from "../support/needs.js";
import { beginSession, say, useBrowser, webPlace } from "../support/web-page.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply
  thinking: I should think first.
  text: First I write it.
  tool write {"path": "notes.txt", "content": "one\\ntwo\\n"}
reply
  text: It is written.
reply
  tool read {"path": "notes.txt"}
  tool edit {"path": "notes.txt", "old": "two", "new": "three"}
reply
  text: Two is three now.
reply times=any
  text: Something else.
`;

const context = useBrowser();

function needsBrowser(test: Pick<TestContext, "skip">): void {
  skipWithout(test, "chromium");
}

async function twoTurns() {
  const place = await webPlace(SCRIPT, ["--permission-mode", "allow"]);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Write notes");
  await page.getByText("It is written.").waitFor();
  await say(page, "Change them");
  await page.getByText("Two is three now.").waitFor();
  await page.locator(".turn-end").nth(1).waitFor();
  return { page, place };
}

verifies(["U4", "L12"], "shows the conversation, the todos and the files of any moment", async (test) => {
  needsBrowser(test);
  const { page } = await twoTurns();
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "History" }).click();
  const shown = page.getByRole("group", { name: "Conversation at this moment" });
  await shown.getByText("Two is three now.").waitFor();
  expect(await page.getByRole("status").first().textContent()).toContain("The end");
  // A turn back: its answer is not there yet.
  await page.getByRole("button", { name: "Back one turn" }).click();
  await page.getByText("As of").waitFor();
  expect(await shown.getByText("Two is three now.").count()).toBe(0);
  expect(await shown.getByText("It is written.").count()).toBe(1);
  await page.getByRole("button", { name: "Files up to here" }).click();
  const details = page.getByRole("complementary", { name: "Details" });
  await details.getByText("notes.txt").waitFor();
  expect(await details.textContent()).toMatch(/added: one.*added: two/s);
  expect(await details.textContent()).not.toContain("three");
  // By keys to the beginning, and back to the end.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Home");
  await page.getByText("Nothing was said yet.").waitFor();
  await page.keyboard.press("Alt+ArrowRight");
  await shown.getByText("Write notes").waitFor();
  await page.keyboard.press("End");
  await shown.getByText("Two is three now.").waitFor();
});

verifies(["U4"], "plays a session, and comes back to a moment by its link", async (test) => {
  needsBrowser(test);
  const { page } = await twoTurns();
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "History" }).click();
  await page.getByLabel("Speed").selectOption("16");
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByText("As of").waitFor();
  await page.getByRole("status").filter({ hasText: "The end" }).waitFor();
  await page.getByRole("button", { name: "Back one turn" }).click();
  const link = page.url();
  const moment = await page.getByRole("slider", { name: "Moment" }).inputValue();
  await page.goto(link);
  await page.reload();
  await page.getByRole("slider", { name: "Moment" }).waitFor();
  expect(await page.getByRole("slider", { name: "Moment" }).inputValue()).toBe(moment);
});

verifies(["U4"], "shows lanes that lead to their moment", async (test) => {
  needsBrowser(test);
  const { page } = await twoTurns();
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "History" }).click();
  await page.locator(".lane-frame .band").nth(1).waitFor();
  expect(await page.locator(".lane-frame .band").count()).toBe(2);
  expect(await page.locator(".span.tools").count()).toBeGreaterThan(0);
  await page
    .locator(".band")
    .first()
    .click({ position: { x: 4, y: 4 } });
  await page.getByText("turn 1").first().waitFor();
  // Zoom shows less, and 0 all of it again.
  const wide = async () => Number(await page.locator(".band rect").first().getAttribute("width"));
  const before = await wide();
  await page.locator(".lane-frame").focus();
  await page.keyboard.press("+");
  await expect.poll(wide).toBeGreaterThan(before * 1.5);
  await page.keyboard.press("0");
  await expect.poll(wide).toBeCloseTo(before, 0);
  await page.getByRole("button", { name: "Timing" }).click();
  await page
    .getByRole("complementary", { name: "Details" })
    .getByRole("rowheader", { name: /model|provider/ })
    .first()
    .waitFor();
});

verifies(["U4", "S12"], "branches from a moment, and shows both sides", async (test) => {
  needsBrowser(test);
  const { page } = await twoTurns();
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "History" }).click();
  const original = page.url();
  await page.getByRole("button", { name: "Back one turn" }).click();
  await page.getByRole("button", { name: "Branch from here" }).click();
  await expect.poll(() => page.url()).not.toContain("history");
  const [, id] = /#\/s\/(sess_\w+)/.exec(page.url()) ?? [];
  expect(original).not.toContain(id);
  await page.getByText("It is written.").waitFor();
  await say(page, "Do something else");
  await page.getByText("Something else.").waitFor();
  const [, first] = /#\/history\/(sess_\w+)/.exec(original) ?? [];
  await page.goto(`${new URL(original).origin}/#/compare/${first}/${id}`);
  await page.getByText("the same in all").waitFor();
  const sides = page.getByRole("group", { name: "Sessions side by side" });
  expect(await sides.getByText("Two is three now.").count()).toBe(1);
  expect(await sides.getByText("Something else.").count()).toBe(1);
});

verifies(["U4", "M14"], "shows what was spent, and saves it as CSV", async (test) => {
  needsBrowser(test);
  const { page } = await twoTurns();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Costs" }).click();
  await page.getByRole("button", { name: "model", exact: true }).click();
  const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: /claude/ }) });
  await row.waitFor();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV" }).click();
  const path = await (await saved).path();
  const [head, line = ""] = (await readFile(path, "utf8")).split("\n");
  expect(head).toBe("name,usd,calls,input,cache_read,cache_write,output,elapsed_ms,unpriced");
  expect(line).toMatch(/^"[^"]*claude[^"]*",[\d.]*,4,/);
});

verifies(
  ["U4", "S6"],
  "finds words of a conversation, and saves the session as a page without its thinking",
  async (test) => {
    needsBrowser(test);
    const { page } = await twoTurns();
    await page.getByLabel("Find a session").fill("three now");
    const found = page.getByRole("region", { name: "In conversations" });
    await found.getByRole("link").first().click();
    await page.getByRole("group", { name: "Conversation at this moment" }).waitFor();
    await page.getByRole("link", { name: "Conversation", exact: true }).click();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: "Share" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const html = await readFile(await (await saved).path(), "utf8");
    expect(html).toContain("Two is three now.");
    expect(html).not.toContain("I should think first");
    expect(html).toMatch(/content-security-policy[^>]*default-src/i);
    expect(html.trimEnd().endsWith("</html>")).toBe(true);
  },
);

verifies(["U4", "S12"], "runs a turn again in a worktree, and compares both", async (test) => {
  needsBrowser(test);
  const place = await webPlace(SCRIPT, ["--permission-mode", "allow"]);
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: place.cwd, stdio: "ignore" });
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "begin");
  const page = await (await context()).newPage();
  await beginSession(page, place, "Write notes");
  await page.locator(".turn-end").first().waitFor();
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("button", { name: "Run again" }).click();
  const dialog = page.getByRole("dialog", { name: "Run again" });
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => page.url()).toContain("/compare/");
  const sides = page.getByRole("group", { name: "Sessions side by side" });
  await sides.getByText("Two is three now.").waitFor();
  expect(await sides.getByText("It is written.").count()).toBe(1);
  const trees = execFileSync("git", ["worktree", "list", "--porcelain"], { cwd: place.cwd, encoding: "utf8" });
  const [, , tree = ""] = /worktree (\S+)[\s\S]*worktree (\S+)/.exec(trees) ?? [];
  onTestFinished(() => rm(dirname(tree), { recursive: true, force: true }));
  // The copy has the files from before its turn, and the first session keeps its own.
  expect(await readdir(tree)).toEqual([".git", "src"]);
  expect(await readFile(join(place.cwd, "notes.txt"), "utf8")).toBe("one\ntwo\n");
});
