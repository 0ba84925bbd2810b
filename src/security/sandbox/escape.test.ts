import { escapeTests } from "../../../test/support/sandbox-escapes.js";

escapeTests("sandbox");
