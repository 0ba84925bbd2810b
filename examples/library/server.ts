/**
 * The harness behind HTTP, for a screen in another process.
 *
 *     ANTHROPIC_API_KEY=… tsx examples/library/server.ts
 *
 * (Any other TypeScript runner will do.) In your own project the import is `from "oxbow"`.
 */
import { createServer, Harness } from "../../src/library/index.js";

const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl, PORT: port = "0" } = process.env;
const harness = new Harness({ apiKey, baseUrl, systemPrompt: "Be brief." }, [
  {
    name: "roll",
    description: "Rolls a die.",
    inputSchema: { type: "object", properties: { sides: { type: "integer", minimum: 2 } }, required: ["sides"] },
    execute: ({ sides }: { sides: number }) => String(1 + Math.floor(Math.random() * sides)),
  },
]);
const server = await createServer(harness).listen({ port: Number(port) });

console.log(`curl -N -H 'X-Oxbow-Token: ${server.token}' ${server.url}/events`);
console.log(`curl -H 'X-Oxbow-Token: ${server.token}' -d '{"content": "Roll a die."}' ${server.url}/prompt`);

process.once("SIGINT", () => {
  harness.cancel();
  void server.close();
});
