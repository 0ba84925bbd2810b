/** Every state of the page passes axe-core, at three widths and in both themes, and works with the keyboard alone. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { skipWithout } from "../support/needs.js";
import { beginSession, say, useBrowser, webPlace } from "../support/web-page.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply
  thinking: I look first.
  tool read {"path": "src/rates.ts"}
  tool todo {"todos": [{"text": "Look", "status": "done"}, {"text": "Change", "status": "in_progress"}]}
  tool edit {"path": "src/rates.ts", "old": "rate = 1", "new": "rate = 2"}
  tool bash {"command": "cat missing"}
reply
  text:
    ## Done

    | a | b |
    |---|---|
    | 1 | \`two\` |

    \`\`\`ts
    const a = "text"; // a comment
    \`\`\`

    A [link](https://example.org).
reply
  tool write {"path": "new.txt", "content": "written"}
reply
  text: Written.
`;

const WIDTHS = [1440, 768, 360];
const context = useBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Lists what axe-core finds that is serious, in every width and theme. */
async function seriousIn(page: Page, state: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    for (const colorScheme of ["dark", "light"] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.waitForTimeout(50);
      const { violations } = (await page.evaluate(`${axe}\n;axe.run()`)) as {
        readonly violations: readonly Violation[];
      };
      for (const { id, impact, nodes } of violations) {
        if (impact !== "serious" && impact !== "critical") continue;
        found.push(`${state}, ${width} px, ${colorScheme}: ${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
      }
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  return found;
}

verifies(["U4"], "has nothing serious for axe-core in any state", async (test) => {
  skipWithout(test, "chromium");
  const place = await webPlace(SCRIPT, ["--permission-mode", "review"]);
  const page = await (await context()).newPage();
  await page.goto(place.url());
  await page.getByRole("button", { name: "Begin" }).waitFor();
  const found = [...(await seriousIn(page, "start"))];
  await page.getByLabel("Folder").fill(place.cwd);
  await page.getByLabel("The first prompt").fill("Change it.");
  await page.getByRole("button", { name: "Begin" }).click();
  await page.locator(".dock .question").waitFor();
  found.push(...(await seriousIn(page, "question")));
  await page.locator(".dock .choice.k-y").click();
  await page.locator(".turn-end").waitFor();
  found.push(...(await seriousIn(page, "conversation")));
  await page
    .locator("[data-call]")
    .first()
    .click({ modifiers: ["Shift"] });
  await page.getByRole("complementary", { name: "Details" }).waitFor();
  found.push(...(await seriousIn(page, "details")));
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Message" }).fill("/mo");
  await page.getByRole("listbox").waitFor();
  found.push(...(await seriousIn(page, "completion")));
  await page.getByRole("textbox", { name: "Message" }).fill("");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  found.push(...(await seriousIn(page, "palette")));
  await page.keyboard.press("Escape");
  const [, id] = /(sess_\w+)/.exec(page.url()) ?? [];
  const others = [
    `history/${id}`,
    `inside/${id}/mcp`,
    `inside/${id}/rules`,
    `inside/${id}/settings`,
    "costs",
    `compare/${id}`,
  ];
  for (const name of others) {
    await page.evaluate(`location.hash = "#/${name}"`);
    await page.getByRole("main").waitFor();
    found.push(...(await seriousIn(page, name)));
  }
  expect(found).toEqual([]);
});

verifies(["U4"], "works with the keyboard alone", async (test) => {
  skipWithout(test, "chromium");
  const place = await webPlace(SCRIPT, ["--permission-mode", "review"]);
  const page = await (await context()).newPage();
  await beginSession(page, place, "Change it.");
  await page.locator(".dock .question").waitFor();
  const focused = () => page.evaluate("document.activeElement.className || document.activeElement.tagName");
  // From the draft, which takes the focus when the page has opened and where a key is a letter, to the answers.
  await page.waitForTimeout(500);
  if ((await page.evaluate("document.activeElement.tagName")) === "TEXTAREA") await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("y");
  await page.locator(".turn-end").waitFor();
  await page.keyboard.press("j");
  expect(await focused()).toBe("call-head");
  await page.keyboard.press("Enter");
  expect(await page.locator(".call-head[aria-expanded=true]").count()).toBeGreaterThan(0);
  await page.keyboard.press("i");
  expect(await focused()).toBe("TEXTAREA");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "What should happen?" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("change");
  await page.keyboard.press("Enter");
  await page.locator(".turn-end").waitFor();
  await say(page, "/cost");
  await page.locator(".note").waitFor();
});
