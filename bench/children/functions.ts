/** Functions of the service, with their AWS clients. Each copy of the file has separate modules. */
export { handler as deliver } from '../../lambdas/handlers/deliver.ts';
export { handler as publish } from '../../lambdas/handlers/publish.ts';
export { handler as workflows } from '../../lambdas/handlers/workflows.ts';
export { dynamodb } from '../../lambdas/aws/dynamodb.ts';
export { sqs } from '../../lambdas/aws/sqs.ts';
