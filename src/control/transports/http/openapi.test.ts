import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { COMMAND_KINDS } from "../../../protocol/commands.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { QUERY_KINDS } from "../../../protocol/query-kinds.js";
import { COMMAND_SCHEMAS } from "../../door.js";
import { openApiDocument } from "./openapi.js";
import { ROUTES } from "./routes/index.js";

const document = openApiDocument(ROUTES);

/** Every value below a key of this name. */
function* valuesOf(name: string, value: JsonValue | undefined): Iterable<JsonValue> {
  if (Array.isArray(value)) for (const item of value) yield* valuesOf(name, item);
  if (!isJsonObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === name && inner !== undefined) yield inner;
    yield* valuesOf(name, inner);
  }
}

describe("the OpenAPI document", () => {
  verifies(["C5"], "holds JSON Schemas that a checker takes, and no reference leads nowhere", () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, validateFormats: false });
    const root = { $id: "oxbow", components: document.components } as JsonObject;
    ajv.addVocabulary(["components"]);
    ajv.addSchema(root);
    let count = 0;
    for (const schema of [...valuesOf("schema", document.paths), ...Object.values(componentSchemas())]) {
      if (!isJsonObject(schema)) continue;
      const absolute = JSON.parse(
        JSON.stringify(schema).replaceAll('"#/components', '"oxbow#/components'),
      ) as JsonObject;
      expect(() => ajv.compile(absolute)).not.toThrow();
      count += 1;
    }
    expect(count).toBeGreaterThan(50);
  });

  verifies(["C5"], "describes every command and query with the schema that checks it", () => {
    const bodyOf = (path: string) => ROUTES.find((route) => route.path === path)?.body?.oneOf as readonly JsonObject[];
    const kindsOf = (path: string) =>
      bodyOf(path).map(({ properties }) => ((properties as JsonObject).kind as JsonObject).const);
    expect(kindsOf("/v1/commands").sort()).toEqual([...COMMAND_KINDS].sort());
    expect(kindsOf("/v1/queries").sort()).toEqual([...QUERY_KINDS].sort());
    expect(ROUTES.find(({ name }) => name === "createSession")?.body).toBe(COMMAND_SCHEMAS.CreateSession);
  });

  verifies(["C5"], "names each operation once, each parameter of its path, and the token", () => {
    const names = [...valuesOf("operationId", document.paths)];
    expect(new Set(names).size).toBe(names.length);
    for (const { path, method } of ROUTES) {
      const operation = ((document.paths as JsonObject)[path] as JsonObject)[method.toLowerCase()] as JsonObject;
      const parameters = (operation.parameters ?? []) as readonly JsonObject[];
      const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
    expect(document.security).toEqual([{ token: [] }]);
  });
});

function componentSchemas(): JsonObject {
  return (document.components as JsonObject).schemas as JsonObject;
}
