/** Prints what a command of this process must not get: `PATH WORKSPACE`. */
import { findWithheld } from "../inherited-files.js";

const [path, workspace = "/"] = process.argv.slice(2);
try {
  console.log(JSON.stringify(findWithheld({ path, workspace }) ?? "nothing"));
} catch (error) {
  console.log(JSON.stringify((error as Error).message));
}
