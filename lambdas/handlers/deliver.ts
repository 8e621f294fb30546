import { parseWork } from '../domain/work/parseWork.ts';
import { batchWorker } from '../http/worker.ts';
import { giveUp, perform } from '../services/work/perform.ts';

export const handler = batchWorker({ parse: parseWork, perform, giveUp });
