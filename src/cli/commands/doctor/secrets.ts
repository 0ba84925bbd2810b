/** `oxbow doctor` on the secrets file of the working folder. */
import { secretsFileHere } from "../../secrets.js";
import type { Finding } from "./finding.js";

const subject = "secrets file";

export async function secretsFindings(): Promise<readonly Finding[]> {
  const file = await secretsFileHere();
  if (file === undefined) return [];
  const { path, keys, refused, warnings } = file;
  if (refused !== undefined) return [{ subject, verdict: "fail", text: `${path} is not read: ${refused}` }];
  const names = Object.keys(keys).join(", ") || "no key";
  const problems = warnings.map((warning): Finding => ({ subject, verdict: "warn", text: warning }));
  return [{ subject, verdict: "ok", text: `${path}: ${names}` }, ...problems];
}
