/**
 * Takes out of an AWS client what costs CPU at each call and does nothing for this service. Calls of AWS are most of what publish and
 * deliver do, and through all of the SDK's steps a call takes several times the CPU of the JSON and the signature that it is about.
 *
 * What has to hold stays: retries, their pauses and their budget; timeouts; the correction of a clock that is wrong; the classes
 * of errors; and, in requests to SQS, `X-Amzn-Trace-Id`, by which Lambda finds out that functions call each other in a circle.
 */
import { constructStack } from '@smithy/core/client';
import { getEndpointFromInstructions, type EndpointResolvedConfig } from '@smithy/core/endpoints';
import { retryMiddleware, retryMiddlewareOptions, type RetryResolvedConfig } from '@smithy/core/retry';
import {
  deserializerMiddlewareOption,
  getSchemaSerdePlugin,
  serializerMiddlewareOption,
} from '@smithy/core/schema';
import { getSmithyContext, HttpRequest, HttpResponse, toEndpointV1 } from '@smithy/core/transport';
import type {
  AwsCredentialIdentityProvider,
  $ClientProtocol,
  $OperationSchema,
  DeserializeMiddleware,
  EndpointParameterInstructions,
  EndpointParameters,
  FinalizeHandler,
  FinalizeRequestMiddleware,
  HandlerExecutionContext,
  HttpAuthScheme,
  MetadataBearer,
  MiddlewareStack,
  Provider,
  RequestSigner,
  SerdeContext,
  SerializeMiddleware,
  StaticOperationSchema,
  UrlParser,
} from '@smithy/types';
import { isSigned } from './clientOptions.ts';
import { signer } from './signer.ts';

/** The parts of a client's configuration that are read and changed. */
interface Config<Params extends EndpointParameters>
  extends
    EndpointResolvedConfig<Params>,
    Omit<SerdeContext, 'endpoint' | 'protocol'>,
    Pick<RetryResolvedConfig, 'maxAttempts' | 'retryStrategy'> {
  readonly protocol: $ClientProtocol<unknown, unknown>;
  readonly urlParser: UrlParser;
  readonly region: Provider<string>;
  readonly defaultSigningName: string;
  readonly httpAuthSchemes: readonly HttpAuthScheme[];
  readonly credentials: AwsCredentialIdentityProvider;
  cacheMiddleware?: boolean;
  signer: () => Promise<RequestSigner>;
}

interface Client<In extends object, Out extends MetadataBearer, Params extends EndpointParameters> {
  middlewareStack: MiddlewareStack<In, Out>;
  readonly config: Config<Params>;
}

/**
 * The steps that are taken out: a record for a logger that nobody has set; the name of the SDK and of each feature that the call uses;
 * the choice among ways to sign, of which there is one; and signing in the way that was chosen, for which there is a step below.
 */
const unneeded = [
  'loggerMiddleware',
  'getUserAgentMiddleware',
  'httpAuthSchemeMiddleware',
  'httpSigningMiddleware',
];

/**
 * The step that passes `X-Amzn-Trace-Id` on. Lambda counts with it between SQS, SNS, S3 and functions, and not beyond:
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
const traceStep = 'recursionDetectionMiddleware';

/** Makes a client lean that has made no call yet, and returns it. Not for S3, where the endpoint follows from the request. */
export function makeLean<
  In extends object,
  Out extends MetadataBearer,
  Params extends EndpointParameters,
  C extends Client<In, Out, Params>,
>(client: C & Client<In, Out, Params>): C {
  const { config, middlewareStack } = client;
  removeSteps(middlewareStack, unneeded);
  if (config.defaultSigningName === 'dynamodb') removeSteps(middlewareStack, [traceStep]);
  addFirstTry(middlewareStack, config);
  removeEndpointStep(middlewareStack);
  addSerialization(middlewareStack, config);
  if (isSigned()) addSigning(middlewareStack, config);
  keepSteps(client);
  return client;
}

/** The methods that change the steps of a client. */
const changes: ReadonlySet<unknown> = new Set(['add', 'addRelativeTo', 'remove', 'removeByTag', 'use']);

/**
 * Puts the steps of a command together at its first call, and not at each. Where a step is added or taken out later, all are put
 * together anew: the SDK forgets those that it has at a call without `cacheMiddleware`, and would keep them otherwise.
 */
function keepSteps<In extends object, Out extends MetadataBearer, Params extends EndpointParameters>(
  client: Client<In, Out, Params>,
): void {
  const { config, middlewareStack } = client;
  config.cacheMiddleware = true;
  client.middlewareStack = new Proxy(middlewareStack, {
    get: (steps, property): unknown => {
      if (changes.has(property)) config.cacheMiddleware = false;
      // The SDK joins the steps of a command to the client's in order to put them together.
      if (property === 'concat') config.cacheMiddleware = true;
      return Reflect.get(steps, property);
    },
  });
}

/** @throws Error where a step is not there: another version of the SDK has to be looked at */
function removeSteps({ remove }: { remove: (name: string) => boolean }, names: readonly string[]): void {
  const missing = names.filter((name) => !remove(name));
  if (missing.length > 0) throw new Error(`The SDK has no steps ${missing.join(', ')}.`);
}

/**
 * Takes out the step that finds the endpoint. Each command brings it along, so it is there only when the command's steps are joined
 * to the client's.
 */
function removeEndpointStep<In extends object, Out extends object>(steps: MiddlewareStack<In, Out>): void {
  // A step of SQS, which is placed by that step and is switched off (`useQueueUrlAsEndpoint`).
  steps.remove('queueUrlMiddleware');
  const join = steps.concat.bind(steps);
  steps.concat = (others) => {
    const joined = join(others);
    removeSteps(joined, ['endpointV2Middleware']);
    return joined;
  };
}

/**
 * The parameters that the rules take: the first four those of every service, the others those of DynamoDB, whose endpoint may
 * be the account's.
 */
const endpointParameters: EndpointParameterInstructions = {
  Region: { type: 'builtInParams', name: 'region' },
  Endpoint: { type: 'builtInParams', name: 'endpoint' },
  UseFIPS: { type: 'builtInParams', name: 'useFipsEndpoint' },
  UseDualStack: { type: 'builtInParams', name: 'useDualstackEndpoint' },
  AccountId: { type: 'builtInParams', name: 'accountId' },
  AccountIdEndpointMode: { type: 'builtInParams', name: 'accountIdEndpointMode' },
};

/** Keeps what was found; a failure is not kept. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/** Finds a client's endpoint by the SDK's rules, `AWS_ENDPOINT_URL` and its likes included. */
async function endpointOf<Params extends EndpointParameters>(config: Config<Params>) {
  const supplier = { getEndpointParameterInstructions: () => endpointParameters };
  // A copy, because the SDK writes down there what it finds in the environment.
  return toEndpointV1(await getEndpointFromInstructions({}, supplier, { ...config }));
}

/**
 * Replaces the two steps that make a request and read its answer: they copy the client's configuration at each call. An answer that
 * is no success, or cannot be read, is given to the SDK's own step, which puts what is known of it into the error.
 */
function addSerialization<In extends object, Out extends MetadataBearer, Params extends EndpointParameters>(
  steps: MiddlewareStack<In, Out>,
  config: Config<Params>,
): void {
  const { base64Decoder, base64Encoder, utf8Decoder, utf8Encoder, streamCollector } = config;
  const { disableHostPrefix, protocol, requestHandler, urlParser } = config;
  const little = {
    ...{ base64Decoder, base64Encoder, utf8Decoder, utf8Encoder, streamCollector },
    ...{ disableHostPrefix, protocol, requestHandler, urlParser },
    endpoint: once(() => endpointOf(config)),
  };
  steps.use(getSchemaSerdePlugin<In, Out>(little));
  removeSteps(steps, ['serializerMiddleware', 'deserializerMiddleware']);
  const ofSdk = constructStack<In, Out>();
  ofSdk.use(getSchemaSerdePlugin<In, Out>(little));
  const serialize: SerializeMiddleware<In, Out> = (next, context) => {
    const called = operationIn(context);
    return async (args) => {
      const request = await protocol.serializeRequest(called, args.input, little);
      return next({ ...args, request });
    };
  };
  const deserialize: DeserializeMiddleware<In, Out> = (next, context) => {
    const called = operationIn(context);
    return async (args) => {
      const { response } = await next(args);
      if (isSuccess(response)) {
        try {
          return { response, output: await protocol.deserializeResponse(called, little, response) };
        } catch {
          // The SDK's step fails once more, and says how.
        }
      }
      return ofSdk.resolve(() => Promise.resolve({ response }), context)(args);
    };
  };
  steps.add(serialize, serializerMiddlewareOption);
  steps.add(deserialize, deserializerMiddlewareOption);
}

/** The shapes of what a command sends and gets. @throws Error where the SDK describes them in another way */
function operationIn(context: HandlerExecutionContext): $OperationSchema {
  const { operationSchema } = getSmithyContext(context);
  if (!isOperation(operationSchema)) throw new Error('The SDK has no schema of the operation.');
  const [, namespace, name, traits, input, output] = operationSchema;
  return { namespace, name, traits, input, output };
}

const operationKind: StaticOperationSchema[0] = 9;

const isOperation = (schema: unknown): schema is StaticOperationSchema =>
  Array.isArray(schema) && schema[0] === operationKind;

const isSuccess = (response: unknown): boolean =>
  HttpResponse.isInstance(response) && response.statusCode < 300;

/**
 * Makes the first try without the SDK's loop of tries, which at each call makes an error with a stack, an id and a header for those that
 * may follow. A try that fails becomes the first of that loop: what is tried again, how often and when, is the SDK's.
 */
function addFirstTry<In extends object, Out extends MetadataBearer>(
  steps: MiddlewareStack<In, Out>,
  config: Pick<RetryResolvedConfig, 'maxAttempts' | 'retryStrategy'>,
): void {
  removeSteps(steps, [nameOfTries]);
  const loop = retryMiddleware(config);
  const tryFirst: FinalizeRequestMiddleware<In, Out> = (next, context) => async (args) => {
    const strategy = await config.retryStrategy();
    if (!('recordSuccess' in strategy)) throw new Error('The SDK has another kind of retry strategy.');
    const token = await strategy.acquireInitialRetryToken('');
    let result: Awaited<ReturnType<typeof next>>;
    try {
      result = await next(args);
    } catch (error) {
      return loop(failingOnce(next, error), context)(args);
    }
    // A success gives back some of the budget for retries.
    strategy.recordSuccess(token);
    result.output.$metadata.attempts = 1;
    return result;
  };
  steps.add(tryFirst, { ...retryMiddlewareOptions, name: nameOfTries });
}

const nameOfTries = 'retryMiddleware';

/** Fails as the first try did, and then does what comes next. */
function failingOnce<In extends object, Out extends object>(
  next: FinalizeHandler<In, Out>,
  error: unknown,
): FinalizeHandler<In, Out> {
  let hasFailed = false;
  return async (args) => {
    if (hasFailed) return next(args);
    hasFailed = true;
    throw error;
  };
}

/** Signs each try with the SDK's own scheme, which corrects the clock, and with a signer of less CPU. */
function addSigning<In extends object, Out extends MetadataBearer, Params extends EndpointParameters>(
  steps: MiddlewareStack<In, Out>,
  config: Config<Params>,
): void {
  const { credentials, defaultSigningName: service } = config;
  config.signer = once(async () => signer({ credentials, service, region: await config.region() }));
  const scheme = config.httpAuthSchemes.find(({ schemeId }) => schemeId === 'aws.auth#sigv4')?.signer;
  if (scheme === undefined) throw new Error('The SDK has no scheme aws.auth#sigv4.');
  const sign: FinalizeRequestMiddleware<In, Out> = (next) => async (args) => {
    if (!HttpRequest.isInstance(args.request)) throw new Error('Only HTTP requests can be signed.');
    // Of each call its own: a scheme notes there when the request was sent.
    const properties = { config, context: {} };
    const request = await scheme.sign(args.request, {}, properties);
    try {
      const output = await next({ ...args, request });
      scheme.successHandler?.(output.response, properties);
      return output;
    } catch (error) {
      if (error instanceof Error) scheme.errorHandler?.(properties)(error);
      throw error;
    }
  };
  steps.add(sign, { step: 'finalizeRequest', priority: 'low', name: 'signing' });
}
