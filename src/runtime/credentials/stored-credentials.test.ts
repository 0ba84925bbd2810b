import { describe, expect } from "vitest";
import { temporaryFolder } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import { parseFlags } from "../../feature/flags.js";
import { loadWire } from "../../providers/named.js";
import { bindEndpoint } from "../../security/credentials/bind-endpoint.js";
import { createModelRegistry } from "../models/model-registry.js";
import { loadSettings } from "../settings/settings.js";
import { openCredentialFile } from "./commands.js";

describe("a key that is stored while the engine runs", () => {
  verifies(["M15"], "counts at once, and no longer when it is removed", async () => {
    const variables = { OXBOW_HOME: await temporaryFolder() };
    const { roots } = await loadSettings(parseFlags([], [], ""), variables);
    const registry = createModelRegistry({ variables, roots });
    const opens = async () => "model" in (await registry.look("mistral:some-model"));
    expect(await opens()).toBe(false);
    const { authorize } = await loadWire("openai-chat");
    const endpoint = bindEndpoint({ baseUrl: "https://api.mistral.ai/v1", authorize });
    const file = await openCredentialFile({ variables, warn: () => {} });
    const named = { provider: "mistral", account: "default" } as const;
    await file.put({ kind: "api_key", ...named, endpoint, addedAt: 1, key: ["made", "up", "here"].join("-") });
    expect(await opens()).toBe(true);
    await file.remove(named);
    expect(await opens()).toBe(false);
  });
});
