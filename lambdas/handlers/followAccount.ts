import { parseAccountChange } from '../management/accountChange.ts';
import { batchWorker } from '../worker/worker.ts';
import { followAccount } from '../management/followAccount.ts';

export const handler = batchWorker({ parse: parseAccountChange, perform: followAccount });
