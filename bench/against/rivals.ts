/** The services that `--against` accepts. */
import { startBullmq } from './bullmq.ts';
import type { Start } from './contender.ts';
import { startOutpost } from './outpost.ts';

interface Rival {
  readonly title: string;
  readonly start: Start;
}

export const rivals = {
  bullmq: { title: 'BullMQ', start: startBullmq('fastify') },
  'bullmq-http': { title: 'BullMQ on http', start: startBullmq('http') },
  outpost: { title: 'Outpost', start: startOutpost },
} satisfies Readonly<Record<string, Rival>>;
export type RivalName = keyof typeof rivals;
export const isRivalName = (name: string): name is RivalName => Object.hasOwn(rivals, name);
