import { records } from '../http/queue.ts';
import { fire } from '../services/fire.ts';

export const handler = records((record) => fire(record.body, Number(record.attributes.SentTimestamp)));
