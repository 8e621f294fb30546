import { parseAccountChange } from '../domain/account/accountChange.ts';
import { batchWorker } from '../http/worker.ts';
import { followAccount } from '../services/account/followAccount.ts';

export const handler = batchWorker({ parse: parseAccountChange, perform: followAccount });
