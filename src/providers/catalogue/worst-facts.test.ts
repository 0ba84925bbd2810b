import { expect, it } from "vitest";
import type { ModelFacts } from "./facts.js";
import { worstOf } from "./worst-facts.js";

const abilities = { tools: true, images: true, reasoning: false };
const small: ModelFacts = {
  context: 8000,
  output: 4000,
  abilities,
  source: "catalogue",
  price: { input: 1, output: 9 },
};
const large: ModelFacts = {
  context: 100_000,
  input: 90_000,
  output: 2000,
  abilities: { ...abilities, images: false },
  source: "profile",
  price: { input: 2, output: 3, tiers: [{ over: 50_000, input: 4, output: 6 }] },
};

it("what holds for several models is the least they can do and the most they cost", () => {
  expect(worstOf([small, large])).toMatchObject({
    context: 8000,
    input: 90_000,
    output: 2000,
    abilities: { tools: true, images: false, reasoning: false },
    price: { input: 4, output: 9 },
  });
  expect(worstOf([small])).toBe(small);
});

it("a price that one of them lacks is not known", () => {
  const { price: _price, ...unpriced } = large;
  expect(worstOf([small, unpriced]).price).toBeUndefined();
  expect(worstOf([])).toMatchObject({ source: "assumed", assumed: true });
});
