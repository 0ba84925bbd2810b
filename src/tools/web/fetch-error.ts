/** Why a page could not be had, in words for the model. */
export class FetchError extends Error {}
