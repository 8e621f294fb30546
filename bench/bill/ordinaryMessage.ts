/**
 * The calls of a message of 1 KB of JSON, as `bench messages` counts them, for those who cannot run the handlers: the forecast of
 * `svc-queue verify --bill`, which is in the package. A test holds it against the count.
 */
import type { Bill, BillLine } from '../count.ts';

const line = (
  by: string,
  what: string,
  unit: BillLine['unit'],
  more: { readonly amount?: number; readonly gbMonths?: number } = {},
): BillLine => {
  const { amount = 1, gbMonths = 0 } = more;
  return { by, what, unit, amounts: { 1: amount, 10: amount }, gbMonths };
};

/** A line of the bill that is paid once for each batch. */
const ofBatch = (by: string, what: string, unit: BillLine['unit']): BillLine => ({
  by,
  what,
  unit,
  amounts: { 1: 1, 10: 0.1 },
  gbMonths: 0,
});

export const ordinaryMessage: Bill = {
  body: '1 KB of JSON',
  lines: [
    line('gateway', 'a request', 'apiRequest'),
    line('publish', 'its invocation', 'lambdaRequest'),
    line('publish', 'GetItem accounts', 'dynamoRead'),
    line('publish', 'PutItem messages', 'dynamoWrite', { gbMonths: 5.36e-7 }),
    line('publish', 'SendMessage', 'sqsRequest'),
    line('publish', 'its group (fair queue)', 'sqsGroup'),
    ofBatch('queue', 'ReceiveMessage', 'sqsRequest'),
    ofBatch('deliver', 'its invocation', 'lambdaRequest'),
    line('deliver', 'Query messages', 'dynamoRead'),
    line('deliver', 'PutItem messages', 'dynamoWrite', { gbMonths: 2e-7 }),
    line('deliver', 'its row in the index log', 'dynamoWrite', { gbMonths: 2e-7 }),
    ofBatch('queue', 'DeleteMessageBatch', 'sqsRequest'),
    // Usage is added up once in six messages.
    line('publish', 'UpdateItem usage', 'dynamoWrite', { amount: 1 / 6 }),
  ],
};
