/**
 * The conformance adapter: suites of cases drive parts of Oxbow through it, one JSON request per line on stdin and one JSON
 * answer per line on stdout, with the same `n`. An operation that is not offered is answered `{"unsupported": true}`.
 */
import { serve } from "../testkit/suite-adapter/serve.js";

void serve(process.stdin, process.stdout);
