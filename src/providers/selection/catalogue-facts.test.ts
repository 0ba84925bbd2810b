import { describe, expect, it } from "vitest";
import { Catalogue } from "../catalogue/catalogue.js";
import { withCatalogueModels } from "./catalogue-facts.js";
import type { ProviderState } from "./describe.js";

const away: ProviderState = {
  name: "openai",
  baseUrl: "https://api.openai.com/v1",
  ready: false,
  configured: true,
  detail: "could not be reached",
  models: [],
  unreached: true,
};

describe("a provider that cannot be reached", () => {
  it("offers the models of the catalogue that can call tools, with their facts", async () => {
    const [state] = await withCatalogueModels([away], new Catalogue());
    const ids = state?.models.map(({ id }) => id) ?? [];
    expect(ids).toContain("gpt-5.5");
    expect(ids.filter((id) => id.includes("embedding"))).toEqual([]);
    expect(state?.models.every(({ maxContextTokens, tools }) => maxContextTokens !== undefined && tools)).toBe(true);
  });

  it("offers none of them for a refused key, another server, or a provider without a key", async () => {
    const { unreached: _, ...refused } = away;
    const others = [refused, { ...away, baseUrl: "http://127.0.0.1:9/v1" }, { ...away, configured: false }];
    for (const state of await withCatalogueModels(others, new Catalogue())) expect(state.models).toEqual([]);
  });
});
