import { parseWork } from '../domain/work/parseWork.ts';
import { singleWorker } from '../http/worker.ts';
import { giveUp, nameOf, perform } from '../services/work/perform.ts';

export const handler = singleWorker({ parse: parseWork, perform, giveUp, nameOf, isSuspect: true });
