/**
 * Abilities that a workflow client declares:
 * - `LazyFetch`: it reads the list of entries itself if a delivery's body is empty.
 * - `InitialBody`: its failure request has only the initial payload, not the list.
 * - `WF_DetectTrigger`: its answer to the first delivery identifies it, so any other answer shows a wrong destination.
 * - `WF_TriggerOnConfig`: the settings of its start apply to the whole run, and its other messages have no settings.
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
