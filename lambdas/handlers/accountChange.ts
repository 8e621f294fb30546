import { records } from '../http/queue.ts';
import { followAccount } from '../services/accountChange.ts';

export const handler = records((record) => followAccount(record.body));
