/** The place that a request for a session means. */
import type { PlaceRequest, RunRequest } from "../control/host.js";
import { failure } from "../protocol/errors.js";
import type { Place, ProcessParts } from "./open-engine.js";

/** A resumed session continues in the folder of its record, if the client names no other and the record is the user's own. */
export async function withStoredFolder(
  { place, resume }: RunRequest,
  { root }: Place,
  { sessions }: Pick<ProcessParts, "sessions">,
): Promise<PlaceRequest | undefined> {
  if (resume === undefined || place?.cwd !== undefined) return place;
  if ((await sessions.choice()).kind !== "sqlite") return place;
  const record = await (await sessions.open())?.get(resume.resume);
  return record === undefined || record.cwd === root ? place : { ...place, cwd: record.cwd };
}

/** Loaded late: most processes work in one place. */
export async function otherPlace({ place: asked = {}, resume }: RunRequest, current: Place, shared: ProcessParts) {
  const [{ openPlace }, { storeDifference }] = await Promise.all([
    import("./open-place.js"),
    import("./sessions/same-store.js"),
  ]);
  const place = await openPlace(asked, current, shared);
  if ("failure" in place) return place;
  // The first place has reported a folder of its own that is not approved.
  const notify = place.root === current.root ? () => {} : shared.notify;
  const detail = await storeDifference(place, { ...shared, notify });
  if (detail === undefined) return place;
  if (resume === undefined) return { failure: failure("InvalidInput", { detail }) };
  // A resumed session stays where it is stored.
  shared.notify(detail);
  return place;
}
