import { VERSION } from "../../base/version.js";

export async function run(): Promise<number> {
  process.stdout.write(`oxbow ${VERSION}\n`);
  return 0;
}
