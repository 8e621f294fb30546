import { pointers } from '../http/queue.ts';
import { deliver } from '../services/deliver.ts';

export const handler = pointers(deliver);
