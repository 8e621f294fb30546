/**
 * Abilities that a workflow client declares of itself, and that the service then relies on:
 * - `LazyFetch`: it reads the list of entries itself where a delivery's body is empty.
 * - `InitialBody`: in a failure request it wants the initial payload alone, and not the list.
 * - `WF_DetectTrigger`: its answer to the first delivery shows that it is one, so that anything else is a wrong destination.
 * - `WF_TriggerOnConfig`: only its start has settings, and they hold for all of the run.
 * - `WF_NoDelete`: the failure of this message, a call, is not the run's.
 */
export const features = [
  'LazyFetch',
  'InitialBody',
  'WF_DetectTrigger',
  'WF_TriggerOnConfig',
  'WF_NoDelete',
] as const;
export type Feature = (typeof features)[number];
export type Features = ReadonlySet<Feature>;

/** Reads a list such as `LazyFetch,InitialBody`. Words of newer clients mean nothing here. */
export function parseFeatures(text: string | undefined): Features {
  const words = new Set((text ?? '').split(',').map((word) => word.trim()));
  return new Set(features.filter((feature) => words.has(feature)));
}
