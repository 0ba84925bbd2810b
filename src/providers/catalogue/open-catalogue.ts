/** The catalogue of this user: the shipped one, the fetched one, and the overrides of the profile. */
import { readFile } from "node:fs/promises";
import type { Roots } from "../../system/xdg-paths.js";
import type { ModelSettings } from "../settings.js";
import { Catalogue } from "./catalogue.js";
import { fetchedCatalogue } from "./newest.js";

export interface CataloguePlace {
  readonly settings: Pick<ModelSettings, "models">;
  readonly roots: Pick<Roots, "cache">;
}

const opened = new WeakMap<CataloguePlace["settings"], Catalogue>();

/** The same object for the same settings, so that it is read once. */
export function openCatalogue({ settings, roots }: CataloguePlace): Catalogue {
  let catalogue = opened.get(settings);
  if (catalogue === undefined) {
    const overrides = settings.models.value;
    catalogue = new Catalogue({
      ...(overrides !== undefined && { overrides }),
      readFetched: async () => {
        try {
          return await readFile(fetchedCatalogue(roots.cache), "utf8");
        } catch {
          return undefined;
        }
      },
    });
    opened.set(settings, catalogue);
  }
  return catalogue;
}
