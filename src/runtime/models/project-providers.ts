/** The providers of a project: their approved files, and the sandbox that they run in. */
import type { ExtensionFiles } from "../../base/extension-files.js";
import type { ContainProvider } from "../../providers/executable/containment.js";
import type { ProviderPlace } from "./provider-sandbox.js";

/** Private copies of the approved files. */
export async function providersOfProject(extensions: ExtensionFiles): Promise<readonly string[]> {
  const files = extensions.of("provider");
  return Promise.all(files.map((file) => file.program()));
}

/** Loaded for the first provider of a project. */
export function lateContainment(place: ProviderPlace): ContainProvider {
  let contain: Promise<ContainProvider> | undefined;
  return async (command, hosts) => {
    contain ??= import("./provider-sandbox.js").then(({ containProviders }) => containProviders(place));
    return (await contain)(command, hosts);
  };
}
