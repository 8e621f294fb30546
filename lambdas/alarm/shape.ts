import * as z from 'zod/mini';
import { urlForm } from '../shared/bounds.ts';
import { headersIn, optionalField, optionalFields } from '../shared/json.ts';
import { alarmFields, alarmFormats, alarmKinds, kindTable } from '../wire/alarms.ts';

export const alarmSettings = z.strictObject({
  url: z.string().check(z.meta({ format: 'uri', pattern: urlForm })),
  format: alarmFields.format,
  routingKey: optionalField(alarmFields.routingKey),
  headers: optionalField(headersIn('Headers of the messages, such as `Authorization`.')),
  ...optionalFields(alarmFields.told),
});

/** The allowed values of fields in words, by path. */
const allowed: Readonly<Record<string, string>> = {
  '': `{"url", "format", "routingKey"?, "headers"?, ${[...alarmKinds, 'quietHours'].map((name) => `"${name}"?`).join(', ')}}`,
  url: 'a URL',
  format: alarmFormats.join(', '),
  routingKey: '32 letters and digits',
  headers: '{"<name>": "<value>"}',
  ...Object.fromEntries(
    alarmKinds.flatMap((kind) =>
      Object.entries(kindTable[kind].allowed).map(([part, words]) => [kind + part, words]),
    ),
  ),
  quietHours: '{"from": "22:00", "to": "07:00", "timezone": "Europe/Berlin"}',
  'quietHours.from': 'a time such as 22:00',
  'quietHours.to': 'a time such as 07:00',
  'quietHours.timezone': 'a name of the IANA time zone database, such as Europe/Berlin',
};
export const allowedAt = (path: string): string => allowed[path] ?? allowed[path.replace(/\..*/s, '')] ?? '';
