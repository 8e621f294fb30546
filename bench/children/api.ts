/** Functions of the API, with the clients that they call AWS with. Each copy of the file has modules of its own. */
export { handler as publish } from '../../lambdas/handlers/publish.ts';
export { handler as workflows } from '../../lambdas/handlers/workflows.ts';
export { dynamodb } from '../../lambdas/aws/dynamodb.ts';
export { sqs } from '../../lambdas/aws/sqs.ts';
