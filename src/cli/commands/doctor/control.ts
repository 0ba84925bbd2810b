/** `oxbow doctor` on the control socket: which process owns it, and whether it answers. */

import { lstatSync } from "node:fs";
import { counted } from "../../../base/group-digits.js";
import type { Variables } from "../../../base/variables.js";
import { VERSION } from "../../../base/version.js";
import { controlPlace } from "../../../control/control-place.js";
import type { Roots } from "../../../system/xdg-paths.js";
import { reachEngine } from "../../attach/reach.js";
import type { Finding } from "./finding.js";

const subject = "engine";

export async function controlFindings(roots: Roots, variables: Variables): Promise<readonly Finding[]> {
  const place = controlPlace(roots);
  const loose = [place.socket, place.token].filter(isOpenToOthers).map((path): Finding => {
    return { subject, verdict: "fail", text: `${path} is open to other users`, fix: `chmod 600 ${path}` };
  });
  return [await engineFinding(variables), ...loose];
}

async function engineFinding(variables: Variables): Promise<Finding> {
  const reached = await reachEngine(variables, { name: "oxbow doctor", canAnswer: false });
  if (reached.kind === "none") {
    return { subject, verdict: "ok", text: "none runs; 'oxbow' and 'oxbow serve' start one" };
  }
  const process = `process ${reached.pid ?? "of another system"}`;
  if (reached.kind === "unreachable") {
    const fix = `end ${process}, or wait until it answers; 'oxbow --no-attach' works without it`;
    return { subject, verdict: "fail", text: `${process} is the engine: ${reached.reason}`, fix };
  }
  const reply = await reached.client.query("GetHealth", {});
  await reached.client.close();
  if (!reply.ok) return { subject, verdict: "fail", text: reply.failure.message };
  const { version, sessions, clients } = reply.answer;
  // The doctor itself is one of them.
  const text = `${process}, version ${version}: ${counted(sessions, "session")}, ${counted(clients - 1, "client")}`;
  if (version === VERSION) return { subject, verdict: "ok", text };
  return { subject, verdict: "warn", text: `${text}; this is ${VERSION}`, fix: "start the engine again" };
}

function isOpenToOthers(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && process.platform !== "win32" && (found.mode & 0o077) !== 0;
}
