/**
 * Features that a workflow client declares:
 * - `LazyFetch`: if a delivery's body is empty, the client reads the list of entries itself.
 * - `InitialBody`: failure callbacks have only the initial payload, not the list.
 * - `WF_DetectTrigger`: the answer to the first delivery identifies the client, so any other answer means
 * that the destination is wrong.
 * - `WF_TriggerOnConfig`: the settings of the start apply to the whole run, and other messages have no
 * settings.
 * - `WF_NoDelete`: a call with this feature can fail without failing the run.
 */
export const features = [
  'LazyFetch',
  'InitialBody',
  'WF_DetectTrigger',
  'WF_TriggerOnConfig',
  'WF_NoDelete',
] as const;
type Feature = (typeof features)[number];
export type Features = ReadonlySet<Feature>;

/** Reads a list such as `LazyFetch,InitialBody`. Unknown words are ignored. */
export function parseFeatures(text: string | undefined): Features {
  const words = new Set((text ?? '').split(',').map((word) => word.trim()));
  return new Set(features.filter((feature) => words.has(feature)));
}
