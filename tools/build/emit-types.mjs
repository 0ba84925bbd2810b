import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "../entry.mjs";

/** Writes the declarations of the package's entry points to dist/types. */
export async function emitTypes(root) {
  rmSync(join(root, "dist", "types"), { recursive: true, force: true });
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const child = spawn(process.execPath, [compiler, "--project", "tsconfig.build.json"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new ToolError("the declarations could not be written: tsc's messages are above.");
}
