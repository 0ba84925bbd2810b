import { describe, expect, it } from "vitest";
import { LOG_COMPONENTS, parseLogLevels } from "./log.js";

describe("levels of the log", () => {
  it("are a standard level and levels of components that exist", () => {
    for (const name of [...LOG_COMPONENTS, "provider.ollama", "transport.http"]) {
      expect(parseLogLevels(`warn,${name}=trace`)).toEqual({
        standard: "warn",
        byComponent: new Map([[name, "trace"]]),
      });
    }
  });

  it.each(["enigne=debug", "=debug", "engine.loop=debug", "Engine=debug"])("refuse %s", (text) => {
    expect(parseLogLevels(text)).toEqual({ problem: expect.stringContaining("there is no component") });
  });

  it.each(["loud", "engine=loud"])("say which levels there are: %s", (text) => {
    expect(parseLogLevels(text)).toEqual({ problem: expect.stringContaining("expected a level (error, warn") });
  });
});
