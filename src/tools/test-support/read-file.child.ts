/** Reads lines of a file with the tool, and prints the text and the most memory that this process had. Arguments: folder, name, offset. */
import { resultText } from "../../protocol/content.js";
import { createFileTools } from "../file-tools.js";
import { Workspace } from "../workspace.js";

const [folder = "", path = "", offset = "1"] = process.argv.slice(2);
const tools = createFileTools(await Workspace.open(folder), { ripgrep: false });
const read = tools.find(({ name }) => name === "read");
const context = { signal: new AbortController().signal, progress() {} };
const result = await read?.run({ path, offset: Number(offset), limit: 1 }, context);
const text = resultText(result?.content ?? []);
console.log(JSON.stringify({ text, mostBytes: process.resourceUsage().maxRSS * 1024 }));
