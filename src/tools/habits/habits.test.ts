import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { plainToolName } from "../../base/tool-name.js";
import { CATALOG, type ToolDefinition } from "../catalog.js";
import { lackingTool } from "./lacking.js";

const TOOLS: readonly ToolDefinition[] = Object.values(CATALOG);

describe("the tables of habits", () => {
  verifies(["T1", "L21"], "give each name to one tool, and none the name of another", () => {
    const owners = new Map<string, string>(TOOLS.map(({ name }) => [plainToolName(name), name]));
    for (const { name: tool, habits } of TOOLS) {
      for (const alias of habits?.names ?? []) {
        expect([undefined, tool], `${alias} of ${tool}`).toContain(owners.get(plainToolName(alias)));
        owners.set(plainToolName(alias), tool);
      }
    }
  });

  verifies(["L21"], "give each parameter one meaning", () => {
    for (const { name: tool, habits } of TOOLS) {
      const owners = new Map<string, string>();
      for (const [place, names] of Object.entries(habits?.parameters ?? {})) {
        for (const each of names) {
          const at = `${place.slice(0, Math.max(0, place.lastIndexOf(".")))}/${plainToolName(each)}`;
          expect([undefined, place], `${each} of ${tool}`).toContain(owners.get(at));
          owners.set(at, place);
        }
      }
    }
  });

  verifies(["L21"], "say what to use instead of tools that are not there", () => {
    for (const name of ["notebookedit", "undoedit", "attemptcompletion", "browseraction", "deletefile"])
      expect(lackingTool(name), name).toMatch(/\w/);
    expect(lackingTool("read")).toBeUndefined();
  });
});
