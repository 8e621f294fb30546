/** A publish request as code for the published client, `@upstash/qstash`. */
import { parsed } from '../../api/json.ts';
import { headerOf, settingsOf } from '../../ui/settingTexts.ts';
import { headerPairs, isSetting, type Draft } from './draft.ts';

const literal = (value: unknown): string => JSON.stringify(value);

/** Writes a whole number. Other texts become strings, so that the compiler reports them. */
const whole = (text: string): string => (/^\d{1,15}$/.test(text) ? String(Number(text)) : literal(text));

const unitSeconds: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** Writes a duration. The client's type allows only one unit, so other durations are converted to seconds. */
function duration(text: string): string {
  if (/^(0|[1-9]\d*)[smhd]$/.test(text)) return literal(text);
  if (!/^(\d+[smhd]?)+$/.test(text)) return literal(text);
  const parts = [...text.matchAll(/(\d+)([smhd]?)/g)];
  return String(
    parts.reduce((sum, [, digits, unit = '']) => sum + Number(digits) * (unitSeconds[unit] ?? 1), 0),
  );
}

type Property = readonly [name: string, value: string];

/** How the client calls each setting, and how its value is written. Other settings are written as headers. */
const names: Readonly<Record<string, readonly [name: string, as: (text: string) => string]>> = {
  method: ['method', literal],
  delay: ['delay', duration],
  'not-before': ['notBefore', whole],
  timeout: ['timeout', duration],
  retries: ['retries', whole],
  'retry-delay': ['retryDelay', literal],
  callback: ['callback', literal],
  'failure-callback': ['failureCallback', literal],
  label: ['label', literal],
  'deduplication-id': ['deduplicationId', literal],
  'content-based-deduplication': ['contentBasedDeduplication', String],
};
const limits = { parallelism: whole, rate: whole, period: duration };

const object = (properties: readonly Property[], indent: string): string =>
  `{\n${properties.map(([name, value]) => `${indent}  ${name}: ${value},\n`).join('')}${indent}}`;

/**
 * Whether JSON is the same after the client has parsed and written it. In code, `__proto__` has another
 * meaning.
 */
function isPlainJson(text: string): boolean {
  const value = parsed(text);
  const isSame = [undefined, 2].some((indent) => JSON.stringify(value, null, indent) === text);
  return value !== undefined && isSame && !text.includes('"__proto__"');
}

/** Writes code that publishes a draft. It reads the token from the environment variable `SVC_TOKEN`. */
export function clientCodeOf(draft: Draft, baseUrl: string): string {
  const { body, bodyBase64, contentType } = draft;
  const destination = draft.destination.trim();
  const hasBody = body !== '' || bodyBase64 !== undefined;
  const isJson = bodyBase64 === undefined && contentType === 'application/json' && isPlainJson(body);
  const settings = settingsOf(draft.settings);
  const key = settings.get('flow-control-key');
  const isProperty = (name: string): boolean =>
    name in names || (key !== undefined && name.startsWith('flow-control-'));
  const headers = new Map(hasBody && contentType !== '' && !isJson ? [['Content-Type', contentType]] : []);
  const ownHeaders = [...settings].flatMap(([name, text]): Property[] =>
    isProperty(name) ? [] : [[headerOf(name), text]],
  );
  for (const [name, value] of [...ownHeaders, ...headerPairs(draft)]) {
    const known = isSetting(name) ? name.replace(/^svc/i, 'Upstash') : name;
    headers.set(known, headers.has(known) ? `${headers.get(known)}, ${value}` : value);
  }
  const flowControl: readonly Property[] = [
    ['key', literal(key)],
    ...Object.entries(limits).flatMap(([name, as]): Property[] => {
      const text = draft.settings[name];
      return text ? [[name, as(text)]] : [];
    }),
  ];
  const headerProperties = [...headers].map(([name, value]): Property => [literal(name), literal(value)]);
  const request: readonly Property[] = [
    [/^https?:/i.test(destination) ? 'url' : 'urlGroup', literal(destination)],
    ...(isJson
      ? [['body', JSON.stringify(parsed(body), null, 2).replaceAll('\n', '\n  ')] as const]
      : bodyBase64 !== undefined
        ? [['body', `new Blob([Buffer.from(${literal(bodyBase64)}, "base64")])`] as const]
        : // The client sets a content type for a string, but not for a blob.
          body === ''
          ? []
          : [['body', contentType === '' ? `new Blob([${literal(body)}])` : literal(body)] as const]),
    ...(headers.size === 0 ? [] : [['headers', object(headerProperties, '  ')] as const]),
    ...[...settings].flatMap(([name, text]): Property[] => {
      const known = names[name];
      return known === undefined ? [] : [[known[0], known[1](text)]];
    }),
    ...(key === undefined ? [] : [['flowControl', object(flowControl, '  ')] as const]),
  ];
  const queue = draft.queue === '' ? '' : `.queue({ queueName: ${literal(draft.queue)} })`;
  const verb = `${draft.queue === '' ? 'publish' : 'enqueue'}${isJson ? 'JSON' : ''}`;
  return `import { Client } from "@upstash/qstash";

const client = new Client({
  baseUrl: ${literal(baseUrl)},
  token: process.env.SVC_TOKEN,
});
await client${queue}.${verb}(${object(request, '')});
`;
}
