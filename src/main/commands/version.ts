import { VERSION } from "../version.js";

export async function run(): Promise<number> {
  process.stdout.write(`oxbow ${VERSION}\n`);
  return 0;
}
