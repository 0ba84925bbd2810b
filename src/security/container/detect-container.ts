import { findProgram } from "../../system/find-program.js";
import type { DetectOptions } from "../sandbox/detect.js";
import type { LimitName } from "../sandbox/policy.js";
import { run } from "../sandbox/run.js";
import { noSandbox, type SandboxState } from "../sandbox/state.js";

/** The first engine that has the image. */
export async function detectContainer(
  { path, overrides, workspace }: DetectOptions,
  limits: readonly LimitName[],
): Promise<SandboxState> {
  const { container } = overrides ?? {};
  if (container === undefined || container.image === "") {
    return noSandbox("the configured container has no image. Set the image.");
  }
  const names = container.program === undefined ? ["podman", "docker"] : [container.program];
  let lastLine = "";
  for (const name of names) {
    const program = findProgram(name, path, { outside: workspace });
    if (program === undefined) continue;
    const words = [program, "image", "inspect", "--format", "{{.Id}}", "--", container.image];
    const { failure, said } = await run(words, { env: "inherited" });
    if (failure === undefined) {
      return {
        kind: "container",
        program,
        reason: `configured: ${container.image}`,
        abilities: { filesystem: true, network: "off", pids: true, limits },
      };
    }
    lastLine ||= said.trim().split("\n").at(-1) || `${name} says nothing`;
  }
  if (lastLine === "") return noSandbox(`a container is configured, but ${names.join(" and ")} cannot be found.`);
  return noSandbox(`the image ${container.image} cannot be used. Pull it first. (${lastLine})`);
}
