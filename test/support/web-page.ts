/** The web client in a real browser, with the program that serves it and the mock model behind it. */
import type { ChildProcess } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { findProgram } from "../../src/system/find-program.js";
import { type MockModel, parseScript, startMockModel } from "../../src/testkit/index.js";
import { providerEnvironment } from "./program.js";
import { temporaryFolder } from "./program-options.js";
import { oxbowProcess } from "./program-process.js";

export interface WebPlace {
  readonly cwd: string;
  readonly home: string;
  readonly mock: MockModel;
  /** The address with a code, as the program printed it. */
  url(): string;
  /** Ends the engine as a crash does. */
  kill(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
}

/** `oxbow serve --web` in folders of its own. */
export async function webPlace(script: string, flags: readonly string[] = []): Promise<WebPlace> {
  const mock = await startMockModel({ script: parseScript(script) });
  const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(cwd, "src"));
  await writeFile(join(cwd, "src", "rates.ts"), "export const rate = 1;\n");
  const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let url = "";
  const start = async () => {
    url = "";
    await new Promise<void>((resolve, reject) => {
      const run = oxbowProcess(["serve", "--web", ...flags], {
        ...{ cwd, env },
        onStart: (started) => {
          child = started;
        },
        onOutput: ({ stdout }) => {
          url = /web client at (\S+)/.exec(stdout)?.[1] ?? url;
          if (url !== "") resolve();
        },
      });
      ended = run;
      run.then(({ stderr }) => reject(new Error(stderr)), reject);
    });
  };
  onTestFinished(async () => {
    child?.kill("SIGTERM");
    await ended.catch(() => {});
    await mock.close();
  });
  await start();
  return {
    ...{ cwd, home, mock, start },
    url: () => url,
    kill: async () => {
      child?.kill("SIGKILL");
      await ended.catch(() => {});
    },
  };
}

/** One browser for a test file. */
export function useBrowser(): (options?: Parameters<Browser["newContext"]>[0]) => Promise<BrowserContext> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const executablePath = findProgram("chromium", process.env.PATH, { outside: process.cwd() });
    if (executablePath === undefined) return;
    // A user with all rights has no sandbox of Chromium, and these pages are our own.
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    browser = await chromium.launch({ executablePath, args });
  });
  afterAll(() => browser?.close());
  return async (options = {}) => {
    const context = await browser?.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    if (context === undefined) throw new Error("there is no browser");
    onTestFinished(() => context.close());
    return context;
  };
}

/** Signs in and begins a session with a prompt. */
export async function beginSession(page: Page, { url, cwd }: Pick<WebPlace, "url" | "cwd">, prompt: string) {
  await page.goto(url());
  await page.getByLabel("Folder").fill(cwd);
  await page.getByLabel("The first prompt").fill(prompt);
  await page.getByRole("button", { name: "Begin" }).click();
  await page.locator(".turn").first().waitFor();
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}
