import { ROOT, setUp } from "../setup/set-up.mjs";
import { checkSources } from "./checks.mjs";

/** `npm run check`: all checks, without the tests. */
export async function main() {
  await setUp({ root: ROOT, need: "install" });
  const results = await checkSources(ROOT);
  if (results.some(({ ok }) => !ok)) process.exitCode = 1;
}
