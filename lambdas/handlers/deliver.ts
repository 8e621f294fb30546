import { parseJob } from '../job/job.ts';
import { sendSlow, slowNameOf } from '../job/slowJobs.ts';
import { batchWorker } from '../worker/worker.ts';
import { giveUp, perform } from '../worker/perform.ts';

export const handler = batchWorker({
  parse: parseJob,
  perform,
  giveUp,
  slow: { nameOf: slowNameOf, send: sendSlow },
});
