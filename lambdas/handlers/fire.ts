import { plugInWorkflows } from '../publish/workflows.ts';
import { parseNotice } from '../schedule/schedule.ts';
import { singleWorker } from '../worker/worker.ts';
import { fire, giveUpFire } from '../schedule/fire.ts';

plugInWorkflows(async () => {
  const { publishRequests } = await import('../workflow/forPublish.ts');
  return { publishRequests };
});

export const handler = singleWorker({
  parse: parseNotice,
  perform: fire,
  giveUp: giveUpFire,
  nameOf: ({ saveId, time }) => `${saveId}~${time}`,
  isSuspect: false,
});
