import * as z from 'zod/mini';
import { differences, type Sides, type Step } from './step.ts';

const queue = z.object({ name: z.string(), parallelism: z.int(), paused: z.optional(z.boolean()) });
type Queue = z.infer<typeof queue>;

/** A queue's compared settings, as named in the report. */
const settingsOf = ({ parallelism, paused = false }: Queue) => ({ parallelism, paused });

export async function compareQueues({ source, target }: Sides): Promise<readonly Step[]> {
  const there = new Map(((await target.list('/v2/queues', queue)) ?? []).map((one) => [one.name, one]));
  return ((await source.list('/v2/queues', queue)) ?? []).map((wanted): Step => {
    const found = { kind: 'queue', name: wanted.name } as const;
    const path = `/v2/queues/${encodeURIComponent(wanted.name)}`;
    const act = async (): Promise<undefined> => {
      const { name, parallelism, paused } = wanted;
      await target.change('POST', '/v2/queues', { body: { queueName: name, parallelism } });
      const isPaused = there.get(name)?.paused ?? false;
      if (paused === true && !isPaused) await target.change('POST', `${path}/pause`);
      if (paused !== true && isPaused) await target.change('POST', `${path}/resume`);
    };
    const existing = there.get(wanted.name);
    if (existing === undefined) {
      const note = `parallelism ${wanted.parallelism}${wanted.paused === true ? ', paused' : ''}`;
      return { ...found, state: 'create', note, act };
    }
    const different = differences(settingsOf(wanted), settingsOf(existing));
    return different.length === 0
      ? { ...found, state: 'same' }
      : { ...found, state: 'differs', note: different.join(', '), act };
  });
}
