import * as z from 'zod/mini';
import { differences, type Sides, type Step } from './step.ts';

const flowControl = z.object({
  flowControlKey: z.string(),
  parallelismMax: z.optional(z.int()),
  rateMax: z.optional(z.int()),
  ratePeriod: z.optional(z.int()),
  isPaused: z.optional(z.boolean()),
  isPinnedParallelism: z.optional(z.boolean()),
  isPinnedRate: z.optional(z.boolean()),
});
type FlowControl = z.infer<typeof flowControl>;

/** The settings of a key that messages do not carry: pinned limits, and whether it is paused. */
const settingsOf = (key: FlowControl) => ({
  parallelism: key.isPinnedParallelism === true ? key.parallelismMax : 'not pinned',
  rate: key.isPinnedRate === true ? [key.rateMax, key.ratePeriod] : 'not pinned',
  paused: key.isPaused ?? false,
});

const hasSettings = (key: FlowControl): boolean =>
  key.isPinnedParallelism === true || key.isPinnedRate === true || key.isPaused === true;

/**
 * Compares the flow-control keys of both sides. Messages create keys and bring their limits, so only pinned limits and pauses
 * are copied, and only to an existing key.
 */
export async function compareFlowControl({ source, target }: Sides): Promise<readonly Step[]> {
  // Some APIs don't have this list.
  const wanted = ((await source.list('/v2/flowControl', flowControl)) ?? []).filter(hasSettings);
  if (wanted.length === 0) return [];
  const there = new Map(
    ((await target.list('/v2/flowControl', flowControl)) ?? []).map((one) => [one.flowControlKey, one]),
  );
  return wanted.map((key): Step => {
    const found = { kind: 'flow-control key', name: key.flowControlKey } as const;
    const existing = there.get(key.flowControlKey);
    if (existing === undefined) {
      const note = 'it is not in the target until its first message: run this again then';
      return { ...found, state: 'skipped', note };
    }
    const different = differences(settingsOf(key), settingsOf(existing));
    if (different.length === 0) return { ...found, state: 'same' };
    const act = async (): Promise<undefined> => {
      await copy({ source, target }, key, existing);
    };
    // A key of the target without these settings counts as missing.
    return hasSettings(existing)
      ? { ...found, state: 'differs', note: different.join(', '), act }
      : { ...found, state: 'create', note: different.join(', '), act };
  });
}

async function copy({ target }: Sides, key: FlowControl, existing: FlowControl): Promise<void> {
  const path = `/v2/flowControl/${encodeURIComponent(key.flowControlKey)}`;
  const pins = new URLSearchParams();
  if (key.isPinnedParallelism === true) pins.set('parallelism', String(key.parallelismMax ?? 0));
  if (key.isPinnedRate === true) {
    pins.set('rate', String(key.rateMax ?? 0));
    pins.set('period', String(key.ratePeriod || 1));
  }
  const unpins = new URLSearchParams();
  if (key.isPinnedParallelism !== true && existing.isPinnedParallelism === true)
    unpins.set('parallelism', 'true');
  if (key.isPinnedRate !== true && existing.isPinnedRate === true) unpins.set('rate', 'true');
  // A key is paused before its limits change, and resumed afterwards.
  if (key.isPaused === true) await target.change('POST', `${path}/pause`);
  if (pins.size > 0) await target.change('POST', `${path}/pin?${pins.toString()}`);
  if (unpins.size > 0) await target.change('POST', `${path}/unpin?${unpins.toString()}`);
  if (key.isPaused !== true && existing.isPaused === true) await target.change('POST', `${path}/resume`);
}
