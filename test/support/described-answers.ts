/** Checks answers of the HTTP surface against the document that describes it. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/control/transports/http/openapi.js";
import { ROUTES } from "../../src/control/transports/http/routes/index.js";
import type { JsonObject } from "../../src/protocol/json.js";

const document = openApiDocument(ROUTES);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "oxbow", components: document.components as JsonObject });
const checks = new Map<string, ValidateFunction>();

const routes = ROUTES.map(({ path, method }) => {
  return { path, method, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`) };
});

/** Tells what the document does not say of an answer; undefined if it describes it. */
export function undescribed(method: string, target: string, status: number, json: unknown): string | undefined {
  const [plain = ""] = target.split("?");
  // A fixed path comes before one with a parameter.
  const found = routes
    .filter((route) => route.method === method && route.pattern.test(plain))
    .sort((one, other) => one.path.split("{").length - other.path.split("{").length)[0];
  if (found === undefined) return undefined;
  const operation = (document.paths as Record<string, JsonObject>)[found.path]?.[method.toLowerCase()] as JsonObject;
  const name = `${method} ${found.path} ${status}`;
  const response = (operation.responses as Record<string, JsonObject>)[status];
  if (response === undefined) return `${name} is not in the document`;
  const content = (response.content as Record<string, JsonObject> | undefined)?.["application/json"];
  if (content === undefined) return undefined;
  let check = checks.get(name);
  if (check === undefined) {
    check = ajv.compile(JSON.parse(JSON.stringify(content.schema).replaceAll('"#/components', '"oxbow#/components')));
    checks.set(name, check);
  }
  return check(json) ? undefined : `${name}: ${ajv.errorsText(check.errors)}`;
}
