/** The function deliver, with its AWS clients. Each copy of the file has separate modules. */
export { handler } from '../../lambdas/handlers/deliver.ts';
export { dynamodb } from '../../lambdas/aws/dynamodb.ts';
export { sqs } from '../../lambdas/aws/sqs.ts';
