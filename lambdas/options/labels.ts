/** Labels by which messages, logs and dead letters can be found. */
import * as z from 'zod/mini';
import { labelsForm, longestLabel, mostLabels } from '../shared/bounds.ts';
import { badField, quote } from '../error/httpError.ts';
import { made, charactersIn, text, type FormFields, type Given, type Settings } from './option.ts';

const describeLabels = (): string =>
  `Labels, separated by commas, by which messages, logs and dead letters can be found: up to ${mostLabels}, of up to ${longestLabel} characters each.`;

export const settings = {
  label: {
    description: /* @__PURE__ */ describeLabels(),
    schema: { type: 'string', pattern: labelsForm },
    example: 'nightly,invoices',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
} as const satisfies Settings;

function parseLabels(field: string, value: string): readonly string[] {
  const labels = value.split(',').map((label) => label.trim());
  const isLabel = (label: string): boolean => label !== '' && charactersIn(label) <= longestLabel;
  if (!labels.every(isLabel) || labels.length > mostLabels) {
    throw badField(
      `${field} is ${quote(value)}; allowed are up to ${mostLabels} labels of 1 to ${longestLabel} characters, separated by commas.`,
    );
  }
  return [...new Set(labels)];
}

export const parse = (given: Given): readonly string[] | undefined => given.read('label', parseLabels);

/** An empty list is not stored. */
export const stored = /* @__PURE__ */ made(() => z._default(z.array(z.string()), []));

export const answer = /* @__PURE__ */ made(() => ({
  label: z.optional(text('The first of its labels.')),
  labels: z.optional(z.array(z.string())),
}));

export const show = (labels: readonly string[]) => ({
  label: labels[0],
  labels: labels.length === 0 ? undefined : labels,
});

export const write = ({ labels }: { readonly labels?: readonly string[] | undefined }) => ({
  label: labels?.join(','),
});

export const fields = {
  label: { label: 'Labels', placeholder: 'nightly, invoices', place: 'message', isOfRun: true },
} satisfies FormFields;
