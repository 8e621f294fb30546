/** A shop whose orders are handled later: an API that publishes, a receiver, a workflow, a schedule, and the queue itself. */
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { FunctionUrlAuthType, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { SvcQueue } from 'svc-queue';

const app = new App();
const region = 'eu-central-1';
const queue = new SvcQueue(app, 'Queue', { stage: 'dev', regions: [region] });
const account = queue.account('shop', { limits: { max_retries: 5 } });

const stack = new Stack(app, 'Shop', { env: { region } });

/** Makes a function with a URL that is open to everybody, and with what the clients read. */
function serve(name) {
  const fn = new NodejsFunction(stack, name, {
    entry: `${name}.js`,
    runtime: Runtime.NODEJS_22_X,
    bundling: { format: OutputFormat.ESM, mainFields: ['module', 'main'] },
    depsLockFilePath: 'package-lock.json',
  });
  account.grantPublish(fn);
  return { fn, url: fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url };
}

const receiver = serve('receiver');
const workflow = serve('workflow');
const api = serve('api');
api.fn.addEnvironment('RECEIVER_URL', receiver.url);
api.fn.addEnvironment('WORKFLOW_URL', workflow.url);

queue.urlGroup('orders', { endpoints: [{ url: receiver.url, name: 'receiver' }] });
queue.schedule('daily', { cron: '0 6 * * *', destination: receiver.url, body: '{"report":true}' });
queue.metric('DeadLettered').createAlarm(stack, 'DeadLetters', { threshold: 1, evaluationPeriods: 1 });

new CfnOutput(stack, 'ApiUrl', { value: api.url });
