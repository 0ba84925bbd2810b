/** `/template`: prompt files by name. They are slash commands too; this finds them even if another command has the name. */
import { TEMPLATE_LIST, TEMPLATE_USE } from "../../../commands/catalogue/context.js";
import { type Command, refuse } from "../../../commands/command.js";
import type { Opening } from "../../opening.js";

export function templateCommands(opening: Opening): readonly Command[] {
  const all = async () => {
    const files = opening.extensions.of("prompt");
    if (files.length === 0) return [];
    return (await import("../prompt-files.js")).promptFileCommands(files, opening);
  };
  const byName = async (name: string) =>
    (await all()).findLast((command) => command.name === name || command.name.endsWith(`:${name}`));
  return [
    {
      ...TEMPLATE_USE,
      run: async (args, context) => {
        const name = args.text("NAME") ?? "";
        const found = await byName(name.replace(/\.md$/, ""));
        if (found === undefined) return refuse(`There is no template '${name}'. /template lists them.`);
        return found.run(args, context);
      },
    },
    {
      ...TEMPLATE_LIST,
      run: async () => {
        const found = (await all()).map(({ name, summary }) => ({ name, summary }));
        const text = found.map(({ name, summary }) => `${name}  ${summary}`).join("\n");
        return {
          text:
            text ||
            "There are no templates. Put Markdown files into templates/ or commands/ of Oxbow's configuration folder or of .oxbow/.",
          value: { templates: found },
        };
      },
    },
  ];
}
