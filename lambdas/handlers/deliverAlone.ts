import { parseJob } from '../job/job.ts';
import { singleWorker } from '../worker/worker.ts';
import { giveUp, nameOf, perform } from '../worker/perform.ts';

export const handler = singleWorker({ parse: parseJob, perform, giveUp, nameOf, isSuspect: true });
