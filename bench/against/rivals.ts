import { startBullmq } from './bullmq.ts';
import { startOutpost } from './outpost.ts';
import type { RivalName, Start } from './rival.ts';

interface Rival {
  readonly title: string;
  readonly start: Start;
}

export const rivals: Readonly<Record<RivalName, Rival>> = {
  bullmq: { title: 'BullMQ', start: startBullmq },
  outpost: { title: 'Outpost', start: startOutpost },
};
