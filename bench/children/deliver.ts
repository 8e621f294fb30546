/** The function deliver, with the clients that it calls AWS with. Each copy of the file has modules of its own. */
export { handler } from '../../lambdas/handlers/deliver.ts';
export { dynamodb } from '../../lambdas/stores/dynamodb.ts';
export { sqs } from '../../lambdas/transport/sqs.ts';
