/**
 * The receiver that `svc-queue verify` deploys: a function URL that logs each request and answers as its path says:
 * `/<inbox>/<answer>/…`. It imports only Node.js's modules.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import type { Received } from './received.ts';

const longestText = 4_000;

const steps = 3;

interface Request {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly retried: number;
  readonly body: string;
}

interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const answers: Readonly<Record<string, (request: Request) => Answer | Promise<Answer>>> = {
  ok: () => ({ statusCode: 200, body: 'taken' }),
  fail: () => ({ statusCode: 500, body: 'refused' }),
  later: () => ({ statusCode: 202 }),
  'fail-first': ({ retried }) => ({ statusCode: retried === 0 ? 500 : 200 }),
  flow: goOn,
};

/**
 * Does the next step of a run, as a workflow client does: submits its result, or ends the run after the last step. The body
 * lists the run's entries.
 */
async function goOn({ headers, body }: Request): Promise<Answer> {
  const { 'verify-api': api = '', 'verify-token': token = '', 'verify-url': url = '' } = headers;
  const runId = headers['svc-workflow-runid'] ?? '';
  const entries: unknown = JSON.parse(body);
  const stepId = Array.isArray(entries) ? entries.length : 0;
  const submission = {
    destination: url,
    headers: {
      'Svc-Workflow-Init': 'false',
      'Svc-Workflow-RunId': runId,
      'Svc-Workflow-Url': url,
      'Svc-Workflow-Sdk-Version': '1',
      'Svc-Feature-Set': 'InitialBody,WF_TriggerOnConfig',
      'Svc-Forward-Svc-Workflow-Sdk-Version': '1',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({
      stepId,
      stepName: `step ${stepId}`,
      stepType: 'Run',
      out: String(stepId),
      concurrent: 1,
    }),
  };
  const isOver = stepId > steps;
  const response = await fetch(
    isOver ? `${api}/v2/workflows/runs/${runId}?cancel=false` : `${api}/v2/batch`,
    {
      method: isOver ? 'DELETE' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(isOver ? 'done' : [submission]),
    },
  );
  const answer = await response.text();
  return { statusCode: response.ok ? 200 : 500, headers: { 'Svc-Workflow-Sdk-Version': '1' }, body: answer };
}

const waiting = /^wait-(\d{1,3})$/;

async function answerOf(kind: string, request: Request): Promise<Answer> {
  const seconds = waiting.exec(kind)?.[1];
  if (seconds === undefined) return (await answers[kind]?.(request)) ?? { statusCode: 404 };
  await sleep(Number(seconds) * 1_000);
  return { statusCode: 200, body: 'waited' };
}

export async function handler(event: LambdaFunctionURLEvent): Promise<Answer> {
  const at = Date.now();
  const { rawPath, rawQueryString, headers, requestContext, body = '', isBase64Encoded } = event;
  const [, inbox = '', kind = '', rest = ''] = /^\/([^/]*)\/([^/]*)(.*)$/s.exec(rawPath) ?? [];
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const retried = Number(headers['svc-retried'] ?? 0);
  const received: Received = {
    inbox,
    at,
    method: requestContext.http.method,
    path: rest,
    query: rawQueryString,
    from: requestContext.http.sourceIp,
    messageId: headers['svc-message-id'] ?? '',
    retried,
    contentType: headers['content-type'] ?? '',
    signature: headers['svc-signature'] ?? '',
    completeUrl: headers['svc-complete-url'] ?? '',
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    text: bytes.length > longestText ? '' : bytes.toString(),
  };
  // oxlint-disable-next-line no-console -- The log is what `svc-queue verify` reads.
  console.log(JSON.stringify({ received }));
  return answerOf(kind, { headers, retried, body: bytes.toString() });
}
