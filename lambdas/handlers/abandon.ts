import { pointers } from '../http/queue.ts';
import { abandon } from '../services/deliver.ts';

export const handler = pointers(abandon);
