import { escapeTests } from "../../../test/support/sandbox-escapes.js";

escapeTests("util-linux");
