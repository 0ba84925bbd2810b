/** `oxbow doctor` on models: every provider, and the model that a run would use. */
import type { Variables } from "../../../base/variables.js";
import { createModelRegistry } from "../../../runtime/models/model-registry.js";
import type { LoadedSettings } from "../../../runtime/settings/settings.js";
import type { Finding } from "./finding.js";

/** A provider that is not ready is a warning, or a failure if the user has configured it. */
export async function modelFindings(
  variables: Variables,
  loaded: LoadedSettings | undefined,
): Promise<readonly Finding[]> {
  const registry = createModelRegistry({
    variables,
    ...(loaded && {
      roots: loaded.roots,
      tables: { value: loaded.settings.providers.value, file: loaded.profilePath },
    }),
  });
  const findings = (await registry.providers()).map((state): Finding => {
    const { name: subject, detail } = state;
    if (!state.ready && !state.configured) return { subject, verdict: "warn", text: detail, isUnused: true };
    if (!state.ready) return { subject, verdict: "fail", text: detail };
    const count = `${state.models.length} model${state.models.length === 1 ? "" : "s"}`;
    return { subject, verdict: "ok", text: state.baseUrl === "" ? detail : `${count} at ${state.baseUrl}` };
  });
  const chosen = await registry.choose({
    provider: loaded?.settings.provider.value,
    model: loaded?.settings.model.value,
  });
  const { failure, model } = chosen;
  const text = failure?.message ?? `${model.provider}:${model.model}`;
  return [...findings, { subject: "model in use", verdict: failure ? "fail" : "ok", text }];
}
