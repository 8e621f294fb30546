/** The function deliver, with the clients that it calls AWS with. Each copy of the file has modules of its own. */
export { handler } from '../../lambdas/handlers/deliver.ts';
export { dynamodb } from '../../lambdas/aws/dynamodb.ts';
export { sqs } from '../../lambdas/aws/sqs.ts';
