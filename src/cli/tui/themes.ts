/** The themes for this terminal, by its variables. */
import type { Variables } from "../../base/variables.js";
import { lightByVariable, terminalAbilities } from "../../clients/tui/terminal/abilities.js";
import type { Theme } from "../../clients/tui/theme.js";
import { type Colours, createTheme, listThemes } from "../../clients/tui/themes.js";

export interface ClientThemes {
  readonly first: Theme;
  readonly all: readonly { readonly name: string; readonly description: string; readonly theme: Theme }[];
}

export function clientThemes(variables: Variables, wanted?: string): ClientThemes {
  const options = {
    colours: coloursOf(variables),
    links: terminalAbilities(variables).links,
  };
  const all = listThemes().map(({ name, description }) => ({ name, description, theme: createTheme(name, options) }));
  const name = options.colours === "none" ? "plain" : lightByVariable(variables) ? "light" : "dark";
  const found = all.find((theme) => theme.name === wanted);
  return { first: found?.theme ?? createTheme(name, options), all };
}

function coloursOf({ NO_COLOR, COLORTERM = "" }: Variables): Colours {
  if (NO_COLOR) return "none";
  return /truecolor|24bit/.test(COLORTERM) ? "truecolor" : "16";
}
