import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    {
      // The build embeds .md, .txt and .toml files as text; the tests must see the same.
      name: "text-modules",
      enforce: "pre",
      load(id) {
        return /\.(md|txt|toml)$/.test(id) ? `export default ${JSON.stringify(readFileSync(id, "utf8"))};` : undefined;
      },
    },
  ],
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts"],
    // `npm run test:all` has the full tests too. The others need what is not in the repository: cases by others, and packages that are
    // only looked at (test/packages).
    exclude: [
      "**/node_modules/**",
      ...(process.env.OXBOW_TEST_ALL ? [] : ["**/*.full.test.ts"]),
      ...(process.env.OXBOW_TEST_OUTSIDE ? [] : ["**/*.outside.test.ts"]),
      ...(process.env.OXBOW_TEST_PACKAGES ? [] : ["**/*.packages.test.ts"]),
    ],
    globalSetup: ["./tools/test/own-temporary-folder.mjs"],
    // Much of a test's time is waiting for processes and disks: two workers more than there are cores.
    maxWorkers: availableParallelism() + 2,
    // Loading the same modules for each file anew takes a quarter of the time. No test may leave anything behind in them.
    isolate: false,
    // Starting a program takes longer the more memory the starting process has, and many tests start programs.
    execArgv: ["--heap-growing-percent=50"],
    // CI gives a failed test a second attempt, and counts those that needed it (tools/test/test.mjs).
    retry: Number(process.env.OXBOW_TEST_RETRIES ?? 0),
    // These limits only end a hang: a busy machine may take long.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000, interval: 10 } },
  },
});
