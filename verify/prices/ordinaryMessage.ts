/**
 * The calls of a message with 1 KB of JSON, for `svc-queue verify --bill`, which cannot count them. A test compares them with
 * `bench messages`.
 */
import type { Bill, BillLine } from './bill.ts';

const line = (
  by: string,
  what: string,
  unit: BillLine['unit'],
  more: { readonly amount?: number; readonly gbMonths?: number } = {},
): BillLine => {
  const { amount = 1, gbMonths = 0 } = more;
  return { by, what, unit, amounts: { 1: amount, 10: amount }, gbMonths };
};

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
    line('publish', 'its invocation', 'lambdaRequest'),
    line('publish', 'GetItem accounts', 'dynamoRead'),
    line('publish', 'PutItem messages', 'dynamoWrite', { gbMonths: 5.36e-7 }),
    line('publish', 'SendMessage', 'sqsRequest'),
    line('publish', 'its group (fair queue)', 'sqsGroup'),
    ofBatch('queue', 'ReceiveMessage', 'sqsRequest'),
    ofBatch('deliver', 'its invocation', 'lambdaRequest'),
    line('deliver', 'Query messages', 'dynamoRead'),
    line('deliver', 'PutItem messages', 'dynamoWrite', { gbMonths: 2e-7 }),
    ofBatch('queue', 'DeleteMessageBatch', 'sqsRequest'),
    // Usage is added up once for six messages.
    line('publish', 'UpdateItem usage', 'dynamoWrite', { amount: 1 / 6 }),
  ],
};
