/**
 * A rehearsal of workflows in one process: endpoints of the published client, a server that records their submissions, and the
 * rules of `lambdas/workflow/rules` between them. There is no time: delays are only recorded.
 */
import { Client as QstashClient } from '@upstash/qstash';
import { Client as WorkflowClient } from '@upstash/workflow';
import type { ServerResponse } from 'node:http';
import { batchItem } from '../../lambdas/wire/batchItem.ts';
import { scoped, type Config } from '../../lambdas/shared/config.ts';
import type { Header } from '../../lambdas/shared/headers.ts';
import { HttpError } from '../../lambdas/error/httpError.ts';
import { callResultBody } from '../../lambdas/workflow/delivery/callResult.ts';
import * as deliveryHeaders from '../../lambdas/workflow/delivery/deliveryHeaders.ts';
import { listed, type Entry } from '../../lambdas/workflow/rules/entry.ts';
import { failureBody, failureSource } from '../../lambdas/workflow/failure/failure.ts';
import type { Features } from '../../lambdas/workflow/rules/features.ts';
import { invokeResult, parseInvoke, type Invoker } from '../../lambdas/workflow/rules/invoking.ts';
import { listBody } from '../../lambdas/workflow/runs/listBody.ts';
import { endedRun } from '../../lambdas/workflow/rules/refusals.ts';
import { endingOf, hasEnded } from '../../lambdas/workflow/run.ts';
import type { RunState } from '../../lambdas/wire/states.ts';
import { onceKey, parseStep, type StepIdentity } from '../../lambdas/workflow/rules/step.ts';
import { parseWait, waitResult } from '../../lambdas/workflow/waiting.ts';
import type { WorkflowMessage } from '../../lambdas/workflow/rules/workflowMessage.ts';
import { startReceiver, type Delivery, type Inbox, type Receiver } from './receiver.ts';
import { WorkflowEndpoints, type Made } from './workflowEndpoints.ts';
import { forwarded, messageOf, prefixes, readSubmitted, type Submitted } from './workflowSubmissions.ts';

export interface RehearsedRun extends deliveryHeaders.DeliveringRun {
  readonly features: Features;
  readonly failureConfig: Config;
  readonly invoker: Invoker | undefined;
  readonly entries: Entry[];
  readonly once: Set<string>;
  state: RunState;
  response: string | undefined;
}

export interface ThirdPartyAnswer {
  /** 0 without an answer. */
  readonly status: number;
  readonly error?: string;
  readonly headers: readonly Header[];
  readonly body: string;
}

interface StartOptions {
  readonly headers?: Record<string, string>;
  readonly label?: string | string[];
  readonly retries?: number;
}

export class Rehearsal {
  readonly submitted: Submitted[] = [];
  readonly runs = new Map<string, RehearsedRun>();
  readonly waits: { readonly run: RehearsedRun; readonly eventId: string; readonly step: StepIdentity }[] =
    [];
  readonly endpoints: WorkflowEndpoints;
  refusal: ((body: string) => { readonly status: number; readonly error: string } | undefined) | undefined;
  thirdParty: (url: string) => ThirdPartyAnswer = () => ({ status: 200, headers: [], body: '' });
  readonly #receiver: Receiver;
  readonly #inbox: Inbox;
  readonly #pending: (() => Promise<void>)[] = [];
  #ids = 0;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
    this.#inbox = receiver.inbox((delivery, response) => {
      this.#answer(delivery, response);
    });
    const token = Buffer.from(JSON.stringify({ UserID: 'account', Password: 'secret' })).toString('base64');
    const client = new QstashClient({
      baseUrl: this.#inbox.url,
      token,
      enableTelemetry: false,
      retry: false,
    });
    this.endpoints = new WorkflowEndpoints(client);
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  /** Starts a run as an application does, and delivers until nothing is left. */
  async trigger(url: string, more: StartOptions = {}): Promise<string> {
    const client = new WorkflowClient({ baseUrl: this.#inbox.url, token: 'token', enableTelemetry: false });
    const { workflowRunId } = await client.trigger({ url, body: { n: 1 }, ...more });
    await this.settle();
    return workflowRunId;
  }

  /** The names of a run's recorded steps. */
  stepsOf(runId: string): readonly string[] {
    const [, ...steps] = this.run(runId).entries;
    return steps
      .map(({ body }) => parseStep(body))
      .map(({ kind, stepId, stepName }) => `${kind} ${stepId} ${stepName}`);
  }

  async settle(): Promise<void> {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) await next();
  }

  /** Ends the wait for an event, with the event or a timeout. */
  wake(eventId: string, event: Uint8Array | undefined): void {
    for (const { run, step } of this.waits.filter((wait) => wait.eventId === eventId)) {
      this.#append(run, step, waitResult(step, eventId, event));
    }
  }

  run(runId: string): RehearsedRun {
    const run = this.runs.get(runId);
    if (run === undefined) throw new Error(`There is no run ${runId}.`);
    return run;
  }

  async #deliverEntry(run: RehearsedRun, entry: Entry, url: string, own: readonly Header[]): Promise<void> {
    if (hasEnded(run.state)) return;
    // The list ends with the entry. With later entries, the client would think that later steps are done.
    const entries = listed(run.entries.slice(0, run.entries.indexOf(entry) + 1));
    const headers = deliveryHeaders.listHeaders(run, own, prefixes);
    const made = await this.endpoints.deliver('list', run, url, headers, listBody(entries), entry.messageId);
    if (made.status >= 300) this.#fail(run, made, entries);
  }

  /** Fails a run. Failed attempts are not retried here. */
  #fail(run: RehearsedRun, failed: Made, entries: readonly Entry[]): void {
    this.#end(run, 'RUN_FAILED');
    const [url] = run.failureConfig.get('failure-callback') ?? [];
    if (url === undefined) return;
    const config = scoped(run.failureConfig, 'failure-callback');
    const headers = deliveryHeaders.failureHeaders(run, forwarded(config), prefixes);
    const source = failureSource(entries, run.features);
    const response = {
      status: failed.status,
      headers: failed.answerHeaders,
      body: Buffer.from(failed.answer),
    };
    const details = { message: messageOf(failed), body: source, response, retried: 0 };
    const body = Buffer.from(failureBody(run, details, 1_000_000));
    this.#pending.push(async () => {
      await this.endpoints.deliver('failureRequest', run, url, headers, body, this.#newId());
    });
  }

  #end(run: RehearsedRun, state: RunState): void {
    run.state = state;
    if (run.invoker === undefined || state === 'RUN_STARTED') return;
    const { step, runId } = run.invoker;
    const end = state === 'RUN_SUCCESS' ? { state, response: run.response } : { state };
    this.#append(this.run(runId), step, invokeResult(step, end));
  }

  #newId(): string {
    return `msg_${(this.#ids += 1)}`;
  }

  #append(
    run: RehearsedRun,
    step: StepIdentity,
    body: Buffer,
    url = run.url,
    own: readonly Header[] = [],
  ): boolean {
    const key = onceKey(parseStep(body).kind, step);
    if (run.once.has(key)) return false;
    run.once.add(key);
    const entry: Entry = { messageId: this.#newId(), body, callType: 'step' };
    run.entries.push(entry);
    this.#pending.push(() => this.#deliverEntry(run, entry, url, own));
    return true;
  }

  #answer(delivery: Delivery, response: ServerResponse): void {
    const respond = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const refusal = this.refusal?.(delivery.body.toString());
    if (refusal !== undefined) {
      respond(refusal.status, { error: refusal.error });
      return;
    }
    try {
      respond(200, this.#accept(delivery));
    } catch (error) {
      // A fault of the rehearsal itself appears as a failed delivery.
      respond(error instanceof HttpError ? error.status : 500, { error: String(error) });
    }
  }

  #accept(delivery: Delivery): unknown {
    const path = delivery.target.replace(/^\/[a-z0-9]+/, '');
    const [, , resource = '', name = '', last = ''] = /^(\/v2)\/([^/?]+)\/?([^?]*)\??(.*)$/.exec(path) ?? [];
    if (resource === 'batch') return this.#batch(delivery.body);
    const headers = delivery.headerPairs;
    if (resource === 'publish') return this.#take(name, headers, delivery.body);
    if (resource === 'wait') return this.#wait(decodeURIComponent(name), headers, delivery.body);
    if (resource === 'notify') {
      const eventId = decodeURIComponent(name);
      const waiting = this.waits.filter((wait) => wait.eventId === eventId);
      this.wake(eventId, delivery.body);
      return waiting.map(({ run }) => ({ workflowRunId: run.runId, messageId: this.#newId(), error: '' }));
    }
    if (delivery.method === 'GET') return this.#list(this.#idIn(name));
    return this.#delete(this.#idIn(name), last, delivery.body);
  }

  #idIn(path: string): string {
    return decodeURIComponent(path.replace(/^runs\//, ''));
  }

  #list(runId: string): unknown {
    const run = this.runs.get(runId);
    if (run === undefined || hasEnded(run.state)) throw new HttpError(404, 'run_not_found', 'no such run');
    return JSON.parse(listBody(listed(run.entries)).toString());
  }

  #delete(runId: string, query: string, body: Buffer): unknown {
    const run = this.runs.get(runId);
    const ending = endingOf(run?.state, !query.includes('cancel=false'));
    if ('status' in ending && ending.status === 404)
      throw new HttpError(404, 'run_not_found', 'it has ended');
    if (run !== undefined && 'ends' in ending) {
      run.response = body.length === 0 ? undefined : body.toString();
      this.#end(run, ending.ends);
    }
    return {};
  }

  #batch(body: Buffer): unknown {
    const items: unknown = JSON.parse(body.toString());
    if (!Array.isArray(items)) throw new Error('A batch is a list.');
    return items.map((item: unknown) => {
      const { destination, headers, body } = batchItem.parse(item);
      return this.#take(destination, headers ?? [], Buffer.from(body ?? ''));
    });
  }

  #take(destination: string, headers: readonly Header[], body: Buffer): unknown {
    const read = readSubmitted(headers);
    const submitted: Submitted = { ...read, destination, body };
    this.submitted.push(submitted);
    const { message } = read;
    switch (message.kind) {
      case 'start':
      case 'invoke':
        return this.#start(submitted, message);
      case 'submission': {
        const step = parseStep(body);
        const own = forwarded(read.config);
        const isNew = this.#append(this.#active(message.runId), step, body, destination, own);
        return { messageId: this.#newId(), deduplicated: isNew ? undefined : true };
      }
      case 'call':
        return this.#call(submitted, message.runId, message.step);
      case 'callResult':
      case 'failureRequest':
        throw new Error(`Nobody submits a ${message.kind}.`);
      default:
        return message satisfies never;
    }
  }

  #active(runId: string): RehearsedRun {
    const run = this.runs.get(runId);
    if (run === undefined || hasEnded(run.state)) throw endedRun(runId);
    return run;
  }

  #start(
    { destination, body, config }: Submitted,
    message: Extract<WorkflowMessage, { kind: 'start' | 'invoke' }>,
  ): unknown {
    const runId = message.runId ?? `wfr_${this.#newId()}`;
    const before = this.runs.get(runId);
    const invoke = message.kind === 'invoke' ? parseInvoke(body) : undefined;
    const initial: Entry = {
      messageId: before?.entries[0]?.messageId ?? this.#newId(),
      body: before?.entries[0]?.body ?? invoke?.payload ?? body,
      callType: 'step',
    };
    if (before !== undefined && !message.isUpgrade) {
      return { messageId: initial.messageId, deduplicated: true };
    }
    this.#begin(runId, destination, initial, {
      url: message.url ?? destination,
      forwarded: forwarded(config),
      sdkVersion: message.sdkVersion,
      isUnknownClient: false,
      features: message.features,
      failureConfig: before?.failureConfig ?? config,
      invoker: invoke && { createdAt: this.run(invoke.invoker.runId).createdAt, ...invoke.invoker },
    });
    return { messageId: initial.messageId };
  }

  /** Starts a run without a client, so the endpoint must identify itself. */
  startWithoutClient(runId: string, url: string, body: string, headers: readonly Header[]): void {
    const initial: Entry = { messageId: this.#newId(), body: Buffer.from(body), callType: 'step' };
    this.#begin(runId, url, initial, {
      url,
      forwarded: headers,
      sdkVersion: undefined,
      isUnknownClient: true,
      features: new Set(),
      failureConfig: new Map(),
      invoker: undefined,
    });
  }

  #begin(
    runId: string,
    destination: string,
    initial: Entry,
    start: Omit<RehearsedRun, 'runId' | 'createdAt' | 'prefix' | 'entries' | 'once' | 'state' | 'response'>,
  ): void {
    const run: RehearsedRun = {
      ...start,
      runId,
      createdAt: 1_790_000_000_000,
      prefix: 'Upstash',
      entries: [initial],
      once: new Set(),
      state: 'RUN_STARTED',
      response: undefined,
    };
    this.runs.set(runId, run);
    this.#pending.push(() => this.#deliverEntry(run, initial, destination, []));
  }

  #call({ config, destination, body, options }: Submitted, runId: string, step: StepIdentity): unknown {
    const run = this.#active(runId);
    const key = onceKey('call', step);
    const messageId = this.#newId();
    if (run.once.has(key)) return { messageId, deduplicated: true };
    run.once.add(key);
    const { headers } = options;
    this.#pending.push(async () => {
      const answer = this.thirdParty(destination);
      this.endpoints.made.push({
        kind: 'call',
        runId,
        url: destination,
        headers,
        body,
        status: answer.status,
        answer: answer.body,
        answerHeaders: answer.headers,
      });
      const details = {
        message: { ...messageOf({ url: destination, headers }), maxRetries: options.maxRetries },
        body,
        response: { ...answer, body: Buffer.from(answer.body) },
        retried: 0,
      };
      const result = Buffer.from(callResultBody(details, 1_000_000));
      const callback = scoped(config, 'callback');
      const resultHeaders = deliveryHeaders.callResultHeaders(run, forwarded(callback), prefixes);
      const [url = ''] = config.get('callback') ?? [];
      await this.endpoints.deliver('callResult', run, url, resultHeaders, result, this.#newId());
    });
    return { messageId };
  }

  #wait(eventId: string, headers: readonly Header[], body: Buffer): unknown {
    const { message } = readSubmitted(headers);
    if (message.kind !== 'submission') throw new Error(`A wait is no ${message.kind}.`);
    const run = this.#active(message.runId);
    const { step } = parseWait(body);
    const key = onceKey('wait', step);
    if (!run.once.has(key)) this.waits.push({ run, eventId, step });
    run.once.add(key);
    return {};
  }
}

export const rehearse = async (): Promise<Rehearsal> => new Rehearsal(await startReceiver());
