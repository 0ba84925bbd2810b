/** The place that a request for a session means. */
import type { PlaceRequest, RunRequest } from "../control/host.js";
import { failure } from "../protocol/errors.js";
import type { Place, ProcessParts } from "./open-engine.js";
import type { StoredModel } from "./open-place.js";

export interface WantedPlace extends PlaceRequest {
  /** The model that the stored session had. */
  readonly earlier?: StoredModel;
}

/** A resumed session continues in the folder and with the model of its record, if the client names no other and the record is the user's own. */
export async function withStoredPlace(
  { place, resume }: RunRequest,
  { root, model: now }: Place,
  { sessions }: Pick<ProcessParts, "sessions">,
): Promise<WantedPlace | undefined> {
  if (resume === undefined || (place?.cwd !== undefined && place.start === undefined)) return place;
  if (!(await sessions.isOwn())) return place;
  const record = await (await sessions.open())?.get(resume.resume);
  if (record === undefined) return place;
  const { provider, model } = record;
  const isSame = record.cwd === root && provider === now.provider && model === now.model;
  if (isSame && place?.start === undefined) return place;
  return { cwd: record.cwd, ...place, earlier: { provider, model } };
}

/** Loaded late: most processes work in one place. */
export async function otherPlace(
  { place: asked = {}, resume, report }: Omit<RunRequest, "place"> & { readonly place?: WantedPlace },
  current: Place,
  shared: ProcessParts,
) {
  const [{ openPlace }, { storeDifference }] = await Promise.all([
    import("./open-place.js"),
    import("./sessions/same-store.js"),
  ]);
  const place = await openPlace({ ...asked, report }, current, shared);
  if ("failure" in place) return place;
  // The first place has reported a folder of its own that is not approved.
  const { notify: tell } = { ...shared, ...place.own };
  const notify = place.root === current.root ? () => {} : tell;
  const detail = await storeDifference(place, { ...shared, ...place.own, notify });
  if (detail === undefined) return place;
  if (resume === undefined) return { failure: failure("InvalidInput", { detail }) };
  // A resumed session stays where it is stored.
  tell(detail);
  return place;
}
