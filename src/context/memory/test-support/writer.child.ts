/** Saves memories under one name, many times. Arguments: folder, who, times. */
import { systemClock } from "../../../base/clock.js";
import { MemoryFolder } from "../folder.js";

const [path = "", who = "", times = "0"] = process.argv.slice(2);
const folder = new MemoryFolder({ path, scope: "user", clock: systemClock, redact: (text) => text });
for (let i = 1; i <= Number(times); i++) {
  await folder.save({ name: "same name", body: `Note ${i} of writer ${who}.` }, { by: "user" });
}
