import { isListingCurrent, staleListing } from "../generate-chain/generate.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";
import { checkSources, runCheck } from "./checks.mjs";

/** `npm run check`: all checks, without the tests. */
export async function main() {
  await setUp({ root: ROOT, need: "install" });
  const listing = await runCheck("chain listing", () => (isListingCurrent(ROOT) ? "" : staleListing));
  const results = [listing, ...(await checkSources(ROOT))];
  if (results.some(({ ok }) => !ok)) process.exitCode = 1;
}
