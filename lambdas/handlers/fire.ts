import { parseNotice } from '../domain/schedule/schedule.ts';
import { singleWorker } from '../http/worker.ts';
import { fire, giveUpFire } from '../services/schedule/fire.ts';

export const handler = singleWorker({
  parse: parseNotice,
  perform: fire,
  giveUp: giveUpFire,
  nameOf: ({ saveId, time }) => `${saveId}~${time}`,
  isSuspect: false,
});
