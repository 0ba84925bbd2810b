/** Lets the content of a session expire until it is killed. Arguments: path, last event. */
import { writeSync } from "node:fs";
import { openSqliteStore } from "../sqlite-store.js";
import { SAMPLE_KEY, sampleSession } from "./sample.js";

const [path = "", last = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ path, key: SAMPLE_KEY });
writeSync(1, "begun");
await store.expire(sampleSession(1).id, Number(last));
await store.close();
